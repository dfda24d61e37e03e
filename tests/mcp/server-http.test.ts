import { createExecutor, tool } from 'toolwright'
import { InvalidConfigurationError } from 'toolwright/errors'
import { mcpServer, type ListenOptions } from 'toolwright/mcp/server'
import { budget } from 'toolwright/policies/budget'
import { rateLimit } from 'toolwright/policies/rate-limit'
import { Agent, request } from 'node:http'
import { Server, type AddressInfo } from 'node:net'
import { describe, expect, test, vi } from 'vitest'
import { closing, connect, eras, start, textOf } from './_server.ts'

const now = tool('now', () => 'now')
const initialize = {
  jsonrpc: '2.0',
  id: 1,
  method: 'initialize',
  params: { protocolVersion: '2025-11-25', capabilities: {}, clientInfo: { name: 'raw', version: '1' } },
}
const _meta = {
  'io.modelcontextprotocol/protocolVersion': '2026-07-28',
  'io.modelcontextprotocol/clientCapabilities': {},
}
const list = { jsonrpc: '2.0', id: 1, method: 'tools/list', params: { _meta } }
const json = { accept: 'application/json, text/event-stream', 'content-type': 'application/json' }
const naming = { 'mcp-method': 'tools/call', 'mcp-name': 'echo' }
const modern = { ...json, 'mcp-protocol-version': '2026-07-28', 'mcp-method': 'tools/list' }

interface Reply {
  readonly status: number
  readonly headers: Readonly<Record<string, string | string[] | undefined>>
  readonly text: string
}

/** A request with whatever headers: `fetch` lets nobody choose the host. */
function send(
  url: string,
  headers: Record<string, string>,
  body?: unknown,
  method = 'POST',
  agent?: Agent,
): Promise<Reply> {
  return new Promise((resolve, reject) => {
    const sent = request(url, { method, headers, agent }, (response) => {
      let text = ''
      response.setEncoding('utf8').on('data', (piece: string) => (text += piece))
      response.once('end', () => resolve({ status: response.statusCode ?? 0, headers: response.headers, text }))
      response.once('error', reject)
    })
    sent.once('error', reject)
    sent.end(body === undefined ? undefined : typeof body === 'string' ? body : JSON.stringify(body))
  })
}

async function openSession(url: string, headers: Record<string, string> = {}): Promise<string> {
  const reply = await send(url, { ...json, ...headers }, initialize)
  expect(reply.status).toBe(200)
  return String(reply.headers['mcp-session-id'])
}

/** Those of some sessions that are open. */
async function living(
  url: string,
  sessions: readonly string[],
  headers: Record<string, string> = {},
): Promise<string[]> {
  const ping = { jsonrpc: '2.0', id: 2, method: 'ping' }
  const found: string[] = []
  for (const session of sessions) {
    const { status } = await send(url, { ...json, ...headers, 'mcp-session-id': session }, ping)
    expect([200, 404]).toContain(status)
    if (status === 200) found.push(session)
  }
  return found
}

