import 'toolwright/compat'
// Strands, the package itself, with a model that says what it was told to say.
import type { JSONValue } from '@strands-agents/sdk'
import { createExecutor, tool } from 'toolwright'
import { fromStrands } from 'toolwright/frameworks/strands'
import { describe, expect, test } from 'vitest'
import { z } from 'zod'
import { framework } from './_framework.ts'
import { missing } from './_installed.ts'
import { createKit, inProcess, journalFile } from './_kit.ts'
import { runsOf } from './_tools.ts'

const { agentOf, FakeModel, resultIn, toolOutputOf } = await framework(() => import('./drivers/strands.ts'))
const sdk = await framework(() => import('@strands-agents/sdk'))

const pay = (cents: number) => ({ id: `c${cents}`, name: 'pay', args: { cents } })

describe.skipIf(missing !== undefined)('strandsTools', () => {
  test('give tools of Strands’ own class, with the schema of the tool', () => {
    const [own] = agentOf(createKit().executor, new FakeModel([])).tools
    expect(own).toBeInstanceOf(sdk.Tool)
    expect(own).toMatchObject({ name: 'pay', description: 'Pays', toolSpec: { inputSchema: { required: ['cents'] } } })
  })

  test('use the id of the tool use, and the invocation state as values', async () => {
    const { executor } = createKit()
    const agent = agentOf(executor, new FakeModel([[pay(5)]]))
    await agent.invoke('go', { invocationState: { user: 'ada' } })
    expect(resultIn(agent, 'c5')).toMatchObject({ status: 'success', content: [{ json: { paid: 5, by: 'ada' } }] })
    expect(await executor.calls.get('run-1/c5')).toMatchObject({ status: 'ok', toolCallId: 'c5' })
  })

  test('give handlers the same invocation state as the agent has, so that both see what either writes', async () => {
    const seen: unknown[] = []
    const note = tool('note', (_: object, { invocationState }) => {
      seen.push(invocationState)
      Object.assign(invocationState, { noted: true })
    })
    const executor = createExecutor({ tools: [note] })
    const invocationState = { user: 'ada' }
    await agentOf(executor, new FakeModel([[{ id: 'c1', name: 'note', args: {} }]])).invoke('go', { invocationState })
    expect(seen[0]).toMatchObject({ user: 'ada' })
    expect(invocationState).toEqual({ user: 'ada', noted: true })
  })

  test('stream their progress, and answer with blocks of text, JSON and pictures', async () => {
    const calls = ['count', 'picture', 'fail'].map((name) => ({ id: name, name, args: {} }))
    const agent = agentOf(createKit().executor, new FakeModel([calls]))
    const progress: unknown[] = []
    for await (const event of agent.stream('go')) {
      if (event.type === 'toolStreamUpdateEvent') progress.push(event.event.data)
    }
    expect(progress).toEqual(['one', 'two'].map((data) => ({ type: 'yield', data })))
    expect(resultIn(agent, 'count')?.content).toMatchObject([{ type: 'jsonBlock', json: { counted: 3 } }])
    expect(resultIn(agent, 'picture')?.content).toMatchObject([{ type: 'imageBlock', format: 'png' }])
    expect(resultIn(agent, 'fail')).toMatchObject({ status: 'error', content: [{ type: 'textBlock' }] })
  })

  test('interrupt the agent, and each response is for its own call', async () => {
    const { executor, runs } = createKit()
    const agent = agentOf(executor, new FakeModel([[pay(5), pay(500), pay(600)]]))
    const { stopReason, interrupts = [] } = await agent.invoke('go')
    expect(stopReason).toBe('interrupt')
    const reasons = interrupts.map(({ reason }) => reason as { toolCallId: string; prompt: string })
    expect(reasons.map(({ prompt }) => prompt)).toContain('Pay 500?')
    const answered = interrupts.map(({ id, reason }) => {
      const response = { approved: (reason as { toolCallId: string }).toolCallId === 'c600', note: 'fine' }
      return { interruptResponse: { interruptId: id, response } }
    })
    let result = await agent.invoke(answered)
    for (; result.stopReason === 'interrupt';) {
      const more = (result.interrupts ?? []).map(({ id, reason }) => {
        const response = { approved: (reason as { toolCallId: string }).toolCallId === 'c600', note: 'fine' }
        return { interruptResponse: { interruptId: id, response } }
      })
      result = await agent.invoke(more)
    }
    expect(runs().toSorted()).toEqual(['pay 5', 'pay 600'])
    expect(resultIn(agent, 'c500')).toMatchObject({ status: 'error' })
    expect((await executor.calls.get('run-1/c600')).approval).toMatchObject({ decidedBy: 'strands', note: 'fine' })
  })

  test.each<[JSONValue]>([[false], ['true'], [1], [{ approved: 'true' }], [{}]])('take %j for no', async (response) => {
    const { executor, runs } = createKit()
    const agent = agentOf(executor, new FakeModel([[pay(500)]]))
    const { interrupts = [] } = await agent.invoke('go')
    await agent.invoke(interrupts.map(({ id }) => ({ interruptResponse: { interruptId: id, response } })))
    expect(toolOutputOf(agent, 'c500')).toContain('Permission denied')
    expect(runs()).toEqual([])
  })

  test('do not run other args than the person was shown', async () => {
    const { executor, runs } = createKit()
    await agentOf(executor, new FakeModel([[pay(500)]])).invoke('go')
    const forged = agentOf(executor, new FakeModel([[{ ...pay(500), args: { cents: 90_000 } }]]))
    const { interrupts = [] } = await forged.invoke('go')
    const response = { approved: true }
    await forged
      .invoke(interrupts.map(({ id }) => ({ interruptResponse: { interruptId: id, response } })))
      .catch(() => {})
    expect(toolOutputOf(forged, 'c500')).toContain('already exists')
    expect(runs()).toEqual([])
  })

  test('go on in another process, from their journal and the agent’s snapshot', async () => {
    const file = journalFile()
    const first = await inProcess('_strands-child.ts', { file })
    const reason = { type: 'tool-approval', toolName: 'pay', toolCallId: 'c500', prompt: 'Pay 500?' }
    expect(first).toMatchObject({ stopReason: 'interrupt', reasons: [reason] })
    expect(runsOf(file)).toEqual(['pay 5'])
    const { said } = await inProcess<{ said: string[] }>('_strands-child.ts', { file, answer: { approved: true } })
    expect(said).toEqual(['{"paid":5,"by":"unknown"}', '{"paid":500,"by":"unknown"}'])
    expect(runsOf(file)).toEqual(['pay 5', 'pay 500'])
  })
})

