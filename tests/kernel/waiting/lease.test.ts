import { afterEach, describe, expect, test, vi } from 'vitest'
import { data, pause } from '../_calls.ts'
import { ask, everyPlace, invalid, only, pairOn } from './_inbox.ts'

afterEach(() => {
  vi.useRealTimers()
})

const answer = { email: 'a@b.c' }
const leased = { code: 'E_LEASED', retryable: true }

describe.each(everyPlace)('a lease (%s)', (_, place) => {
  test('keeps others out, by its call and by its token, and leaves the call as it was', async () => {
    const { asking, answering } = pairOn(place())
    const { token = '' } = await ask(asking, 'form')
    const call = await only(answering)
    const mine = await answering.calls.lease(call, 'one', 60_000)
    expect(mine?.call.lease).toEqual({ holder: 'one', until: expect.any(Number) })
    expect((await only(asking)).lease?.holder).toBe('one')
    expect(await asking.calls.lease(await only(asking), 'two', 60_000)).toBe(undefined)
    await expect(answering.calls.respond(call, answer)).rejects.toMatchObject(leased)
    await expect(answering.calls.respond(call, answer, { holder: 'two' })).rejects.toMatchObject(leased)
    await expect(asking.calls.respond(token, answer, { holder: 'two' })).rejects.toMatchObject(leased)
    expect(data(await asking.calls.respond(token, answer, { holder: 'one' }))).toEqual(answer)
    await expect(answering.calls.respond(call, answer, { holder: 'one' })).rejects.toMatchObject(invalid)
  })

  test('of a dead holder runs out, and another client takes the call', async () => {
    const { asking, answering } = pairOn(place())
    await ask(asking, 'form')
    await asking.calls.lease(await only(asking), 'dead', 30)
    await pause(40)
    const call = await only(answering)
    expect(call.lease).toBe(undefined)
    expect((await answering.calls.lease(call, 'living', 60_000))?.call.lease?.holder).toBe('living')
  })

  test('that ran out leaves its late holder no right, but the call if no other has it', async () => {
    const { asking, answering } = pairOn(place())
    await ask(asking, 'form')
    const late = await asking.calls.lease(await only(asking), 'late', 10)
    await pause(20)
    await answering.calls.lease(await only(answering), 'next', 60_000)
    await expect(asking.calls.respond(late!.call, answer, { holder: 'late' })).rejects.toMatchObject(leased)
    expect((await answering.calls.respond(late!.call, answer, { holder: 'next' })).status).toBe('ok')
    await ask(asking, 'form')
    const free = await asking.calls.lease(await only(asking), 'late', 10)
    await pause(20)
    expect((await asking.calls.respond(free!.call, answer, { holder: 'late' })).status).toBe('ok')
  })

  test('is renewed by its holder, and every listing of the call stays good meanwhile', async () => {
    const { asking, answering } = pairOn(place())
    await ask(asking, 'form')
    const before = await only(answering)
    const first = await asking.calls.lease(await only(asking), 'one', 50)
    const second = await asking.calls.lease(first!.call, 'one', 60_000)
    expect(second?.call.lease?.until).toBeGreaterThan(first?.call.lease?.until ?? Infinity)
    await pause(60)
    expect((await answering.calls.respond(before, answer, { holder: 'one' })).status).toBe('ok')
  })

  test('is void if the clock was set back an hour since', async () => {
    const { asking, answering } = pairOn(place())
    await ask(asking, 'form')
    await asking.calls.lease(await only(asking), 'one', 60_000)
    vi.useFakeTimers({ toFake: ['Date'], now: Date.now() - 3_600_000 })
    const call = await only(answering)
    expect(call.lease).toBe(undefined)
    expect((await answering.calls.lease(call, 'two', 60_000))?.call.lease?.holder).toBe('two')
  })

  test('ends with the pause at the latest', async () => {
    const { asking } = pairOn(place())
    await ask(asking, 'form')
    const call = await only(asking)
    expect((await asking.calls.lease(call, 'one', Infinity))?.call.lease?.until).toBe(call.expiresAt)
  })

  test('does not spoil an answer that comes at the same time', async () => {
    const { asking, answering } = pairOn(place())
    await ask(asking, 'form')
    const [mine, theirs] = [await only(asking), await only(answering)]
    const renewing = Array.from({ length: 5 }, () =>
      answering.calls.lease(theirs, 'one', 60_000).catch(() => undefined),
    )
    expect((await asking.calls.respond(mine, answer, { holder: 'one' })).status).toBe('ok')
    await Promise.all(renewing)
  })

  test.each<[string, string, number]>([
    ['an empty holder', '', 1],
    ['a holder without end', 'x'.repeat(1_025), 1],
    ['a holder that is none', 5 as never, 1],
    ['no time', 'x', 0],
    ['a time that is none', 'x', Number.NaN],
  ])('is refused for %s', async (__, holder, milliseconds) => {
    const { asking } = pairOn(place())
    await ask(asking, 'form')
    const wrong = { code: 'E_INVALID_CONFIGURATION' }
    await expect(asking.calls.lease(await only(asking), holder, milliseconds)).rejects.toMatchObject(wrong)
  })
})
