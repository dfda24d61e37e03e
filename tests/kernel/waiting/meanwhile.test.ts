import { createExecutor, type Extension, type ToolExecutor, type ToolResult } from 'toolwright'
import { describe, expect, onTestFinished, test } from 'vitest'
import { deferred, outcome, sink, soon, text, work } from '../_calls.ts'
import { places } from '../_journals.ts'

const everyKeeper: readonly (readonly [string, () => Extension[]])[] = [
  ['without a journal', () => []],
  ...places.map(([name, place]) => [`in ${name}`, () => [place().open()]] as const),
]

/** Runs a turn in which a call is answered while another still runs. */
async function answeredMeanwhile(use: Extension[], decision: 'allow' | 'deny'): Promise<readonly ToolResult[]> {
  const answered = deferred<ToolResult>()
  const tools = [
    work('pay', () => 'paid', { requiresConfirmation: true }),
    work('slow', async () => (await answered.promise).status),
  ]
  const executor = createExecutor({ tools, use })
  onTestFinished(() => executor.close())
  executor.on('call:waiting', ({ token = '' }) => {
    setImmediate(() => void executor.calls.decide(token, decision).then(answered.resolve, answered.reject))
  })
  return soon(executor.executeToolCalls([{ id: 'a', name: 'pay' }, { name: 'slow' }]))
}

describe.each(everyKeeper)('a turn (%s)', (_, use) => {
  test('gives the outcome of a call that a person allowed before the turn ended', async () => {
    const [paid, slow] = await answeredMeanwhile(use(), 'allow')
    expect([outcome(paid!), text(paid!), paid!.id]).toEqual(['ok completed', 'paid', 'a'])
    expect(text(slow!)).toBe('ok')
  })

  test('gives the outcome of a call that a person denied before the turn ended', async () => {
    const [paid] = await answeredMeanwhile(use(), 'deny')
    expect(outcome(paid!)).toBe('denied none E_TOOL_DENIED')
  })

  test('gives what still waits as waiting, and its token', async () => {
    const executor = createExecutor({ tools: [work('pay', () => 'paid', { requiresConfirmation: true })], use: use() })
    onTestFinished(() => executor.close())
    const [waiting] = await executor.executeToolCalls([{ name: 'pay' }])
    expect(waiting!.status).toBe('waiting')
    expect(outcome(await executor.calls.decide(waiting!.token ?? '', 'allow'))).toBe('ok completed')
  })
})

/** An executor without a journal, on which calls wait that were given so many bytes. */
function paying(bytes: number): {
  readonly executor: ToolExecutor
  readonly ask: (session: string) => Promise<ToolResult>
} {
  const tools = [work('pay', ({ size }: { size: number }) => 'x'.repeat(size), { requiresConfirmation: true })]
  const executor = createExecutor({ tools, inlineLimit: 1_000_000, report: sink().report })
  return {
    executor,
    ask: (session) => executor.execute({ name: 'pay', args: { size: bytes, pad: 'x'.repeat(bytes) } }, { session }),
  }
}

describe('an executor without a journal', () => {
  test('gives the result of a call that was answered before the host asked for it, once', async () => {
    const { executor, ask } = paying(1)
    const waiting = await ask('s')
    await executor.calls.decide(waiting.token ?? '', 'allow')
    expect(outcome(await executor.calls.settled(waiting))).toBe('ok completed')
    await expect(executor.calls.settled(waiting)).rejects.toMatchObject({ code: 'E_JOURNAL' })
  })

  test('keeps no result that was waited for', async () => {
    const { executor, ask } = paying(1)
    const waiting = await ask('s')
    const settled = executor.calls.settled(waiting)
    await executor.calls.decide(waiting.token ?? '', 'allow')
    expect(outcome(await settled)).toBe('ok completed')
    await expect(executor.calls.settled(waiting)).rejects.toMatchObject({ code: 'E_JOURNAL' })
  })

  test('gives the result of a call that was cancelled, or asked a client meanwhile, before the host asked for it', async () => {
    const form = { type: 'client', requiresResponse: true, requiresConfirmation: true }
    const executor = createExecutor({ tools: [work('form', () => 1, form)] })
    const [one, other] = await executor.executeToolCalls([{ name: 'form' }, { name: 'form' }])
    await executor.calls.cancel(one!.invocationId)
    const asked = await executor.calls.decide(other!.token ?? '', 'allow')
    expect(asked.status).toBe('waiting')
    await executor.calls.respond(asked.token ?? '', 'filled')
    expect(outcome(await executor.calls.settled(one!))).toBe('cancelled none E_TOOL_CANCELLED')
    expect(text(await executor.calls.settled(other!))).toBe('filled')
  })

  test('keeps the results of the newest calls alone, by their bytes', async () => {
    const { executor, ask } = paying(200_000)
    const waiting: ToolResult[] = []
    for (let count = 0; count < 400; count++) {
      const result = await ask('s')
      await executor.calls.decide(result.token ?? '', 'allow')
      waiting.push(result)
    }
    await expect(executor.calls.settled(waiting[0]!)).rejects.toMatchObject({ code: 'E_JOURNAL' })
    expect(outcome(await executor.calls.settled(waiting.at(-1)!))).toBe('ok completed')
  })

  test('holds about 64 MiB of calls, and drops the oldest of the session that has most', async () => {
    const { executor, ask } = paying(200_000)
    const cancelled: string[] = []
    executor.on(
      'call:settled',
      ({ status, invocationId }) => void (status === 'cancelled' && cancelled.push(invocationId)),
    )
    const first = await ask('small')
    const all: ToolResult[] = []
    for (let count = 0; count < 400; count++) all.push(await ask('large'))
    const held = await executor.calls.waiting()
    const kept = held.filter(({ session }) => session === 'large').length
    expect(kept).toBeGreaterThan(50)
    expect(kept * 200_000).toBeLessThan(67_108_864)
    expect(cancelled).toEqual(all.slice(0, 400 - kept).map(({ invocationId }) => invocationId))
    expect(outcome(await executor.calls.decide(first.token ?? '', 'allow'))).toBe('ok completed')
  })
})
