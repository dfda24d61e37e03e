// Mastra, the package itself, with a model that says what it was told to say.
import { createExecutor, tool } from 'toolwright'
import { fromMastra } from 'toolwright/frameworks/mastra'
import { describe, expect, test } from 'vitest'
import { z } from 'zod'
import { framework } from './_framework.ts'
import { missing } from './_installed.ts'
import { createKit, inProcess, journalFile } from './_kit.ts'
import { runsOf } from './_tools.ts'

const { agentOf, read } = await framework(() => import('./drivers/mastra.ts'))
const { modelOf, toolOutputOf } = await framework(() => import('./_ai-model.ts'))
const { createTool } = await framework(() => import('@mastra/core/tools'))
const { RequestContext } = await framework(() => import('@mastra/core/request-context'))
const { createStep, createWorkflow } = await framework(() => import('@mastra/core/workflows'))
const { mastraTools } = await framework(() => import('toolwright/frameworks/mastra'))
const { Mastra } = await framework(() => import('@mastra/core'))
const { InMemoryStore } = await framework(() => import('@mastra/core/storage'))

const pay = (cents: number) => ({ id: `c${cents}`, name: 'pay', args: { cents } })

describe.skipIf(missing !== undefined)('mastraTools', () => {
  test('use the id of the tool call, and the request context as values', async () => {
    const { executor } = createKit()
    const model = modelOf({ calls: [pay(5)] }, { text: 'done' })
    const requestContext = new RequestContext([['user', 'ada']])
    const { results } = await read(await agentOf(executor, model).stream('go', { requestContext }))
    expect(results).toMatchObject([{ toolCallId: 'c5', result: { status: 'ok', invocationId: 'thread-1/c5' } }])
    expect(toolOutputOf(model.doStreamCalls.at(-1)?.prompt, 'c5')).toEqual({
      type: 'json',
      value: { paid: 5, by: 'ada' },
    })
    expect(await executor.calls.get('thread-1/c5')).toMatchObject({ status: 'ok', toolCallId: 'c5' })
  })

  test('write their progress, and keep JSON without a token', async () => {
    const model = modelOf({ calls: [{ id: 'c1', name: 'count', args: {} }] }, { text: 'done' })
    const { written, results } = await read(await agentOf(createKit().executor, model).stream('go'))
    expect(written).toEqual(
      ['one', 'two'].map((data) => ({ toolCallId: 'c1', toolName: 'count', type: 'yield', data })),
    )
    expect(results[0]?.result).not.toHaveProperty('token')
  })

  test('suspend the run, and go on with the answer', async () => {
    const { executor, runs } = createKit()
    const agent = agentOf(executor, modelOf({ calls: [pay(5), pay(500)] }, { text: 'done' }))
    const { runId, suspended } = await read(await agent.stream('go'))
    expect(suspended).toMatchObject([
      { toolCallId: 'c500', suspendPayload: { prompt: 'Pay 500?', toolCallId: 'c500' } },
    ])
    expect(runs()).toEqual(['pay 5'])
    const resumed = await agent.resumeStream({ approved: true, note: 'fine' }, { runId, toolCallId: 'c500' })
    expect((await read(resumed)).results.at(-1)).toMatchObject({ toolCallId: 'c500', result: { status: 'ok' } })
    expect(runs()).toEqual(['pay 5', 'pay 500'])
    const { approval } = await executor.calls.get('thread-1/c500')
    expect(approval).toMatchObject({ decidedBy: 'mastra', note: 'fine' })
  })

  test('run at once if no person could be asked about them', async () => {
    const { promise: bothRun, resolve } = Promise.withResolvers<void>()
    let running = 0
    const meet = tool('meet', async () => {
      running++
      if (running === 2) resolve()
      await bothRun
      return 'met'
    })
    const calls = ['c1', 'c2'].map((id) => ({ id, name: 'meet', args: {} }))
    const executor = createExecutor({ tools: [meet] })
    const { results } = await read(await agentOf(executor, modelOf({ calls }, { text: 'done' })).stream('go'))
    expect(results).toMatchObject([{ result: { status: 'ok' } }, { result: { status: 'ok' } }])
  })

  test('suspend the run too if only a policy asks', async () => {
    const use = [{ policies: [{ name: 'careful', decide: () => ({ decision: 'ask' as const }) }] }]
    const executor = createExecutor({ tools: [tool('now', () => '12:00')], use })
    const calls = ['c1', 'c2'].map((id) => ({ id, name: 'now', args: {} }))
    const { suspended } = await read(await agentOf(executor, modelOf({ calls }, { text: 'done' })).stream('go'))
    expect(suspended).toMatchObject([{ toolCallId: 'c1' }]) // one after the other
  })

  test.each([[{ approved: false }], [{ approved: 'true' }], [{ approved: 1 }], [{}]])(
    'take %j for no',
    async (answer) => {
      const { executor, runs } = createKit()
      const agent = agentOf(executor, modelOf({ calls: [pay(500)] }, { text: 'done' }))
      const { runId } = await read(await agent.stream('go'))
      const { results } = await read(await agent.resumeStream(answer, { runId, toolCallId: 'c500' }))
      expect(results).toMatchObject([{ result: { status: 'denied' } }])
      expect(runs()).toEqual([])
    },
  )

  test('do not run what no person was asked, nor other args than were shown', async () => {
    const { executor, runs } = createKit()
    const [payTool] = Object.values(mastraTools({ executor, session: 'thread-1', createTool }))
    const agent = { agentId: 'payer', toolCallId: 'c500', messages: [], suspend: () => Promise.resolve() }
    const forge = (cents: number, id = 'c500') =>
      payTool?.execute?.(
        { cents } as never,
        { agent: { ...agent, toolCallId: id, resumeData: { approved: true } } } as never,
      )
    await read(await agentOf(executor, modelOf({ calls: [pay(500)] }, { text: 'done' })).stream('go'))
    expect(await forge(90_000)).toMatchObject({ error: { code: 'E_DUPLICATE_INVOCATION' } })
    expect(runs()).toEqual([])
  })

  test('go on in another process, from their journal and Mastra’s storage', async () => {
    const file = journalFile()
    const first = await inProcess('_mastra-child.ts', { file })
    expect(first).toMatchObject({ suspended: [{ toolCallId: 'c500', suspendPayload: { prompt: 'Pay 500?' } }] })
    expect(runsOf(file)).toEqual(['pay 5'])
    const { prompt } = await inProcess<{ prompt: unknown }>('_mastra-child.ts', { file, answer: { approved: true } })
    expect(toolOutputOf(prompt, 'c500')).toMatchObject({ value: { paid: 500 } })
    expect(runsOf(file)).toEqual(['pay 5', 'pay 500'])
  })

  test('are steps of workflows: each run of a step is a call, and a suspended one goes on', async () => {
    const { executor, runs } = createKit()
    const tools = mastraTools({ executor, session: 'thread-1', createTool })
    const workflow = createWorkflow({ id: 'payments', inputSchema: z.any(), outputSchema: z.any() })
      .then(createStep(tools['pay'] as never))
      .map(() => Promise.resolve({ cents: 500 }) as never)
      .then(createStep({ ...(createStep(tools['pay'] as never) as object), id: 'pay-more' } as never))
      .commit()
    const mastra = new Mastra({ workflows: { workflow }, storage: new InMemoryStore(), logger: false })
    const run = await mastra.getWorkflow('workflow').createRun()
    const suspended = await run.start({ inputData: { cents: 5 } })
    expect(suspended.status).toBe('suspended')
    expect(runs()).toEqual(['pay 5'])
    const over = await run.resume({ step: 'pay-more', resumeData: { approved: true } })
    expect(over).toMatchObject({ status: 'success', result: { status: 'ok' } })
    expect(runs()).toEqual(['pay 5', 'pay 500'])
  })
})