describe('a request is refused', () => {
  test.each([
    ['for another host', { host: 'evil.example' }],
    ['for another host that looks like this one', { host: 'localhost.evil.example' }],
    ['for this host, by a page of another', { origin: 'http://evil.example' }],
    ['for this host, by a page of nowhere', { origin: 'null' }],
  ])('%s, in either era and whatever it asks for', async (_, headers) => {
    const { url } = await start({ tools: [now] })
    for (const [base, body, method] of [
      [json, initialize, 'POST'],
      [modern, list, 'POST'],
      [json, undefined, 'GET'],
      [json, undefined, 'DELETE'],
      [json, undefined, 'OPTIONS'],
    ] as const) {
      expect((await send(url, { ...base, ...headers }, body, method)).status).toBe(403)
    }
  })

  test.each<[string, string | undefined]>([
    ['without a token', undefined],
    ['with another token', 'Bearer wrong'],
    ['with the beginning of the token', 'Bearer secre'],
    ['with the token and more', 'Bearer secrets'],
    ['with another scheme', 'Basic secret'],
    ['with two tokens', 'Bearer secret secret'],
  ])('%s', async (_, authorization) => {
    const { url } = await start({ tools: [now] }, {}, { token: 'secret' })
    const headers = authorization === undefined ? {} : { authorization }
    for (const [base, body] of [
      [json, initialize],
      [modern, list],
    ] as const) {
      const reply = await send(url, { ...base, ...headers }, body)
      expect(reply.status).toBe(401)
      expect(reply.headers['www-authenticate']).toMatch(/^Bearer/)
    }
  })

  test('that is larger than a message may be, without reading all of it', async () => {
    const { url } = await start({ tools: [now] }, { messageLimit: 1_000 })
    const large = { ...list, params: { ...list.params, filler: 'x'.repeat(1_000) } }
    expect((await send(url, modern, large)).status).toBe(413)
    expect((await send(url, json, { ...initialize, filler: 'x'.repeat(1_000) })).status).toBe(413)
  })

  test.each([
    ['that is not JSON', '{"jsonrpc":'],
    ['that is empty', ''],
    ['that says a thing twice', '{"jsonrpc":"2.0","id":1,"method":"tools/list","method":"tools/call","params":{}}'],
    ['that is too deep', '['.repeat(5_000)],
  ])('%s', async (_, body) => {
    const { url } = await start({ tools: [now] })
    const reply = await send(url, json, body)
    expect(reply.status).toBe(400)
    expect(JSON.parse(reply.text)).toMatchObject({ error: { code: -32_700 } })
  })

  test('that says it is something other than JSON', async () => {
    const { url } = await start({ tools: [now] })
    expect((await send(url, { ...json, 'content-type': 'text/plain' }, initialize)).status).toBe(415)
  })

  test.each(['PUT', 'OPTIONS', 'HEAD'])('by %s', async (method) => {
    const { url } = await start({ tools: [now] })
    const { status, headers } = await send(url, json, undefined, method)
    expect([status, headers['allow']]).toEqual([405, 'GET, POST, DELETE'])
  })

  test('for another path, and for an address that is none', async () => {
    const { url } = await start({ tools: [now] })
    expect((await send(url.replace('/mcp', '/'), json, initialize)).status).toBe(404)
    expect((await send(url.replace('/mcp', '/mcp/more'), json, initialize)).status).toBe(404)
  })
})

describe('a page of another origin', () => {
  const page = { origin: 'http://app.example:5173' }
  const asking = {
    'access-control-request-method': 'POST',
    'access-control-request-headers': 'authorization,content-type,mcp-session-id',
  }
  const options = { origins: ['app.example'], token: 'secret' }

  test('that is named may ask without the token, send with it, and read its session', async () => {
    const { url } = await start({ tools: [now] }, {}, options)
    const asked = await send(url, { ...page, ...asking }, undefined, 'OPTIONS')
    expect([asked.status, asked.text]).toEqual([204, ''])
    expect(asked.headers).toMatchObject({
      'access-control-allow-origin': page.origin,
      'access-control-allow-methods': 'GET, POST, DELETE',
      'access-control-allow-headers': asking['access-control-request-headers'],
      vary: 'Origin',
    })
    for (const [headers, body] of [
      [json, initialize],
      [modern, list],
    ] as const) {
      const sent = await send(url, { ...headers, ...page, authorization: 'Bearer secret' }, body)
      expect(sent.status).toBe(200)
      expect(sent.headers['access-control-allow-origin']).toBe(page.origin)
      expect(sent.headers['access-control-expose-headers']).toContain('Mcp-Session-Id')
      expect(sent.headers['access-control-allow-credentials']).toBe(undefined)
    }
  })

  test('that is named reads why it was refused', async () => {
    const { url } = await start({ tools: [now] }, {}, options)
    const { status, headers } = await send(url, { ...json, ...page }, initialize)
    expect([status, headers['access-control-allow-origin']]).toEqual([401, page.origin])
    expect((await send(url, { ...page }, undefined, 'OPTIONS')).status).toBe(401)
  })

  test.each([
    ['is not named', 'http://evil.example', options, 403],
    ['of this machine', 'http://localhost:5173', {}, 405],
  ])('that %s is told nothing', async (_, origin, listenOptions, status) => {
    const { url } = await start({ tools: [now] }, {}, listenOptions)
    const asked = await send(url, { origin, ...asking }, undefined, 'OPTIONS')
    expect(asked.status).toBe(status)
    expect(Object.keys(asked.headers).filter((name) => name.startsWith('access-control'))).toEqual([])
  })

  test('is of no concern to clients that are no pages', async () => {
    const { url } = await start({ tools: [now] }, {}, options)
    const { status, headers } = await send(url, { ...json, authorization: 'Bearer secret' }, initialize)
    expect([status, headers['access-control-allow-origin']]).toEqual([200, undefined])
  })
})

