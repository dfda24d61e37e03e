import type { Compiler, Stack } from './compiler.ts'
import type { References } from './dialect.ts'
import { namesBeside, through, type Lowered, type Node } from './schema.ts'
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
  const byTarget = new Map<Node, Definition>()
  const byName = new Map<string, Definition>()
  const fresh = namesBeside([])
  return {
    definitionOf: ({ $ref }) => byName.get(String($ref).slice(start.length))?.lowered?.schema,
    definitions: () => Object.fromEntries([...byName].map(([name, { lowered }]) => [name, lowered?.schema])),

    refer(node, target, stack) {
      const definition = byTarget.get(target) ?? define(target, stack)
      const { $ref, lowered } = definition
      if (lowered === undefined && !takesCycles) return text(node, '$ref', compiler)
      if (node['$ref'] !== $ref) compiler.lose(node, '$ref', 'renamed', $ref)
      if (describe(node['description']) !== '') compiler.lose(node, '$ref', 'widened', 'anyOf')
      if (lowered !== undefined && lowered.way === undefined) return { schema: { $ref } }
      // A definition that is being made may still get a way.
      return {
        schema: { $ref },
        way: (value, isUp, scope) => through(definition.lowered?.way, value, isUp, scope),
      }
    },
  }

  function define(target: Node, stack: Stack): Definition {
    const last = compiler.pointerOf(target).split('/').at(-1) ?? ''
    const name = fresh(last.replaceAll(/[^a-zA-Z0-9_-]/g, '_').slice(0, 50) || 'node')
    const definition: Definition = { $ref: start + name }
    byTarget.set(target, definition)
    byName.set(name, definition)
    const lowered = compiler.lower(target, stack)
    // A definition that is only a reference may lead back to itself.
    definition.lowered = Object.hasOwn(lowered.schema, '$ref') ? text(target, '$ref', compiler) : lowered
    return definition
  }
}
