import { createExecutor, tool, ToolFailure } from 'toolwright'
import { fromOpenaiAgents, openaiAgentsTools } from 'toolwright/frameworks/openai-agents'
import { describe, expect, test } from 'vitest'
import { z } from 'zod'
import { framework } from './_framework.ts'
import { missing } from './_installed.ts'
import { createKit, inProcess } from './_kit.ts'

const {
  RunContext,
  Runner,
  RunState,
  tool: agentsTool,
  webSearchTool,
} = await framework(() => import('@openai/agents'))
const { agentOf, modelOf, toolOutputOf } = await framework(() => import('./drivers/openai-agents.ts'))

const large = { id: 'c1', name: 'pay', args: { cents: 500 } }

describe.skipIf(missing !== undefined)('OpenAI Agents', () => {
  test('interrupts the run with the call, whose state goes on in another process, once', async () => {
    const kit = createKit()
    const { agent } = agentOf(kit.executor, modelOf([large]))
    const { interruptions, state } = await new Runner().run(agent, 'go', { context: { user: 'ada' } })
    expect(interruptions.map(({ name, arguments: text }) => [name, text])).toEqual([['pay', '{"cents":500}']])
    expect(kit.runs()).toEqual([])
    await kit.executor.close()
    const input = { file: kit.file, state: state.toString(), id: 'c1' }
    const first = await inProcess<{ words: string }>('_openai-agents-child.ts', input)
    expect(first.words).toBe('{"paid":500,"by":"ada"}')
    expect(await inProcess('_openai-agents-child.ts', input)).toEqual(first)
    expect(kit.runs()).toEqual(['pay 500'])
  })

  test('approves the calls that come after "always approve", and records each', async () => {
    const kit = createKit()
    const model = modelOf([large], [{ ...large, id: 'c2', args: { cents: 600 } }])
    const { agent } = agentOf(kit.executor, model)
    const { interruptions, state } = await new Runner().run(agent, 'go')
    const [asked] = interruptions
    if (asked === undefined) throw new Error('nothing was asked')
    state.approve(asked, { alwaysApprove: true })
    await new Runner().run(agent, state)
    expect(kit.runs()).toEqual(['pay 500', 'pay 600'])
    for (const id of ['c1', 'c2']) {
      expect((await kit.executor.calls.get(`run-1/${id}`)).approval).toMatchObject({ decidedBy: 'openai-agents' })
    }
  })

  test('hears of a rejection with its message, and closes the record', async () => {
    const kit = createKit()
    const { agent, passAnswers } = agentOf(kit.executor, modelOf([large]))
    const { interruptions, state } = await new Runner().run(agent, 'go')
    expect(await passAnswers(state)).toEqual([]) // not answered yet
    for (const asked of interruptions) state.reject(asked, { message: 'not on a Friday' })
    const [heard] = await passAnswers(state)
    expect(heard).toMatchObject({ status: 'denied', error: { message: expect.stringContaining('Friday') as string } })
    expect(kit.runs()).toEqual([])
  })

  test('refuses the duplicate keys of the model’s own text, which JSON.parse would hide', async () => {
    const kit = createKit()
    const model = modelOf([{ id: 'c1', name: 'pay', text: '{"cents":1,"cents":2}' }])
    await new Runner().run(agentOf(kit.executor, model).agent, 'go')
    expect(toolOutputOf(model, 'c1')).toContain('the key comes a second time')
    expect(kit.runs()).toEqual([])
  })

  test.each([
    ['{"cents":', 'An error occurred while parsing tool arguments'],
    ['', 'An error occurred while parsing tool arguments'],
    ['[1]', 'The args of pay are not valid: must be object, got array'],
    ['7', 'The args of pay are not valid: must be object, got number 7'],
  ])('is asked by the SDK about a call with the text %j, which then runs nothing', async (words, message) => {
    const kit = createKit()
    const { agent, passAnswers } = agentOf(kit.executor, modelOf([{ id: 'c1', name: 'pay', text: words }]))
    const { interruptions, state } = await new Runner().run(agent, 'go')
    expect(interruptions.map(({ name }) => name)).toEqual(['pay'])
    for (const asked of interruptions) state.approve(asked)
    expect(await passAnswers(state)).toEqual([])
    const model = modelOf()
    const resumed = await RunState.fromString(agentOf(kit.executor, model).agent, state.toString())
    await new Runner().run(agentOf(kit.executor, model).agent, resumed)
    expect(toolOutputOf(model, 'c1')).toContain(message)
    expect([kit.runs(), await kit.executor.calls.waiting()]).toEqual([[], []])
  })

  test('refuses a state whose args were changed after they were shown', async () => {
    const kit = createKit()
    const { agent } = agentOf(kit.executor, modelOf([large]))
    const { state } = await new Runner().run(agent, 'go')
    const forged = await RunState.fromString(agent, state.toString().replaceAll('500', '900'))
    for (const asked of forged.getInterruptions()) forged.approve(asked)
    const model = modelOf()
    await new Runner().run(agentOf(kit.executor, model).agent, forged).catch(() => {}) // the SDK may refuse it first
    expect(kit.runs()).toEqual([])
  })

  test('gives the model pictures as parts', async () => {
    const model = modelOf([{ id: 'c1', name: 'picture', args: {} }])
    await new Runner().run(agentOf(createKit().executor, model).agent, 'go')
    expect(toolOutputOf(model, 'c1')).toContain('data:image/png;base64,aGk=')
  })

  test('lists a tool whose schema is a union in the form that the API takes, and runs it with its own args', async () => {
    const find = tool({
      name: 'find',
      description: 'Finds',
      inputSchema: z.discriminatedUnion('by', [
        z.object({ by: z.literal('id'), id: z.number() }),
        z.object({ by: z.literal('name'), name: z.string() }),
      ]),
      handler: (input) => input,
    })
    const executor = createExecutor({ tools: [find] })
    const { tools } = openaiAgentsTools({ executor, session: 's', tool: agentsTool })
    expect(tools).toMatchObject([{ parameters: { type: 'object', required: ['input'] } }])
    const model = modelOf([{ id: 'c1', name: 'find', args: { input: { by: 'id', id: 5 } } }])
    await new Runner().run(agentOf(executor, model).agent, 'go')
    expect(toolOutputOf(model, 'c1')).toBe('{"by":"id","id":5}')
  })
})

