import { parseJson } from '../../index.ts'
import type { Compiler } from './compiler.ts'
import { isOf, isSame, listOf, NoValue, typeName, type Lowered, type Node, type TypeName, type Way } from './schema.ts'
import { takesNull } from './shape.ts'
import { describe, sentenceOf, valuesSentence } from './words.ts'

/** The type of value that a keyword speaks of. Other keywords speak of any. */
const subjects = new Map<string, TypeName>(
  (
    [
      ['string', 'minLength maxLength pattern contentEncoding contentMediaType contentSchema'],
      ['number', 'multipleOf minimum maximum exclusiveMinimum exclusiveMaximum'],
      ['array', 'items prefixItems minItems maxItems uniqueItems contains minContains maxContains unevaluatedItems'],
      ['object', 'properties required additionalProperties unevaluatedProperties patternProperties propertyNames'],
      ['object', 'minProperties maxProperties dependentRequired dependentSchemas dependencies'],
    ] as const
  ).flatMap(([type, keywords]) => keywords.split(' ').map((keyword) => [keyword, type] as const)),
)

/** Keywords that each kind of schema handles itself. */
const handled = new Set(
  (
    'description type enum const $ref allOf items prefixItems properties required additionalProperties ' +
    'unevaluatedProperties patternProperties'
  ).split(' '),
)

