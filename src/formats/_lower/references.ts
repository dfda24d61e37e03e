import type { Compiler } from './compiler.ts'
import type { References } from './dialect.ts'
import { namesBeside, objectOf, type Lowered, type Schema } from './schema.ts'
import { text } from './value.ts'
import { describe } from './words.ts'

const start = '#/$defs/'

/** A schema that `$defs` has. It has no `lowered` while it is being made. */
interface Definition {
  readonly $ref: string
  lowered?: Lowered
}

/** Returns what writes `$ref` in a dialect that has `$defs`. A cycle becomes JSON text if the dialect takes none. */
export function references(compiler: Compiler, takesCycles: boolean): References {
  const byTarget = new Map<Schema, Definition>()
  const byRef = new Map<unknown, Definition>()
  const fresh = namesBeside([])
  return {
    definitionOf: ({ $ref }) => byRef.get($ref)?.lowered?.schema,
    definitions: () =>
      objectOf([...byRef.values()].map(({ $ref, lowered }) => [$ref.slice(start.length), lowered?.schema ?? {}])),

    refer(schema, target) {
      const definition = byTarget.get(target) ?? define(target)
      const { $ref, lowered } = definition
      if (lowered === undefined && !takesCycles) return text(schema, '$ref', compiler)
      if (schema.$ref !== $ref) compiler.lose(schema, '$ref', 'renamed', $ref)
      if (describe(schema['description']) !== '') compiler.lose(schema, '$ref', 'widened', 'anyOf')
      // A definition that is being made may still get a way.
      const way = lowered?.way ?? ((value, scope) => definition.lowered?.way(value, scope))
      return { schema: { $ref }, way }
    },
  }

  function define(target: Schema): Definition {
    const last = compiler.pointerOf(target).split('/').at(-1) ?? ''
    const $ref = start + fresh(last.replaceAll(/[^a-zA-Z0-9_-]/g, '_').slice(0, 50) || 'node')
    const definition: Definition = { $ref }
    byTarget.set(target, definition)
    byRef.set($ref, definition)
    const lowered = compiler.lower(target)
    // A definition that is only a reference may lead back to itself.
    definition.lowered = lowered.schema.$ref === undefined ? lowered : text(target, '$ref', compiler)
    return definition
  }
}