describe('a session', () => {
  test('that never was, is over, or is not named is none', async () => {
    const { url } = await start({ tools: [now] })
    const ping = { jsonrpc: '2.0', id: 2, method: 'ping' }
    expect((await send(url, json, ping)).status).toBe(400)
    expect((await send(url, { ...json, 'mcp-session-id': crypto.randomUUID() }, ping)).status).toBe(404)
    const session = await openSession(url)
    const headers = { ...json, 'mcp-session-id': session }
    expect((await send(url, headers, ping)).status).toBe(200)
    expect((await send(url, headers, undefined, 'DELETE')).status).toBe(200)
    expect((await send(url, headers, ping)).status).toBe(404)
  })

  test('of another client is none', async () => {
    const token = (key: string): string | undefined =>
      new Map([
        ['key-a', 'ada'],
        ['key-b', 'ben'],
      ]).get(key)
    const { url } = await start({ tools: [now] }, {}, { token })
    const ada = { authorization: 'Bearer key-a' }
    const session = await openSession(url, ada)
    const headers = { ...json, 'mcp-session-id': session }
    for (const [method, body] of [
      ['POST', { jsonrpc: '2.0', id: 2, method: 'ping' }],
      ['GET', undefined],
      ['DELETE', undefined],
    ] as const) {
      expect((await send(url, { ...headers, authorization: 'Bearer key-b' }, body, method)).status).toBe(404)
    }
    expect((await send(url, { ...headers, ...ada }, { jsonrpc: '2.0', id: 2, method: 'ping' })).status).toBe(200)
  })

  test('that was left for long makes room for others', async () => {
    const { url } = await start({ tools: [now] }, {}, { sessionTimeout: 60_000 })
    const first = await openSession(url)
    const time = performance.now()
    vi.spyOn(performance, 'now').mockImplementation(() => time + 120_000)
    closing(() => vi.restoreAllMocks())
    const second = await openSession(url)
    expect(await living(url, [first, second])).toEqual([second])
  })

  test('that was not used for longest gives way where too many are open', async () => {
    const { url } = await start({ tools: [now] }, {}, { maximumSessions: 2 })
    const [first, second] = [await openSession(url), await openSession(url)]
    expect(await living(url, [first])).toEqual([first])
    const third = await openSession(url)
    expect(await living(url, [first, second, third])).toEqual([first, third])
  })
})

test('as many sessions as may be open are open, however many ask at once', async () => {
  const { url } = await start({ tools: [now] }, {}, { maximumSessions: 3 })
  const replies = await Promise.all(Array.from({ length: 60 }, () => send(url, json, initialize)))
  expect(replies.filter(({ status }) => status !== 200 && status !== 503)).toEqual([])
  const opened = replies.filter(({ status }) => status === 200).map(({ headers }) => String(headers['mcp-session-id']))
  expect(await living(url, opened)).toHaveLength(3)
})

