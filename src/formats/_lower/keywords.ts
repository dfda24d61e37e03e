import { isObject } from '../_read.ts'
import { listOf, NoValue, objectOf, pointerPart, type Schema, type TypeName } from './schema.ts'

/** Returns the content of a keyword, with the schemas in it read by `inner`, or `undefined` if it has another form. */
type Form = (content: unknown, inner: (schema: unknown, part: string) => Schema) => unknown

/** Returns what two contents of a keyword demand together. `both` does it for two schemas. */
type Merge = (one: never, other: never, both: (one: Schema, other: Schema) => Schema) => unknown

/** What the standard says of a keyword. */
interface Keyword {
  /** The type of the values that it speaks of. An annotation constrains none. */
  readonly of: 'string' | 'number' | 'array' | 'object' | 'all' | 'annotation'
  readonly form: Form
  /**
   * Its sentence for a description: `%` stands for the content; without it, for `true`. Empty for what is in the structure of
   * a lowered schema. Missing: a constraint is said as JSON.
   */
  readonly sentence?: string | undefined
  /** Missing if one keyword cannot say two contents. */
  readonly merge?: Merge | undefined
}

const typeNames: readonly unknown[] = ['null', 'boolean', 'integer', 'number', 'string', 'array', 'object']
const isText = (content: unknown): boolean => typeof content === 'string'
const isType = (content: unknown): boolean => typeNames.includes(content)
const areNames = (content: unknown): boolean => Array.isArray(content) && content.every(isText)

const any: Form = (content) => content
const text = form(isText)
const flag = form((content) => typeof content === 'boolean')
const number = form(Number.isFinite)
const count = form((content) => Number.isSafeInteger(content) && (content as number) >= 0)
const positive = form((content) => Number.isFinite(content) && (content as number) > 0)
const list = form(Array.isArray)
const names = form(areNames)
const needs = form((content) => isObject(content) && Object.values(content).every(areNames))
const types = form((content) => isType(content) || (isSome(content) && content.every(isType)))
const schema: Form = (content, inner) => inner(content, '')
const tuple: Form = (content, inner) =>
  Array.isArray(content) ? content.map((item, index) => inner(item, pointerPart(index))) : undefined
const branches: Form = (content, inner) => (isSome(content) ? tuple(content, inner) : undefined)
const map: Form = (content, inner) =>
  isObject(content)
    ? objectOf(Object.entries(content).map(([name, item]) => [name, inner(item, pointerPart(name))]))
    : undefined

const larger: Merge = (one: number, other: number) => Math.max(one, other)
const smaller: Merge = (one: number, other: number) => Math.min(one, other)
const both: Merge = (one, other, merge) => merge(one, other)
const each: Merge = (one, other, merge) => Object.values(joined(one, other, merge))
const always: Merge = () => true

