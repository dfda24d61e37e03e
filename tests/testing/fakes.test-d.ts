import { fakeTools, testOptions, type Fakes } from 'toolwright/testing'
import { expectTypeOf, test } from 'vitest'

test('a fake may declare the args that it takes, or none', () => {
  expectTypeOf(fakeTools({ refund: ({ order }: { order: string }) => order })).toEqualTypeOf<Fakes>()
  fakeTools({ refund: ({ order }) => expectTypeOf(order).toBeUnknown() })
  fakeTools({ refund: [{ result: 1 }, { error: 'Closed.' }, (_args, { emit }) => emit('asked')] })
})

test('a fake of another form, and an unknown option, do not compile', () => {
  // @ts-expect-error -- a fake is no text
  fakeTools({ refund: 'refunded' })
  // @ts-expect-error -- there is no such word
  fakeTools({}, { others: 'throw' })
  // @ts-expect-error -- there is no such option of an executor
  testOptions({ tool: [] })
})
