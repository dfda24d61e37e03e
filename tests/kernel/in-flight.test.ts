import type { Received } from 'toolwright/extension'
import * as fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { InFlight } from './_inside.ts'

function callOf(invocationId: string): Received {
  return { invocationId, place: -1 } as Received
}

describe('the calls in flight', () => {
  test('are those that entered and have not left, whatever the order', () => {
    fc.assert(
      fc.property(fc.array(fc.nat(20), { maxLength: 200 }), (steps) => {
        const inFlight = new InFlight((id) => id.startsWith('ours'))
        const calls = Array.from({ length: 21 }, (_, index) => callOf(`${index % 2 === 0 ? 'ours' : 'named'}-${index}`))
        const expected = new Set<Received>()
        for (const step of steps) {
          const call = calls[step]!
          if (expected.delete(call)) inFlight.leave(call)
          else {
            inFlight.enter(call, step % 2 === 1)
            expected.add(call)
          }
          expect(new Set(inFlight)).toEqual(expected)
          for (const each of calls) {
            expect(inFlight.get(each.invocationId)).toBe(expected.has(each) ? each : undefined)
          }
        }
      }),
      { numRuns: 100 },
    )
  })

  test('are not touched by one that leaves twice, or that never entered', () => {
    const inFlight = new InFlight(() => true)
    const [first, second, stranger] = ['a', 'b', 'c'].map(callOf) as [Received, Received, Received]
    inFlight.enter(first, false)
    inFlight.enter(second, false)
    inFlight.leave(first)
    inFlight.leave(first)
    inFlight.leave(stranger)
    expect([...inFlight]).toEqual([second])
  })
})
