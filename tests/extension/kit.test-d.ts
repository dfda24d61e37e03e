import { test } from 'vitest'
import { checkOptions, integerFrom, oneOf, required } from 'toolwright/extension'

interface QuotaOptions {
  readonly calls: number
  readonly per?: 'session' | 'tool'
}
declare const options: QuotaOptions

test('every option has a check, and no other has one', () => {
  checkOptions('quota', options, { calls: required(integerFrom(1)), per: oneOf('session', 'tool') })
  // @ts-expect-error -- `per` is not checked
  checkOptions('quota', options, { calls: required(integerFrom(1)) })
  // @ts-expect-error -- there is no option `unit`
  checkOptions('quota', options, { calls: required(integerFrom(1)), per: oneOf('session'), unit: oneOf('call') })
})
