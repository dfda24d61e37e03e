/**
 * Types of TypeBox 0.34 (the package `@sinclair/typebox`) as Standard Schemas. Types of `typebox` 1 have a file of their own.
 *
 * This file must not change a value or a schema, and must not convert or drop what the caller sent.
 */
import type { Static, StaticDecode, TSchema } from '@sinclair/typebox'
import { TypeCompiler } from '@sinclair/typebox/compiler'
import { Value, TransformDecode, TransformDecodeError, type ValueErrorIterator } from '@sinclair/typebox/value'
import type { Issue, StandardJSONSchemaV1, StandardSchemaV1 } from '../src/index.ts'
import { SchemaConversionError } from '../src/errors.ts'
import { copy, keysOf, onePerPlace, refusal, show, some, type Marks } from './_typebox.ts'

/**
 * Makes a Standard Schema from a TypeBox 0.34 type. Defaults are filled in before the check, transforms decode after it.
 * A decode function that throws refuses the value. Values are not coerced; the type decides about unknown properties. The
 * first validation compiles the check. If code generation is forbidden, TypeBox interprets the type.
 *
 * Plain types work in tools too, as raw JSON Schema: without defaults and transforms. A `format` that is not registered
 * with TypeBox refuses every value.
 *
 * @param schema A type of the package `@sinclair/typebox`.
 * @throws SchemaConversionError (`E_SCHEMA_CONVERSION`) if `schema` is not a type of TypeBox 0.34. The converters throw it if
 *   JSON cannot represent a value of the type.
 * @example
 * ```ts
 * import { Type } from '@sinclair/typebox'
 * import { sinclairTypebox } from 'toolwright/validators/sinclair-typebox'
 *
 * const place = sinclairTypebox(Type.Object({ city: Type.String(), days: Type.Integer({ default: 3 }) }))
 * ```
 * @see https://github.com/sinclairzx81/typebox/tree/0.34.x
 */
export function sinclairTypebox<Schema extends TSchema>(
  schema: Schema,
): StandardSchemaV1<Static<Schema>, StaticDecode<Schema>> & StandardJSONSchemaV1<Static<Schema>, StaticDecode<Schema>> {
  if (typeof schema !== 'object' || schema === null || marks.kindOf(schema) === undefined) {
    throw new SchemaConversionError(
      'sinclairTypebox() takes a type of @sinclair/typebox 0.34. Those of typebox 1 go into typebox(type) from "toolwright/validators/typebox".',
    )
  }
  let compiled: Check | undefined
  const fills = some(schema, (part) => 'default' in part)
  const decodes = some(schema, marks.decodes)
  return {
    '~standard': {
      version: 1,
      vendor: '@sinclair/typebox',
      validate(input) {
        compiled ??= compile(schema)
        const value = fills ? Value.Default(schema, copy(input)) : input
        if (!compiled.Check(value)) return { issues: issuesOf(compiled.Errors(value), value) }
        if (!decodes) return { value }
        try {
          return { value: TransformDecode(schema, [], copy(value)) }
        } catch (thrown) {
          return refusal(thrown, thrown instanceof TransformDecodeError ? keysOf(thrown.path, value) : [])
        }
      },
      jsonSchema: {
        input: ({ target }) => show(schema, 'input', target, marks),
        output: ({ target }) => show(schema, 'output', target, marks),
      },
    },
  }
}

// Registered symbols, so that types of another copy of the package are recognised.
const kindKey = Symbol.for('TypeBox.Kind')
const transformKey = Symbol.for('TypeBox.Transform')

const marks: Marks = {
  kindOf: (schema) => (schema as { readonly [kindKey]?: string })[kindKey],
  decodes: (schema) => transformKey in schema,
}

interface Check {
  Check(value: unknown): boolean
  Errors(value: unknown): ValueErrorIterator
}

function compile(schema: TSchema): Check {
  try {
    return TypeCompiler.Compile(schema)
  } catch (thrown) {
    // If `eval` is forbidden, the platform throws an EvalError, possibly of another realm.
    if ((thrown as Error).name !== 'EvalError') throw thrown
    return { Check: (value) => Value.Check(schema, value), Errors: (value) => Value.Errors(schema, value) }
  }
}

function issuesOf(errors: Iterable<{ readonly path: string; readonly message: string }>, value: unknown): Issue[] {
  return onePerPlace(Array.from(errors, ({ path, message }) => ({ message, path: keysOf(path, value) })))
}
