/**
 * Types of TypeBox 1 (the package `typebox`) as Standard Schemas. Types of `@sinclair/typebox` 0.34 have a file of their own.
 *
 * This file must not change a value or a schema, and must not convert or drop what the caller sent.
 */
import type { StaticDecode, StaticEncode, TSchema } from 'typebox'
import { Compile, type Validator } from 'typebox/compile'
import { DecodeUnsafe, Default } from 'typebox/value'
import type { Issue, StandardJSONSchemaV1, StandardSchemaV1 } from '../src/index.ts'
import { SchemaConversionError } from '../src/errors.ts'
import { copy, keysOf, onePerPlace, refusal, show, some, type Marks } from './_typebox.ts'

/**
 * Makes a Standard Schema from a TypeBox 1 type. Defaults are filled in before the check, codecs decode after it. A decode
 * function that throws refuses the value. Values are not coerced; the type decides about unknown properties. The first
 * validation compiles the check. If code generation is forbidden, TypeBox interprets the type.
 *
 * Plain types work in tools too, as raw JSON Schema: without defaults, codecs and refinements.
 *
 * @param schema A type of the package `typebox`.
 * @throws SchemaConversionError (`E_SCHEMA_CONVERSION`) if `schema` is not a type of TypeBox 1, or has an asynchronous
 *   refinement. The converters throw it if JSON cannot represent a value of the type.
 * @example
 * ```ts
 * import { typebox } from 'toolwright/validators/typebox'
 * import { Type } from 'typebox'
 *
 * const place = typebox(Type.Object({ city: Type.String(), days: Type.Integer({ default: 3 }) }))
 * ```
 * @see https://github.com/sinclairzx81/typebox
 */
export function typebox<const Schema extends TSchema>(
  schema: Schema,
): StandardSchemaV1<StaticEncode<Schema>, StaticDecode<Schema>> &
  StandardJSONSchemaV1<StaticEncode<Schema>, StaticDecode<Schema>> {
  if (typeof schema !== 'object' || schema === null || marks.kindOf(schema) === undefined) {
    throw new SchemaConversionError(
      'typebox() takes a type of TypeBox 1. Those of @sinclair/typebox 0.34 go into sinclairTypebox(type) from "toolwright/validators/sinclair-typebox".',
    )
  }
  if (some(schema, refinesAsynchronously)) {
    throw new SchemaConversionError('TypeBox does not await asynchronous refinements, and would accept every value.')
  }
  let compiled: Validator | undefined
  const fills = some(schema, (part) => 'default' in part)
  const decodes = some(schema, marks.decodes)
  return {
    '~standard': {
      version: 1,
      vendor: 'typebox',
      validate(input) {
        compiled ??= Compile(schema) as Validator
        const value = fills ? Default(schema, copy(input)) : input
        if (!compiled.Check(value)) return { issues: issuesOf(compiled.Errors(value), value) }
        if (!decodes) return { value: value as StaticDecode<Schema> }
        try {
          return { value: DecodeUnsafe({}, schema, copy(value)) as StaticDecode<Schema> }
        } catch (thrown) {
          return refusal(thrown, [])
        }
      },
      jsonSchema: {
        input: ({ target }) => show(schema, 'input', target, marks),
        output: ({ target }) => show(schema, 'output', target, marks),
      },
    },
  }
}

const marks: Marks = {
  kindOf: (schema) => ('~unsafe' in schema ? 'Unsafe' : (schema as { readonly '~kind'?: string })['~kind']),
  decodes: (schema) => '~codec' in schema,
}

const AsyncFunction = (async () => {}).constructor

function refinesAsynchronously(part: object): boolean {
  const refinements = (part as { readonly '~refine'?: readonly { readonly check: unknown }[] })['~refine'] ?? []
  return refinements.some(({ check }) => check instanceof AsyncFunction)
}

/** The path of a missing or unknown property is the property's own path. */
function issuesOf(errors: ReturnType<Validator['Errors']>, value: unknown): Issue[] {
  const issues = errors.flatMap((error): Issue[] => {
    const path = keysOf(error.instancePath, value)
    switch (error.keyword) {
      case 'required':
        return error.params.requiredProperties.map((name) => ({ message: 'is required', path: [...path, name] }))
      case 'additionalProperties':
        return error.params.additionalProperties.map((name) => ({ message: 'unknown property', path: [...path, name] }))
      case 'boolean':
        return [
          { message: error.schemaPath.endsWith('additionalProperties') ? 'unknown property' : 'not allowed', path },
        ]
      default:
        return [{ message: error.message, path }]
    }
  })
  return onePerPlace(issues)
}
