import { pathText } from '../json/text.ts'
import { InvalidToolArgsError, InvalidToolResultError, SchemaConversionError, ValidatorFailedError } from '../errors.ts'
import type { Schema } from './infer.ts'
import { copyOfJson } from '../json/copy.ts'
import type { Issue, JsonSchema, JsonSchemaObject, StandardJSONSchemaV1, StandardSchemaV1 } from './standard.ts'
import { isThenable, loadPart } from '../json/thenable.ts'
import { dropSafeBounds, isZodThatMayWait, parseZod, type ZodSchema } from './zod.ts'

/** The outcome of validation: the value after defaults and transforms, or the issues. */
export type Validation =
  { readonly value: unknown; readonly issues?: undefined } | { readonly issues: readonly Issue[] }

/** A schema of any library, in the one form that the kernel uses. */
export interface Validator {
  /** Checks a value; returns a promise only if the schema is asynchronous. Throws `E_VALIDATOR_FAILED` if the schema throws. */
  validate(value: unknown): Validation | Promise<Validation>
  /** Returns one side of the schema as JSON Schema. Throws `E_SCHEMA_CONVERSION` if JSON Schema cannot express it. */
  jsonSchema(side: 'input' | 'output'): JsonSchemaObject
}

/** Validates raw JSON Schema: the port of the engine that this package loads when needed. */
export interface SchemaEngine {
  /** Returns a function that returns the issues of a value, or `undefined` if it is valid. */
  compile(schema: JsonSchema): (value: unknown) => readonly Issue[] | undefined
}

let engine: SchemaEngine | undefined

/** Loads the engine for raw JSON Schema, which is not part of the bundle of the front door. */
export async function loadEngine(): Promise<SchemaEngine> {
  return (engine ??= await loadPart(import('#json-schema')))
}

/** Whether a schema is a Standard Schema; a function may be one. `instanceof` fails across copies of a library. */
export function isStandardSchema(schema: unknown): schema is StandardSchemaV1 {
  if (schema === null || (typeof schema !== 'object' && typeof schema !== 'function')) return false
  const standard = (schema as Partial<StandardSchemaV1>)['~standard']
  return standard?.version === 1 && typeof standard.validate === 'function'
}

/** Whether a schema is raw JSON Schema, which the engine of this package validates. */
export function isRaw(schema: Schema | undefined): boolean {
  return schema !== undefined && !isStandardSchema(schema)
}

/** Whether a value can be raw JSON Schema. */
export function isJsonSchema(schema: unknown): schema is JsonSchema {
  if (typeof schema === 'boolean') return true
  if (typeof schema !== 'object' || schema === null || Array.isArray(schema) || '~standard' in schema) return false
  // A plain object of any realm: schema objects of other libraries are class instances.
  const prototype: unknown = Object.getPrototypeOf(schema)
  return prototype === null || Object.getPrototypeOf(prototype) === null
}

/** Returns the validator of a schema of any library. */
export function validatorOf(schema: Schema): Validator {
  return isStandardSchema(schema) ? standardValidator(schema) : rawValidator(schema as JsonSchema)
}

function standardValidator(schema: StandardSchemaV1): Validator {
  const standard = schema['~standard'] as StandardSchemaV1.Props & Partial<StandardJSONSchemaV1.Props>
  let waits: boolean | undefined
  return {
    validate(value) {
      let result: unknown
      try {
        waits ??= isZodThatMayWait(schema)
        result = waits ? parseZod(schema as ZodSchema, value) : standard.validate(value)
        if (isThenable(result)) return settleResult(result, standard.vendor)
      } catch (cause) {
        throw broken(standard.vendor, 'threw', cause)
      }
      return validationOf(result, standard.vendor)
    },
    jsonSchema(side) {
      requireConverter(schema, side)
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
        `The ${standard.vendor} schema cannot be converted to JSON Schema: ${reasonOf(refusal)}. Change that part, or give the tool a \`jsonSchema\` of its own.`,
        { cause: refusal },
      )
    },
  }
}

async function settleResult(validation: PromiseLike<unknown>, vendor: string): Promise<Validation> {
  let result: unknown
  try {
    result = await validation
  } catch (cause) {
    throw broken(vendor, 'rejected', cause)
  }
  return validationOf(result, vendor)
}

/** Reads a validator's result: a failure if it has `issues`, a success if it has `value`, own or inherited. Throws otherwise. */
function validationOf(result: unknown, vendor: string): Validation {
  if (typeof result !== 'object' || result === null) throw broken(vendor, 'gave no result object', undefined)
  try {
    const { issues, value } = result as { readonly issues?: unknown; readonly value?: unknown }
    if (issues !== undefined) return { issues: issuesOf(issues as readonly StandardSchemaV1.Issue[]) }
    if (value !== undefined || 'value' in result) return { value }
  } catch (cause) {
    throw broken(vendor, 'gave a malformed result', cause)
  }
  throw broken(vendor, 'gave neither `value` nor `issues`', undefined)
}

