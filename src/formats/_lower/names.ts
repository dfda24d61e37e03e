import type { SchemaSource } from './compiler.ts'
import { propertiesOf, fieldsWay, type Field } from './object.ts'
import { jsonOf, namesBeside, same, type Lowered, type SchemaObject } from './schema.ts'
import { described } from './value.ts'

/** Returns a function that gives a field of a schema the name that the provider takes. */
export type Naming = (usedNames: Iterable<string>, reading: SchemaSource) => (field: Field, own: SchemaObject) => Field

/** Returns a function that renames a field if its name is not allowed. The description tells its own name. */
export function naming(allowed: RegExp, usedNames: Iterable<string>, { lose }: SchemaSource): ReturnType<Naming> {
  const fresh = namesBeside(usedNames)
  return (field, own) => {
    const { from, lowered } = field
    if (allowed.test(from)) return field
    const plain = from.replaceAll(/[^a-zA-Z0-9_]/gu, '_').slice(0, 56)
    const to = fresh(/^[a-zA-Z_]/.test(plain) ? plain : `_${plain}`)
    lose(own, 'properties', 'renamed', to)
    const note = `Stands for ${jsonOf(from)}.`
    return { ...field, to, lowered: described(lowered, lowered.schema['description'], note) }
  }
}

/** Renames the properties of a root, if nothing else of it is lowered. */
export function renamed(loweredRoot: Lowered, names: Naming, reading: SchemaSource): Lowered {
  const { properties = {}, required = [] } = loweredRoot.schema
  const named = names(Object.keys(properties), reading)
  const fields = Object.entries(properties).map(([from, schema]) =>
    named({ from, to: from, lowered: { schema, way: same } }, schema),
  )
  const way = fieldsWay(fields)
  if (way === same) return loweredRoot
  const byFrom = new Map(fields.map(({ from, to }) => [from, to]))
  return {
    schema: {
      ...loweredRoot.schema,
      properties: propertiesOf(fields),
      ...(required.length > 0 && { required: required.map((name) => byFrom.get(name) ?? name) }),
    },
    way,
  }
}
