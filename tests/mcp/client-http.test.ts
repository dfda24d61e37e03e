// Servers over HTTP: whom headers are for, what becomes of sessions and streams, and how much is taken.
import { InMemoryTransport } from '@modelcontextprotocol/client'
import { createExecutor, type ToolResult } from 'toolwright'
import { mcpTools, type McpTools, type McpToolsOptions } from 'toolwright/mcp/client'
import { spawn } from 'node:child_process'
import type { ServerResponse } from 'node:http'
import { describe, expect, onTestFinished, test } from 'vitest'
import { missing, program } from '../servers/installed.ts'
import { json, site, type Asked, type Site } from './_http.ts'
import { messages, until } from './_scripted.ts'

async function toolsAt(url: string | URL, options: McpToolsOptions = {}): Promise<McpTools> {
  const server = await mcpTools({
    name: 'site',
    url,
    protocol: '2025-11-25',
    reconnectDelay: 20,
    report: () => {},
    ...options,
  })
  onTestFinished(() => server.close())
  return server
}

const call = (server: McpTools, timeout = 0): Promise<ToolResult> =>
  createExecutor({ use: [server], timeout }).execute({ name: 'echo', args: {} })

const isCall = (asked: Asked): boolean => asked.method === 'tools/call'

test('a server over HTTP is understood, in either form of the protocol, and its tools know where they come from', async () => {
  const place = await site()
  for (const protocol of ['2025-11-25', 'auto'] as const) {
    const server = await toolsAt(`${place.url}?key=secret`, { protocol })
    expect((await call(server)).content).toEqual([{ type: 'text', text: 'echoed' }])
    const { mcpConfig } = server.tools()[0] ?? {}
    expect(mcpConfig).toEqual({ serverName: 'site', toolName: 'echo', serverUrl: place.url, transport: 'http' })
  }
})

test('a result of the newer era that does not say of which type it is counts as complete', async () => {
  const resultType = 'complete'
  const place = await site(({ id, method }, response) => {
    const result = {
      'server/discover': {
        resultType,
        ttlMs: 0,
        cacheScope: 'private',
        supportedVersions: ['2026-07-28'],
        capabilities: { tools: {} },
        serverInfo: { name: 'site', version: '1' },
      },
      'tools/list': {
        resultType,
        ttlMs: 0,
        cacheScope: 'private',
        tools: [{ name: 'echo', inputSchema: { type: 'object' } }],
      },
      'tools/call': { content: [{ type: 'text', text: 'done' }] },
    }[method ?? '']
    return result && json(response, { jsonrpc: '2.0', id, result })
  })
  const result = await call(await toolsAt(place.url, { protocol: '2026-07-28' }))
  expect(result).toMatchObject({ status: 'ok', content: [{ type: 'text', text: 'done' }] })
})

describe('headers', () => {
  test('go to the server, and what the protocol says of its own stands', async () => {
    const place = await site()
    await call(await toolsAt(place.url, { headers: { 'X-Key': 'k', 'Content-Type': 'text/plain' } }))
    for (const { headers } of place.requests) expect(headers['x-key']).toBe('k')
    const posted = place.requests.filter(({ verb }) => verb === 'POST')
    expect(posted.map(({ headers }) => headers['content-type'])).toEqual(posted.map(() => 'application/json'))
  })

  test('go nowhere else: who redirects us is not followed to another place', async () => {
    const elsewhere = await site()
    const place = await site((asked, response) => {
      if (!isCall(asked)) return undefined
      return response.writeHead(307, { location: elsewhere.url }).end()
    })
    const result = await call(await toolsAt(place.url, { headers: { Authorization: 'Bearer secret' } }))
    expect(result).toMatchObject({ status: 'error', error: { code: 'E_TOOL_DOWNSTREAM_ERROR' } })
    expect(elsewhere.requests).toEqual([])
  })

  test('may come from a provider of tokens, asked each time', async () => {
    const place = await site()
    let count = 0
    await call(await toolsAt(place.url, { authProvider: { token: () => Promise.resolve(`t${count++}`) } }))
    const tokens = place.requests.map(({ headers }) => headers['authorization'])
    expect(new Set(tokens).size).toBe(tokens.length)
    expect(tokens[0]).toBe('Bearer t0')
  })

  test('that are missing are an error of authorization', async () => {
    const place = await site((asked, response) => (isCall(asked) ? response.writeHead(401).end() : undefined))
    expect((await call(await toolsAt(place.url))).error).toMatchObject({ category: 'auth', retryable: false })
    const closed = await site((_asked, response) => response.writeHead(403).end())
    await expect(toolsAt(closed.url)).rejects.toMatchObject({ category: 'auth' })
  })
})

