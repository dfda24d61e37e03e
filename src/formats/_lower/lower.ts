import { array } from './array.ts'
import { booleanOf, compiled, type Compiler, type Reading } from './compiler.ts'
import type { Dialect } from './dialect.ts'
import { isAnnotation, speaksOf } from './keywords.ts'
import { flatten } from './merge.ts'
import { object } from './object.ts'
import { freshName, listOf, NoValue, objectOf, Refusal, same } from './schema.ts'
import type { Lowered, LoweredSchema, Node, Schema, TypeName } from './schema.ts'
import { namesOf } from './shape.ts'
import { constants, refines, union, unionOf } from './union.ts'
import { described, keep, nullable, scalar, text, wrapped } from './value.ts'
import { alternativesSentence } from './words.ts'

/**
 * Lowers an input schema into a dialect: every value that fits the original can be said, except that fields without a
 * schema may be refused. Never throws: a schema that the dialect cannot take has the reason.
 *
 * @param root The input schema, as JSON.
 */
export function lower(root: Node, dialect: Dialect): LoweredSchema {
  return compiled(root, (reading) => {
    const lowered = compile(dialect, reading)
    const { refused, ...sums } = dialect.limit?.(lowered.schema) ?? {}
    if (refused !== undefined) throw new Refusal(refused)
    return { ...lowered, ...sums }
  })
}

function compile(dialect: Dialect, reading: Reading): Lowered {
  const keywords = new Set(dialect.keywords.split(' '))
  const open: Schema[] = []
  const compiler: Compiler = {
    ...reading,
    dialect,
    takes: (keyword) => keywords.has(keyword),
    lower: lowered,
    definitionOf: (schema) => references?.definitionOf(schema),
  }
  const references = dialect.references?.(compiler)
  return whole(compiler.root, lowered(compiler.root))

  /** Returns an object that has properties, which the root must be. Any other schema becomes the one field of such an object. */
  function whole(root: Schema, { schema, way }: Lowered): Lowered {
    const $defs = references?.definitions() ?? {}
    if (Object.keys(root.$defs ?? {}).some((name) => !Object.hasOwn($defs, name)))
      compiler.lose(root, '$defs', 'dropped')
    const defined = Object.keys($defs).length > 0 && { $defs }
    if (schema.type === 'object' && !schema['nullable'] && schema.properties) {
      return { schema: { ...schema, ...defined }, way }
    }
    const key = freshName('input', namesOf(schema))
    compiler.lose(root, Object.keys(root).find((name) => name.endsWith('Of')) ?? 'type', 'wrapped', key)
    const outer = wrapped({ schema, way }, key, compiler)
    return { schema: { ...outer.schema, ...defined }, way: outer.way }
  }

  function lowered(schema: Schema): Lowered {
    compiler.count()
    if (booleanOf(schema) === false) throw new NoValue()
    const depth = open.length
    try {
      const target = targetOf(schema)
      if (target) return told(refer(schema, target), schema)
      const words: string[] = []
      const { flat, isCycle } = flatten(schema, words, compiler, open)
      if (isCycle) return told(text(schema, '$ref', compiler), schema)
      return told(ofKeywords(flat, words), flat, words)
    } finally {
      open.length = depth
    }
  }

  function told(inner: Lowered, { description }: Schema, words: readonly string[] = []): Lowered {
    return described(inner, description, ...words, inner.schema['description'])
  }

  /** Returns the target of a schema that is only a `$ref`, or an `allOf` of one. */
  function targetOf(schema: Schema): Schema | undefined {
    const { $ref, allOf = [] } = schema
    if (Object.keys(schema).filter((name) => !isAnnotation(name)).length !== 1) return undefined
    if ($ref !== undefined) return compiler.resolve($ref)
    return allOf.length === 1 ? targetOf(allOf[0]!) : undefined
  }

  function refer(schema: Schema, target: Schema): Lowered {
    open.push(schema)
    if (references) return references.refer(schema, target)
    if (open.includes(target)) return text(schema, '$ref', compiler)
    compiler.lose(schema, '$ref', 'inlined')
    return lowered(target)
  }

  function ofKeywords(schema: Schema, words: string[]): Lowered {
    const keyword = schema.anyOf ? 'anyOf' : 'oneOf'
    const { [keyword]: choices, ...fields } = schema
    if (choices) {
      if (!refines(schema, choices)) return union(schema, words, compiler, keyword)
      compiler.tell(schema, keyword, words, alternativesSentence(keyword, choices))
      return ofKeywords(compiler.made(fields, schema), words)
    }
    if (schema.enum || 'const' in schema) return constants(schema, words, compiler)
    const types = listOf<TypeName>(schema.type)
    const others = types.filter((type) => type !== 'null' && !(type === 'integer' && types.includes('number')))
    const hasNull = others.length > 0 && types.includes('null')
    if (others.length > 1) {
      compiler.lose(schema, 'type', 'widened', 'anyOf')
      return unionOf(
        schema,
        others.map((type) => lowered(only(schema, type))),
        compiler,
        hasNull,
      )
    }
    const inner = ofType(schema, words, others[0] ?? types[0])
    return hasNull ? nullable(inner, compiler) : inner
  }

  function ofType(schema: Schema, words: string[], type: TypeName | undefined): Lowered {
    if (type === 'object') return object(schema, words, compiler)
    if (type === 'array') return array(schema, words, compiler)
    if (type) return scalar(schema, words, compiler, type)
    const kept = keep(schema, words, compiler, type, !dialect.takesUntyped)
    return dialect.takesUntyped ? { schema: kept, way: same } : text(schema, 'type', compiler)
  }

  /** Returns a schema of several types for one of them. */
  function only(schema: Schema, type: TypeName): Schema {
    const own = Object.entries(schema).filter(([name]) => !isAnnotation(name) && speaksOf(name, type))
    return compiler.made({ ...objectOf(own), type }, schema)
  }
}
