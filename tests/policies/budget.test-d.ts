import { budget, type BudgetOptions } from 'toolwright/policies/budget'
import { expectTypeOf, test } from 'vitest'

test('a budget is of calls, or of units with a cost', () => {
  expectTypeOf(budget).parameter(0).toEqualTypeOf<BudgetOptions>()
  budget({ calls: 3, per: 'principal' })
  budget({ units: 3, cost: () => 1, tools: ['search'] })
  budget({
    units: 3,
    cost(input, result) {
      expectTypeOf(input).toBeUnknown()
      expectTypeOf(result).toBeUnknown()
      return 1
    },
  })
  // @ts-expect-error -- units without a cost
  budget({ units: 3 })
  // @ts-expect-error -- a cost without units
  budget({ cost: () => 1 })
  // @ts-expect-error -- both kinds
  budget({ calls: 3, units: 3, cost: () => 1 })
  // @ts-expect-error -- a cost that takes its time
  budget({ units: 3, cost: async () => 1 })
})
