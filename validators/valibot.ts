/**
 * Valibot schemas as Standard Schemas that can be shown to a model.
 *
 * This file must not validate by itself, must not change the schema, and must not leave out of the JSON Schema anything
 * but what narrows a value beyond its words.
 */
import { toJsonSchema, type ConversionConfig } from '@valibot/to-json-schema'
import type { GenericSchema, GenericSchemaAsync, InferInput, InferOutput } from 'valibot'
import { SchemaConversionError, type StandardJSONSchemaV1, type StandardSchemaV1 } from '../src/index.ts'

/**
 * Makes a Standard Schema of a Valibot schema, asynchronous or not. Needs the packages `valibot` and
 * `@valibot/to-json-schema`.
 *
 * What JSON Schema cannot say, but only narrows (`check`, `brand`, `trim`, a second pattern), is left out of what the model
 * is shown and is validated all the same.
 *
 * @throws SchemaConversionError (`E_SCHEMA_CONVERSION`) where it is no Valibot schema, or a synchronous action has an
 *   asynchronous function; the converters throw where JSON cannot hold what the schema asks for.
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
      'An action that is not asynchronous was given an asynchronous function, whose promise Valibot would take for a yes: use checkAsync and the like.',
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

/** Whether a synchronous action anywhere in a schema asks a function that gives a promise. */
function ignoresPromises(part: unknown, seen: Set<unknown>): boolean {
  if (typeof part !== 'object' || part === null || seen.has(part)) return false
  seen.add(part)
  const { async, requirement, operation } = part as Readonly<Record<string, unknown>>
  if (async === false && (requirement instanceof AsyncFunction || operation instanceof AsyncFunction)) return true
  return Object.values(part).some((child) => ignoresPromises(child, seen))
}

/** Valibot's path entries hold the whole input: only their keys go on. */
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
      if (type === 'record') return jsonSchema // its keys are said by `propertyNames`
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

/** What leaves a value of its type, so that leaving it out says nothing wrong. */
const keepsType = new Set(
  (
    'brand flavor readonly trim trim_start trim_end normalize to_lower_case to_upper_case to_min_value to_max_value ' +
    'filter_items sort_items'
  ).split(' '),
)
const made: Readonly<Record<string, object>> = {
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
    // Its flags change what the pattern means, and JSON Schema has none.
    const { pattern, ...rest } = jsonSchema as { readonly pattern?: string }
    return pattern === requirement.source ? rest : jsonSchema
  }
  if (kind === 'validation' || kind === 'metadata' || keepsType.has(type)) return jsonSchema
  if (side === 'input') return type === 'map_items' ? jsonSchema : undefined
  return Object.hasOwn(made, type) ? made[type] : undefined
}
