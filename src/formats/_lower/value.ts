import { parseJson } from '../../index.ts'
import { isObject } from '../_read.ts'
import type { Compiler } from './compiler.ts'
import { keywordOf, speaksOf } from './keywords.ts'
import { freshName, jsonOf, hasWord, listOf, NoValue, objectOf, same } from './schema.ts'
import type { Lowered, SchemaObject, NamedSchemas, TypeName } from './schema.ts'
import { branchFields, takesNull } from './shape.ts'
import { descriptionWith, sentenceOf } from './words.ts'

/**
 * Returns the keywords that go out as they are. The others become words.
 *
 * @param type Missing for a schema without a type.
 * @param isReplaced Whether another kind of value stands for this one, so that no keyword fits it.
 */
export function keptKeywords(
  schema: SchemaObject,
  words: string[],
  compiler: Compiler,
  type?: TypeName,
  isReplaced = false,
): SchemaObject {
  return objectOf(
    Object.entries(schema).filter(([keyword, content]) => {
      const isOfType = speaksOf(keyword, type)
      const isStructure = keywordOf(keyword)?.sentence === ''
      if (keyword === 'description' || (type && isOfType && isStructure)) return false
      if (isOfType && !isStructure && !isReplaced && isTaken(keyword, content)) return keyword !== '$defs'
      compiler.tell(schema, keyword, words, isOfType ? sentenceOf(keyword, content) : '')
      return false
    }),
  )

  function isTaken(keyword: string, content: unknown): boolean {
    if (!compiler.takes(keyword)) return false
    if (keyword === 'format') return hasWord(compiler.dialect.formats, content)
    if (keyword === 'minItems') return (content as number) <= (compiler.dialect.minItems ?? Infinity)
    // Constrained decoding has no look-around, references or properties of characters.
    return keyword !== 'pattern' || !/\(\?(?!:)|\\[1-9bBkpPu]/.test(content as string)
  }
}

/** Lowers a schema of a scalar type. */
export function scalar(schema: SchemaObject, words: string[], compiler: Compiler, type: TypeName): Lowered {
  const own = compiler.dialect.scalar?.(schema, words, compiler, type)
  return { schema: own ?? { type, ...keptKeywords(schema, words, compiler, type) }, way: same }
}

/** Lets a lowered schema take null, which is null on both sides. */
export function nullable({ schema, way }: Lowered, compiler: Compiler): Lowered {
  return {
    schema: withNull(schema, compiler),
    way: way === same ? same : (value, scope) => (value === null ? null : way(value, scope)),
  }
}

/** Returns a lowered schema that takes null too. */
function withNull(schema: SchemaObject, compiler: Compiler): SchemaObject {
  const own = compiler.dialect.nullable?.(schema)
  if (own) return own
  if (takesNull(schema, compiler)) return schema
  const { anyOf, type, enum: values, ...rest } = schema
  if (anyOf) return { ...schema, anyOf: [...anyOf, { type: 'null' }] }
  const isListed = type && !('const' in schema) && (!values || hasWord(compiler.dialect.enums, 'null'))
  if (isListed) return { type: [...listOf(type), 'null'], ...(values && { enum: [...values, null] }), ...rest }
  const { description, ...plain } = schema
  // JSON leaves out a description that is undefined.
  return { anyOf: [plain, { type: 'null' }], description }
}

/** Adds a description, and sentences after it. A `$ref` must stand alone. */
export function described(lowered: Lowered, own: unknown, ...words: readonly unknown[]): Lowered {
  const description = descriptionWith(own, ...words)
  if (!description) return lowered
  const { schema, way } = lowered
  return { schema: { ...(schema.$ref === undefined ? schema : { anyOf: [schema] }), description }, way }
}

/** Returns a schema of objects that have these fields and no others. */
export function closedObject(properties: NamedSchemas, compiler: Pick<Compiler, 'takes'>): SchemaObject {
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
    schema: closedObject({ [key]: schema }, compiler),
    way(value, scope) {
      if (!scope.isUp) return { [key]: way(value, scope) }
      const isWrapped = isObject(value) && Object.hasOwn(value, key) && Object.keys(value).length === 1
      return isWrapped ? way(value[key], scope) : value
    },
  }
}

/** Puts a value into the one field of an object, which gets the description. */
export function wrappedWith(lowered: Lowered, key: string, compiler: Compiler, word?: string): Lowered {
  const { description, ...schema } = lowered.schema
  return described(wrapped({ ...lowered, schema }, key, compiler), description, word)
}

/** Lets null leave out a field. A field that may be null itself is wrapped, so that both can be said. */
export function leaveOut(field: SchemaObject, lowered: Lowered, compiler: Compiler): Lowered {
  if (!takesNull(lowered.schema, compiler)) {
    compiler.lose(field, 'required', 'nullable', 'null leaves it out')
    return { ...lowered, schema: withNull(lowered.schema, compiler) }
  }
  const key = freshName('value', branchFields(lowered.schema))
  const note = `null leaves it out, {"${key}": null} is null`
  compiler.lose(field, 'required', 'wrapped', note)
  const { schema, way } = wrappedWith(lowered, key, compiler, `${note}.`)
  return { schema: { ...schema, type: ['object', 'null'] }, way }
}

/** Lowers a schema, or drops it if no value fits it. */
export function lowerSome(schema: SchemaObject, keyword: string, compiler: Compiler): Lowered | undefined {
  try {
    return compiler.lower(schema)
  } catch (error) {
    if (!(error instanceof NoValue)) throw error
    compiler.lose(schema, keyword, 'dropped')
    return undefined
  }
}

/** The last way: the value as JSON text. Only guidance is lost. */
export function asJsonText(
  schema: SchemaObject,
  keyword: string,
  compiler: Compiler,
  ...words: readonly string[]
): Lowered {
  compiler.lose(schema, keyword, 'as text')
  return {
    schema: { type: 'string', description: descriptionWith('JSON text of the value.', ...words) },
    way(value, { isUp }) {
      if (!isUp) return jsonOf(value)
      if (typeof value !== 'string') return value
      try {
        return parseJson(value)
      } catch {
        return value
      }
    },
  }
}
