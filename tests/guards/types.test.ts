import { expect, it } from 'vitest'
import { instantiations, modules } from '../../bench/_types.ts'

// Counted by the compiler, and so the same on every machine: `npm run bench types`. Lower the limits with what is needed.
const before = instantiations(modules.imports)

it.each([
  ['tool() with Zod', 605],
  ['tool() with Zod, one call each', 1_120],
  ['tool() with raw JSON Schema', 370],
] as const)(
  'the type checker makes few instantiations for each of a hundred tools: %s, %i',
  (module, limit) => {
    expect((instantiations(modules[module]) - before) / 100).toBeLessThanOrEqual(limit)
  },
  60_000,
)
