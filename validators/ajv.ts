/**
 * Raw JSON Schema, validated by your Ajv instance. An example of how to plug in another engine.
 *
 * This file must not create an Ajv instance, must not load formats, and must not change the value. Pass an instance
 * without `useDefaults`, `coerceTypes` and `removeAdditional`: those write into the caller's value.
 */
import type { Ajv, ErrorObject } from 'ajv'
import type { Issue, StandardJSONSchemaV1, StandardSchemaV1 } from '../src/index.ts'
import { SchemaConversionError } from '../src/errors.ts'
import type { JsonSchemaObject } from '../src/extension.ts'

/**
 * Returns a function that makes a Standard Schema from raw JSON Schema. Your Ajv instance compiles the schema at once.
 *
 * @param instance `new Ajv()` of any draft. Errors that it throws for a bad schema reach the caller.
 * @throws SchemaConversionError (`E_SCHEMA_CONVERSION`) if the schema has `$async`.
 * @example
 * ```ts
 * import { Ajv } from 'ajv'
 * import { ajv } from 'toolwright/validators/ajv'
 *
 * const fromJson = ajv(new Ajv({ allErrors: true }))
 * const place = fromJson<{ city: string }>({ type: 'object', properties: { city: { type: 'string' } } })
 * ```
 * @see https://ajv.js.org
 */
export function ajv(
  instance: Pick<Ajv, 'compile'>,
): <Input = Record<string, unknown>, Output = Input>(
  schema: JsonSchemaObject,
) => StandardSchemaV1<Input, Output> & StandardJSONSchemaV1<Input, Output> {
  return <Input, Output>(
    schema: JsonSchemaObject,
  ): StandardSchemaV1<Input, Output> & StandardJSONSchemaV1<Input, Output> => {
    const check = instance.compile<unknown>(schema)
    // It would answer with a promise, which is always truthy.
    if ('$async' in check) throw new SchemaConversionError('Ajv schemas with $async are not supported.')
    const show = (): Record<string, unknown> => structuredClone(schema) as Record<string, unknown>
    const validate = (value: unknown): StandardSchemaV1.Result<Output> =>
      check(value) ? { value: value as Output } : { issues: (check.errors ?? []).map((error) => issueOf(error, value)) }
    return { '~standard': { version: 1, vendor: 'ajv', validate, jsonSchema: { input: show, output: show } } }
  }
}

/** The path of a missing or unknown property is the object's path. The message names the property. */
function issueOf({ instancePath, keyword, params, message = keyword }: ErrorObject, value: unknown): Issue {
  const { additionalProperty } = params as { additionalProperty?: string }
  const path: PropertyKey[] = []
  let part = value
  for (const text of instancePath.split('/').slice(1)) {
    const key = text.replaceAll('~1', '/').replaceAll('~0', '~')
    path.push(Array.isArray(part) ? Number(key) : key)
    part = (part as Record<string, unknown>)[key]
  }
  return { message: additionalProperty === undefined ? message : `${message}: "${additionalProperty}"`, path }
}