/** Returns whether a keyword has a meaning for values of a type. */
export function speaksOf(keyword: string, type: TypeName | undefined): boolean {
  const subject = subjects.get(keyword)
  return type === undefined || subject === undefined || subject === (type === 'integer' ? 'number' : type)
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
  compiler: Compiler,
  isReplaced = false,
): Record<string, unknown> {
  const { dialect, lose } = compiler
  const kept = new Map<string, unknown>()
  for (const [keyword, content] of Object.entries(node)) {
    const isOfType = speaksOf(keyword, type)
    if (isOfType && type !== undefined && handled.has(keyword)) continue
    if (keyword === 'description' || /^(?:type|enum|const|\$ref|allOf)$/.test(keyword)) continue
    if (isOfType && !isReplaced && !handled.has(keyword) && takes(keyword, content)) {
      if (!/^(?:\$defs|definitions)$/.test(keyword)) kept.set(keyword, content)
      continue
    }
    const sentence = isOfType ? sentenceOf(keyword, content) : ''
    words.push(sentence)
    lose(node, keyword, sentence === '' ? 'dropped' : 'in words', sentence)
  }
  return Object.fromEntries(kept)

  function takes(keyword: string, content: unknown): boolean {
    if (!dialect.keywords.has(keyword)) return false
    if (keyword === 'format') return dialect.formats.has(content as string)
    if (keyword === 'minItems') return (content as number) <= (dialect.minItems ?? Infinity)
    // Constrained decoding has no look-around, references or properties of characters.
    if (keyword === 'pattern') return !/\(\?(?!:)|\\[1-9bBkpPu]/.test(content as string)
    return true
  }
}

/** Lowers a schema of a scalar type. */
export function scalar(node: Node, type: TypeName, words: string[], compiler: Compiler): Lowered {
  if (type === 'null' && compiler.dialect.nulls === 'nullable') {
    words.push('Must be null.')
    compiler.lose(node, 'type', 'in words', 'Must be null.')
    return { schema: { type: 'string', nullable: true } }
  }
  return { schema: { type, ...keep(type === 'integer' ? inclusive(node, compiler) : node, type, words, compiler) } }
}

/** Gives an integer inclusive bounds, if the dialect has no exclusive ones. */
function inclusive(node: Node, { dialect, lose, made }: Compiler): Node {
  let bounded = node
  for (const [exclusive, bound, step] of [
    ['exclusiveMinimum', 'minimum', 1],
    ['exclusiveMaximum', 'maximum', -1],
  ] as const) {
    const { [exclusive]: edge, ...rest } = bounded
    if (typeof edge !== 'number' || dialect.keywords.has(exclusive) || !dialect.keywords.has(bound)) continue
    const next = (step === 1 ? Math.floor(edge) : Math.ceil(edge)) + step
    const known = rest[bound]
    const isTighter = typeof known === 'number' && (step === 1 ? known > next : known < next)
    bounded = made({ ...rest, [bound]: isTighter ? known : next }, node)
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
  const { dialect, lose } = compiler
  const given = Object.hasOwn(node, 'enum') ? listOf(node['enum']) : [node['const']]
  const types = listOf(node['type'])
  const values = given.filter(
    (value, index) =>
      (types.length === 0 || types.some((type) => isOf(type, value))) &&
      (!Object.hasOwn(node, 'const') || isSame(value, node['const'])) &&
      given.findIndex((twin) => isSame(twin, value)) === index,
  )
  if (values.length === 0) throw new NoValue('no value fits it')
  const groups = new Map<TypeName, unknown[]>()
  for (const value of values) {
    const name = typeName(value)
    const type = /^(?:object|array)$/.test(name)
      ? 'object'
      : name === 'integer' && hasFraction(values)
        ? 'number'
        : name
    groups.set(type, [...(groups.get(type) ?? []), value])
  }
  const hasNull = groups.delete('null')
  const keyword = Object.hasOwn(node, 'enum') ? 'enum' : 'const'
  if (groups.size > 1) lose(node, keyword, 'widened', 'anyOf')
  else if (types.length === 0 && !dialect.takesUntyped) lose(node, keyword, 'widened', 'type')
  else if (values.length !== given.length) lose(node, keyword, 'widened', 'without values of other types')
  const branches = [...groups].map(([type, group]) => branchOf(type, group))
  if (branches.length === 0)
    return { branches: [scalar(withoutConstants(), 'null', words, compiler)], takesNull: false }
  return { branches, takesNull: hasNull }

  function branchOf(type: TypeName, group: readonly unknown[]): Lowered {
    if (type === 'object') return text(node, keyword, compiler, [valuesSentence(group)])
    const own: string[] = []
    const rest = withoutConstants()
    const isAll = type === 'boolean' && group.length === 2
    const isTaken = isAll || dialect.enums.has(type)
    if (!isTaken) {
      const sentence = valuesSentence(group)
      own.push(sentence)
      lose(node, keyword, 'in words', sentence)
    }
    const isConst = keyword === 'const' && !hasNull && dialect.keywords.has('const')
    if (keyword === 'const' && isTaken && !isConst) lose(node, 'const', 'widened', 'enum')
    const { schema } = scalar(rest, type, own, compiler)
    const constant = isConst ? { const: group[0] } : { enum: group }
    return described({ schema: { ...schema, ...(isTaken && !isAll ? constant : undefined) } }, describe('', own))
  }

  function withoutConstants(): Node {
    const { enum: _enum, const: _const, type: _type, ...rest } = node
    return compiler.made(rest, node)
  }
}

function hasFraction(values: readonly unknown[]): boolean {
  return values.some((value) => typeName(value) === 'number')
}

/** Lets a schema take null. `isAbsence`: null leaves out a field, so it does not reach the ways. */
export function nullable(lowered: Lowered, compiler: Compiler, isAbsence = false): Lowered {
  const { schema, up, down } = lowered
  const past = (way: Way | undefined): Way | undefined =>
    way === undefined || isAbsence ? way : (value, scope) => (value === null ? null : way(value, scope))
  const ways = { up: past(up), down: past(down) }
  if (compiler.dialect.nulls === 'nullable') return { schema: { ...schema, nullable: true }, ...ways }
  if (takesNull(schema, compiler)) return { schema, ...ways }
  const { type, enum: values, anyOf, description, ...rest } = schema
  const said = description === undefined ? undefined : { description }
  if (anyOf !== undefined) return { schema: { ...schema, anyOf: [...listOf(anyOf), { type: 'null' }] }, ...ways }
  const takesConstant = values === undefined || compiler.dialect.enums.has('null')
  if (type === undefined || !takesConstant || Object.hasOwn(schema, 'const')) {
    const { description: _, ...inner } = schema
    return { schema: { anyOf: [inner, { type: 'null' }], ...said }, ...ways }
  }
  const constant = values === undefined ? undefined : { enum: [...listOf(values), null] }
  return { schema: { type: [...listOf(type), 'null'], ...constant, ...rest, ...said }, ...ways }
}

/** Adds a description. A `$ref` must stand alone. */
export function described(lowered: Lowered, description: string): Lowered {
  if (description === '') return lowered
  const isReference = Object.hasOwn(lowered.schema, '$ref')
  return { ...lowered, schema: { ...(isReference ? { anyOf: [lowered.schema] } : lowered.schema), description } }
}

/** The last way: the value as JSON text. Only guidance is lost. */
export function text(node: Node, keyword: string, { lose }: Compiler, words: readonly string[] = []): Lowered {
  lose(node, keyword, 'as text')
  return {
    schema: { type: 'string', description: describe('JSON text of the value.', words) },
    up(value) {
      if (typeof value !== 'string') return value
      try {
        return parseJson(value)
      } catch {
        return value
      }
    },
    down: (value) => JSON.stringify(value),
  }
}

/** Lowers a schema without a type. */
export function free(node: Node, words: string[], compiler: Compiler): Lowered {
  if (!compiler.dialect.takesUntyped) {
    keep(node, undefined, words, compiler, true)
    return text(node, 'type', compiler)
  }
  return { schema: keep(node, undefined, words, compiler) }
}
