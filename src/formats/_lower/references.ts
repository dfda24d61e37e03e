import type { Compiler } from './compiler.ts'
import { namesBeside, type Lowered, type SchemaObject } from './schema.ts'
import { asJsonText } from './value.ts'
import { descriptionWith } from './words.ts'

/** Returns what writes `$ref` in a dialect that has `$defs`. A cycle becomes JSON text if the dialect takes none. */
export function references(
  compiler: Compiler,
  takesCycles: boolean,
): (schema: SchemaObject, target: SchemaObject) => Lowered {
  const { definitions } = compiler
  const byTarget = new Map<SchemaObject, string>()
  const fresh = namesBeside()
  return (schema, target) => {
    const $ref = byTarget.get(target) ?? define(target)
    const lowered = definitions.get($ref)
    if (lowered === undefined && !takesCycles) return asJsonText(schema, '$ref', compiler)
    if (schema.$ref !== $ref) compiler.lose(schema, '$ref', 'renamed', $ref)
    if (descriptionWith(schema['description'])) compiler.lose(schema, '$ref', 'widened', 'anyOf')
    // A definition that is being made may still get a way.
    return { schema: { $ref }, way: lowered?.way ?? ((value, scope) => definitions.get($ref)?.way(value, scope)) }
  }

  function define(target: SchemaObject): string {
    const last = compiler.pointerOf(target).split('/').at(-1) ?? ''
    const $ref = `#/$defs/${fresh(last.replaceAll(/[^a-zA-Z0-9_-]/g, '_').slice(0, 50) || 'node')}`
    byTarget.set(target, $ref)
    definitions.set($ref, undefined)
    const lowered = compiler.lower(target)
    // A definition that is only a reference may lead back to itself.
    definitions.set($ref, lowered.schema.$ref === undefined ? lowered : asJsonText(target, '$ref', compiler))
    return $ref
  }
}