describe.skipIf(missing !== undefined)('fromStrands', () => {
  test('validates, runs, and passes on progress and values', async () => {
    const weather = sdk.tool({
      name: 'weather',
      description: 'Tells the weather',
      inputSchema: z.object({ city: z.string().min(2) }),
      callback: async function* ({ city }, context) {
        yield `looking at ${city}`
        return { city, user: context?.invocationState['user'] as string }
      },
    })
    const executor = createExecutor({ tools: fromStrands([weather]) })
    const progress: unknown[] = []
    executor.on('tool:progress', ({ data }) => void progress.push(data))
    const result = await executor.execute({ name: 'weather', args: { city: 'Oslo' } }, { values: { user: 'ada' } })
    expect(result).toMatchObject({ status: 'ok', content: [{ type: 'json', data: { city: 'Oslo', user: 'ada' } }] })
    expect(progress).toEqual(['looking at Oslo'])
    const refused = await executor.execute({ name: 'weather', args: { city: 'O' } })
    expect(refused.error?.code).toBe('E_INVALID_TOOL_ARGS')
  })

  test('takes arrays, texts, pictures, errors and cancellation', async () => {
    const make = (name: string, callback: (input: unknown, context: { cancelSignal: AbortSignal }) => unknown) =>
      sdk.tool({ name, description: name, inputSchema: { type: 'object' }, callback: callback as never })
    const bytes = Uint8Array.of(137, 80, 78, 71)
    const executor = createExecutor({
      tools: fromStrands([
        make('rows', () => [{ row: 1 }, { row: 2 }]),
        make('text', () => 'plain'),
        make('picture', () => new sdk.ImageBlock({ format: 'png', source: { bytes } })),
        make('fails', () => {
          throw new Error('no disk')
        }),
        make('waits', (_, { cancelSignal }) => {
          leaving.abort()
          return new Promise((_resolve, reject) => cancelSignal.addEventListener('abort', reject))
        }),
      ]),
    })
    const leaving = new AbortController()
    const contentOf = async (name: string) => (await executor.execute({ name })).content
    expect(await contentOf('rows')).toMatchObject([{ data: [{ row: 1 }, { row: 2 }] }])
    expect(await contentOf('text')).toEqual([{ type: 'text', text: 'plain' }])
    expect(await contentOf('picture')).toEqual([{ type: 'image', data: 'iVBORw==', mimeType: 'image/png' }])
    expect((await executor.execute({ name: 'fails' })).error?.message).toContain('no disk')
    expect(await executor.execute({ name: 'waits' }, { signal: leaving.signal })).toMatchObject({ status: 'cancelled' })
  })

  test('takes documents, and gives them as documents', async () => {
    const source = { bytes: Uint8Array.of(104, 105) }
    const read = sdk.tool({
      name: 'read',
      description: 'Reads',
      inputSchema: z.object({}),
      callback: () => new sdk.DocumentBlock({ name: 'the plan', format: 'pdf', source }) as never,
    })
    const executor = createExecutor({ tools: fromStrands([read]) })
    const resource = { uri: 'file:///the%20plan', mimeType: 'application/pdf', blob: 'aGk=' }
    expect((await executor.execute({ name: 'read' })).content).toEqual([{ type: 'resource', resource }])
    const agent = agentOf(executor, new FakeModel([[{ id: 'c1', name: 'read', args: {} }]]))
    await agent.invoke('go')
    expect(resultIn(agent, 'c1')?.content).toMatchObject([{ type: 'documentBlock', name: 'the-plan', format: 'pdf' }])
  })

  test('fails if a tool interrupts its agent, unless the host answers', async () => {
    const ask = sdk.tool({
      name: 'ask',
      description: 'Asks',
      inputSchema: z.object({}),
      callback: (_input, context) => `hello ${context?.interrupt<string>({ name: 'who' })}`,
    })
    const alone = createExecutor({ tools: fromStrands([ask]) })
    expect((await alone.execute({ name: 'ask' })).error?.message).toContain('no agent runs it')
    const answered = createExecutor({ tools: fromStrands([ask], { onInterrupt: ({ name }) => `${name}: ada` }) })
    expect((await answered.execute({ name: 'ask' })).content).toEqual([{ type: 'text', text: 'hello who: ada' }])
  })
})
