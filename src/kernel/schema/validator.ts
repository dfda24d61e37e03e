import { pathText } from '../json/uncanonical.ts'
import { InvalidToolArgsError, SchemaConversionError, ValidatorFailedError } from '../errors.ts'
import type { Schema } from './infer.ts'
import { readText } from '../json/json-text.ts'
import type { Issue, JsonSchema, JsonSchemaObject, StandardJSONSchemaV1, StandardSchemaV1 } from './standard.ts'
import { isThenable } from '../json/thenable.ts'

/** What validation gives: the value to go on with, or what is wrong. */
export type Outcome = { readonly value: unknown; readonly issues?: undefined } | { readonly issues: readonly Issue[] }

/** A schema of any library, in the one form that the kernel speaks. */
export interface Validator {
  /** Checks a value; a promise only where the schema asks for time. Throws `E_VALIDATOR_FAILED` where the schema breaks. */
  validate(value: unknown): Outcome | Promise<Outcome>
  /** The schema of one side as JSON Schema; throws `E_SCHEMA_CONVERSION` where it cannot be said. */
  jsonSchema(side: 'input' | 'output'): JsonSchemaObject
}

/** Validates raw JSON Schema: the port behind which our own engine stands. */
export interface SchemaEngine {
  /** Gives a function that answers with what is wrong with a value, or nothing. */
  compile(schema: JsonSchema): (value: unknown) => readonly Issue[] | undefined
}

let engine: SchemaEngine | undefined
let loading: Promise<SchemaEngine> | undefined

/** Starts to load the engine for raw JSON Schema, which is not part of the front door's bundle. */
export function loadEngine(): Promise<SchemaEngine> {
  loading ??= import('#json-schema').then((loaded) => (engine = loaded))
  return loading
}

/** Whether a schema is a Standard Schema; a function may be one, and `instanceof` is of no use across copies of a library. */
export function isStandardSchema(schema: unknown): schema is StandardSchemaV1 {
  if (schema === null || (typeof schema !== 'object' && typeof schema !== 'function')) return false
  const standard = (schema as Partial<StandardSchemaV1>)['~standard']
  return (
    typeof standard === 'object' &&
    standard !== null &&
    standard.version === 1 &&
    typeof standard.validate === 'function'
  )
}

/** Whether a schema is a raw one, which our own engine validates. */
export function isRaw(schema: Schema | undefined): boolean {
  return schema !== undefined && !isStandardSchema(schema)
}

/** Whether a value can be raw JSON Schema. */
export function isJsonSchema(schema: unknown): schema is JsonSchema {
  if (typeof schema === 'boolean') return true
  if (typeof schema !== 'object' || schema === null || Array.isArray(schema) || '~standard' in schema) return false
  // A plain object of any realm: the schema objects of other libraries are instances of their classes.
  const prototype: unknown = Object.getPrototypeOf(schema)
  return prototype === null || Object.getPrototypeOf(prototype) === null
}

/** Brings a schema of any library into the one form. */
export function validatorOf(schema: Schema): Validator {
  return isStandardSchema(schema) ? standardValidator(schema) : rawValidator(schema as JsonSchema)
}

function standardValidator(schema: StandardSchemaV1): Validator {
  const standard = schema['~standard'] as StandardSchemaV1.Props & Partial<StandardJSONSchemaV1.Props>
  return {
    validate(value) {
      let result: unknown
      try {
        result = standard.validate(value)
        if (isThenable(result)) return settleResult(result, standard.vendor)
      } catch (cause) {
        throw broken(standard.vendor, 'threw', cause)
      }
      return outcomeOf(result, standard.vendor)
    },
    jsonSchema(side) {
      requireConverter(schema, side)
      let refusal: unknown
      for (const target of ['draft-2020-12', 'draft-07'] as const) {
        try {
          return plainCopy(standard.jsonSchema?.[side]({ target }))
        } catch (cause) {
          refusal ??= cause
        }
      }
      throw new SchemaConversionError(
        `The ${standard.vendor} schema cannot be converted to JSON Schema: ${reasonOf(refusal)}. Change that part of the schema, or give the tool a \`jsonSchema\` of its own.`,
        { cause: refusal },
      )
    },
  }
}

async function settleResult(pending: PromiseLike<unknown>, vendor: string): Promise<Outcome> {
  let result: unknown
  try {
    result = await pending
  } catch (cause) {
    throw broken(vendor, 'rejected', cause)
  }
  return outcomeOf(result, vendor)
}

