import { array } from './array.ts'
import { compiledSchema, isNever, type Compiler, type SchemaSource } from './compiler.ts'
import type { Dialect, Sums } from './dialect.ts'
import { constraintsOf, speaksOf } from './keywords.ts'
import { flatten } from './merge.ts'
import { lowerObject } from './object.ts'
import { freshName, hasWord, listOf, NoValue, objectOf } from './schema.ts'
import type { Lowered, LoweredSchema, Node, SchemaObject, TypeName } from './schema.ts'
import { branchFields } from './shape.ts'
import { constants, refines, lowerUnion, unionOf } from './union.ts'
import { described, keptKeywords, nullable, scalar, asJsonText, wrapped } from './value.ts'
import { alternativesSentence } from './words.ts'

/**
 * Lowers an input schema into a dialect: every value that fits the original can be said, except that fields without a
 * schema may be refused. Never throws: a schema that the dialect cannot take has the reason.
 *
 * @param root The input schema, as JSON.
 */
export function lower(root: Node, dialect: Dialect): LoweredSchema {
  return compiledSchema(root, (reading) => compileSchema(dialect, reading), false)
}

function compileSchema(dialect: Dialect, reading: SchemaSource): Lowered & Sums {
  const definitions: Compiler['definitions'] = new Map()
  const open: SchemaObject[] = []
  const compiler: Compiler = {
    ...reading,
    dialect,
    definitions,
    takes: (keyword) => hasWord(dialect.keywords, keyword),
    lower: lowered,
  }
  const refer = dialect.references?.(compiler) ?? inlined
  const { root } = compiler
  let { schema: result, way } = lowered(root)
  const $defs = objectOf(
    [...definitions].map(([$ref, defined]) => [$ref.slice('#/$defs/'.length), defined?.schema ?? {}]),
  )
  if (Object.keys(root.$defs ?? {}).some((name) => !Object.hasOwn($defs, name))) compiler.lose(root, '$defs', 'dropped')
  // The root must be an object that has properties. Any other schema becomes the one field of such an object.
  if (result.type !== 'object' || result['nullable'] || !result.properties) {
    const key = freshName('input', branchFields(result))
    compiler.lose(root, Object.keys(root).find((name) => name.endsWith('Of')) ?? 'type', 'wrapped', key)
    ;({ schema: result, way } = wrapped({ schema: result, way }, key, compiler))
  }
  if (definitions.size > 0) result = { ...result, $defs }
  return { schema: result, way, ...dialect.limit?.(result) }

  function lowered(schema: SchemaObject): Lowered {
    compiler.count()
    if (isNever(schema)) throw new NoValue()
    const depth = open.length
    try {
      const words: string[] = []
      const target = targetOf(schema)
      if (target) open.push(schema)
      const flat = target ? schema : flatten(schema, words, compiler, open)
      const inner = target
        ? refer(schema, target)
        : flat
          ? ofKeywords(flat, words)
          : asJsonText(schema, '$ref', compiler)
      // A schema that contains itself is text: of what was merged, nothing is told.
      const { description } = flat ?? schema
      return described(inner, description, ...(flat ? words : []), inner.schema['description'])
    } finally {
      open.length = depth
    }
  }

  /** Returns the target of a schema that is only a `$ref`, or an `allOf` of one. */
  function targetOf(schema: SchemaObject): SchemaObject | undefined {
    const { $ref, allOf = [] } = schema
    if (constraintsOf(schema).length !== 1) return undefined
    if ($ref !== undefined) return compiler.resolve($ref)
    return allOf.length === 1 ? targetOf(allOf[0]!) : undefined
  }

  function inlined(schema: SchemaObject, target: SchemaObject): Lowered {
    if (open.includes(target)) return asJsonText(schema, '$ref', compiler)
    compiler.lose(schema, '$ref', 'inlined')
    return lowered(target)
  }

  function ofKeywords(schema: SchemaObject, words: string[]): Lowered {
    const keyword = schema.anyOf ? 'anyOf' : 'oneOf'
    const { [keyword]: choices, ...fields } = schema
    if (choices) {
      if (!refines(schema, choices)) return lowerUnion(schema, words, compiler, keyword)
      compiler.tell(schema, keyword, words, alternativesSentence(keyword, choices))
      return ofKeywords(compiler.placed(fields, schema), words)
    }
    if (schema.enum || 'const' in schema) return constants(schema, words, compiler)
    const types = listOf<TypeName>(schema.type)
    const others = types.filter((type) => type !== 'null' && !(type === 'integer' && types.includes('number')))
    const hasNull = others.length > 0 && types.includes('null')
    if (others.length > 1) {
      compiler.lose(schema, 'type', 'widened', 'anyOf')
      const branches = others.map((type) => lowered(only(schema, type)))
      return unionOf(schema, branches, compiler, hasNull)
    }
    const inner = ofType(schema, words, others[0] ?? types[0])
    return hasNull ? nullable(inner, compiler) : inner
  }

  function ofType(schema: SchemaObject, words: string[], type: TypeName | undefined): Lowered {
    if (type === 'object') return (dialect.object ?? lowerObject)(schema, words, compiler)
    if (type === 'array') return (dialect.array ?? array)(schema, words, compiler)
    if (type) return scalar(schema, words, compiler, type)
    if (dialect.untyped) return dialect.untyped(schema, words, compiler)
    keptKeywords(schema, words, compiler, type, true)
    return asJsonText(schema, 'type', compiler)
  }

  /** Returns a schema of several types for one of them. */
  function only(schema: SchemaObject, type: TypeName): SchemaObject {
    const own = constraintsOf(schema).filter(([name]) => speaksOf(name, type))
    return compiler.placed({ ...objectOf(own), type }, schema)
  }
}
