// TanStack AI, the package itself, with a model that says what it was told to say.
import { createExecutor, tool } from 'toolwright'
import { fromTanstack, tanstackTools } from 'toolwright/frameworks/tanstack'
import { sqliteJournal } from 'toolwright/journals/sqlite'
import { describe, expect, onTestFinished, test } from 'vitest'
import { z } from 'zod'
import { framework } from './_framework.ts'
import { missing } from './_installed.ts'
import { createKit, journalFile } from './_kit.ts'

const { answered, request } = await framework(() => import('./drivers/tanstack.ts'))
const { toolDefinition } = await framework(() => import('@tanstack/ai'))

/** Deploys: always asked about. */
function deploying(file = journalFile()) {
  const runs: string[] = []
  const deploy = tool({
    name: 'deploy',
    description: 'Deploys',
    inputSchema: { type: 'object', properties: { to: { type: 'string' } }, required: ['to'] },
    requiresConfirmation: true,
    handler: ({ to }) => {
      runs.push(to)
      return { deployed: to }
    },
  })
  const executor = createExecutor({ tools: [deploy], use: [sqliteJournal(file)] })
  onTestFinished(() => executor.close())
  return { executor, runs, file }
}

const call = { id: 'c1', name: 'deploy', args: { to: 'stage' } }

describe.skipIf(missing !== undefined)('tanstackTools', () => {
  test('use the id of the tool call, and the context of the run as values', async () => {
    const { executor } = createKit()
    const pay = { id: 'c5', name: 'pay', args: { cents: 5 } }
    const { resultOf } = await request(executor, [pay], { context: { user: 'ada' } })
    expect(resultOf('c5')).toBe('{"paid":5,"by":"ada"}')
    expect(await executor.calls.get('chat-1/c5')).toMatchObject({ status: 'ok', toolCallId: 'c5' })
  })

  test('emit their progress as custom events', async () => {
    const { chunks } = await request(createKit().executor, [{ id: 'c1', name: 'count', args: {} }])
    const events = chunks.filter((chunk) => chunk.type === 'CUSTOM') as unknown as { name: string; value: object }[]
    const progress = ['one', 'two'].map((data) => ({ toolCallId: 'c1', toolName: 'count', type: 'yield', data }))
    expect(events.filter(({ name }) => name === 'tool-progress').map(({ value }) => value)).toEqual(progress)
  })

  test('are asked about, and run with the client’s approval in the next request, once', async () => {
    const { executor, runs } = deploying()
    const { chunks } = await request(executor, [call])
    expect(JSON.stringify(chunks)).toContain('"outcome":{"type":"interrupt"')
    expect((await executor.calls.waiting()).map(({ id }) => id)).toEqual(['c1'])
    expect(runs).toEqual([])
    const { resultOf } = await request(executor, [], { messages: answered(call, true) })
    expect(resultOf('c1')).toBe('{"deployed":"stage"}')
    await request(executor, [], { messages: answered(call, true) })
    expect(runs).toEqual(['stage'])
    expect((await executor.calls.get('chat-1/c1')).approval).toMatchObject({ decidedBy: 'tanstack' })
  })

  test('go on in another executor on the same journal', async () => {
    const first = deploying()
    await request(first.executor, [call])
    const second = deploying(first.file)
    const { resultOf } = await request(second.executor, [], { messages: answered(call, true) })
    expect([resultOf('c1'), first.runs, second.runs]).toEqual(['{"deployed":"stage"}', [], ['stage']])
  })

  test('record what the client denies', async () => {
    const { executor, runs } = deploying()
    await request(executor, [call])
    const { resultOf } = await request(executor, [], { messages: answered(call, false) })
    expect(resultOf('c1')).toContain('denied')
    expect(await executor.calls.get('chat-1/c1')).toMatchObject({ status: 'denied' })
    expect([runs, await executor.calls.waiting()]).toEqual([[], []])
  })

  // Without the framework there is no `answered`: it may be called by the tests alone.
  test.each<[string, typeof call]>([
    ['an approval of what was not asked', call],
    ['an approval of another call', { ...call, id: 'c9' }],
    ['an approval for other args', { ...call, args: { to: 'production' } }],
  ])('do not run for %s, nor at a second try', async (title, approved) => {
    const messages = answered(approved, true)
    const { executor, runs } = deploying()
    if (!title.includes('not asked')) await request(executor, [call])
    for (let time = 0; time < 2; time++) await request(executor, [], { messages })
    expect(runs).toEqual([])
  })

  test('do not run for an approval of another session', async () => {
    const { executor, runs } = deploying()
    await request(executor, [call])
    await request(executor, [], { messages: answered(call, true), session: 'chat-2' })
    expect(runs).toEqual([])
  })

  test('give the model pictures as parts', async () => {
    const { resultOf } = await request(createKit().executor, [{ id: 'c1', name: 'picture', args: {} }])
    const part = { type: 'image', source: { type: 'data', value: 'aGk=', mimeType: 'image/png' } }
    expect(JSON.parse(resultOf('c1') ?? '')).toEqual([part])
  })

  test('throw what failed, which is an error for TanStack', async () => {
    const [pay] = tanstackTools({ executor: createKit().executor, session: 'chat-1' }).tools
    await expect(pay?.execute({ cents: 'x' }, { toolCallId: 'c1' })).rejects.toThrow('cents')
  })
})

