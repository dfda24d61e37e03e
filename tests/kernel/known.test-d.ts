import { expectTypeOf, test } from 'vitest'
import { Known, type KnownOutcome } from 'toolwright/extension'

test('an outcome that is known has what a result tells, and no ids', () => {
  const outcome = { status: 'ok', effect: 'none', content: [] } as const
  expectTypeOf(outcome).toExtend<KnownOutcome>()
  expectTypeOf<KnownOutcome>().not.toHaveProperty('invocationId')
  // @ts-expect-error -- the effect has to be said
  void new Known({ status: 'ok', content: [] })
})
