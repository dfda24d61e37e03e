/**
 * Zod 4 schemas, classic and mini, as Standard Schemas that run every refinement once and can be shown to a model.
 *
 * This file must not change the schema, must not import more than Zod's core, and must not convert a type that JSON Schema
 * cannot express to `{}`.
 */
import { config, toJSONSchema, util, type $ZodType, type input, type output, type ParsePayload } from 'zod/v4/core'
import type { StandardJSONSchemaV1, StandardSchemaV1 } from '../src/index.ts'
import { SchemaConversionError } from '../src/errors.ts'
import { dropSafeBounds } from '../src/kernel/schema/json-schema.ts'
import { mayWait } from '../src/kernel/schema/zod.ts'

type Conversion = NonNullable<Parameters<typeof toJSONSchema>[1]>

/** Options for Zod's own conversion; see its documentation. */
export type ZodOptions = Pick<Conversion, 'metadata' | 'override' | 'cycles' | 'reused'>

/**
 * Makes a Standard Schema from a Zod schema. Plain Zod schemas work in tools too. Use this one for
 *
 * - asynchronous refinements elsewhere: a tool runs those of a plain schema once too, but Zod's own `~standard` runs them twice,
 * - refinements that do not wait: with this one they are synchronous,
 * - `zod/mini`, whose schemas have no JSON Schema converter,
 * - `z.coerce.date()`, `z.coerce.bigint()`, dates in results, and custom types that declare their JSON Schema in `.meta()`.
 *
 * Validation is synchronous if the schema is. `z.compile(schema)` is accepted too, and is faster without refinements.
 *
 * @param schema A schema of Zod 4, classic or mini.
 * @param options Passed to Zod's conversion: a registry of metadata, an override.
 * @throws SchemaConversionError (`E_SCHEMA_CONVERSION`) if `schema` is not a schema of Zod 4. The converters throw it if JSON
 *   cannot represent a value of the schema.
 * @example
 * ```ts
 * import { zod } from 'toolwright/validators/zod'
 * import { z } from 'zod'
 *
 * const users = new Set(['ada'])
 * const user = zod(z.object({ id: z.string().refine(async (id) => users.has(id)) }))
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
        // Zod's synchronous path is faster, but fails if it meets an asynchronous refinement. So decide beforehand.
        const parsing = { async: (isAsync ??= mayWait(schema)) }
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
    dropSafeBounds(node)
    options.override?.(node)
    const isLost = type === 'literal' && values?.some((value) => value === undefined || typeof value === 'bigint')
    // Zod visits an inner schema first. The outer schema's metadata may then express what the inner one could not.
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
  const jsonSchema = { ...toJSONSchema(schema, { ...options, io, target, unrepresentable: 'any', override }) }
  JSON.stringify(jsonSchema, (key, value: unknown) => {
    if (key !== unsaid) return value
    throw new SchemaConversionError(
      `JSON Schema cannot express ${String(value)}: use a type that JSON can represent, or declare one in .meta({ type: … })`,
    )
  })
  return jsonSchema
}