describe('of two principals,', () => {
  const token = (key: string): string => key
  const as = (name: string): Record<string, string> => ({ authorization: `Bearer ${name}` })
  const open = (url: string, name: string, count: number): Promise<string[]> =>
    Array.from({ length: count }).reduce<Promise<string[]>>(
      async (before) => [...(await before), await openSession(url, as(name))],
      Promise.resolve([]),
    )

  test('one that opens a thousand sessions and leaves them costs the other none, and no place', async () => {
    const { url } = await start({ tools: [now] }, {}, { token })
    const ben = await openSession(url, as('ben'))
    const ada = await open(url, 'ada', 1_010)
    expect(await living(url, [...ada.slice(0, 10), ...ada.slice(-110)], as('ada'))).toEqual(ada.slice(-100))
    expect(await living(url, [ben, await openSession(url, as('ben'))], as('ben'))).toHaveLength(2)
  }, 180_000)

  test('the one that has most makes room where all places are taken', async () => {
    const { url } = await start({ tools: [now] }, {}, { token, maximumSessions: 4 })
    const [ada, ben] = [await open(url, 'ada', 3), await open(url, 'ben', 1)]
    const cy = await open(url, 'cy', 1)
    expect(await living(url, ada, as('ada'))).toEqual(ada.slice(1))
    const more = await open(url, 'ada', 1)
    expect(await living(url, [...ada, ...more], as('ada'))).toEqual([...ada.slice(2), ...more])
    expect([await living(url, ben, as('ben')), await living(url, cy, as('cy'))]).toEqual([ben, cy])
  })

  test('none loses a session in which a call runs, and one that has such alone is told to come later', async () => {
    const running: (() => void)[] = []
    const wait = tool('wait', () => new Promise<string>((resolve) => running.push(() => resolve('done'))))
    const { url } = await start({ tools: [wait] }, {}, { token, sessionsPerPrincipal: 2 })
    const sessions = await open(url, 'ada', 2)
    const call = { jsonrpc: '2.0', id: 3, method: 'tools/call', params: { name: 'wait', arguments: {} } }
    const ask = (session = ''): Promise<Reply> => send(url, { ...json, ...as('ada'), 'mcp-session-id': session }, call)
    const first = ask(sessions[0])
    await vi.waitFor(() => expect(running).toHaveLength(1), 30_000)
    const third = await openSession(url, as('ada'))
    expect(await living(url, [...sessions, third], as('ada'))).toEqual([sessions[0], third])
    const other = ask(third)
    await vi.waitFor(() => expect(running).toHaveLength(2), 30_000)
    const refused = await send(url, { ...json, ...as('ada') }, initialize)
    expect([refused.status, refused.headers['retry-after']]).toEqual([503, '60'])
    await openSession(url, as('ben'))
    for (const end of running) end()
    expect([(await first).text, (await other).text].every((text) => text.includes('done'))).toBe(true)
  })

  test('the sessions without a listener give way before the others', async () => {
    const { url } = await start({ tools: [now] }, {}, { token, sessionsPerPrincipal: 2 })
    const listening = await connect(url, 'legacy', {}, as('ada'))
    const [second, third] = await open(url, 'ada', 2)
    expect(await living(url, [second ?? '', third ?? ''], as('ada'))).toEqual([third])
    expect((await listening.listTools()).tools).toHaveLength(1)
  })
})

describe('without a function that tells principals apart,', () => {
  const from = (address: string): Record<string, string> => ({ 'x-real-ip': address })
  const clientAddress = ({ headers }: Request): string | null => headers.get('x-real-ip')
  const [here, there] = ['2001:db8::1', '2001:DB8:0:0:ffff::2'].map(from) as [object, object]

  test('the clients of one address, or of one network of IPv6, have one quota', async () => {
    const { url } = await start({ tools: [now] }, {}, { sessionsPerPrincipal: 1, clientAddress })
    const mine = await openSession(url, { ...here })
    const others = [await openSession(url, from('2001:db8:0:1::1')), await openSession(url, from('10.0.0.1'))]
    expect(await living(url, [mine, ...others])).toEqual([mine, ...others])
    const next = await openSession(url, { ...there })
    expect(await living(url, [mine, next, ...others])).toEqual([next, ...others])
    await openSession(url, from('::ffff:10.0.0.1'))
    expect(await living(url, others)).toEqual(others.slice(0, 1))
  })

  test('the address is the other end of the connection, if the application says nothing else', async () => {
    const { url } = await start({ tools: [now] }, {}, { sessionsPerPrincipal: 1 })
    const [first, second] = [await openSession(url), await openSession(url)]
    expect(await living(url, [first, second])).toEqual([second])
  })
})

test.each(['maximumSessions', 'sessionsPerPrincipal', 'questionsPerPrincipal'])(
  'a number of %s that is none is refused at once',
  async (option) => {
    for (const value of [0, -1, 1.5, Infinity, '10']) {
      const started = start({ tools: [now] }, {}, { [option]: value })
      await expect(started).rejects.toMatchObject({ code: 'E_INVALID_CONFIGURATION' })
    }
  },
)