describe('a session', () => {
  /** A place with sessions, which `forget` ends. */
  async function withSessions(): Promise<Site & { forget(): void }> {
    let session = 1
    const place = await site((asked, response, request) => {
      if (asked.method === 'initialize') {
        const { protocolVersion } = asked.params ?? {}
        const result = { protocolVersion, capabilities: { tools: {} }, serverInfo: { name: 'site', version: '1' } }
        return json(response, { jsonrpc: '2.0', id: asked.id, result }, { 'mcp-session-id': String(session) })
      }
      if (request.headers['mcp-session-id'] === String(session)) return undefined
      return response.writeHead(404).end()
    })
    return { ...place, forget: () => void session++ }
  }

  test('that the server forgot fails the call, which is not sent again, and the next one has a new session', async () => {
    const place = await withSessions()
    const server = await toolsAt(place.url)
    expect((await call(server)).status).toBe('ok')
    place.forget()
    expect(await call(server)).toMatchObject({
      status: 'error',
      effect: 'unknown',
      error: { category: 'network', retryable: true },
    })
    expect(place.requests.filter(({ asked }) => isCall(asked))).toHaveLength(2)
    expect((await call(server)).status).toBe('ok')
  })

  test('ends with us, and says so to the server', async () => {
    const place = await withSessions()
    const server = await toolsAt(place.url)
    await server.close()
    expect(place.requests.at(-1)).toMatchObject({ verb: 'DELETE', headers: { 'mcp-session-id': '1' } })
  })
})

describe('a stream', () => {
  const stream = (write: (asked: Asked) => string[], end = true) =>
    site((asked, response) => {
      if (!isCall(asked)) return undefined
      response.writeHead(200, { 'content-type': 'text/event-stream' })
      for (const part of write(asked)) response.write(part)
      return end ? response.end() : response.destroy()
    })
  const event = (body: object): string => `event: message\ndata: ${JSON.stringify(body)}\n\n`
  const answer = ({ id }: Asked): string =>
    event({ jsonrpc: '2.0', id, result: { content: [{ type: 'text', text: 'streamed' }] } })
  const note = event({
    jsonrpc: '2.0',
    method: 'notifications/message',
    params: { level: 'info', data: 'x'.repeat(900) },
  })

  test.each([
    ['ends', true],
    ['breaks', false],
  ])('that %s without an answer fails its call at once, and no other', async (_what, end) => {
    const place = await stream(() => [note], end)
    const server = await toolsAt(place.url)
    // Without a deadline: nothing else could end the call.
    expect(await call(server)).toMatchObject({ status: 'error', effect: 'unknown', error: { category: 'network' } })
    expect(place.requests.filter(({ asked }) => isCall(asked))).toHaveLength(1)
    expect(place.requests.filter(({ asked }) => asked.method === 'initialize')).toHaveLength(1)
  })

  test('may be as long as it likes, of events that are small enough', async () => {
    const place = await stream((asked) => [...Array.from({ length: 200 }, () => note), answer(asked)])
    const result = await call(await toolsAt(place.url, { limits: { message: 2_000 } }))
    expect(result.content).toEqual([{ type: 'text', text: 'streamed' }])
  })

  test.each(['\n', '\r\n', '\r'])(
    'may not have one event that is too large, whatever its lines end in (%j)',
    async (newline) => {
      const line = `data: ${'x'.repeat(100)}${newline}`
      const place = await stream(() => Array.from({ length: 100 }, () => line))
      const result = await call(await toolsAt(place.url, { limits: { message: 2_000 } }))
      expect(result).toMatchObject({ status: 'error', effect: 'unknown', error: { category: 'network' } })
    },
  )
})

