import { SchemaConversionError } from '../errors.ts'
import type { Validation, Validator } from './validator.ts'
import type { JsonSchema, JsonSchemaObject } from './standard.ts'

const noFields: JsonSchemaObject = { type: 'object', properties: {}, additionalProperties: false }

/** The input of a tool that takes no arguments. */
export const noInput: Validator = {
  validate(value): Validation {
    if (!isObject(value)) return notAnObject(value)
    const issues = Object.keys(value).map((key) => ({
      message: 'unknown property; the tool takes no arguments',
      path: [key],
    }))
    return issues.length === 0 ? { value } : { issues }
  },
  jsonSchema: () => noFields,
}

/** The input of a tool that takes any object. */
export const anyObject: Validator = {
  validate: (value): Validation => (isObject(value) ? { value } : notAnObject(value)),
  jsonSchema: () => ({ type: 'object' }),
}

function isObject(value: unknown): value is object {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

function notAnObject(value: unknown): Validation {
  const what = value === null ? 'null' : Array.isArray(value) ? 'an array' : `a ${typeof value}`
  return { issues: [{ message: `must be an object, got ${what}`, path: [] }] }
}

/** Sets the root of an input schema to `object`, as every provider requires. A union gets the type, a wider type is narrowed. */
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
