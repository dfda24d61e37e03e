/**
 * Zod 4 schemas, classic and mini, as Standard Schemas that run every refinement once and can be shown to a model.
 *
 * This file must not change the schema, must not import more than Zod's core, and must not say `{}` of what JSON Schema
 * has no words for.
 */
import { config, toJSONSchema, util, type $ZodType, type input, type output, type ParsePayload } from 'zod/v4/core'
import { SchemaConversionError, type StandardJSONSchemaV1, type StandardSchemaV1 } from '../src/index.ts'

type Conversion = NonNullable<Parameters<typeof toJSONSchema>[1]>

/** What Zod's own conversion may be told, see its documentation. */
export type ZodOptions = Pick<Conversion, 'metadata' | 'override' | 'cycles' | 'reused'>

/**
 * Makes a Standard Schema of a Zod schema. Plain Zod schemas work in tools too; this is for those with asynchronous
 * refinements, which Zod's own `~standard` runs twice, for `zod/mini`, which says no JSON Schema of itself, and for
 * `z.coerce.date()`, `z.coerce.bigint()`, dates in results, and custom types that say their JSON Schema in `.meta()`.
 *
 * It stays synchronous where the schema is. `z.compile(schema)` is taken too, and is faster where nothing is refined.
 *
 * @param options Passed on to Zod's conversion: a registry of metadata, an override.
 * @throws SchemaConversionError (`E_SCHEMA_CONVERSION`) where it is no schema of Zod 4; the converters throw it where JSON
 *   cannot hold what the schema asks for.
 * @example
 * ```ts
 * import { zod } from 'toolwright/validators/zod'
 * import { z } from 'zod'
 *
 * const known = new Set(['ada'])
 * const user = zod(z.object({ id: z.string().refine(async (id) => known.has(id)) }))
 * ```
 * @see https://zod.dev/json-schema
 */
export function zod<Schema extends $ZodType>(
  schema: Schema,
  options: ZodOptions = {},
): StandardSchemaV1<input<Schema>, output<Schema>> & StandardJSONSchemaV1<input<Schema>, output<Schema>> {
  if (typeof schema?._zod?.run !== 'function') {
    throw new SchemaConversionError('zod() takes a schema of Zod 4, classic or mini.')
  }
  let isAsync: boolean | undefined
  return {
    '~standard': {
      version: 1,
      vendor: 'zod',
      validate(value) {
        // Zod's synchronous path is the faster one, but finds out too late that it has to wait.
        const parsing = { async: (isAsync ??= mayWait(schema, new Set())) }
        const answer = (payload: ParsePayload): StandardSchemaV1.Result<output<Schema>> =>
          payload.issues.length === 0
            ? { value: payload.value as output<Schema> }
            : { issues: payload.issues.map((issue) => util.finalizeIssue(issue, parsing, config())) }
        const payload = schema._zod.run({ value, issues: [] }, parsing)
        return payload instanceof Promise ? payload.then(answer) : answer(payload)
      },
      jsonSchema: {
        input: ({ target }) => show(schema, 'input', target, options),
        output: ({ target }) => show(schema, 'output', target, options),
      },
    },
  }
}

// ---- what may have to be waited for

/** The fields of a definition in which schemas and checks stand. */
const children =
  'shape element innerType options left right keyType valueType items rest in out catchall checks schema'.split(' ')

const ownTypes = new Set(
  (
    'string number boolean bigint symbol null undefined void never any unknown date object record file array tuple ' +
    'union intersection map set enum literal nullable optional nonoptional success default prefault catch nan pipe ' +
    'readonly template_literal lazy'
  ).split(' '),
)
const ownChecks = new Set(
  (
    'greater_than less_than multiple_of number_format bigint_format min_length max_length length_equals min_size ' +
    'max_size size_equals string_format mime_type property overwrite'
  ).split(' '),
)

/** Whether a part of the schema is a function of its author, or unknown to us: any of them may give a promise. */
function mayWait(part: unknown, seen: Set<unknown>): boolean {
  if (typeof part !== 'object' || part === null || seen.has(part)) return false
  seen.add(part)
  const inner = (part as { readonly _zod?: { readonly def: Record<string, unknown>; readonly innerType?: unknown } })
    ._zod
  if (inner === undefined) return Object.values(part).some((child) => mayWait(child, seen))
  const { def } = inner
  if (def['type'] !== undefined && !ownTypes.has(def['type'] as string)) return true
  if (def['check'] !== undefined && !ownChecks.has(def['check'] as string)) return true
  if (def['transform'] !== undefined) return true
  if (def['type'] === 'lazy' && mayWait(inner.innerType, seen)) return true
  return children.some((field) => mayWait(def[field], seen))
}

// ---- showing the schema

const targets = new Set<string>(['draft-2020-12', 'draft-07', 'openapi-3.0'])
const words = ['type', '$ref', 'anyOf', 'oneOf', 'allOf', 'enum', 'const', 'not']
const wordless = new Set(['bigint', 'symbol', 'date', 'nan', 'transform', 'custom', 'function', 'map', 'set'])
const unsaid = '~unsaid'

function show(schema: $ZodType, io: 'input' | 'output', target: string, options: ZodOptions): Record<string, unknown> {
  if (!targets.has(target)) throw new SchemaConversionError(`JSON Schema cannot be shown as ${target}.`)
  const override: NonNullable<Conversion['override']> = (node) => {
    const { jsonSchema } = node
    const { type, coerce, values } = node.zodSchema._zod.def as { type: string; coerce?: boolean; values?: unknown[] }
    options.override?.(node)
    const isLost = type === 'literal' && values?.some((value) => value === undefined || typeof value === 'bigint')
    // What a schema was made from is seen before it, and may have no words where its metadata then has some.
    if (!isLost && words.some((word) => word in jsonSchema)) delete jsonSchema[unsaid]
    else if (type === 'undefined' || type === 'void') jsonSchema.not = {}
    else if (type === 'date' && (io === 'output' || coerce === true)) {
      Object.assign(jsonSchema, { type: 'string', format: 'date-time' })
    } else if (type === 'bigint' && io === 'input' && coerce === true) {
      Object.assign(jsonSchema, { type: 'string', pattern: '^-?[0-9]+$' })
    } else if (isLost || wordless.has(type)) {
      jsonSchema[unsaid] = `z.${type}()${node.path.length === 0 ? '' : ` (at ${node.path.join('.')})`}`
    }
  }
  const shown = { ...toJSONSchema(schema, { ...options, io, target, unrepresentable: 'any', override }) }
  JSON.stringify(shown, (key, value: unknown) => {
    if (key !== unsaid) return value
    throw new SchemaConversionError(
      `JSON Schema has no words for ${String(value)}: take a type that JSON can hold, or say what it is in .meta({ type: … })`,
    )
  })
  return shown
}