describe.skipIf(missing !== undefined)('fromMastra', () => {
  const weather = () =>
    createTool({
      id: 'weather',
      description: 'Tells the weather',
      inputSchema: z.object({ city: z.string().min(2) }),
      requireApproval: ({ city }) => Promise.resolve(city === 'Atlantis'),
      toModelOutput: (output) => ({ type: 'text', value: `Fine in ${(output as { city: string }).city}` }),
      execute: async ({ city }, { writer, requestContext }) => {
        await writer?.write({ looking: city })
        return { city, user: (requestContext as { get(key: string): unknown } | undefined)?.get('user') }
      },
    })

  test('validates, asks, runs, and keeps the output beside the words for the model', async () => {
    const requestContext = (values: object) => new RequestContext(Object.entries(values))
    const executor = createExecutor({ tools: fromMastra([weather()], { requestContext }) })
    const progress: unknown[] = []
    executor.on('tool:progress', ({ data }) => void progress.push(data))
    const result = await executor.execute({ name: 'weather', args: { city: 'Oslo' } }, { values: { user: 'ada' } })
    expect(result.content).toEqual([{ type: 'text', text: 'Fine in Oslo' }])
    expect(await result.artifact?.cat()).toBe('{"city":"Oslo","user":"ada"}')
    expect(progress).toEqual([{ looking: 'Oslo' }])
    expect((await executor.execute({ name: 'weather', args: { city: 'O' } })).error?.code).toBe('E_INVALID_TOOL_ARGS')
    expect((await executor.execute({ name: 'weather', args: { city: 'Atlantis' } })).status).toBe('waiting')
  })

  test('parses args once, so that a transform gets what the model sent', async () => {
    const plan = createTool({
      id: 'plan',
      description: 'Plans',
      inputSchema: z.object({ day: z.iso.date().transform((day) => new Date(day)), days: z.number().default(2) }),
      execute: ({ day, days }) => Promise.resolve(`${day.getUTCFullYear()}, ${days} days`),
    })
    const [made] = fromMastra([plan])
    expect(made?.describe().inputSchema).toMatchObject({ properties: { days: { default: 2 } }, required: ['day'] })
    const executor = createExecutor({ tools: [made!] })
    expect((await executor.execute({ name: 'plan', args: { day: '2026-05-01' } })).value).toBe('2026, 2 days')
    expect((await executor.execute({ name: 'plan', args: { day: 'May' } })).error?.code).toBe('E_INVALID_TOOL_ARGS')
  })

  test('passes on errors and the signal, and fails if a tool suspends its run', async () => {
    const make = (id: string, execute: (context: { abortSignal?: AbortSignal; suspend?: never }) => Promise<unknown>) =>
      createTool({
        id,
        description: id,
        inputSchema: z.object({}),
        execute: (_, context) => execute(context as never) as never,
      })
    const leaving = new AbortController()
    const tools = [
      make('fails', () => Promise.reject(new Error('no disk'))),
      make('waits', ({ abortSignal }) => {
        setImmediate(() => leaving.abort())
        return new Promise((_resolve, reject) => abortSignal?.addEventListener('abort', reject))
      }),
      make('suspends', ({ suspend }) => (suspend as unknown as (payload: unknown) => Promise<void>)?.({ who: '?' })),
    ]
    const executor = createExecutor({ tools: fromMastra(tools) })
    expect((await executor.execute({ name: 'fails' })).error?.message).toContain('no disk')
    expect((await executor.execute({ name: 'waits' }, { signal: leaving.signal })).status).toBe('cancelled')
    expect((await executor.execute({ name: 'suspends' })).error?.message).toContain('no agent runs it')
    const answered = createExecutor({ tools: fromMastra(tools, { onSuspend: (payload) => ({ payload }) }) })
    expect((await answered.execute({ name: 'suspends' })).content).toMatchObject([{ data: { payload: { who: '?' } } }])
  })

  test('shows the model the pictures that a tool shows, and leaves alone what is no error of Mastra', async () => {
    const toModelOutput = () => ({
      type: 'content',
      value: [
        { type: 'text', text: 'a dot' },
        { type: 'media', mediaType: 'image/png', data: 'aGk=' },
      ],
    })
    const fields = { description: 'Acts', inputSchema: z.object({}) }
    const draw = createTool({ ...fields, id: 'draw', toModelOutput, execute: () => Promise.resolve({ dots: 1 }) })
    const own = { error: true, message: 'half of it failed', done: 7 }
    const report = createTool({ ...fields, id: 'report', execute: () => Promise.resolve(own) })
    const wrong = createTool({
      ...fields,
      id: 'wrong',
      outputSchema: z.object({ n: z.number() }),
      execute: () => Promise.resolve({ n: 'x' } as never),
    })
    const executor = createExecutor({ tools: fromMastra([draw, report, wrong]) })
    const drawn = await executor.execute({ name: 'draw' })
    expect(drawn.content).toEqual([
      { type: 'text', text: 'a dot' },
      { type: 'image', data: 'aGk=', mimeType: 'image/png' },
    ])
    expect(await drawn.artifact?.cat()).toBe('{"dots":1}')
    expect((await executor.execute({ name: 'report' })).value).toEqual(own)
    expect((await executor.execute({ name: 'wrong' })).error?.message).toContain('output validation failed')
  })
})
