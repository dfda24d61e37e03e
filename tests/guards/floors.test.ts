import { canonicalize } from 'toolwright'
import { expect, test } from 'vitest'
import { tightly } from '../../bench/_floor.ts'
import { args } from '../../bench/_search.ts'

test('the tight floor of the benches identifies calls as we do', () => {
  for (const value of [args, { b: [], a: { c: null, '': -0 } }, ['"', 1e21, true, 'å\n']]) {
    expect(tightly(value)).toBe(canonicalize(value))
  }
})