describe.skipIf(missing !== undefined)('OpenAI Agents and names, and texts that are no JSON', () => {
  const called = { id: 'c1', name: 'drop-it', args: {} }

  test('run an approved call of a tool whose name has a dash, which the SDK would rename', async () => {
    const drop = tool({ name: 'drop-it', description: 'Drops', requiresConfirmation: true, handler: () => 'dropped' })
    const executor = createExecutor({ tools: [drop] })
    const model = modelOf([called])
    const { agent } = agentOf(executor, model)
    const { interruptions, state } = await new Runner().run(agent, 'go')
    expect(interruptions.map(({ name }) => name)).toEqual(['drop-it'])
    for (const interruption of interruptions) state.approve(interruption)
    await new Runner().run(agent, state)
    expect(toolOutputOf(model, 'c1')).toBe('dropped')
  })

  test('record that it was rejected', async () => {
    const drop = tool({ name: 'drop-it', description: 'Drops', requiresConfirmation: true, handler: () => 'dropped' })
    const { agent, passAnswers } = agentOf(createExecutor({ tools: [drop] }), modelOf([called]))
    const { interruptions, state } = await new Runner().run(agent, 'go')
    for (const interruption of interruptions) state.reject(interruption)
    expect(await passAnswers(state)).toMatchObject([{ toolName: 'drop-it', status: 'denied' }])
  })

  test('tell the model of a text that is no JSON, if nothing could ask a person, and interrupt nothing', async () => {
    const executor = createExecutor({ tools: [tool('now', () => '12:00')] })
    const model = modelOf([{ id: 'c1', name: 'now', text: '{"a":1,' }])
    const { finalOutput, interruptions } = await new Runner().run(agentOf(executor, model).agent, 'go')
    expect([finalOutput, interruptions]).toEqual(['done', []])
    expect(toolOutputOf(model, 'c1')).toContain('JSON')
  })

  const ask = () => ({ decision: 'ask' as const })
  const clock = { name: 'now', description: 'Tells the time', handler: () => '12:00' }
  test.each<[string, Parameters<typeof createExecutor>[0]]>([
    ['a policy', { tools: [tool(clock)], use: [{ policies: [{ name: 'careful', decide: ask }] }] }],
    ['a hook', { tools: [tool({ ...clock, hooks: { preToolUse: ask } })] }],
  ])('ask if only %s wants it', async (_title, config) => {
    const { interruptions } = await new Runner().run(
      agentOf(createExecutor(config), modelOf([{ id: 'c1', name: 'now', args: {} }])).agent,
      'go',
    )
    expect(interruptions).toHaveLength(1)
  })
})

