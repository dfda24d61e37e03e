import { parseJson } from '../../index.ts'
import { isObject } from '../_read.ts'
import type { Compiler } from './compiler.ts'
import { isOf, isSame, listOf, NoValue, through, typeName } from './schema.ts'
import type { Lowered, Node, TypeName, Way } from './schema.ts'
import { takesNull } from './shape.ts'
import { describe, sentenceOf, valuesSentence } from './words.ts'

/** The keywords that speak of values of one type. Other keywords speak of any. */
const subjects = {
  string: /^(?:minLength|maxLength|pattern|content(?:Encoding|MediaType|Schema))$/,
  number: /^(?:multipleOf|minimum|maximum|exclusiveMinimum|exclusiveMaximum)$/,
  array: /^(?:items|prefixItems|unevaluatedItems|minItems|maxItems|uniqueItems|contains|minContains|maxContains)$/,
  object:
    /^(?:properties|required|(?:additional|unevaluated|pattern|min|max)Properties|propertyNames|dependencies|dependentRequired|dependentSchemas)$/,
}

/** Keywords that each kind of schema handles itself. */
const handled =
  /^(?:items|prefixItems|properties|required|additionalProperties|unevaluatedProperties|patternProperties)$/

/** Returns whether a keyword has a meaning for values of a type. */
export function speaksOf(keyword: string, type: TypeName | undefined): boolean {
  const own = type === 'integer' ? 'number' : type
  return type === undefined || Object.entries(subjects).every(([name, all]) => name === own || !all.test(keyword))
}

/**
 * Returns the keywords that go out as they are. The others become words.
 *
 * @param type Missing for a schema without a type.
 * @param isReplaced Whether another kind of value stands for this one, so that no keyword fits it.
 */
