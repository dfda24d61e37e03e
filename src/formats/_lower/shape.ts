import { isObject } from '../_read.ts'
import type { Compiler } from './compiler.ts'
import { fieldsOf, isOf, listOf, type Node, type Scope } from './schema.ts'

// The shape of lowered schemas: types, constants, and which fields there are. Patterns are never run.

type Definitions = Pick<Compiler, 'definitionOf'>

/** The most steps of one question about a shape. */
const mostSteps = 2_000

/** Returns the schemas of an `anyOf`, or the schema itself. */
export function branchesOf(schema: Node): readonly Node[] {
  return schema['anyOf'] === undefined ? [schema] : listOf<Node>(schema['anyOf'])
}

/** Returns the names of the fields of a schema and of its branches. */
export function namesOf(schema: Node): Set<string> {
  return new Set(branchesOf(schema).flatMap((branch) => Object.keys(fieldsOf(branch['properties']))))
}

/** Returns whether a lowered schema takes null; true if that is not known yet. */
export function takesNull(schema: Node, definitions: Definitions): boolean {
  if (schema['nullable'] === true) return true
  if (Object.hasOwn(schema, '$ref')) {
    const found = definitions.definitionOf(schema)
    return found === undefined || takesNull(found, definitions)
  }
  if (schema['anyOf'] !== undefined) return branchesOf(schema).some((branch) => takesNull(branch, definitions))
  const isTyped = schema['type'] === undefined || listOf(schema['type']).includes('null')
  return isTyped && constantsOf(schema)?.includes(null) !== false
}

/**
 * Returns whether one value could belong to both of two lowered schemas. It looks no deeper than `fits`, so that a value
 * which fits one of two schemas that cannot meet is of that one.
 */
export function mayMeet(one: Node, other: Node, definitions: Definitions, left = 30): boolean {
  if (left === 0) return true
  const meet = (a: Node, b: Node): boolean => mayMeet(a, b, definitions, left - 1)
  for (const [a, b] of [
    [one, other],
    [other, one],
  ] as const) {
    if (!Object.hasOwn(a, '$ref')) continue
    const found = definitions.definitionOf(a)
    return found === undefined || meet(found, b)
  }
  if (one['nullable'] === true && other['nullable'] === true) return true
  if (one['anyOf'] !== undefined) return branchesOf(one).some((branch) => meet(branch, other))
  if (other['anyOf'] !== undefined) return meet(other, one)
  if (one['type'] === undefined || other['type'] === undefined) return true
  const [types, others] = [typesOf(one), typesOf(other)]
  const common = types.filter((type) => others.includes(type))
  if (common.length === 0) return false
  const [values, twins] = [constantsOf(one), constantsOf(other)]
  if (values !== undefined && twins !== undefined) return values.some((value) => twins.includes(value))
  if (common.length > 1 || common[0] !== 'object') return true
  if (lacks(one, other) || lacks(other, one)) return false
  const [fields, more] = [fieldsOf(one['properties']), fieldsOf(other['properties'])]
  const required = listOf(other['required'])
  return listOf<string>(one['required']).every((name) => {
    const [field, twin] = [fields[name], more[name]]
    return !required.includes(name) || !isObject(field) || !isObject(twin) || meet(field, twin)
  })
}

/** Returns the types of a schema. Whole numbers are numbers. */
function typesOf(schema: Node): string[] {
  return [...new Set(listOf<string>(schema['type']).map((type) => (type === 'integer' ? 'number' : type)))]
}

/** Returns the only values of a schema, which are scalars. */
function constantsOf(schema: Node): readonly unknown[] | undefined {
  if (Object.hasOwn(schema, 'const')) return [schema['const']]
  return schema['enum'] === undefined ? undefined : listOf(schema['enum'])
}

/** Returns whether one closed schema has no place for a field that the other requires. */
function lacks(closed: Node, other: Node): boolean {
  if (closed['additionalProperties'] !== false) return false
  const fields = fieldsOf(closed['properties'])
  return listOf(other['required']).some((name) => !Object.hasOwn(fields, name as string))
}

/**
 * Returns whether a value has the shape of a lowered schema.
 *
 * @param isWhole Whether elements and optional fields are looked at too.
 */
export function fits(schema: Node, value: unknown, definitions: Definitions, scope: Scope, isWhole = false): boolean {
  let left = isWhole ? scope.steps : Math.min(mostSteps, scope.steps)
  const before = left
  const result = check(schema, value)
  scope.steps -= before - left
  return result

  function check(one: Node, of: unknown): boolean {
    if (left-- <= 0) return false
    if (Object.hasOwn(one, '$ref')) {
      const found = definitions.definitionOf(one)
      return found !== undefined && check(found, of)
    }
    if (of === null && one['nullable'] === true) return true
    if (one['anyOf'] !== undefined) return branchesOf(one).some((branch) => check(branch, of))
    const types = listOf(one['type'])
    if (types.length > 0 && !types.some((type) => isOf(type, of))) return false
    const values = constantsOf(one)
    if (values?.includes(of) === false) return false
    if (isWhole && Array.isArray(of)) return checkItems(one, of)
    return !isObject(of) || checkFields(one, of)
  }

  function checkFields(one: Node, of: Node): boolean {
    const fields = fieldsOf(one['properties'])
    const required = new Set(listOf<string>(one['required']))
    const rest = one['additionalProperties']
    if ([...required].some((name) => !Object.hasOwn(of, name))) return false
    return Object.keys(of).every((name) => {
      const field = Object.hasOwn(fields, name) ? fields[name] : undefined
      if (isObject(field)) return (!isWhole && !required.has(name)) || check(field, of[name])
      return rest !== false && (!isWhole || !isObject(rest) || check(rest, of[name]))
    })
  }

  function checkItems(one: Node, of: readonly unknown[]): boolean {
    const [first, rest] = [listOf(one['prefixItems']), one['items']]
    const [least = 0, most = Infinity] = [one['minItems'], one['maxItems']] as (number | undefined)[]
    if (of.length < least || of.length > most) return false
    return of.every((item, index) => {
      const schema_ = index < first.length ? first[index] : rest
      return !isObject(schema_) || check(schema_, item)
    })
  }
}
