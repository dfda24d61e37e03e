import { createExecutor, tool, ToolFailure } from 'toolwright'
import { fromOpenaiAgents, openaiAgentsTools } from 'toolwright/frameworks/openai-agents'
import { describe, expect, test } from 'vitest'
import { z } from 'zod'
import { framework } from './_framework.ts'
import { missing } from './_installed.ts'
import { inProcess, kit } from './_kit.ts'

const {
  RunContext,
  Runner,
  RunState,
  tool: agentsTool,
  webSearchTool,
} = await framework(() => import('@openai/agents'))
const { agentOf, modelOf, toldOf } = await framework(() => import('./drivers/openai-agents.ts'))

const large = { id: 'c1', name: 'pay', args: { cents: 500 } }

describe.skipIf(missing !== undefined)('OpenAI Agents', () => {
  test('interrupts the run with the call, whose state goes on in another process, once', async () => {
    const its = kit()
    const { agent } = agentOf(its.executor, modelOf([large]))
    const { interruptions, state } = await new Runner().run(agent, 'go', { context: { user: 'ada' } })
    expect(interruptions.map(({ name, arguments: text }) => [name, text])).toEqual([['pay', '{"cents":500}']])
    expect(its.runs()).toEqual([])
    await its.executor.close()
    const input = { file: its.file, state: state.toString(), id: 'c1' }
    const first = await inProcess<{ words: string }>('_openai-agents-child.ts', input)
    expect(first.words).toBe('{"paid":500,"by":"ada"}')
    expect(await inProcess('_openai-agents-child.ts', input)).toEqual(first)
    expect(its.runs()).toEqual(['pay 500'])
  })

  test('approves the calls that come after "always approve", and records each', async () => {
    const its = kit()
    const model = modelOf([large], [{ ...large, id: 'c2', args: { cents: 600 } }])
    const { agent } = agentOf(its.executor, model)
    const { interruptions, state } = await new Runner().run(agent, 'go')
    const [asked] = interruptions
    if (asked === undefined) throw new Error('nothing was asked')
    state.approve(asked, { alwaysApprove: true })
    await new Runner().run(agent, state)
    expect(its.runs()).toEqual(['pay 500', 'pay 600'])
    for (const id of ['c1', 'c2']) {
      expect((await its.executor.calls.get(`run-1/${id}`)).approval).toMatchObject({ decidedBy: 'openai-agents' })
    }
  })

  test('hears of a rejection with its message, and closes the record', async () => {
    const its = kit()
    const { agent, passAnswers } = agentOf(its.executor, modelOf([large]))
    const { interruptions, state } = await new Runner().run(agent, 'go')
    expect(await passAnswers(state)).toEqual([]) // not answered yet
    for (const asked of interruptions) state.reject(asked, { message: 'not on a Friday' })
    const [heard] = await passAnswers(state)
    expect(heard).toMatchObject({ status: 'denied', error: { message: expect.stringContaining('Friday') as string } })
    expect(its.runs()).toEqual([])
  })

  test('refuses the duplicate keys of the model’s own text, which JSON.parse would hide', async () => {
    const its = kit()
    const model = modelOf([{ id: 'c1', name: 'pay', text: '{"cents":1,"cents":2}' }])
    await new Runner().run(agentOf(its.executor, model).agent, 'go')
    expect(toldOf(model, 'c1')).toContain('the key comes a second time')
    expect(its.runs()).toEqual([])
  })

  test.each([
    ['{"cents":', 'An error occurred while parsing tool arguments'],
    ['', 'An error occurred while parsing tool arguments'],
    ['[1]', 'The args of pay are not valid: must be object, got array'],
    ['7', 'The args of pay are not valid: must be object, got number 7'],
  ])('is asked by the SDK about a call with the text %j, which then runs nothing', async (words, told) => {
    const its = kit()
    const { agent, passAnswers } = agentOf(its.executor, modelOf([{ id: 'c1', name: 'pay', text: words }]))
    const { interruptions, state } = await new Runner().run(agent, 'go')
    expect(interruptions.map(({ name }) => name)).toEqual(['pay'])
    for (const asked of interruptions) state.approve(asked)
    expect(await passAnswers(state)).toEqual([])
    const model = modelOf()
    const resumed = await RunState.fromString(agentOf(its.executor, model).agent, state.toString())
    await new Runner().run(agentOf(its.executor, model).agent, resumed)
    expect(toldOf(model, 'c1')).toContain(told)
    expect([its.runs(), await its.executor.calls.waiting()]).toEqual([[], []])
  })

  test('refuses a state whose args were changed after they were shown', async () => {
    const its = kit()
    const { agent } = agentOf(its.executor, modelOf([large]))
    const { state } = await new Runner().run(agent, 'go')
    const forged = await RunState.fromString(agent, state.toString().replaceAll('500', '900'))
    for (const asked of forged.getInterruptions()) forged.approve(asked)
    const model = modelOf()
    await new Runner().run(agentOf(its.executor, model).agent, forged).catch(() => {}) // the SDK may refuse it first
    expect(its.runs()).toEqual([])
  })

  test('gives the model pictures as parts', async () => {
    const model = modelOf([{ id: 'c1', name: 'picture', args: {} }])
    await new Runner().run(agentOf(kit().executor, model).agent, 'go')
    expect(toldOf(model, 'c1')).toContain('data:image/png;base64,aGk=')
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
    expect(toldOf(model, 'c1')).toBe('{"by":"id","id":5}')
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
})
