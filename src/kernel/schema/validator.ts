import { pathText } from '../json/text.ts'
import { InvalidToolArgsError, InvalidToolResultError, SchemaConversionError, ValidatorFailedError } from '../errors.ts'
import type { Schema } from './infer.ts'
import type { Issue, JsonSchema, StandardSchemaV1 } from './standard.ts'
import { isThenable, whenLoaded } from '../json/thenable.ts'
import { isObject, isStandardSchema, reasonOf } from './json-schema.ts'
import { isZodThatMayWait, parseZod, type ZodSchema } from './zod.ts'

/** The outcome of validation: the value after defaults and transforms, or the issues. */
export type Validation =
  { readonly value: unknown; readonly issues?: undefined } | { readonly issues: readonly Issue[] }

/** A schema of any library, in the one form that the kernel uses. */
export interface Validator {
  /** Checks a value; returns a promise only if the schema is asynchronous. Throws `E_VALIDATOR_FAILED` if the schema throws. */
  validate(value: unknown): Validation | Promise<Validation>
}

/** The port of the engine for raw JSON Schema, which is loaded when needed. */
export interface SchemaEngine {
  /** Returns a function of a value: its issues, or `undefined`. */
  compile(schema: JsonSchema): (value: unknown) => readonly Issue[] | undefined
}

let engine: SchemaEngine | undefined

/** Loads the engine for raw JSON Schema. */
export async function loadEngine(): Promise<SchemaEngine> {
  return (engine ??= await whenLoaded(import('#json-schema')))
}

export function validatorOf(schema: Schema): Validator {
  return isStandardSchema(schema) ? standardValidator(schema) : rawValidator(schema as JsonSchema)
}

function standardValidator(schema: StandardSchemaV1): Validator {
  const standard = schema['~standard']
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

/** Reads a validator's result: `issues`, or else `value`, own or inherited. Throws otherwise. */
function validationOf(result: unknown, vendor: string): Validation {
  if (typeof result !== 'object' || result === null) throw broken(vendor, 'gave no object', undefined)
  try {
    const { issues, value } = result as { readonly issues?: unknown; readonly value?: unknown }
    if (issues !== undefined) return { issues: issuesOf(issues as readonly StandardSchemaV1.Issue[]) }
    if (value !== undefined || 'value' in result) return { value }
  } catch (cause) {
    throw broken(vendor, 'gave a bad result', cause)
  }
  throw broken(vendor, 'gave neither `value` nor `issues`', undefined)
}

function issuesOf(issues: readonly StandardSchemaV1.Issue[]): Issue[] {
  const plain = Array.from(issues, ({ message, path }) => ({
    message: message.toString(), // throws if there is none: `String` would tell a model "undefined"
    path: Array.from(path ?? [], (step) => (typeof step === 'object' ? step.key : step)),
  }))
  return plain.length > 0 ? plain : [{ message: 'refused without a reason', path: [] }]
}

/** Returns issues as one text, each with its place. */
export function issuesText(issues: readonly Issue[], root = 'args'): string {
  const words = issues
    .slice(0, 8)
    .map(({ path, message }) => (path.length === 0 ? message : `${pathText(path, root)}: ${message}`))
  return issues.length > 8 ? `${words.join('; ')}; and ${issues.length - 8} more` : words.join('; ')
}

export function invalidArgs(toolName: string, issues: readonly Issue[]): InvalidToolArgsError {
  return new InvalidToolArgsError(`The args of ${toolName} are not valid: ${issuesText(issues).replace(/\.$/, '')}.`, {
    issues,
    recommendations: ['Correct the args to fit the schema of the tool.', 'Call it again.'],
  })
}

export function invalidOutput(toolName: string, issues: readonly Issue[]): InvalidToolResultError {
  const what = issuesText(issues, 'result')
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
  }
}

function broken(vendor: string, what: string, cause: unknown): ValidatorFailedError {
  return new ValidatorFailedError(
    `The validator (${vendor}) ${what}${cause === undefined ? '' : `: ${reasonOf(cause)}`}. The args may have been right; the same call may succeed later.`,
    { cause },
  )
}

export const noInput: Validator = {
  validate(value): Validation {
    if (!isObject(value)) return notAnObject(value)
    const issues = Object.keys(value).map((key) => ({
      message: 'unknown property; the tool takes no arguments',
      path: [key],
    }))
    return issues.length === 0 ? { value } : { issues }
  },
}

export const anyObject: Validator = {
  validate: (value): Validation => (isObject(value) ? { value } : notAnObject(value)),
}

function notAnObject(value: unknown): Validation {
  const what = value === null ? 'null' : Array.isArray(value) ? 'an array' : `a ${typeof value}`
  return { issues: [{ message: `must be an object, got ${what}`, path: [] }] }
}
