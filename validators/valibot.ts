/**
 * Valibot schemas as Standard Schemas that can be shown to a model.
 *
 * This file must not validate by itself, and must not change the schema. It may leave a constraint out of the JSON Schema
 * only if JSON Schema cannot express it and it merely narrows the value.
 */
import { toJsonSchema, type ConversionConfig } from '@valibot/to-json-schema'
import type { GenericSchema, GenericSchemaAsync, InferInput, InferOutput } from 'valibot'
import type { StandardJSONSchemaV1, StandardSchemaV1 } from '../src/index.ts'
import { SchemaConversionError } from '../src/errors.ts'

/**
 * Makes a Standard Schema from a Valibot schema, synchronous or asynchronous. Needs the packages `valibot` and
 * `@valibot/to-json-schema`.
 *
 * The model does not see constraints that JSON Schema cannot express (`check`, `brand`, `trim`). They are still validated.
 *
 * @param schema A schema of Valibot 1.
 * @throws SchemaConversionError (`E_SCHEMA_CONVERSION`) if `schema` is not a Valibot schema, or a synchronous action has an
 *   asynchronous function. The converters throw if JSON cannot represent a value of the schema.
 * @example
 * ```ts
 * import { valibot } from 'toolwright/validators/valibot'
 * import * as v from 'valibot'
 *
 * const place = valibot(v.object({ city: v.pipe(v.string(), v.trim(), v.description('The city')) }))
 * ```
 * @see https://valibot.dev/guides/json-schema/
 */
export function valibot<Schema extends GenericSchema | GenericSchemaAsync>(
  schema: Schema,
): StandardSchemaV1<InferInput<Schema>, InferOutput<Schema>> &
  StandardJSONSchemaV1<InferInput<Schema>, InferOutput<Schema>> {
  const standard = schema?.['~standard'] as StandardSchemaV1.Props | undefined
  if (standard?.vendor !== 'valibot') throw new SchemaConversionError('valibot() takes a schema of Valibot 1.')
  if (ignoresPromises(schema, new Set())) {
    throw new SchemaConversionError(
      'A synchronous action has an asynchronous function, and Valibot would accept every value. Use checkAsync and the like.',
    )
  }
  return {
    '~standard': {
      version: 1,
      vendor: 'valibot',
      validate(value) {
        const result = standard.validate(value)
        return result instanceof Promise ? result.then(plain<InferOutput<Schema>>) : plain<InferOutput<Schema>>(result)
      },
      jsonSchema: {
        input: ({ target }) => show(schema, 'input', target),
        output: ({ target }) => show(schema, 'output', target),
      },
    },
  }
}

const AsyncFunction = (async () => {}).constructor

/** Returns whether any synchronous action in a schema has an asynchronous function. */
function ignoresPromises(part: unknown, visited: Set<unknown>): boolean {
  if (typeof part !== 'object' || part === null || visited.has(part)) return false
  visited.add(part)
  const { async, requirement, operation } = part as Readonly<Record<string, unknown>>
  if (async === false && (requirement instanceof AsyncFunction || operation instanceof AsyncFunction)) return true
  return Object.values(part).some((child) => ignoresPromises(child, visited))
}

/** Returns the result with plain keys as issue paths, because Valibot's path entries contain the whole input. */
function plain<Output>(result: StandardSchemaV1.Result<unknown>): StandardSchemaV1.Result<Output> {
  if (result.issues === undefined) return { value: result.value as Output }
  return {
    issues: result.issues.map(({ message, path = [] }) => ({
      message,
      path: path.map((step) => (typeof step === 'object' ? step.key : step)),
    })),
  }
}

type Target = NonNullable<ConversionConfig['target']>
type Side = 'input' | 'output'

const targets = new Set<string>(['draft-2020-12', 'draft-07', 'openapi-3.0'] satisfies Target[])

function show(schema: GenericSchema | GenericSchemaAsync, side: Side, target: string): Record<string, unknown> {
  if (!targets.has(target)) throw new SchemaConversionError(`JSON Schema cannot be shown as ${target}.`)
  const settings: ConversionConfig = {
    typeMode: side,
    target: target as Target,
    overrideAction: ({ valibotAction, jsonSchema, errors }) =>
      errors === undefined ? undefined : withoutWords(valibotAction as Action, jsonSchema, side),
    overrideSchema: ({ valibotSchema, jsonSchema, errors }) => {
      const { type, wrapped } = valibotSchema as { readonly type: string; readonly wrapped?: GenericSchema }
      if (errors === undefined) return undefined
      if (type === 'undefined' || type === 'void') return { not: {} }
      if (type === 'date' && side === 'output') return { type: 'string', format: 'date-time' }
      if (type === 'record') return jsonSchema // `propertyNames` describes the keys
      if (type !== 'non_optional' || wrapped === undefined) return undefined
      const { $schema: _, ...inner } = toJsonSchema(wrapped, settings)
      return inner.$defs === undefined ? inner : undefined
    },
  }
  return { ...toJsonSchema(schema as GenericSchema, settings) }
}

interface Action {
  readonly kind: string
  readonly type: string
  readonly requirement?: unknown
}

/** Actions that keep the type of a value, so the JSON Schema stays correct without them. */
const keepsType = new Set(
  (
    'brand flavor readonly trim trim_start trim_end normalize to_lower_case to_upper_case to_min_value to_max_value ' +
    'filter_items sort_items'
  ).split(' '),
)
const schemas: Readonly<Record<string, object>> = {
  to_number: { type: 'number' },
  to_string: { type: 'string' },
  to_boolean: { type: 'boolean' },
  to_date: { type: 'string', format: 'date-time' },
}

function withoutWords({ kind, type, requirement }: Action, jsonSchema: object, side: Side): object | undefined {
  if (requirement instanceof RegExp && !/[imsy]/.test(requirement.flags)) {
    const { pattern, allOf = [] } = jsonSchema as { readonly pattern?: string; readonly allOf?: readonly object[] }
    if (pattern === undefined || pattern === requirement.source) return { ...jsonSchema, pattern: requirement.source }
    return { ...jsonSchema, allOf: [...allOf, { pattern: requirement.source }] }
  }
  if (requirement instanceof RegExp) {
    // The flags change the meaning of the pattern, and JSON Schema has no flags.
    const { pattern, ...rest } = jsonSchema as { readonly pattern?: string }
    return pattern === requirement.source ? rest : jsonSchema
  }
  if (kind === 'validation' || kind === 'metadata' || keepsType.has(type)) return jsonSchema
  if (side === 'input') return type === 'map_items' ? jsonSchema : undefined
  return Object.hasOwn(schemas, type) ? schemas[type] : undefined
}