describe('a stream that its server leaves open', () => {
  /** A place whose calls are answered by streams without an end. `open` has those that are not ended. */
  async function withOpenStreams(isAnswered: boolean): Promise<Site & { readonly open: Set<ServerResponse> }> {
    const open = new Set<ServerResponse>()
    const place = await site((asked, response) => {
      if (!isCall(asked)) return undefined
      open.add(response)
      response.once('close', () => open.delete(response))
      response.writeHead(200, { 'content-type': 'text/event-stream' }).write(': still here\n\n')
      const result = { content: [{ type: 'text', text: 'streamed' }] }
      if (isAnswered) response.write(`data: ${JSON.stringify({ jsonrpc: '2.0', id: asked.id, result })}\n\n`)
      return true
    })
    return { ...place, open }
  }

  test('is ended with its call, once the server knows that it is cancelled', async () => {
    const place = await withOpenStreams(false)
    const server = await toolsAt(place.url)
    for (let index = 0; index < 3; index++) expect((await call(server, 50)).status).toBe('timed_out')
    await until(() => place.open.size === 0)
    const cancelled = place.requests.filter(({ asked }) => asked.method === 'notifications/cancelled')
    expect(cancelled).toHaveLength(3)
    expect((await call(server, 50)).status).toBe('timed_out')
  })

  test('after the answer of its call is ended if there are many', async () => {
    const place = await withOpenStreams(true)
    const server = await toolsAt(place.url)
    for (let index = 0; index < 80; index++) expect((await call(server)).status).toBe('ok')
    await until(() => place.open.size <= 64)
  })
})

describe('a stream that is to be opened again', () => {
  const primed = (retry: string): string => `retry: ${retry}\nid: 1\ndata:\n\n`

  test.each(['0', '99999999999'])('is, no sooner than we like, though the server says `retry: %s`', async (retry) => {
    const times: number[] = []
    const place = await site((asked, response, { method }) => {
      if (method !== 'GET') return undefined
      times.push(performance.now())
      return response.writeHead(200, { 'content-type': 'text/event-stream' }).end(primed(retry))
    })
    const server = await toolsAt(place.url, { reconnectDelay: 100 })
    const count = retry === '0' ? 4 : 1
    await until(() => times.length >= count)
    await new Promise((resolve) => setTimeout(resolve, 50))
    await server.close()
    const pauses = times.slice(1).map((time, index) => time - (times[index] ?? 0))
    expect(Math.min(...pauses, 100)).toBeGreaterThan(90)
    if (count === 1) expect(times).toHaveLength(1)
  })

  test('is a new connection over the obsolete transport, since its session went with it', async () => {
    let opened = 0
    let stream: ServerResponse | undefined
    const place = await site((asked, response, { method }) => {
      if (method === 'GET') {
        opened++
        stream = response.writeHead(200, { 'content-type': 'text/event-stream' })
        return stream.write(`${primed('0')}event: endpoint\ndata: /mcp\n\n`)
      }
      response.writeHead(202).end()
      if (asked.id === undefined) return true
      const result =
        asked.method === 'initialize'
          ? {
              protocolVersion: asked.params?.protocolVersion,
              capabilities: { tools: {} },
              serverInfo: { name: 's', version: '1' },
            }
          : { tools: [] }
      stream?.write(`data: ${JSON.stringify({ jsonrpc: '2.0', id: asked.id, result })}\n\n`)
      if (asked.method === 'tools/list') stream?.end()
      return true
    })
    await toolsAt(place.url, { type: 'sse', reconnects: 2 })
    const initialized = (): number => place.requests.filter(({ asked }) => asked.method === 'initialize').length
    await until(() => initialized() === 3)
    await new Promise((resolve) => setTimeout(resolve, 200))
    expect([opened, initialized()]).toEqual([3, 3])
  })
})

