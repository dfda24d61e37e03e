import { createExecutor, type ToolCallSnapshot, type ToolEvent, type ToolResult, type WaitingCall } from 'toolwright'
import { describe, expectTypeOf, test } from 'vitest'

const executor = createExecutor({ approvalTimeout: 60_000 })

describe('the inbox', () => {
  test('lists calls that `decide`, `respond` and `lease` take', async () => {
    const calls = await executor.waiting({ session: 's', reason: 'client' })
    expectTypeOf(calls).toEqualTypeOf<WaitingCall[]>()
    const [call] = calls
    if (call === undefined) return
    expectTypeOf(await executor.decide(call, 'allow', { holder: 'page' })).toEqualTypeOf<ToolResult>()
    expectTypeOf(await executor.respond(call, 1, { holder: 'page' })).toEqualTypeOf<ToolResult>()
    expectTypeOf(await executor.lease(call, 'page', 1)).toExtend<{ call: WaitingCall; args: unknown } | undefined>()
    // @ts-expect-error what is listed does not change
    call.session = 'another'
    // @ts-expect-error a call waits for a person or a client
    void executor.waiting({ reason: 'weather' })
    // @ts-expect-error an answer of a client has no note
    void executor.respond(call, 1, { note: 'no' })
  })

  test('pages through snapshots, waits, cancels and prunes', async () => {
    const page = await executor.calls({ limit: 10 })
    expectTypeOf(page).toEqualTypeOf<ToolCallSnapshot[]>()
    const last = page.at(-1)
    if (last !== undefined) void executor.calls({ before: last })
    expectTypeOf(await executor.settled('id', { signal: AbortSignal.timeout(1) })).toEqualTypeOf<ToolResult>()
    expectTypeOf(await executor.cancel('id')).toEqualTypeOf<'cancelled' | 'asked' | 'not found'>()
    expectTypeOf(await executor.expire()).toEqualTypeOf<ToolCallSnapshot[]>()
    expectTypeOf(await executor.prune({ settledBefore: new Date() })).toEqualTypeOf<number>()
    // @ts-expect-error pruning without a time would delete everything
    void executor.prune({})
  })

  test('hears every event by one name', () => {
    executor.on('*', (event) => expectTypeOf(event).toEqualTypeOf<ToolEvent>())
    executor.on('call:settled', (event) => expectTypeOf(event.event).toEqualTypeOf<'call:settled'>())
  })
})