export function keep(
  node: Node,
  type: TypeName | undefined,
  words: string[],
  { dialect, takes, tell }: Compiler,
  isReplaced = false,
): Node {
  const kept = Object.entries(node).filter(([keyword, content]) => {
    if (/^(?:description|type|enum|const|\$ref|allOf)$/.test(keyword)) return false
    const isOfType = speaksOf(keyword, type)
    const isHandled = handled.test(keyword)
    if (isOfType && isHandled && type !== undefined) return false
    if (isOfType && !isHandled && !isReplaced && isTaken(keyword, content))
      return !/^(?:\$defs|definitions)$/.test(keyword)
    tell(node, keyword, words, isOfType ? sentenceOf(keyword, content) : '')
    return false
  })
  return Object.fromEntries(kept)

  function isTaken(keyword: string, content: unknown): boolean {
    if (!takes(keyword)) return false
    if (keyword === 'format') return listed(dialect.formats, content)
    if (keyword === 'minItems') return Number(content) <= (dialect.minItems ?? Infinity)
    // Constrained decoding has no look-around, references or properties of characters.
    return keyword !== 'pattern' || !/\(\?(?!:)|\\[1-9bBkpPu]/.test(String(content))
  }
}

/** Returns whether a list of words has one. */
export function listed(words: string, word: unknown): boolean {
  return words.split(' ').includes(word as string)
}

/** Lowers a schema of a scalar type. */
export function scalar(node: Node, type: TypeName, words: string[], compiler: Compiler): Lowered {
  if (type === 'null' && compiler.dialect.nulls === 'nullable') {
    compiler.tell(node, 'type', words, 'Must be null.')
    return { schema: { type: 'string', nullable: true } }
  }
  return { schema: { type, ...keep(type === 'integer' ? inclusive(node, compiler) : node, type, words, compiler) } }
}

/** Gives an integer inclusive bounds, if the dialect has no exclusive ones. */
function inclusive(node: Node, { takes, lose, made }: Compiler): Node {
  let bounded = node
  for (const [exclusive, bound, sign] of [
    ['exclusiveMinimum', 'minimum', 1],
    ['exclusiveMaximum', 'maximum', -1],
  ] as const) {
    const { [exclusive]: edge, [bound]: known, ...rest } = bounded
    if (typeof edge !== 'number' || takes(exclusive) || !takes(bound)) continue
    const next = sign * (Math.floor(sign * edge) + 1)
    const tighter = typeof known === 'number' ? sign * Math.max(sign * known, sign * next) : next
    bounded = made({ ...rest, [bound]: tighter }, node)
    lose(node, exclusive, 'widened', `${bound}: ${next}`)
  }
  return bounded
}

/** Lowers `enum` and `const`: a schema for each type of the values, and whether null is one of them. */
export function constants(
  node: Node,
  words: string[],
  compiler: Compiler,
): { readonly branches: readonly Lowered[]; readonly takesNull: boolean } {
  const { dialect, lose, takes, tell } = compiler
  const keyword = Object.hasOwn(node, 'enum') ? 'enum' : 'const'
  const given = keyword === 'enum' ? listOf(node['enum']) : [node['const']]
  const types = listOf(node['type'])
  const distinct = [...new Map(given.map((value) => [JSON.stringify(value), value])).values()]
  const values = distinct.filter(
    (value) =>
      (types.length === 0 || types.some((type) => isOf(type, value))) &&
      (!Object.hasOwn(node, 'const') || isSame(value, node['const'])),
  )
  if (values.length === 0) throw new NoValue()
  const hasFraction = values.some((value) => typeName(value) === 'number')
  const groups = new Map<TypeName, unknown[]>()
  for (const value of values) {
    const name = typeName(value)
    const type = name === 'array' ? 'object' : name === 'integer' && hasFraction ? 'number' : name
    const group = groups.get(type)
    if (group === undefined) groups.set(type, [value])
    else group.push(value)
  }
  const hasNull = groups.delete('null')
  if (groups.size > 1) lose(node, keyword, 'widened', 'anyOf')
  else if (types.length === 0 && !dialect.takesUntyped) lose(node, keyword, 'widened', 'type')
  else if (values.length !== given.length) lose(node, keyword, 'widened', 'without values of other types')
  const { enum: _enum, const: _const, type: _type, ...others } = node
  const rest = compiler.made(others, node)
  const branches = [...groups].map(([type, group]) => branchOf(type, group))
  if (branches.length > 0) return { branches, takesNull: hasNull }
  return { branches: [scalar(rest, 'null', words, compiler)], takesNull: false }

  function branchOf(type: TypeName, group: readonly unknown[]): Lowered {
    if (type === 'object') return text(node, keyword, compiler, valuesSentence(group))
    const own: string[] = []
    const isAll = type === 'boolean' && group.length === 2
    const isTaken = isAll || listed(dialect.enums, type)
    if (!isTaken) tell(node, keyword, own, valuesSentence(group))
    const isConst = keyword === 'const' && !hasNull && takes('const')
    if (keyword === 'const' && isTaken && !isConst) lose(node, 'const', 'widened', 'enum')
    const { schema } = scalar(rest, type, own, compiler)
    const constant = isConst ? { const: group[0] } : { enum: group }
    return described({ schema: { ...schema, ...(isTaken && !isAll ? constant : undefined) } }, describe('', ...own))
  }
}

/** Lets a schema take null. `isAbsence`: null leaves out a field, so it does not reach the way. */
export function nullable({ schema, way: given }: Lowered, compiler: Compiler, isAbsence = false): Lowered {
  const way: Way | undefined =
    isAbsence || given === undefined
      ? given
      : (value, isUp, scope) => (value === null ? null : given(value, isUp, scope))
  if (compiler.dialect.nulls === 'nullable') return { schema: { ...schema, nullable: true }, way }
  if (takesNull(schema, compiler)) return { schema, way }
  const { type, enum: values, anyOf, description, ...rest } = schema
  const said = description === undefined ? undefined : { description }
  if (anyOf !== undefined) return { schema: { ...schema, anyOf: [...listOf(anyOf), { type: 'null' }] }, way }
  const takesConstant = values === undefined || listed(compiler.dialect.enums, 'null')
  if (type === undefined || !takesConstant || Object.hasOwn(schema, 'const')) {
    const { description: _, ...inner } = schema
    return { schema: { anyOf: [inner, { type: 'null' }], ...said }, way }
  }
  const constant = values === undefined ? undefined : { enum: [...listOf(values), null] }
  return { schema: { type: [...listOf(type), 'null'], ...constant, ...rest, ...said }, way }
}

/** Adds a description. A `$ref` must stand alone. */
export function described(lowered: Lowered, description: string): Lowered {
  if (description === '') return lowered
  const { schema } = lowered
  return { ...lowered, schema: { ...(Object.hasOwn(schema, '$ref') ? { anyOf: [schema] } : schema), description } }
}

/** Returns a schema of objects that have these fields and no others. */
export function boxOf(properties: Node, { takes }: Pick<Compiler, 'takes'>): Node {
  const required = Object.keys(properties)
  return {
    type: 'object',
    properties,
    required,
    ...(takes('additionalProperties') ? { additionalProperties: false } : undefined),
  }
}

/** Puts a value into the one field of an object, for which there is a schema. */
export function wrapping({ way }: Lowered, key: string, schema: Node): Lowered {
  return {
    schema,
    way(value, isUp, scope) {
      if (!isUp) return { [key]: through(way, value, isUp, scope) }
      const isWrapped = isObject(value) && Object.hasOwn(value, key) && Object.keys(value).length === 1
      return isWrapped ? through(way, value[key], isUp, scope) : value
    },
  }
}

/** The last way: the value as JSON text. Only guidance is lost. */
export function text(node: Node, keyword: string, { lose }: Compiler, ...words: readonly string[]): Lowered {
  lose(node, keyword, 'as text')
  return {
    schema: { type: 'string', description: describe('JSON text of the value.', ...words) },
    way(value, isUp) {
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

/** Lowers a schema without a type. */
export function free(node: Node, words: string[], compiler: Compiler): Lowered {
  const { takesUntyped } = compiler.dialect
  const schema = keep(node, undefined, words, compiler, !takesUntyped)
  return takesUntyped ? { schema } : text(node, 'type', compiler)
}