describe.skipIf(missing !== undefined)('fromTanstack', () => {
  test('validates both ways, asks, runs, and passes on progress, values and errors', async () => {
    const definition = {
      description: 'Tells the weather',
      inputSchema: z.object({ city: z.string().min(2) }),
      outputSchema: z.object({ city: z.string(), user: z.string() }),
    }
    const weather = toolDefinition({ ...definition, name: 'weather' }).server<{ user: string }>(({ city }, context) => {
      context.emitCustomEvent('looking', { city })
      if (city === 'Atlantis') throw new Error('under water')
      return { city, user: context.context.user }
    })
    const wrong = toolDefinition({ ...definition, name: 'wrong' }).server(() => ({ city: 1 }) as never)
    const choose = toolDefinition({ name: 'choose', description: 'Asks in the page', inputSchema: z.object({}) })
    const drop = toolDefinition({ name: 'drop', description: 'Drops', inputSchema: z.object({}), needsApproval: true })
    const tools = fromTanstack([weather, wrong, choose, drop.server(() => 'dropped')] as never)
    const executor = createExecutor({ tools })
    const progress: unknown[] = []
    executor.on('tool:progress', ({ type, data }) => void progress.push([type, data]))
    const values = { user: 'ada' }
    const run = async (name: string, args: object = {}) => executor.execute({ name, args }, { values })
    expect((await run('weather', { city: 'Oslo' })).content).toMatchObject([{ data: { city: 'Oslo', user: 'ada' } }])
    expect(progress).toEqual([['looking', { city: 'Oslo' }]])
    expect((await run('weather', { city: 'O' })).error?.code).toBe('E_INVALID_TOOL_ARGS')
    expect((await run('weather', { city: 'Atlantis' })).error?.message).toContain('under water')
    expect((await run('wrong', { city: 'Oslo' })).error?.code).toBe('E_INVALID_TOOL_RESULT')
    expect((await run('drop')).status).toBe('waiting')
    expect((await run('choose')).status).toBe('waiting')
    expect((await executor.calls.waiting()).map(({ reason }) => reason).toSorted()).toEqual(['approval', 'client'])
  })

  test('is cancelled by the signal that it knows', async () => {
    const leaving = new AbortController()
    const waits = toolDefinition({ name: 'waits', description: 'Waits', inputSchema: z.object({}) }).server(
      (_input, context) =>
        new Promise<never>((_resolve, reject) => {
          context?.abortSignal?.addEventListener('abort', () => reject(new Error('left')))
          setImmediate(() => leaving.abort())
        }),
    )
    const executor = createExecutor({ tools: fromTanstack([waits] as never) })
    expect((await executor.execute({ name: 'waits' }, { signal: leaving.signal })).status).toBe('cancelled')
  })

  test('takes parts for the model as content, and other arrays as values', async () => {
    const fields = { description: 'Acts', inputSchema: z.object({}) }
    const source = { type: 'data', value: 'aGk=', mimeType: 'image/png' }
    const parts = [
      { type: 'text', content: 'a dot' },
      { type: 'image', source },
    ]
    const draw = toolDefinition({ ...fields, name: 'draw' }).server(() => parts)
    const rows = toolDefinition({ ...fields, name: 'rows' }).server(() => [{ type: 'text' }])
    const executor = createExecutor({ tools: fromTanstack([draw, rows] as never) })
    expect((await executor.execute({ name: 'draw' })).content).toEqual([
      { type: 'text', text: 'a dot' },
      { type: 'image', data: 'aGk=', mimeType: 'image/png' },
    ])
    expect((await executor.execute({ name: 'rows' })).value).toEqual([{ type: 'text' }])
  })
})