describe.each(eras)('in the era of %s, a limit', (_, mode) => {
  const work = tool('work', () => 'done')
  const token = (key: string): string => key

  test.each<[string, ListenOptions, boolean]>([
    ['per principal holds a client of each token, whatever sessions it begins', { token }, true],
    ['per principal holds the clients of an address together, without tokens', {}, false],
  ])('%s', async (__, options, areTold) => {
    const use = [budget({ calls: 2, per: 'principal' })]
    const { url, executor, reports } = await start({ tools: [work], use }, {}, options)
    const principals: unknown[] = []
    executor.on('call:settled', ({ principal }) => void principals.push(principal))
    const call = async (name: string): Promise<boolean> => {
      const client = await connect(url, mode, {}, { authorization: `Bearer ${name}` })
      return (await client.callTool({ name: 'work', arguments: {} })).isError === true
    }
    expect([await call('ada'), await call('ada'), await call('ada')]).toEqual([false, false, true])
    expect(await call('ben')).toBe(!areTold)
    const [ada, ben] = areTold ? ['ada', 'ben'] : ['address 127.0.0.1', 'address 127.0.0.1']
    expect(principals).toEqual([ada, ada, ada, ben])
    expect(reports).toEqual([])
  })

  test('per session is reported when a server over HTTP is made, once for each', async () => {
    const use = [budget({ calls: 1 }), rateLimit({ calls: 1, interval: 1_000, per: 'session' })]
    const { url, reports } = await start({ tools: [work], use }, {}, { token })
    for (let time = 0; time < 2; time++) await connect(url, mode, {}, { authorization: 'Bearer ada' })
    expect(reports.map(String)).toEqual([
      expect.stringMatching(/`budget` counts by session.*per: 'principal'/),
      expect.stringMatching(/`rateLimit` counts by session.*per: 'principal'/),
    ])
  })
})

test.each([null, false, '', 0, {}])(
  'a token of which its function says that it is %j’s is nobody’s',
  async (nobody) => {
    const { url } = await start({ tools: [now] }, {}, { token: (() => nobody) as never })
    expect(await send(url, { ...json, authorization: 'Bearer guessed' }, initialize)).toMatchObject({ status: 401 })
  },
)

test.each(['', ' ', 'two words', 'a line\n'])(
  'a token that no client could send is refused at once: %j',
  async (token) => {
    await expect(start({ tools: [now] }, {}, { token })).rejects.toMatchObject({ code: 'E_INVALID_CONFIGURATION' })
  },
)

test('a listener that finds no file descriptors for clients says so, and lives', async () => {
  const { url, reports } = await start({ tools: [now] })
  const handles = (process as unknown as { _getActiveHandles(): unknown[] })._getActiveHandles()
  const port = Number(new URL(url).port)
  const listener = handles.find((one): one is Server => {
    return one instanceof Server && (one.address() as AddressInfo | null)?.port === port
  })
  const error = Object.assign(new Error('accept EMFILE'), { code: 'EMFILE' })
  for (let time = 0; time < 3; time++) listener?.emit('error', error) // as `node:net` does
  expect(reports).toEqual([error, error, error])
  await openSession(url)
})

describe.each(eras)('in the era of %s,', (_, mode) => {
  test('fifty clients with the same ids, of two hundred calls each, see their own results alone', async () => {
    const echo = tool('echo', async ({ from, count }: { from?: unknown; count?: unknown }) => {
      await new Promise((resolve) => setImmediate(resolve))
      return `${String(from)}:${String(count)}`
    })
    const { url } = await start({ tools: [echo] })
    const agent = new Agent({ keepAlive: true, maxSockets: 50 })
    closing(() => agent.destroy())
    const wrong: string[] = []
    let answers = 0
    const run = async (from: number): Promise<void> => {
      const own = mode === 'legacy' ? { ...json, 'mcp-session-id': await openSession(url) } : { ...modern, ...naming }
      for (let id = 1; id <= 200; id++) {
        const params = { name: 'echo', arguments: { from, count: id }, ...(mode === 'legacy' ? undefined : { _meta }) }
        const { text } = await send(url, own, { jsonrpc: '2.0', id, method: 'tools/call', params }, 'POST', agent)
        answers++
        const message = JSON.parse(/^(?:data: )?(\{.*\})$/m.exec(text)?.[1] ?? 'null')
        if (message?.id !== id || textOf(message.result) !== `${from}:${id}`) wrong.push(`${from}:${id} got ${text}`)
      }
    }
    await Promise.all(Array.from({ length: 50 }, (__, from) => run(from)))
    expect(wrong).toEqual([])
    expect(answers).toBe(10_000)
  }, 180_000)

  test('each client has a session of its own', async () => {
    const { url } = await start({ tools: [tool('where', (__, { session }) => session)] })
    const clients = await Promise.all([connect(url, mode), connect(url, mode), connect(url, mode)])
    const sessions = await Promise.all(
      clients.map(async (client) => textOf(await client.callTool({ name: 'where', arguments: {} }))),
    )
    expect(new Set(sessions).size).toBe(3)
  })

  test('what goes wrong within is told to the application, and to no client', async () => {
    const { url, reports } = await start(
      { tools: [now] },
      {
        extend: () => {
          throw new Error('secret of the application')
        },
      },
    )
    const failure: unknown = await connect(url, mode).catch((error: unknown) => error)
    expect(failure).toBeInstanceOf(Error)
    expect(String(failure)).not.toContain('secret')
    expect(reports.map(String).join()).toContain('secret of the application')
  })
})

