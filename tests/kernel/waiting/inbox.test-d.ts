import { createExecutor, type ToolCallSnapshot, type ToolEvent, type ToolResult, type WaitingCall } from 'toolwright'
import { describe, expectTypeOf, test } from 'vitest'

const executor = createExecutor({ approvalTimeout: 60_000 })

describe('the inbox', () => {
  test('lists calls that `decide`, `respond` and `lease` take', async () => {
    const calls = await executor.calls.waiting({ session: 's', reason: 'client' })
    expectTypeOf(calls).toEqualTypeOf<WaitingCall[]>()
    const [call] = calls
    if (call === undefined) return
    expectTypeOf(await executor.calls.decide(call, 'allow', { holder: 'page' })).toEqualTypeOf<ToolResult>()
    expectTypeOf(await executor.calls.respond(call, 1, { holder: 'page' })).toEqualTypeOf<ToolResult>()
    expectTypeOf(await executor.calls.lease(call, 'page', 1)).toExtend<
      { call: WaitingCall; args: unknown } | undefined
    >()
    // @ts-expect-error what is listed does not change
    call.session = 'another'
    // @ts-expect-error a call waits for a person or a client
    void executor.calls.waiting({ reason: 'weather' })
    // @ts-expect-error an answer of a client has no note
    void executor.calls.respond(call, 1, { note: 'no' })
  })

  test('pages through snapshots, waits, cancels and prunes', async () => {
    const page = await executor.calls.list({ limit: 10 })
    expectTypeOf(page).toEqualTypeOf<ToolCallSnapshot[]>()
    const last = page.at(-1)
    if (last !== undefined) void executor.calls.list({ before: last })
    expectTypeOf(await executor.calls.settled('id', { signal: AbortSignal.timeout(1) })).toEqualTypeOf<ToolResult>()
    expectTypeOf(await executor.calls.cancel('id')).toEqualTypeOf<'cancelled' | 'asked' | 'not found'>()
    expectTypeOf(await executor.calls.expire()).toEqualTypeOf<ToolCallSnapshot[]>()
    expectTypeOf(await executor.calls.prune({ settledBefore: new Date() })).toEqualTypeOf<number>()
    // @ts-expect-error pruning without a time would delete everything
    void executor.calls.prune({})
  })

  test('hears every event by one name', () => {
    executor.on('*', (event) => expectTypeOf(event).toEqualTypeOf<ToolEvent>())
    executor.on('call:settled', (event) => expectTypeOf(event.event).toEqualTypeOf<'call:settled'>())
  })
})
