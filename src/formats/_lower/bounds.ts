import type { Compiler } from './compiler.ts'
import type { Schema } from './schema.ts'

/** Gives an integer inclusive bounds, for a dialect that has no exclusive ones. */
export function inclusive(schema: Schema, { lose, made }: Compiler): Schema {
  let bounded = schema
  for (const [exclusive, bound, sign] of [
    ['exclusiveMinimum', 'minimum', 1],
    ['exclusiveMaximum', 'maximum', -1],
  ] as const) {
    const { [exclusive]: edge, [bound]: known, ...rest } = bounded
    if (typeof edge !== 'number') continue
    const next = sign * (Math.floor(sign * edge) + 1)
    const tighter = typeof known === 'number' ? sign * Math.max(sign * known, sign * next) : next
    bounded = made({ ...rest, [bound]: tighter }, schema)
    lose(schema, exclusive, 'widened', `${bound}: ${next}`)
  }
  return bounded
}
