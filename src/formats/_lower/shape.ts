import { isObject } from '../_read.ts'
import type { Compiler } from './compiler.ts'
import {
  listOf,
  typeName,
  type SchemaObject,
  type NamedSchemas,
  type TranslationScope,
  type TypeName,
} from './schema.ts'

// The shape of lowered schemas: types, constants, and which fields there are. Patterns are never run.

type Definitions = Pick<Compiler, 'definitions'>

/** The most steps of one question about a shape. */
const mostShapeSteps = 2_000

/** Returns the names of the fields of a schema and of its branches. */
export function branchFields(schema: SchemaObject): Set<string> {
  const branches = schema.anyOf ?? [schema]
  return new Set(branches.flatMap(({ properties = {} }) => Object.keys(properties)))
}

/** Returns whether a lowered schema takes null; true if that is not known yet. */
export function takesNull(schema: SchemaObject, definitions: Definitions): boolean {
  return mayMeet(schema, only(null), definitions)
}

/** Returns whether one value could belong to both of two lowered schemas; true if that is not known. */
export function mayMeet(one: SchemaObject, other: SchemaObject, definitions: Definitions): boolean {
  return meet(one, other, definitions, { left: mostShapeSteps })
}

/**
 * Returns whether a value has the shape of a lowered schema. One that fits one of two schemas that cannot meet is of that one.
 *
 * @param isWhole Whether elements and optional fields are looked at too.
 */
export function fitsShape(
  schema: SchemaObject,
  value: unknown,
  definitions: Definitions,
  { steps }: TranslationScope,
  isWhole = false,
): boolean {
  const floor = isWhole ? 0 : Math.max(0, steps.left - mostShapeSteps)
  return meet(schema, only(value), definitions, steps, true, isWhole, floor)
}

/** Returns the schema of one value. In place of the schemas in it stand the values. */
function only(value: unknown): SchemaObject {
  const name = typeName(value)
  const type = (name === 'number' ? 'fraction' : name) as TypeName
  if (Array.isArray(value)) return { type, prefixItems: value }
  if (!isObject(value)) return { type, const: value, nullable: value === null }
  return { type, properties: value as NamedSchemas, required: Object.keys(value), additionalProperties: false }
}

/**
 * Returns whether two schemas have a value in common.
 *
 * @param isValue Whether the second is the schema of one value. What is not known is then no, and else yes.
 * @param floor The number of steps that must be left.
 */
function meet(
  first: SchemaObject,
  second: SchemaObject,
  { definitions }: Definitions,
  steps: TranslationScope['steps'],
  isValue = false,
  isWhole = false,
  floor = 0,
): boolean {
  return meets(first, second)

  function meets(one: SchemaObject, other: SchemaObject): boolean {
    if (steps.left-- <= floor) return !isValue
    if (one.$ref) {
      const found = definitions.get(one.$ref)
      return found ? meets(found.schema, other) : !isValue
    }
    if (other.$ref) return meets(other, one)
    if (one['nullable'] && other['nullable']) return true
    if (one.anyOf) return one.anyOf.some((branch) => meets(branch, other))
    if (other.anyOf) return meets(other, one)
    if (!one.type || !other.type) return true
    const types = typesOf(other)
    const [type, ...more] = typesOf(one).filter((name) => types.includes(name))
    if (!type) return false
    const values = constantsOf(one)
    const twins = constantsOf(other)
    if (values && twins) return values.some((value) => twins.includes(value))
    if (more.length > 0) return true
    return type === 'object' ? fieldsMeet(one, other) : type !== 'array' || !isWhole || itemsMeet(one, other)
  }

  function fieldsMeet(one: SchemaObject, other: SchemaObject): boolean {
    if (lacks(one, other) || lacks(other, one)) return false
    const { properties = {}, required, additionalProperties: rest } = one
    const { properties: twins = {}, required: names = [] } = other
    const compared = new Set(isWhole ? names : required)
    return names.every((name) => {
      if (!compared.has(name)) return true
      const field = Object.hasOwn(properties, name) ? properties[name] : rest
      const twin = isValue ? only(twins[name]) : twins[name]
      return !isObject(field) || !isObject(twin) || meets(field, twin)
    })
  }

  function itemsMeet(one: SchemaObject, { prefixItems: all = [] }: SchemaObject): boolean {
    const { prefixItems = [], items, minItems = 0, maxItems = Infinity } = one
    if (all.length < minItems || all.length > maxItems) return false
    return all.every((item, index) => {
      const schema = prefixItems[index] ?? items
      return !isObject(schema) || meets(schema, only(item))
    })
  }
}

/** Returns the types of a schema. A number is whole or not. */
function typesOf({ type }: SchemaObject): readonly string[] {
  const types = listOf<string>(type)
  return types.includes('number') ? [...types, 'integer', 'fraction'] : types
}

/** Returns the only values of a schema, which are scalars. */
function constantsOf(schema: SchemaObject): readonly unknown[] | undefined {
  return 'const' in schema ? [schema['const']] : schema.enum
}

/** Returns whether one closed schema has no place for a field that the other requires. */
function lacks({ additionalProperties, properties = {} }: SchemaObject, { required = [] }: SchemaObject): boolean {
  return additionalProperties === false && required.some((name) => !Object.hasOwn(properties, name))
}
