import { ProtocolError } from '@modelcontextprotocol/client'
import { content, createExecutor, tool, ToolRegistry, type Extension, type Tool } from 'toolwright'
import { InvalidConfigurationError, ToolFailure } from 'toolwright/errors'
import { artifactTools } from 'toolwright/artifacts/tools'
import { mcpServer } from 'toolwright/mcp/server'
import { describe, expect, test, vi } from 'vitest'
import { z } from 'zod'
import { connect, eras, start, textOf } from './_server.ts'

const forecast = tool({
  name: 'get_forecast',
  title: 'Forecast',
  description: 'Weather forecast for a city',
  inputSchema: z.object({ city: z.string(), days: z.number().int().default(3) }),
  outputSchema: z.object({ city: z.string(), days: z.number() }),
  traits: { readonly: true, idempotent: true, openWorld: true },
  handler: ({ city, days }) => ({ city, days }),
})

describe.each(eras)('in the era of %s, a client', (_, mode) => {
  test('is shown tools with their schemas, their hints and their views', async () => {
    const remove = tool({
      name: 'remove',
      description: 'Removes everything',
      traits: { destructive: true },
      ui: { resourceUri: 'ui://app/view', visibility: ['model'] },
      handler: () => 'gone',
    })
    const { url } = await start({ tools: [forecast, remove] })
    const { tools } = await (await connect(url, mode)).listTools()
    expect(tools).toMatchObject([
      {
        name: 'get_forecast',
        title: 'Forecast',
        inputSchema: { type: 'object', properties: { city: { type: 'string' } }, required: ['city'] },
        outputSchema: { type: 'object', required: ['city', 'days'] },
        annotations: { title: 'Forecast', readOnlyHint: true, idempotentHint: true, openWorldHint: true },
      },
      {
        name: 'remove',
        annotations: { readOnlyHint: false, destructiveHint: true },
        _meta: { ui: { resourceUri: 'ui://app/view', visibility: ['model'] } },
      },
    ])
  })

  test('gets the list in pages, in its order, whatever their size', async () => {
    const names = Array.from({ length: 23 }, (__, index) => `tool_${index}`)
    const { url } = await start({ tools: names.map((name) => tool(name, () => name)) }, { pageSize: 5 })
    const client = await connect(url, mode)
    const found: string[] = []
    let cursor: string | undefined
    let pages = 0
    do {
      const page = await client.request({ method: 'tools/list', params: cursor === undefined ? {} : { cursor } })
      expect(page.tools.length).toBeLessThanOrEqual(5)
      found.push(...page.tools.map(({ name }) => name))
      cursor = page.nextCursor
      pages++
    } while (cursor !== undefined)
    expect(found).toEqual(names)
    expect(pages).toBe(5)
    await expect(client.request({ method: 'tools/list', params: { cursor: 'nonsense' } })).rejects.toMatchObject({
      code: -32_602,
    })
  })

  test('gets the rest of the list where one tool cannot be said', async () => {
    const broken = tool({
      name: 'broken',
      description: 'x',
      inputSchema: z.object({ when: z.date() }),
      handler: () => 1,
    })
    const odd = tool({
      name: 'odd',
      description: 'x',
      providerOptions: { mcp: { inputSchema: 'not a schema' } },
      handler: () => 1,
    })
    const { url, reports } = await start({ tools: [broken, odd, forecast] as Tool[] })
    const client = await connect(url, mode)
    expect((await client.listTools()).tools.map(({ name }) => name)).toEqual(['get_forecast'])
    expect(reports.map(String).join()).toMatch(/broken.*odd/s)
  })

  test('reads the result as text and, where there is a schema of it, as a value', async () => {
    const { url } = await start({ tools: [forecast] })
    const client = await connect(url, mode)
    const result = await client.callTool({ name: 'get_forecast', arguments: { city: 'Oslo' } })
    expect(result).toMatchObject({ structuredContent: { city: 'Oslo', days: 3 } })
    expect(result.isError).not.toBe(true)
    expect(textOf(result)).toBe('{"city":"Oslo","days":3}')
  })

  test.each<[string, unknown, z.ZodType]>([
    ['a list', [1, 2, 3], z.array(z.number())],
    ['a number', 42, z.number()],
    ['a text', '42', z.string()],
    ['a boolean', true, z.boolean()],
  ])('reads %s as a value too', async (__, value, outputSchema) => {
    const { url } = await start({
      tools: [tool({ name: 'give', description: 'x', outputSchema, handler: () => value })],
    })
    const client = await connect(url, mode)
    await client.listTools()
    const { structuredContent, isError } = await client.callTool({ name: 'give', arguments: {} })
    expect(isError).not.toBe(true)
    // The older era knows objects alone: another value is put into one.
    expect(structuredContent).toEqual(mode === 'legacy' ? { result: value } : value)
  })

  test('reads pictures, sounds and resources as they are', async () => {
    const blocks = [
      { type: 'image', data: 'AAAA', mimeType: 'image/png' },
      { type: 'audio', data: 'AAAA', mimeType: 'audio/wav' },
      { type: 'resource', resource: { uri: 'a://b', text: 'words', mimeType: 'text/plain' } },
      { type: 'resource_link', uri: 'a://c', name: 'c' },
    ] as const
    const { url } = await start({ tools: [tool('show', () => content(blocks))] })
    const result = await (await connect(url, mode)).callTool({ name: 'show', arguments: {} })
    expect(result.content).toEqual(blocks)
  })

  test('reads what went wrong in a result, so that its model can do better', async () => {
    const fails = tool('fails', () => {
      throw new ToolFailure('The disk is full.', { recommendations: ['Delete something.'] })
    })
    const slow = tool({ name: 'slow', description: 'x', timeout: 20, handler: () => new Promise(() => {}) })
    const denied: Extension = {
      policies: [
        {
          name: 'no',
          decide: ({ tool: { name } }: { tool: { name: string } }) =>
            name === 'denied' ? { decision: 'deny' as const, reason: 'Not today.' } : undefined,
        },
      ],
    }
    const { url } = await start({ tools: [fails, slow, forecast, tool('denied', () => 1)] as Tool[], use: [denied] })
    const client = await connect(url, mode)
    const call = (name: string, args = {}): Promise<string> =>
      client.callTool({ name, arguments: args }).then((result) => `${result.isError} ${textOf(result)}`)
    expect(await call('fails')).toMatch(/^true .*The disk is full/s)
    expect(await call('slow')).toMatch(/^true .*20 ms/)
    expect(await call('denied')).toMatch(/^true .*Not today/)
    expect(await call('get_forecast', { city: 7 })).toMatch(/^true .*city/)
  })

  test('is told in an error of the protocol that there is no such tool, and not of those that it may not see', async () => {
    const secret = tool({ name: 'secret', description: 'x', audience: 'user', handler: () => 'secret' })
    const { url } = await start({ tools: [forecast, secret] as Tool[] })
    const client = await connect(url, mode)
    expect((await client.listTools()).tools).toHaveLength(1)
    const errors = await Promise.all(
      ['secret', 'no_such_tool'].map((name) =>
        client.callTool({ name, arguments: {} }).catch((error: unknown) => error),
      ),
    )
    for (const error of errors) {
      expect(error).toBeInstanceOf(ProtocolError)
      expect(error).toMatchObject({ code: -32_602 })
      expect(String(error)).not.toMatch(/Available: .*secret/)
    }
  })

  test('that serves the user is shown what is for the user', async () => {
    const own = tool({ name: 'own', description: 'x', audience: 'user', handler: () => 'mine' })
    const { url } = await start({ tools: [own] as Tool[] }, { caller: 'user' })
    const client = await connect(url, mode)
    expect((await client.listTools()).tools.map(({ name }) => name)).toEqual(['own'])
    expect(textOf(await client.callTool({ name: 'own', arguments: {} }))).toBe('mine')
  })

  test('that shows views may call what is for them alone, and others do not see it', async () => {
    const refresh = tool({
      name: 'refresh',
      description: 'x',
      ui: { visibility: ['app'] },
      mcpConfig: { serverName: 'weather' },
      handler: (__, { caller }) => JSON.stringify(caller),
    })
    const foreign = tool({
      name: 'foreign',
      description: 'x',
      ui: { visibility: ['app'] },
      mcpConfig: { serverName: 'another' },
      handler: () => 1,
    })
    const { url } = await start({ tools: [forecast, refresh, foreign] as Tool[] }, { name: 'weather' })
    const extensions = { 'io.modelcontextprotocol/ui': { mimeTypes: ['text/html;profile=mcp-app'] } }
    const host = await connect(url, mode, { capabilities: { extensions } })
    expect((await host.listTools()).tools.map(({ name }) => name)).toEqual(['get_forecast', 'refresh'])
    expect(textOf(await host.callTool({ name: 'refresh', arguments: {} }))).toBe('{"app":"weather"}')
    await expect(host.callTool({ name: 'foreign', arguments: {} })).rejects.toMatchObject({ code: -32_602 })
    const plain = await connect(url, mode)
    expect((await plain.listTools()).tools.map(({ name }) => name)).toEqual(['get_forecast'])
    await expect(plain.callTool({ name: 'refresh', arguments: {} })).rejects.toMatchObject({ code: -32_602 })
  })

  test('hears progress in rising numbers, where it asked for it', async () => {
    const steps = tool('steps', async function* (__, { emit }) {
      yield 'reading'
      await new Promise((resolve) => setTimeout(resolve, 5))
      yield { progress: 50, total: 100, message: 'half' }
      await new Promise((resolve) => setTimeout(resolve, 5))
      emit('progress', { progress: 10, message: 'back' })
      await new Promise((resolve) => setTimeout(resolve, 5))
      return 'done'
    })
    const { url } = await start({ tools: [steps] })
    const client = await connect(url, mode)
    const heard: unknown[] = []
    const result = await client.callTool(
      { name: 'steps', arguments: {} },
      { onprogress: (step) => void heard.push(step) },
    )
    expect(textOf(result)).toBe('done')
    expect(heard).toEqual([
      { progress: 1, message: 'reading' },
      { progress: 50, total: 100, message: 'half' },
      { progress: 51, message: 'back' },
    ])
    expect(textOf(await client.callTool({ name: 'steps', arguments: {} }))).toBe('done')
  })

  test('hears of progress in numbers as numbers, with a message only if the handler gave one', async () => {
    const steps = tool('steps', async function* () {
      yield { progress: 1, total: 3 }
      await new Promise((resolve) => setImmediate(resolve))
      yield { progress: 2, total: 3, message: 'nearly' }
      await new Promise((resolve) => setImmediate(resolve))
      yield { progress: 3, total: 3, message: null }
      return 'done'
    })
    const { url } = await start({ tools: [steps] })
    const client = await connect(url, mode)
    const heard: unknown[] = []
    await client.callTool({ name: 'steps', arguments: {} }, { onprogress: (step) => void heard.push(step) })
    expect(heard).toEqual([
      { progress: 1, total: 3 },
      { progress: 2, total: 3, message: 'nearly' },
      { progress: 3, total: 3 },
    ])
  })

  test('gives a call up, and the handler hears of it', async () => {
    const aborted = Promise.withResolvers<unknown>()
    const begun = Promise.withResolvers<void>()
    const wait = tool('wait', (__, { signal }) => {
      signal.addEventListener('abort', () => aborted.resolve(signal.reason))
      begun.resolve()
      return new Promise(() => {})
    })
    const { url, executor } = await start({ tools: [wait] })
    const settled = new Promise<string>((resolve) => executor.on('call:settled', ({ status }) => resolve(status)))
    const client = await connect(url, mode)
    const leaving = new AbortController()
    const call = client.callTool({ name: 'wait', arguments: {} }, { signal: leaving.signal })
    await begun.promise
    leaving.abort()
    await expect(call).rejects.toThrow()
    expect(await aborted.promise).toBeDefined()
    expect(await settled).toBe('cancelled')
  })

  test('is not shown a tool that is hidden, is told when it is, and may call it', async () => {
    const tools = new ToolRegistry([forecast, tool('later', () => 'called')])
    const { url } = await start({ tools })
    const heard = Promise.withResolvers<string[] | undefined>()
    const onChanged = (__: unknown, list: readonly { readonly name: string }[] | null): void => {
      heard.resolve(list?.map(({ name }) => name))
    }
    const client = await connect(url, mode, { listChanged: { tools: { debounceMs: 0, onChanged } } })
    expect((await client.listTools()).tools).toHaveLength(2)
    tools.hide('later')
    expect(await heard.promise).toEqual([forecast.name])
    expect(textOf(await client.callTool({ name: 'later', arguments: {} }))).toBe('called')
  })

  test('is told when tools come and go', async () => {
    const tools = new ToolRegistry([forecast])
    const { url } = await start({ tools })
    const changes: (string[] | undefined)[] = []
    const onChanged = (__: unknown, list: readonly { readonly name: string }[] | null): void => {
      changes.push(list?.map(({ name }) => name))
    }
    const client = await connect(url, mode, { listChanged: { tools: { debounceMs: 0, onChanged } } })
    await client.listTools()
    // The stream on which it is told opens behind its back: until then there is a change again and again.
    await vi.waitFor(() => {
      tools.add(tool('early', () => 1))()
      expect(changes).not.toEqual([])
    })
    const undo = tools.add(tool('added', () => 1))
    await vi.waitFor(() => expect(changes.at(-1)).toEqual(['get_forecast', 'added']))
    undo()
    await vi.waitFor(() => expect(changes.at(-1)).toEqual(['get_forecast']))
  })

  test('of one connection is told of tools that an extension gives its session after a call', async () => {
    const log = tool('read_log', () => 'line\n'.repeat(20_000))
    const { url } = await start({ tools: [log], use: [artifactTools({ enumerate: true, only: ['artifact_head'] })] })
    const changes: (string[] | undefined)[] = []
    const onChanged = (__: unknown, list: readonly { readonly name: string }[] | null): void => {
      changes.push(list?.map(({ name }) => name))
    }
    const client = await connect(url, mode, { listChanged: { tools: { debounceMs: 0, onChanged } } })
    const namesNow = async (): Promise<string[]> => (await client.listTools()).tools.map(({ name }) => name)
    expect(await namesNow()).toEqual(['read_log'])
    await vi.waitFor(async () => {
      await client.callTool({ name: 'read_log', arguments: {} })
      if (mode === 'legacy') expect(changes.at(-1)).toEqual(['read_log', 'artifact_head'])
    })
    // Without connections each request has a session of its own, and nothing of the one before.
    expect(await namesNow()).toEqual(mode === 'legacy' ? ['read_log', 'artifact_head'] : ['read_log'])
  })

  test('finds the data of the application in its calls, and the application what came with them', async () => {
    const seen: unknown[] = []
    const who = tool('who', (__, { values, session }) => JSON.stringify([values, session]))
    const { url } = await start(
      { tools: [who] },
      {
        values: ({ session, principal }) => ({ session, principal }),
        around: (meta, run) => {
          seen.push(meta)
          return run()
        },
      },
      { token: (key) => (key === 'key-of-ada' ? 'ada' : undefined) },
    )
    const client = await connect(url, mode, {}, { authorization: 'Bearer key-of-ada' })
    const _meta = { traceparent: '00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01' }
    const [values, session] = JSON.parse(textOf(await client.callTool({ name: 'who', arguments: {}, _meta })))
    expect(values).toEqual({ session, principal: 'ada' })
    expect(seen).toMatchObject([_meta])
  })

  test('gets the result of a handler that says what cannot be said', async () => {
    const breaking = {
      get data(): never {
        throw new Error('broken')
      },
      get message(): never {
        throw new Error('broken')
      },
    }
    const talk = tool('talk', async (__, { emit }) => {
      for (const said of [breaking, { data: 1n, message: 1n }, undefined]) {
        emit('log', said)
        emit('said', said)
        await Promise.resolve()
      }
      return 'done'
    })
    const { url, reports } = await start({ tools: [talk] })
    const client = await connect(url, mode)
    const result = await client.callTool({ name: 'talk', arguments: {} }, { onprogress: () => {} })
    expect(textOf(result)).toBe('done')
    expect(reports).toEqual([])
  })

  test('is told of a flood up to a bound, since what it does not read is kept for it', async () => {
    const flood = tool('flood', async (__, { emit }) => {
      for (let count = 0; count < 800; count++) emit('log', 'x'.repeat(50_000))
      emit('log', 'the end')
      return 'done'
    })
    const { url } = await start({ tools: [flood] })
    const client = await connect(url, mode)
    const heard: string[] = []
    client.setNotificationHandler('notifications/message', ({ params }) => void heard.push(String(params.data)))
    const _meta = { 'io.modelcontextprotocol/logLevel': 'info' as const }
    await client.callTool({ name: 'flood', arguments: {}, ...(mode === 'legacy' ? {} : { _meta }) })
    expect(heard.map((words) => words.length)).toEqual([...Array.from({ length: 167 }, () => 50_000), 7])
  })

  test('hears what a handler logs', async () => {
    const talk = tool('talk', async (__, { emit }) => {
      emit('log', { level: 'warning', data: { disk: 'full' }, logger: 'disk' })
      emit('log', 'as it is')
      return 'done'
    })
    const { url } = await start({ tools: [talk] })
    const client = await connect(url, mode)
    const heard: unknown[] = []
    client.setNotificationHandler('notifications/message', ({ params }) => void heard.push(params))
    const _meta = { 'io.modelcontextprotocol/logLevel': 'info' as const }
    await client.callTool({ name: 'talk', arguments: {}, ...(mode === 'legacy' ? {} : { _meta }) })
    expect(heard).toMatchObject([
      { level: 'warning', data: { disk: 'full' }, logger: 'disk' },
      { level: 'info', data: 'as it is' },
    ])
  })
})

test.each([
  ['no executor', {}],
  ['an executor that is none', { executor: { execute: () => {} } }],
  ['a page of nothing', { executor: createExecutor(), pageSize: 0 }],
  ['half a page', { executor: createExecutor(), pageSize: 1.5 }],
  ['approvals that nothing gives', { executor: createExecutor(), approvals: 'none' }],
])('mcpServer refuses %s', (_, options) => {
  expect(() => mcpServer(options as never)).toThrow(InvalidConfigurationError)
})