test('a client of the newer era that shows who it is keeps its session from request to request', async () => {
  const token = (key: string): string | undefined =>
    new Map([
      ['key-a', 'ada'],
      ['key-b', 'ben'],
    ]).get(key)
  const { url } = await start({ tools: [tool('where', (_, { session }) => session)] }, {}, { token })
  const where = async (key: string): Promise<string> => {
    const client = await connect(url, { pin: '2026-07-28' }, {}, { authorization: `Bearer ${key}` })
    return textOf(await client.callTool({ name: 'where', arguments: {} }))
  }
  const [first, second, other] = [await where('key-a'), await where('key-a'), await where('key-b')]
  expect(first).toBe(second)
  expect(other).not.toBe(first)
})

test.each<[string, ListenOptions]>([
  ['without a token', { host: '0.0.0.0', hosts: ['tools.example'] }],
  ['without the names that it is reached under', { host: '0.0.0.0', token: 'secret' }],
  ['with an empty token', { token: ' ' }],
])('a server does not listen to others %s', async (_, options) => {
  const executor = createExecutor()
  await expect(mcpServer({ executor }).listen(options)).rejects.toThrow(InvalidConfigurationError)
})

test('a server says which port is taken', async () => {
  const { url, close } = await mcpServer({ executor: createExecutor() }).listen()
  closing(close)
  const port = Number(new URL(url).port)
  await expect(mcpServer({ executor: createExecutor() }).listen({ port })).rejects.toMatchObject({
    code: 'E_INVALID_CONFIGURATION',
    message: expect.stringContaining(`Port ${port} of 127.0.0.1 is taken: `),
  })
})

test('a handler can be mounted anywhere under its own name', async () => {
  const handler = mcpServer({ executor: createExecutor({ tools: [now] }) }).http({ hosts: ['tools.example'] })
  closing(() => handler.close())
  const ask = (host: string): Promise<Response> =>
    handler.fetch(
      new Request('https://tools.example/any/path', {
        method: 'POST',
        headers: { ...modern, host },
        body: JSON.stringify(list),
      }),
    )
  expect(await (await ask('tools.example')).json()).toMatchObject({ result: { tools: [{ name: 'now' }] } })
  expect((await ask('localhost')).status).toBe(403)
  await handler.close()
  expect((await ask('tools.example')).status).toBe(503)
})

test('a client that leaves in the middle of a body is no error, and a body that cannot be read otherwise is one', async () => {
  const reports: unknown[] = []
  const report = (error: unknown): void => void reports.push(error)
  const handler = mcpServer({ executor: createExecutor({ tools: [now] }), report }).http({ hosts: ['tools.example'] })
  closing(() => handler.close())
  const failing = (leaving: AbortController, hasLeft: boolean): Request => {
    const body = new ReadableStream({
      pull(controller) {
        if (hasLeft) leaving.abort()
        controller.error(new Error('aborted'))
      },
    })
    const headers = { 'content-type': 'application/json', host: 'tools.example' }
    const init = { method: 'POST', body, headers, duplex: 'half', signal: leaving.signal } as const
    return new Request('https://tools.example/mcp', init)
  }
  expect((await handler.fetch(failing(new AbortController(), true))).status).toBe(400)
  expect(reports).toEqual([])
  expect((await handler.fetch(failing(new AbortController(), false))).status).toBe(500)
  expect(reports.map(String)).toEqual(['Error: aborted'])
})