describe.skipIf(missing !== undefined)('tools of OpenAI Agents', () => {
  const weather = () =>
    agentsTool({
      name: 'get_weather',
      description: 'Get the weather for a given city',
      parameters: z.object({ city: z.string() }),
      errorFunction: null,
      needsApproval: async (_context, { city }) => city === 'Atlantis',
      execute: async ({ city }, context) => {
        if (city === 'Nowhere') throw new ToolFailure('There is no such city.')
        return `${city} is sunny for ${String((context?.context as { user?: string } | undefined)?.user)}`
      },
    })

  test('are validated, run with the values of the call, and ask as they did', async () => {
    const reports: unknown[] = []
    const report = (error: unknown): void => void reports.push(error)
    const foreign = fromOpenaiAgents([weather(), webSearchTool()], { RunContext, report })
    expect(reports).toMatchObject([{ code: 'E_INVALID_CONFIGURATION' }])
    const executor = createExecutor({ tools: foreign })
    const call = (city: unknown) =>
      executor.execute({ name: 'get_weather', args: { city } }, { values: { user: 'ada' } })
    expect((await call('Oslo')).content).toEqual([{ type: 'text', text: 'Oslo is sunny for ada' }])
    expect((await call(5)).error?.code).toBe('E_INVALID_TOOL_ARGS')
    expect((await call('Nowhere')).error).toMatchObject({ code: 'E_TOOL_DOWNSTREAM_ERROR' })
    expect((await call('Atlantis')).status).toBe('waiting')
  })

  test('are cancelled by the signal that they know', async () => {
    const waits = agentsTool({
      name: 'waits',
      description: 'Waits',
      parameters: z.object({}),
      errorFunction: null,
      execute: (_input, _context, details) =>
        new Promise<string>((_resolve, reject) => {
          details?.signal?.addEventListener('abort', () => reject(new Error('left')))
          setImmediate(() => leaving.abort())
        }),
    })
    const leaving = new AbortController()
    const executor = createExecutor({ tools: fromOpenaiAgents([waits], { RunContext }) })
    expect((await executor.execute({ name: 'waits' }, { signal: leaving.signal })).status).toBe('cancelled')
  })

  const made = (fields: object, execute: () => unknown = () => 'done') =>
    agentsTool({ name: 'act', description: 'Acts', parameters: z.object({}), errorFunction: null, execute, ...fields })
  const act = async (fields: object, execute?: () => unknown) => {
    const executor = createExecutor({ tools: fromOpenaiAgents([made(fields, execute)], { RunContext }) })
    return executor.execute({ name: 'act' }, { values: { user: 'ada' } })
  }

  test.each<[string, unknown, object]>([
    [
      'a data address',
      { type: 'image', image: 'data:image/webp;base64,aGk=' },
      { mimeType: 'image/webp', data: 'aGk=' },
    ],
    [
      'bytes',
      { type: 'image', image: { data: Uint8Array.of(104, 105), mediaType: 'image/png' } },
      { mimeType: 'image/png', data: 'aGk=' },
    ],
    [
      'base64',
      { type: 'image', image: { data: 'aGk=', mediaType: 'image/gif' } },
      { mimeType: 'image/gif', data: 'aGk=' },
    ],
    [
      'a file',
      { type: 'file', file: { data: 'aGk=', mediaType: 'application/pdf', filename: 'a b.pdf' } },
      { resource: { uri: 'file:///a%20b.pdf', mimeType: 'application/pdf', blob: 'aGk=' } },
    ],
  ])('give pictures and files as %s', async (_title, output, block) => {
    expect((await act({}, () => output)).content).toMatchObject([block])
  })

  test('leave an address of a picture as the value that it is', async () => {
    const image = { type: 'image', image: 'https://example.com/a.png' }
    expect((await act({}, () => image)).value).toEqual(image)
  })

  test('keep their guardrails, which no agent runs here', async () => {
    const ran: string[] = []
    const guardrail = (type: string, seen: string) => ({
      name: 'careful',
      run: async ({ context }: { context: { context: { user: string } } }) => {
        ran.push(`${seen} ${context.context.user}`)
        return { behavior: { type, message: 'Not for you.' } }
      },
    })
    const execute = (): string => String(ran.push('run'))
    const refused = await act({ inputGuardrails: [guardrail('rejectContent', 'before')] }, execute)
    expect(refused).toMatchObject({ status: 'error', effect: 'none', content: [{ text: 'Not for you.' }] })
    expect(ran).toEqual(['before ada'])
    const stopped = await act({ inputGuardrails: [guardrail('throwException', 'before')] }, execute)
    expect(stopped.error?.message).toContain('The guardrail "careful" stopped the call.')
    const both = { inputGuardrails: [guardrail('allow', 'in')], outputGuardrails: [guardrail('rejectContent', 'out')] }
    expect((await act(both, execute)).content).toEqual([{ type: 'text', text: 'Not for you.' }])
    expect(ran.slice(-3)).toEqual(['in ada', 'run', 'out ada'])
  })

  test('keep their timeout, unless the application says otherwise, and are refused while they are not enabled', async () => {
    const patient = [made({ timeoutMs: 120_000 })]
    const timeoutsOf = (tools = {}) => fromOpenaiAgents(patient, { RunContext, tools }).map(({ timeout }) => timeout)
    expect([timeoutsOf(), timeoutsOf({ act: { timeout: 5_000 } })]).toEqual([[120_000], [5_000]])
    expect(await act({ isEnabled: false })).toMatchObject({
      status: 'error',
      effect: 'none',
      content: [{ text: 'Tool "act" is not enabled.' }],
    })
    expect((await act({ isEnabled: true })).value).toBe('done')
  })
})
