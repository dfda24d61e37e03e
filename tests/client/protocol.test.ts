import { createExecutor, tool, ToolFailure, type ToolEvent, type ToolExecutor } from 'toolwright'
import { foldView, isOver, type CallView, type WireEvent } from 'toolwright/client/protocol'
import { memoryJournal } from 'toolwright/journals/memory'
import { describe, expect, test } from 'vitest'

// The page of the inspector is a program of its own: its types are those of a browser.
const page = '../../src/devtools/inspector/page/look.ts'
const { lookOf } = (await import(/* @vite-ignore */ page)) as { readonly lookOf: (view: CallView) => readonly string[] }

const tools = [
  tool('fine', () => 'done'),
  tool('broken', () => {
    throw new ToolFailure('out of luck')
  }),
  tool({ name: 'counting', description: 'Counts', handler: countToThree }),
  tool({ name: 'asking', description: 'Asks', requiresConfirmation: true, handler: () => 'allowed' }),
  tool({ name: 'form', description: 'Asks the page', type: 'client', requiresResponse: true }),
]

async function* countToThree(): AsyncGenerator<number, string> {
  yield 1
  yield 2
  return 'three'
}

/** An event as the HTTP API sends it. */
function wireEventOf(event: ToolEvent): WireEvent {
  if (event.event !== 'call:waiting') return event
  const { token, ...plain } = event
  return { ...plain, answerable: token !== undefined }
}

const answers: Readonly<Record<string, (executor: ToolExecutor, token: string) => Promise<unknown>>> = {
  allowed: (executor, token) => executor.calls.decide(token, 'allow', { note: 'go on', decidedBy: 'ada' }),
  denied: (executor, token) => executor.calls.decide(token, 'deny', { note: 'no' }),
  answered: (executor, token) => executor.calls.respond(token, 'blue'),
}

describe('the view of a call', () => {
  test.each([
    ['fine', {}, undefined],
    ['broken', {}, undefined],
    ['counting', {}, undefined],
    ['nowhere', {}, undefined],
    ['fine', '{"a":', undefined],
    ['asking', {}, 'allowed'],
    ['asking', {}, 'denied'],
    ['form', {}, 'answered'],
  ])('%s with %j, %s, is as its record after each event', async (name, args, answer) => {
    const executor = createExecutor({ tools, use: [memoryJournal()] })
    let view: CallView | undefined
    const seqs: number[] = []
    executor.on('*', (event) => {
      view = foldView(view, wireEventOf(event))
      seqs.push(event.seq)
    })
    const result = await executor.execute({ id: 'toolu_1', name, args })
    if (answer !== undefined) {
      expect(view?.waiting).toMatchObject({ reason: name === 'form' ? 'client' : 'approval' })
      await answers[answer]!(executor, result.token ?? '')
    }
    const snapshot = await executor.calls.get(result.invocationId)
    expect(view).toMatchObject({
      invocationId: snapshot.id,
      callId: snapshot.callId,
      toolName: snapshot.name,
      id: 'toolu_1',
      state: snapshot.state,
      status: snapshot.status,
      effect: snapshot.effect,
      createdAt: snapshot.createdAt,
      completedAt: snapshot.completedAt,
      seq: seqs.length,
    })
    expect([view?.startedAt, view?.waiting]).toEqual([snapshot.startedAt, undefined])
    expect(view?.approval?.note).toBe(snapshot.approval.note)
    expect(isOver(view!)).toBe(true)
    expect(view?.progress?.map(({ data }) => data)).toEqual(name === 'counting' ? [1, 2] : undefined)
  })

  test('says what a call waits for until it starts', async () => {
    const { promise: released, resolve: release } = Promise.withResolvers<void>()
    const alone = tool({
      name: 'alone',
      description: 'Runs alone',
      traits: { concurrent: false },
      handler: () => released,
    })
    const executor = createExecutor({ tools: [alone], use: [memoryJournal()] })
    const views = new Map<string, CallView>()
    const words: unknown[] = []
    executor.on('*', (event) => {
      const view = foldView(views.get(event.invocationId), wireEventOf(event))
      views.set(event.invocationId, view)
      if (event.invocationId === 'second') words.push([event.event, view.state, view.blocked, lookOf(view)[1]])
      if (event.event === 'call:blocked') release()
    })
    await Promise.all(
      ['first', 'second'].map((invocationId) => executor.execute({ name: 'alone' }, { invocationId, session: 's' })),
    )
    const blocked = { by: 'lock', behind: 'first' }
    expect(words).toEqual([
      ['call:received', 'PENDING', undefined, 'received'],
      ['call:blocked', 'PENDING', blocked, 'blocked'],
      ['tool:start', 'EXECUTING', undefined, 'running'],
      ['tool:end', 'EXECUTING', undefined, 'running'],
      ['call:settled', 'COMPLETED', undefined, 'ok'],
    ])
  })

  test('keeps the view before as it was', async () => {
    const executor = createExecutor({ tools })
    const views: CallView[] = []
    executor.on('*', (event) => views.push(foldView(views.at(-1), Object.freeze(wireEventOf(event)))))
    await executor.execute({ name: 'counting', args: {} })
    expect(views.map(({ seq }) => seq)).toEqual(views.map((_, index) => index + 1))
    expect(views[0]).not.toHaveProperty('progress')
  })

  test('waits for no page if an approver of the application is asked', async () => {
    const approver = { ask: async () => ({ decision: 'allow' as const }) }
    const executor = createExecutor({ tools, use: [{ approver }] })
    const views: CallView[] = []
    executor.on('*', (event) => views.push(foldView(views.at(-1), wireEventOf(event))))
    await executor.execute({ name: 'asking', args: {} })
    expect(views.filter(({ state }) => state === 'APPROVAL_REQUIRED')).toHaveLength(1)
    expect(views.filter(({ waiting }) => waiting !== undefined)).toEqual([])
  })

  test('begins in the middle if the events before were missed', () => {
    const envelope = { invocationId: 'i', callId: null, toolName: 't', session: 's', timestamp: 7 }
    const view = foldView(undefined, { ...envelope, event: 'tool:progress', seq: 9, type: 'step', data: 1 })
    expect(view).toMatchObject({ invocationId: 'i', seq: 10, createdAt: 7, progress: [{ type: 'step', data: 1 }] })
  })
})