describe('a body without an end is cut, though it calls itself a stream:', () => {
  const endless = (response: ServerResponse, status: number): true => {
    response.writeHead(status, { 'content-type': 'text/event-stream' })
    for (let part = 0; part < 100; part++) response.write('\n'.repeat(1_000))
    return true
  }

  // Without a deadline: nothing else could end it.
  test('an error', async () => {
    const place = await site((asked, response) => (isCall(asked) ? endless(response, 500) : undefined))
    const server = await toolsAt(place.url, { limits: { message: 4_000 } })
    expect(await call(server)).toMatchObject({ status: 'error', error: { code: 'E_TOOL_DOWNSTREAM_ERROR' } })
  })

  test('the answer to a notification, which nobody reads', async () => {
    const place = await site((asked, response) =>
      asked.method === 'notifications/initialized' ? endless(response, 200) : undefined,
    )
    const server = await toolsAt(place.url, { limits: { message: 4_000 }, connectTimeout: Infinity })
    expect((await call(server)).status).toBe('ok')
  })

  test('JSON', async () => {
    const place = await site((asked, response) => {
      if (!isCall(asked)) return undefined
      response.writeHead(200, { 'content-type': 'application/json; of=text/event-stream' })
      for (let part = 0; part < 100; part++) response.write('\n'.repeat(1_000))
      return response.end(JSON.stringify({ jsonrpc: '2.0', id: asked.id, result: { content: [] } }))
    })
    const server = await toolsAt(place.url, { limits: { message: 4_000 } })
    expect(await call(server)).toMatchObject({ status: 'error', error: { code: 'E_TOOL_DOWNSTREAM_ERROR' } })
  })
})

describe('an answer', () => {
  test('with much structured content and many blocks beside it holds nobody up', async () => {
    const result = {
      content: Array.from({ length: 20_000 }, () => ({ type: 'text', text: '1' })),
      structuredContent: { items: Array.from({ length: 40_000 }, (_, index) => ({ index })) },
    }
    const place = await site((asked, response) =>
      isCall(asked) ? json(response, { jsonrpc: '2.0', id: asked.id, result }) : undefined,
    )
    // Read once for each block, the content would take minutes.
    expect((await call(await toolsAt(place.url))).status).toBe('ok')
  })

  test.each([
    [
      'too large',
      'application/json',
      JSON.stringify({ jsonrpc: '2.0', id: 2, result: { content: [], pad: 'x'.repeat(5_000) } }),
    ],
    ['no JSON', 'application/json', '{"jsonrpc":'],
    ['no message', 'application/json', '[1,2,3]'],
    ['a page for people', 'text/html', '<script>alert(1)</script>'],
  ])('that is %s is a typed error', async (_what, type, body) => {
    const place = await site((asked, response) =>
      isCall(asked) ? response.writeHead(200, { 'content-type': type }).end(body) : undefined,
    )
    const result = await call(await toolsAt(place.url, { limits: { message: 4_000 } }))
    expect(result).toMatchObject({ status: 'error', effect: 'unknown', error: { code: 'E_TOOL_DOWNSTREAM_ERROR' } })
  })

  test.each([
    [429, 'rate_limit', true],
    [500, 'network', true],
    [503, 'network', true],
    [400, 'application', false],
  ])('of status %i is of the category %s', async (status, category, retryable) => {
    const place = await site((asked, response) => (isCall(asked) ? response.writeHead(status).end() : undefined))
    expect((await call(await toolsAt(place.url))).error).toMatchObject({ category, retryable })
  })
})

test('a server that went away and came back is found again', async () => {
  const place = await site()
  const server = await toolsAt(place.url)
  await place.down()
  expect(await call(server)).toMatchObject({ status: 'error', error: { category: 'network', retryable: true } })
  await site(() => undefined, Number(new URL(place.url).port))
  expect((await call(server)).status).toBe('ok')
})

