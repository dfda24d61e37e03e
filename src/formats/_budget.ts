import type { RequestLimits } from './_dialects.ts'
import type { Sums } from './_lower/dialect.ts'

/**
 * Returns for each of the strict schemas of one request the reason why it is beyond what a request may have. Tools are strict
 * in their order while the budget lasts.
 */
export function beyond(limits: RequestLimits, schemas: readonly Sums[]): readonly (string | undefined)[] {
  const units = Object.keys(limits) as (keyof RequestLimits)[]
  const used = strictCost({}, 0)
  const wanted = strictCost({}, 0)
  const over = schemas.map((sums) => {
    const cost = strictCost(sums, 1)
    const first = units.find((unit) => used[unit] + cost[unit] > limits[unit])
    for (const unit of units) {
      wanted[unit] += cost[unit]
      if (first === undefined) used[unit] += cost[unit]
    }
    return first
  })
  return over.map((unit) => unit && `${wanted[unit]} ${unit} in one request, ${limits[unit]} are taken`)
}

function strictCost({ optional = 0, unions = 0 }: Sums, tools: number): Record<keyof RequestLimits, number> {
  return { 'strict tools': tools, 'optional fields in strict tools': optional, 'unions in strict tools': unions }
}
