/**
 * Raw JSON Schema as a Standard Schema, validated by the engine of this package.
 *
 * This file must not fetch anything, must not change the value that it validates, and must not apply defaults.
 */
import type { JsonSchema, StandardJSONSchemaV1, StandardSchemaV1 } from '../src/index.ts'
import { SchemaConversionError } from '../src/errors.ts'
import type { FromJson, JsonSchemaObject } from '../src/extension.ts'
import { type Draft, dialectOf } from './json-schema/_dialect.ts'
import { type Check, compile, type CompileOptions, type Pattern, SchemaError } from './json-schema/_engine.ts'
import { linearPattern } from './json-schema/_linear-pattern.ts'
import { firstDifference } from './json-schema/_portable.ts'
import { snapshot } from './json-schema/_snapshot.ts'

/** Settings for a raw schema. */
export interface JsonSchemaOptions {
  /** Schemas that `$ref` may refer to, by absolute URI. Nothing is ever fetched. Default: none. */
  readonly documents?: Readonly<Record<string, JsonSchema>>
  /** Tests for `format`, by format name. A format without a test is an annotation only. Default: none. */
  readonly formats?: Readonly<Record<string, (value: string) => boolean>>
  /** The draft of a schema that has no `$schema`. Default: `'2020-12'`. */
  readonly draft?: '2020-12' | '2019-09' | '07'
  /**
   * Who wrote the schema. `'wire'` is for untrusted authors: patterns run on a linear-time engine, the optional peer
   * dependency `re2js`. Patterns that it cannot express are refused. Default: `'own'`.
   */
  readonly origin?: 'own' | 'wire'
}

/** Marks type arguments that are inferred from the schema. */
declare const inferred: unique symbol
type Inferred = typeof inferred

/** A schema whose literal type is unknown describes any object. */
type InputOf<Input, Schema> = [Input] extends [Inferred]
  ? JsonSchemaObject extends Schema
    ? Record<string, unknown>
    : FromJson<Schema>
  : Input

/**
 * Makes a Standard Schema from raw JSON Schema of draft 07, 2019-09 or 2020-12. Types are inferred from the literal,
 * unless type arguments are given. A valid value is returned unchanged: `default` is only an annotation.
 *
 * The `jsonSchema` converters return the schema itself, for its own draft and for each draft that reads it in the same way.
 *
 * @param schema Copied at once: later changes to it have no effect.
 * @param options Who wrote it, its draft, and what its formats and references mean.
 * @throws SchemaConversionError (`E_SCHEMA_CONVERSION`) if the schema cannot be used. The message has the JSON pointer of
 *   the fault. The converters throw it if the target draft would read the schema differently.
 * @example
 * ```ts
 * import { readFileSync } from 'node:fs'
 * import { jsonSchema } from 'toolwright/validators/json-schema'
 *
 * const place = jsonSchema({ type: 'object', properties: { city: { type: 'string' } }, required: ['city'] })
 * const loaded = jsonSchema<{ city: string }>(JSON.parse(readFileSync('place.json', 'utf8')))
 * ```
 * @see https://json-schema.org/specification
 */
export function jsonSchema<Input = Inferred, Output = Input, const Schema extends JsonSchema = JsonSchema>(
  schema: Schema,
  options: JsonSchemaOptions = {},
): StandardSchemaV1<InputOf<Input, Schema>, InputOf<Output, Schema>> &
  StandardJSONSchemaV1<InputOf<Input, Schema>, InputOf<Output, Schema>> {
  const { origin = 'own', ...compileOptions } = options
  const patterns = origin === 'wire' ? linearPatterns() : undefined
  const check = compileOrThrow(schema, { ...compileOptions, regex: patterns?.regex })
  const convert = converter(schema, options)

  function answer(value: unknown): StandardSchemaV1.Result<InputOf<Output, Schema>> {
    const issues = check(value)
    return issues === undefined ? { value: value as InputOf<Output, Schema> } : { issues }
  }
  return {
    '~standard': {
      version: 1,
      vendor: 'json-schema',
      validate: (value) => (patterns?.isWaiting() ? loadEngine().then(() => answer(value)) : answer(value)),
      jsonSchema: { input: convert, output: convert },
    },
  }
}

function compileOrThrow(schema: JsonSchema, options: CompileOptions): Check {
  try {
    return compile(schema, options)
  } catch (cause) {
    throw cause instanceof SchemaError ? unusable(cause.message, cause) : cause
  }
}

function unusable(reason: string, cause?: unknown): SchemaConversionError {
  return new SchemaConversionError(`The JSON Schema cannot be used: ${reason}.`, { cause })
}

// ---- patterns of untrusted authors

/** The part of `re2js` that is used here. */
interface LinearEngine {
  compile(pattern: string): { test(text: string): boolean }
}

let engine: LinearEngine | undefined

async function loadEngine(): Promise<void> {
  try {
    engine = (await import('re2js')).RE2JS
  } catch (cause) {
    throw unusable("patterns of origin 'wire' need the package re2js (npm install re2js)", cause)
  }
}

/** Parses patterns at once and compiles them on first use, because the engine is loaded on demand. */
function linearPatterns(): { regex: (pattern: string) => Pattern; isWaiting: () => boolean } {
  let isUsed = false
  return {
    isWaiting: () => isUsed && engine === undefined,
    regex(pattern) {
      const { source, size } = linearPattern(pattern)
      let compiled: { test(text: string): boolean } | undefined
      isUsed = true
      // Measured on the worst patterns: at least 1.7 µs for each character, and quadratic in the size.
      return {
        cost: Math.max(4, (size * size) / 3_000),
        test: (text) => (compiled ??= engine!.compile(source)).test(text),
      }
    },
  }
}

// ---- showing the schema

const targets: Readonly<Record<string, readonly [Draft, uri: string]>> = {
  'draft-2020-12': [2020, 'https://json-schema.org/draft/2020-12/schema'],
  'draft-2019-09': [2019, 'https://json-schema.org/draft/2019-09/schema'],
  'draft-07': [7, 'http://json-schema.org/draft-07/schema#'],
}

function converter(
  schema: JsonSchema,
  { draft: name = '2020-12', documents = {} }: JsonSchemaOptions,
): StandardJSONSchemaV1.Converter['input'] {
  const copy = snapshot(schema, '#')
  const [draft] = targets[`draft-${name}`]!
  const own = dialectOf(copy, { draft, asserts: true }, '#', (uri) => documents[uri]).draft
  // Each caller gets its own copy, parsed from this text.
  const text = JSON.stringify(copy)
  return ({ target }) => {
    const targetDraft = Object.hasOwn(targets, target) ? targets[target] : undefined
    if (!targetDraft)
      throw new SchemaConversionError(`JSON Schema cannot be shown as ${target}; ask for draft-2020-12.`)
    if (typeof copy === 'boolean') return copy ? {} : { not: {} }
    const [wanted, uri] = targetDraft
    const difference = firstDifference(copy, own, wanted)
    if (difference !== undefined) {
      throw new SchemaConversionError(`${target} would read the JSON Schema differently (at ${difference}).`)
    }
    const plainCopy = JSON.parse(text) as Record<string, unknown>
    if (own !== wanted && plainCopy['$schema'] !== undefined) plainCopy['$schema'] = uri
    return plainCopy
  }
}
