import { dryRun, type DryCall } from 'toolwright/testing'
import { cassette, type Tape } from 'toolwright/testing/cassettes'
import { expectTypeOf, test } from 'vitest'

test('a dry run gives calls and questions that cannot be changed', () => {
  expectTypeOf(dryRun({}).calls).toEqualTypeOf<readonly DryCall[]>()
  dryRun({}, { simulate: { quote: ({ cents }: { cents?: unknown }) => cents } })
  // @ts-expect-error -- a simulation is a function
  dryRun({}, { simulate: { quote: 5 } })
})

test('a tape has the options that there are, and no other', () => {
  expectTypeOf(cassette('tape.jsonl', { mode: 'append', timing: 'recorded' })).toEqualTypeOf<Tape>()
  // @ts-expect-error -- there is no such mode
  cassette('tape.jsonl', { mode: 'play' })
  // @ts-expect-error -- there is no such option
  cassette('tape.jsonl', { onmiss: 'run' })
})
