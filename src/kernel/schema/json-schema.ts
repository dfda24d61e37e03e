import { SchemaConversionError } from '../errors.ts'
import { copyOfJson } from '../json/copy.ts'
import { isThenable, unawaited } from '../json/thenable.ts'
import type { Schema } from './infer.ts'
import type { JsonSchema, JsonSchemaObject, StandardJSONSchemaV1, StandardSchemaV1 } from './standard.ts'

// What is asked of a schema when a tool is made or described. `validator.ts` is not loaded until a call.

/** Whether a schema is a Standard Schema; a function may be one. `instanceof` fails across copies of a library. */
export function isStandardSchema(schema: unknown): schema is StandardSchemaV1 {
  if (schema === null || (typeof schema !== 'object' && typeof schema !== 'function')) return false
  const standard = (schema as Partial<StandardSchemaV1>)['~standard']
  return standard?.version === 1 && typeof standard.validate === 'function'
}

/** Whether a schema is raw JSON Schema, which our engine validates. */
export function isRaw(schema: Schema | undefined): boolean {
  return schema !== undefined && !isStandardSchema(schema)
}

/** Whether a value can be raw JSON Schema. */
export function isJsonSchema(schema: unknown): schema is JsonSchema {
  if (typeof schema === 'boolean') return true
  if (!isObject(schema) || '~standard' in schema) return false
  // A plain object of any realm: schema objects of other libraries are class instances.
  const prototype: unknown = Object.getPrototypeOf(schema)
  return prototype === null || Object.getPrototypeOf(prototype) === null
}

/** Returns one side of a schema as JSON Schema. Throws `E_SCHEMA_CONVERSION` if JSON Schema cannot express it. */
export function jsonSchemaOf(schema: Schema, side: 'input' | 'output'): JsonSchemaObject {
  if (!isStandardSchema(schema)) return plainCopy(schema === true ? {} : schema)
  requireConverter(schema, side)
  const standard = schema['~standard'] as StandardSchemaV1.Props & Partial<StandardJSONSchemaV1.Props>
  const libraryOptions = standard.vendor === 'zod' ? { override: dropSafeBounds } : undefined
  let refusal: unknown
  for (const target of ['draft-2020-12', 'draft-07'] as const) {
    try {
      return plainCopy(standard.jsonSchema?.[side]({ target, libraryOptions }))
    } catch (cause) {
      refusal ??= cause
    }
  }
  throw new SchemaConversionError(
    `The ${standard.vendor} schema cannot be converted to JSON Schema: ${reasonOf(refusal)}. Take text and transform it, or give the tool a \`jsonSchema\` of its own.`,
    { cause: refusal },
  )
}

/** Leaves out the bounds of a double, which Zod gives each whole number: they tell a model nothing. */
export function dropSafeBounds({ jsonSchema }: { readonly jsonSchema: { minimum?: number; maximum?: number } }): void {
  if (jsonSchema.minimum === Number.MIN_SAFE_INTEGER) delete jsonSchema.minimum
  if (jsonSchema.maximum === Number.MAX_SAFE_INTEGER) delete jsonSchema.maximum
}

/** The most objects and elements of a schema that is not copied as text. */
const mostParts = 100_000

/** Returns a copy that is certainly JSON, without `$schema` of the default dialect. */
function plainCopy(schema: unknown): JsonSchemaObject {
  if (!isObject(schema) || isThenable(schema)) {
    void unawaited(schema) // its rejection would end the process
    throw new TypeError('none came at once')
  }
  const directCopy = copyOfJson(schema, mostParts)
  const copy = (directCopy ?? JSON.parse(JSON.stringify(schema))) as JsonSchemaObject // instances need the text
  const { $schema, ...rest } = copy
  return $schema === undefined || /2020-12/.test($schema) ? rest : copy
}

/** Throws `E_SCHEMA_CONVERSION` if a schema only validates, and names its wrapper. */
export function requireConverter(
  { '~standard': standard }: StandardSchemaV1,
  side: 'input' | 'output' = 'input',
): void {
  const { vendor, jsonSchema } = standard as StandardSchemaV1.Props & Partial<StandardJSONSchemaV1.Props>
  if (typeof jsonSchema?.[side] === 'function') return
  const wrapper = ['valibot', 'typebox', 'zod'].includes(vendor)
    ? `Wrap it in ${vendor}(schema) from 'toolwright/validators/${vendor}'${vendor === 'zod' ? ', with Zod 4.2 or newer' : ''}, or give`
    : vendor === 'effect'
      ? 'Pass it through Schema.toStandardJSONSchemaV1, or give'
      : 'Give'
  throw new SchemaConversionError(
    `The ${vendor} schema validates, but has no conversion to JSON Schema for models. ${wrapper} the tool a \`jsonSchema\` of its own.`,
  )
}

/** Returns the message of any thrown value, even of a hostile one. */
export function reasonOf(thrown: unknown): string {
  try {
    if (isObject(thrown) && 'message' in thrown) return String(thrown.message)
    return String(thrown)
  } catch {
    return 'something unreadable'
  }
}

export const noFields: JsonSchemaObject = { type: 'object', properties: {}, additionalProperties: false }

/** Whether a value is an object, and no array. */
export function isObject(value: unknown): value is object {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

/** Sets the root of an input schema, also of a union or a wider type, to `object`, as providers require. */
export function rootObject(schema: JsonSchemaObject): JsonSchemaObject {
  requireObjectRoot(schema)
  return schema.type === 'object' ? schema : { ...schema, type: 'object' }
}

/** Throws `E_SCHEMA_CONVERSION` if the root of an input schema does not allow an object. */
export function requireObjectRoot(schema: JsonSchema): void {
  const { type } = schema === false ? { type: false } : schema === true ? { type: undefined } : schema
  if (type === undefined || type === 'object' || (Array.isArray(type) && type.includes('object'))) return
  const what = type === false ? '`false`, which no value fits' : `of type ${JSON.stringify(type)}`
  throw new SchemaConversionError(
    `The args of a tool are an object, but its input schema is ${what}. Put the value into a field of an object.`,
  )
}