function issuesOf(issues: readonly StandardSchemaV1.Issue[]): Issue[] {
  const plain = Array.from(issues, ({ message, path }) => ({
    message: String(message),
    path: Array.from(path ?? [], (step) => (typeof step === 'object' ? step.key : step)),
  }))
  return plain.length > 0 ? plain : [{ message: 'refused without a reason', path: [] }]
}

/** Returns the issues of a value as one text, each with its place. */
export function invalid(issues: readonly Issue[], root = 'args'): string {
  const words = issues
    .slice(0, 8)
    .map(({ path, message }) => (path.length === 0 ? message : `${pathText(path, root)}: ${message}`))
  return issues.length > 8 ? `${words.join('; ')}; and ${issues.length - 8} more` : words.join('; ')
}

/** Makes the error for args that do not fit their schema. */
export function invalidArgs(toolName: string, issues: readonly Issue[]): InvalidToolArgsError {
  return new InvalidToolArgsError(`The args of ${toolName} are not valid: ${invalid(issues).replace(/\.$/, '')}.`, {
    issues,
    recommendations: ['Correct the args to fit the schema of the tool.', 'Call it again.'],
  })
}

/** Makes the error for a result that does not fit its schema. */
export function invalidOutput(toolName: string, issues: readonly Issue[]): InvalidToolResultError {
  const what = invalid(issues, 'result')
  return new InvalidToolResultError(`The result of tool "${toolName}" does not fit its outputSchema: ${what}.`, {
    issues,
  })
}

function rawValidator(schema: JsonSchema): Validator {
  let check: ReturnType<SchemaEngine['compile']> | undefined
  const run = (value: unknown, loaded: SchemaEngine): Validation => {
    try {
      check ??= loaded.compile(schema)
    } catch (cause) {
      throw new SchemaConversionError(`The JSON Schema cannot be used: ${reasonOf(cause)}`, { cause })
    }
    try {
      const issues = check(value)
      return issues === undefined ? { value } : { issues }
    } catch (cause) {
      throw broken('JSON Schema', 'threw', cause)
    }
  }
  return {
    validate: (value) =>
      engine === undefined ? loadEngine().then((loaded) => run(value, loaded)) : run(value, engine),
    jsonSchema: () => plainCopy(schema === true ? {} : schema),
  }
}

/** The most objects and elements of a schema that is copied directly; a larger one is copied as text. */
const mostParts = 100_000

/** Returns a private copy that is certainly JSON, without `$schema` if it names the default dialect. */
function plainCopy(schema: unknown): JsonSchemaObject {
  const whole = typeof schema === 'object' && schema !== null ? copyOfJson(schema, mostParts) : undefined
  const copy: unknown = whole ?? JSON.parse(JSON.stringify(schema)) // class instances and `toJSON` need the text
  if (typeof copy !== 'object' || copy === null || Array.isArray(copy)) {
    throw new TypeError('the JSON Schema is not an object')
  }
  const { $schema, ...rest } = copy as JsonSchemaObject
  return $schema === undefined || /2020-12/.test($schema) ? rest : copy
}

/** Throws `E_SCHEMA_CONVERSION` if a schema only validates; the message names the wrapper to import. */
export function requireConverter(
  { '~standard': standard }: StandardSchemaV1,
  side: 'input' | 'output' = 'input',
): void {
  const { vendor, jsonSchema } = standard as StandardSchemaV1.Props & Partial<StandardJSONSchemaV1.Props>
  if (typeof jsonSchema?.[side] === 'function') return
  const article = /^[aeiou]/i.test(vendor) ? 'An' : 'A'
  const wrapper = ['valibot', 'typebox', 'zod'].includes(vendor)
    ? `Wrap it in ${vendor}(schema) from 'toolwright/validators/${vendor}'${vendor === 'zod' ? ', with Zod 4.2 or newer' : ''}, or give`
    : vendor === 'effect'
      ? 'Pass it through Schema.toStandardJSONSchemaV1, or give'
      : 'Give'
  throw new SchemaConversionError(
    `${article} ${vendor} schema validates, but has no conversion to JSON Schema for models. ${wrapper} the tool a \`jsonSchema\` of its own.`,
  )
}

function broken(vendor: string, what: string, cause: unknown): ValidatorFailedError {
  return new ValidatorFailedError(
    `The validator (${vendor}) ${what}${cause === undefined ? '' : `: ${reasonOf(cause)}`}. The args may have been right; the same call may succeed later.`,
    { cause },
  )
}

/** Returns the message of any thrown value, even of a hostile one. */
export function reasonOf(thrown: unknown): string {
  try {
    if (typeof thrown === 'object' && thrown !== null && 'message' in thrown) return String(thrown.message)
    return String(thrown)
  } catch {
    return 'something that cannot be read'
  }
}

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

/** Whether a value is an object, and no array. */
export function isObject(value: unknown): value is object {
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
