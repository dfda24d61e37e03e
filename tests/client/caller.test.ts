import { createExecutor, tool, type Tool, type ToolExecutor } from 'toolwright'
import { caller, type DirectMessage } from 'toolwright/client/caller'
import { expect, test } from 'vitest'

const add = tool('add', ({ a, b }: { a: number; b: number }) => a + b)

function made(...tools: Tool[]): ToolExecutor {
  return createExecutor({ tools })
}

test('a tool is a method, and its calls go through the pipeline', async () => {
  const executor = made(add)
  const events: unknown[] = []
  executor.on('call:received', ({ id, session }) => void events.push([id, session]))
  const result = await caller<'add'>(executor, { session: 'ada' }).add.invoke({ a: 1, b: 2 })
  expect(result).toMatchObject({ status: 'ok', content: [{ type: 'text', text: '3' }] })
  expect(events).toEqual([[expect.stringMatching(/^tooluse_[\da-f-]{36}$/), 'ada']])
})

test('three messages tell of each call that settled, without secrets, unless it says no', async () => {
  const records: (readonly DirectMessage[])[] = []
  const login = tool({
    name: 'log-in',
    description: 'Logs in',
    inputSchema: { type: 'object', properties: { key: { type: 'string' }, as: { type: 'string' } } },
    secrets: ['/key'],
    handler: ({ as }) => ({ as }),
  })
  const asking = tool({ name: 'ask', description: 'Asks', requiresConfirmation: true, handler: () => 1 })
  const tools = caller<'log_in' | 'ask' | 'none'>(made(login, asking), {
    record: (messages) => void records.push(messages),
  })
  await tools.log_in.invoke({ key: 'canary', as: 'ada' })
  await tools.log_in.invoke({}, { record: false })
  expect(await tools.ask.invoke()).toMatchObject({ status: 'waiting' })
  expect(await tools.none.invoke()).toMatchObject({ error: { code: 'E_TOOL_NOT_FOUND' } })
  const toolUseId = expect.stringMatching(/^tooluse_/) as string
  const input = { key: '[secret]', as: 'ada' }
  expect(records).toEqual([
    [
      {
        role: 'user',
        content: [{ text: `The tool log-in was called directly, with the input ${JSON.stringify(input)}.` }],
      },
      { role: 'assistant', content: [{ toolUse: { toolUseId, name: 'log-in', input } }] },
      { role: 'user', content: [{ toolResult: { toolUseId, status: 'success', content: [{ json: { as: 'ada' } }] } }] },
    ],
    [
      { role: 'user', content: [{ text: 'The tool none was called directly, with the input {}.' }] },
      { role: 'assistant', content: [{ toolUse: { toolUseId, name: 'none', input: {} } }] },
      {
        role: 'user',
        content: [{ toolResult: { toolUseId, status: 'error', content: [{ text: expect.any(String) as string }] } }],
      },
    ],
  ])
})

test('the messages of a call through a bridge have no secret of its tool, also if that is not shown', async () => {
  const recorded: (readonly DirectMessage[])[] = []
  const bridge = tool({ name: 'tool_call', description: 'Calls', type: 'bridge', inputSchema: { type: 'object' } })
  const login = tool({
    name: 'login',
    description: 'Logs in',
    inputSchema: { type: 'object' },
    secrets: ['/key'],
    handler: () => 'in',
  })
  const executor = createExecutor({ tools: [bridge, login], use: [{ offers: ({ type }) => type === 'bridge' }] })
  const tools = caller<'tool_call' | 'login'>(executor, { record: (messages) => void recorded.push(messages) })
  const args = { key: 'canary' }
  await tools.tool_call.invoke({ name: 'login', args })
  await tools.tool_call.invoke({ name: 'unknown', args })
  await tools.login.invoke(args)
  expect(recorded).toHaveLength(3)
  expect(JSON.stringify(recorded)).not.toContain('canary')
  expect(JSON.stringify(recorded[0])).toContain('"input":{"name":"login","args":{"key":"[secret]"}}')
})

test('the events of a call can be streamed', async () => {
  const count = tool('count', async function* () {
    yield 1
    return 'done'
  })
  const stream = caller<'count'>(made(count)).count.stream()
  const names: string[] = []
  let step = await stream.next()
  for (; step.done !== true; step = await stream.next()) names.push(step.value.event)
  expect(names).toEqual(['call:received', 'tool:start', 'tool:progress', 'tool:end', 'call:settled'])
  expect(step.value.status).toBe('ok')
})

test('it is no promise, no iterable and no tool itself', async () => {
  const tools = caller(made(add))
  expect(await Promise.resolve(tools)).toBe(tools)
  expect([
    tools['then'],
    Symbol.iterator in tools,
    (tools as unknown as { [key: symbol]: unknown })[Symbol.toPrimitive],
  ]).toEqual([undefined, false, undefined])
  expect(() => caller({} as ToolExecutor)).toThrow(expect.objectContaining({ code: 'E_INVALID_CONFIGURATION' }))
})