const table: readonly (readonly [string, Keyword['of'], Form, string?, Merge?])[] = [
  ['minLength', 'string', count, 'At least % characters.', larger],
  ['maxLength', 'string', count, 'At most % characters.', smaller],
  ['pattern', 'string', text, 'Matches /%/.'],
  ['contentEncoding', 'string', any, 'Encoding: %.'],
  ['contentMediaType', 'string', any, 'Media type: %.'],
  ['contentSchema', 'string', schema],

  ['minimum', 'number', number, 'At least %.', larger],
  ['maximum', 'number', number, 'At most %.', smaller],
  ['exclusiveMinimum', 'number', number, 'More than %.', larger],
  ['exclusiveMaximum', 'number', number, 'Less than %.', smaller],
  ['multipleOf', 'number', positive, 'A multiple of %.'],

  ['minItems', 'array', count, 'At least % items.', larger],
  ['maxItems', 'array', count, 'At most % items.', smaller],
  ['uniqueItems', 'array', flag, 'No item twice.', always],
  ['contains', 'array', schema, 'Contains an item that fits %.'],
  ['minContains maxContains', 'array', count],
  ['prefixItems', 'array', tuple, '', each],
  ['items', 'array', schema, '', both],
  ['unevaluatedItems', 'array', schema],

  ['minProperties', 'object', count, 'At least % fields.', larger],
  ['maxProperties', 'object', count, 'At most % fields.', smaller],
  ['propertyNames', 'object', schema, 'Field names fit %.', both],
  ['required', 'object', names, '', union],
  ['properties patternProperties', 'object', map, '', joined],
  ['additionalProperties unevaluatedProperties', 'object', schema, '', both],
  ['dependentRequired', 'object', needs],
  ['dependentSchemas', 'object', map],
  ['dependencies', 'object', any],

  ['type', 'all', types, '', commonTypes],
  ['enum', 'all', list, '', common],
  ['const', 'all', any, '', noValue],
  ['format', 'all', text, 'Format: %.'],
  ['anyOf oneOf allOf', 'all', branches],
  ['not if then else', 'all', schema],
  ['$ref', 'all', text],

  ['default', 'annotation', any, 'Default: %.'],
  ['examples', 'annotation', any, 'Examples: %.'],
  ['deprecated', 'annotation', any, 'Deprecated.'],
  ['$schema', 'annotation', text],
  ['$defs definitions', 'annotation', map],
  ['$id $comment $anchor title description readOnly writeOnly nullable', 'annotation', any],
]

const keywords = new Map(
  table.flatMap(([all, of, reads, sentence, merge]) =>
    all.split(' ').map((name): [string, Keyword] => [name, { of, form: reads, sentence, merge }]),
  ),
)

/** Returns what the standard says of a keyword, or `undefined` for one of which it says nothing. */
export function keywordOf(name: string): Keyword | undefined {
  return keywords.get(name)
}

/** Returns whether a keyword constrains nothing. */
export function isAnnotation(keyword: string): boolean {
  return keywordOf(keyword)?.of === 'annotation'
}

/** Returns whether a keyword has a meaning for values of a type. Without a type, each has. */
export function speaksOf(keyword: string, type: TypeName | undefined): boolean {
  const of = keywordOf(keyword)?.of ?? 'all'
  return type === undefined || of === 'all' || of === 'annotation' || of === (type === 'integer' ? 'number' : type)
}

/** Returns the members of both. `merge` decides what stands under a key of both. */
export function joined<Value>(
  one: Readonly<Record<string, Value>>,
  other: Readonly<Record<string, Value>>,
  merge: (one: Value, other: Value, key: string) => Value,
): Readonly<Record<string, Value>> {
  const all = new Map(Object.entries(one))
  for (const [key, value] of Object.entries(other)) {
    all.set(key, all.has(key) ? merge(all.get(key)!, value, key) : value)
  }
  return objectOf(all)
}

function form(fits: (content: unknown) => boolean): Form {
  return (content) => (fits(content) ? content : undefined)
}

function isSome(content: unknown): content is readonly unknown[] {
  return Array.isArray(content) && content.length > 0
}

function union<Name>(one: readonly Name[], other: readonly Name[]): readonly Name[] {
  return [...new Set([...one, ...other])]
}

/** Returns the values of one list that the other has too. */
export function common(one: readonly unknown[], other: readonly unknown[]): readonly unknown[] {
  const known = new Set(other.map((value) => JSON.stringify(value)))
  return one.filter((value) => known.has(JSON.stringify(value)))
}

function commonTypes(one: Schema['type'], other: Schema['type']): Schema['type'] {
  const [some, others] = [listOf<TypeName>(one), listOf<TypeName>(other)]
  const takes = (all: readonly TypeName[], type: TypeName): boolean =>
    all.includes(type) || (type === 'integer' && all.includes('number'))
  const [first = noValue(), ...more] = union(some, others).filter((type) => takes(some, type) && takes(others, type))
  return more.length === 0 ? first : [first, ...more]
}

function noValue(): never {
  throw new NoValue()
}