/** Reads a validator's answer: a failure if `issues` is there, a success if `value` is, own or inherited; nothing else is an answer. */
function outcomeOf(result: unknown, vendor: string): Outcome {
  if (typeof result !== 'object' || result === null) throw broken(vendor, 'gave no result object', undefined)
  try {
    const { issues, value } = result as { readonly issues?: unknown; readonly value?: unknown }
    if (issues !== undefined) return { issues: issuesOf(issues as readonly StandardSchemaV1.Issue[]) }
    if (value !== undefined || 'value' in result) return { value }
  } catch (cause) {
    throw broken(vendor, 'gave a malformed result', cause)
  }
  throw broken(vendor, 'gave a result without `value` and without `issues`', undefined)
}

function issuesOf(issues: readonly StandardSchemaV1.Issue[]): Issue[] {
  const plain = Array.from(issues, ({ message, path }) => ({
    message: String(message),
    path: Array.from(path ?? [], (step) => (typeof step === 'object' ? step.key : step)),
  }))
  return plain.length > 0 ? plain : [{ message: 'refused, and the validator did not say why', path: [] }]
}

/** What is wrong with a value, in words: each issue with the place where it stands. */
export function invalid(issues: readonly Issue[], root = 'args'): string {
  const words = issues
    .slice(0, 8)
    .map(({ path, message }) => (path.length === 0 ? message : `${pathText(path, root)}: ${message}`))
  return issues.length > 8 ? `${words.join('; ')}; and ${issues.length - 8} more` : words.join('; ')
}

/** The refusal of args that do not fit their schema. */
export function invalidArgs(toolName: string, issues: readonly Issue[]): InvalidToolArgsError {
  return new InvalidToolArgsError(`The args of ${toolName} are not valid: ${invalid(issues).replace(/\.$/, '')}.`, {
    issues,
    recommendations: ['Check the args against the schema of the tool.', 'Correct them and call the tool again.'],
  })
}

function rawValidator(schema: JsonSchema): Validator {
  let check: ((value: unknown) => readonly Issue[] | undefined) | undefined
  const run = (value: unknown, loaded: SchemaEngine): Outcome => {
    check ??= compile(schema, loaded)
    let issues: readonly Issue[] | undefined
    try {
      issues = check(value)
    } catch (cause) {
      throw broken('JSON Schema', 'threw', cause)
    }
    return issues === undefined ? { value } : { issues }
  }
  return {
    validate: (value) =>
      engine === undefined ? loadEngine().then((loaded) => run(value, loaded)) : run(value, engine),
    jsonSchema: () => plainCopy(schema === true ? {} : schema),
  }
}

function compile(schema: JsonSchema, loaded: SchemaEngine): (value: unknown) => readonly Issue[] | undefined {
  try {
    return loaded.compile(schema)
  } catch (cause) {
    throw new SchemaConversionError(`The JSON Schema cannot be used: ${reasonOf(cause)}`, { cause })
  }
}

/** A copy that nobody else holds and that is JSON for certain; the default dialect goes without saying. */
function plainCopy(schema: unknown): JsonSchemaObject {
  const copy = readText(JSON.stringify(schema))
  if (typeof copy !== 'object' || copy === null || Array.isArray(copy)) {
    throw new TypeError('the JSON Schema is not an object')
  }
  const { $schema, ...rest } = copy as JsonSchemaObject
  return $schema === undefined || /2020-12/.test($schema) ? rest : copy
}

const wrappers = new Map([
  ['valibot', "valibot(schema) from 'toolwright/validators/valibot'"],
  ['typebox', "typebox(schema) from 'toolwright/validators/typebox'"],
  ['zod', "zod(schema) from 'toolwright/validators/zod', and Zod 4.2 or newer"],
])

/** Throws `E_SCHEMA_CONVERSION` if a schema only validates; the message names the import that helps. */
export function requireConverter(
  { '~standard': standard }: StandardSchemaV1,
  side: 'input' | 'output' = 'input',
): void {
  const { vendor, jsonSchema } = standard as StandardSchemaV1.Props & Partial<StandardJSONSchemaV1.Props>
  if (typeof jsonSchema?.[side] === 'function') return
  const wrapper = wrappers.get(vendor)
  throw new SchemaConversionError(
    `A schema of ${vendor} validates, but says no JSON Schema of itself, so a model cannot be shown it. ${wrapper === undefined ? 'Give' : `Wrap it in ${wrapper}, or give`} the tool a \`jsonSchema\` of its own.`,
  )
}

function broken(vendor: string, what: string, cause: unknown): ValidatorFailedError {
  return new ValidatorFailedError(
    `The validator (${vendor}) ${what}${cause === undefined ? '' : `: ${reasonOf(cause)}`}. The args may have been right; the same call may succeed later.`,
    { cause, retryable: true },
  )
}

/** The words of anything that was thrown, however hostile it is. */
export function reasonOf(thrown: unknown): string {
  try {
    if (typeof thrown === 'object' && thrown !== null && 'message' in thrown) return String(thrown.message)
    return String(thrown)
  } catch {
    return 'something that cannot be read'
  }
}
