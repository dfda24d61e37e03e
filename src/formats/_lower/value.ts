import { parseJson } from '../../index.ts'
import { isObject } from '../_read.ts'
import type { Compiler } from './compiler.ts'
import { keywordOf, speaksOf } from './keywords.ts'
import { listOf, NoValue, objectOf, same } from './schema.ts'
import type { Lowered, Schema, Schemas, TypeName, Way } from './schema.ts'
import { takesNull } from './shape.ts'
import { describe, sentenceOf } from './words.ts'

/**
 * Returns the keywords that go out as they are. The others become words.
 *
 * @param type Missing for a schema without a type.
 * @param isReplaced Whether another kind of value stands for this one, so that no keyword fits it.
 */
export function keep(
  schema: Schema,
  words: string[],
  compiler: Compiler,
  type: TypeName | undefined,
  isReplaced = false,
): Schema {
  return objectOf(
    Object.entries(schema).filter(([keyword, content]) => {
      if (keyword === 'description') return false
      const isOfType = speaksOf(keyword, type)
      const isStructure = keywordOf(keyword)?.sentence === ''
      if (isOfType && isStructure && type !== undefined) return false
      if (isOfType && !isStructure && !isReplaced && isTaken(keyword, content)) return keyword !== '$defs'
      compiler.tell(schema, keyword, words, isOfType ? sentenceOf(keyword, content) : '')
      return false
    }),
  )

  function isTaken(keyword: string, content: unknown): boolean {
    if (!compiler.takes(keyword)) return false
    if (keyword === 'format') return listed(compiler.dialect.formats, content)
    if (keyword === 'minItems') return Number(content) <= (compiler.dialect.minItems ?? Infinity)
    // Constrained decoding has no look-around, references or properties of characters.
    return keyword !== 'pattern' || !/\(\?(?!:)|\\[1-9bBkpPu]/.test(String(content))
  }
}

/** Returns whether a list of words has one. */
export function listed(words: string, word: unknown): boolean {
  return words.split(' ').includes(word as string)
}

/** Lowers a schema of a scalar type. */
export function scalar(schema: Schema, words: string[], compiler: Compiler, type: TypeName): Lowered {
  if (type === 'null' && compiler.dialect.hasNullable) {
    compiler.tell(schema, 'type', words, 'Must be null.')
    return { schema: { type: 'string', nullable: true }, way: same }
  }
  const bounded = (type === 'integer' && compiler.dialect.bound?.(schema, compiler)) || schema
  return { schema: { type, ...keep(bounded, words, compiler, type) }, way: same }
}

/** Lets a schema take null. `isAbsence`: null leaves out a field, so it does not reach the way. */
export function nullable({ schema, way: inner }: Lowered, compiler: Compiler, isAbsence = false): Lowered {
  const way: Way = isAbsence || inner === same ? inner : (value, scope) => (value === null ? null : inner(value, scope))
  if (compiler.dialect.hasNullable) return { schema: { ...schema, nullable: true }, way }
  if (takesNull(schema, compiler)) return { schema, way }
  const { anyOf, description, ...plain } = schema
  if (anyOf) return { schema: { ...schema, anyOf: [...anyOf, { type: 'null' }] }, way }
  const { type, enum: values, ...rest } = plain
  const isListed = type && !('const' in schema) && (!values || listed(compiler.dialect.enums, 'null'))
  const whole = isListed
    ? { type: [...listOf(type), 'null'], ...(values && { enum: [...values, null] }), ...rest }
    : { anyOf: [plain, { type: 'null' }] }
  return { schema: { ...whole, ...(description !== undefined && { description }) } as Schema, way }
}

/** Adds a description, and sentences after it. A `$ref` must stand alone. */
export function described(lowered: Lowered, own: unknown, ...words: readonly unknown[]): Lowered {
  const description = describe(own, ...words)
  if (description === '') return lowered
  const { schema, way } = lowered
  return { schema: { ...(schema.$ref === undefined ? schema : { anyOf: [schema] }), description }, way }
}

/** Returns a schema of objects that have these fields and no others. */
export function closed(properties: Schemas, compiler: Pick<Compiler, 'takes'>): Schema {
  return {
    type: 'object',
    properties,
    required: Object.keys(properties),
    ...(compiler.takes('additionalProperties') && { additionalProperties: false }),
  }
}

/** Puts a value into the one field of an object. */
export function wrapped({ schema, way }: Lowered, key: string, compiler: Pick<Compiler, 'takes'>): Lowered {
  return {
    schema: closed({ [key]: schema }, compiler),
    way(value, scope) {
      if (!scope.isUp) return { [key]: way(value, scope) }
      const isWrapped = isObject(value) && Object.hasOwn(value, key) && Object.keys(value).length === 1
      return isWrapped ? way(value[key], scope) : value
    },
  }
}

/** Puts a value into the one field of an object, which gets the description. */
export function wrappedWith(lowered: Lowered, key: string, compiler: Compiler, word = ''): Lowered {
  const { description, ...schema } = lowered.schema
  return described(wrapped({ ...lowered, schema }, key, compiler), description, word)
}

/** Lowers a schema, or drops it if no value fits it. */
export function lowerSome(schema: Schema, keyword: string, compiler: Compiler): Lowered | undefined {
  try {
    return compiler.lower(schema)
  } catch (error) {
    if (!(error instanceof NoValue)) throw error
    compiler.lose(schema, keyword, 'dropped')
    return undefined
  }
}

/** The last way: the value as JSON text. Only guidance is lost. */
export function text(schema: Schema, keyword: string, compiler: Compiler, ...words: readonly string[]): Lowered {
  compiler.lose(schema, keyword, 'as text')
  return {
    schema: { type: 'string', description: describe('JSON text of the value.', ...words) },
    way(value, { isUp }) {
      if (!isUp) return JSON.stringify(value)
      if (typeof value !== 'string') return value
      try {
        return parseJson(value)
      } catch {
        return value
      }
    },
  }
}