describe('a way to a server that cannot be one is refused:', () => {
  test.each<readonly [string, McpToolsOptions, RegExp]>([
    ['none', {}, /one of `command`, `url` and `transport`/],
    ['two', { command: 'a', url: 'http://localhost' }, /one of/],
    ['a file', { url: 'file:///etc/passwd' }, /http:\/\/ or https:\/\//],
    ['a script', { url: 'javascript:alert(1)' }, /http:\/\/ or https:\/\//],
    ['a websocket address', { url: 'ws://localhost' }, /http:\/\/ or https:\/\//],
    ['no address', { url: 'not an address' }, /http:\/\/ or https:\/\//],
    ['a password in the address', { url: 'http://me:secret@localhost' }, /no user and password/],
    [
      'a websocket',
      { url: 'http://localhost', type: 'websocket' as never },
      /no version of the protocol has had a websocket/,
    ],
    ['an address as a program', { url: 'http://localhost', type: 'stdio' }, /does not take `type` "stdio" with `url`/],
    ['an empty program', { command: '' }, /name of a program/],
    ['a word that ends early', { command: 'a', args: ['b\0c'] }, /array of strings as `args`/],
    ['no words', { command: 'a', args: 'b c' as never }, /array of strings as `args`/],
    ['a misspelt option', { command: 'a', exclud: ['b'] } as McpToolsOptions, /no option "exclud"/],
    ['a prefix that no model can call', { command: 'a', prefix: 'a b' }, /`prefix`/],
    ['a header that ends early', { url: 'http://localhost', headers: { A: 'b\r\nC: d' } }, /as `headers`/],
    ['no time', { command: 'a', connectTimeout: 0 }, /`connectTimeout`/],
    ['no transport', { transport: {} as never }, /takes a transport/],
    ['one name as a list', { command: 'a', exclude: 'write' as never }, /array of names, or a function, as `exclude`/],
    ['a protocol of another year', { command: 'a', protocol: '2024-11-05' as never }, /as `protocol`/],
  ])('%s', async (_what, options, reason) => {
    const refusal: unknown = await mcpTools(options).catch((error: unknown) => error)
    expect(refusal).toMatchObject({
      code: 'E_INVALID_CONFIGURATION',
      message: expect.stringMatching(reason) as unknown,
    })
    expect(String(refusal)).not.toContain('secret')
  })

  test('a transport that another connection uses', async () => {
    const [ours, theirs] = InMemoryTransport.createLinkedPair()
    // oxlint-disable-next-line unicorn/prefer-add-event-listener -- it is no event target
    theirs.onmessage = () => {}
    const options = { transport: ours, protocol: '2025-11-25', connectTimeout: 50 } as const
    const [first, second] = await Promise.allSettled([mcpTools(options), mcpTools(options)])
    expect(first).toMatchObject({ status: 'rejected', reason: { category: 'timeout' } })
    expect(second).toMatchObject({ status: 'rejected', reason: { code: 'E_INVALID_CONFIGURATION' } })
  })
})

async function isListening(url: string): Promise<boolean> {
  try {
    const { ok, body } = await fetch(url)
    await body?.cancel()
    return ok
  } catch {
    return false
  }
}

if (missing !== undefined) console.warn(`The obsolete SSE transport is not tested: ${missing}`)

test.skipIf(missing !== undefined)(
  'the obsolete SSE transport works, and is reported',
  async () => {
    const port = 20_000 + Math.floor(Math.random() * 20_000)
    const child = spawn(process.execPath, [program('mcp-server-everything'), 'sse'], {
      env: { ...process.env, PORT: String(port) },
      stdio: 'ignore',
    })
    onTestFinished(() => void child.kill())
    const url = `http://127.0.0.1:${port}/sse`
    let isUp = false
    await until(() => {
      void isListening(url).then((answer) => (isUp ||= answer))
      return isUp
    })
    const reported: unknown[] = []
    const server = await toolsAt(url, { type: 'sse', report: (error) => reported.push(error), include: ['echo'] })
    const executor = createExecutor({ use: [server] })
    expect((await executor.execute({ name: 'echo', args: { message: 'hi' } })).content).toEqual([
      { type: 'text', text: 'Echo: hi' },
    ])
    expect(messages(reported)).toEqual([expect.stringContaining('obsolete')])
    expect(server.tools()[0]?.mcpConfig?.transport).toBe('sse')
  },
  30_000,
)
