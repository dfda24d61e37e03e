import { isObject } from '../_read.ts'
import { hasType, jsonOf, hasWord, listOf, NoValue, objectOf, pointerPart } from './schema.ts'
import type { SchemaObject, TypeName } from './schema.ts'

/**
 * Returns `true` if the content of a keyword has its form and no schemas, `false` if it has another form, and else the content
 * with the schemas in it read by `inner`.
 */
type Form = (content: unknown, inner: (schema: unknown, part: string) => SchemaObject) => unknown

/** Returns what two contents of a keyword demand together. `both` does it for two schemas. */
type Merge = (one: never, other: never, both: (one: SchemaObject, other: SchemaObject) => SchemaObject) => unknown

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

const any = (): boolean => true
const isString = (content: unknown): boolean => typeof content === 'string'
const isBoolean = (content: unknown): boolean => typeof content === 'boolean'
const isNumber: (content: unknown) => boolean = Number.isFinite
const positive = (content: unknown): boolean => isNumber(content) && (content as number) > 0
const isCount = (content: unknown): boolean => Number.isSafeInteger(content) && (content as number) >= 0
const isList: (content: unknown) => content is readonly unknown[] = Array.isArray
const isNames = (content: unknown): boolean => isList(content) && content.every(isString)
const needs = (content: unknown): boolean => isObject(content) && Object.values(content).every(isNames)
const isType = (content: unknown): boolean => hasWord('null boolean integer number string array object', content)
const isTypes = (content: unknown): boolean => isType(content) || (isSome(content) && content.every(isType))
const schemaForm: Form = (content, inner) => inner(content, '')
const tupleForm: Form = (content, inner) => isList(content) && content.map((item, index) => inner(item, `/${index}`))
const branches: Form = (content, inner) => isSome(content) && tupleForm(content, inner)
const map: Form = (content, inner) =>
  isObject(content) && objectOf(Object.entries(content).map(([name, item]) => [name, inner(item, pointerPart(name))]))

const larger: Merge = (one: number, other: number) => Math.max(one, other)
const smaller: Merge = (one: number, other: number) => Math.min(one, other)
const both: Merge = (one, other, merge) => merge(one, other)
const each: Merge = (one, other, merge) => Object.values(joinedMembers(one, other, merge))
const eitherValue: Merge = any

const keywordTable: readonly (readonly [string, Keyword['of'], Form, string?, Merge?])[] = [
  ['minLength', 'string', isCount, 'At least % characters.', larger],
  ['maxLength', 'string', isCount, 'At most % characters.', smaller],
  ['pattern', 'string', isString, 'Matches /%/.'],
  ['contentEncoding', 'string', any, 'Encoding: %.'],
  ['contentMediaType', 'string', any, 'Media type: %.'],
  ['contentSchema', 'string', schemaForm],

  ['minimum', 'number', isNumber, 'At least %.', larger],
  ['maximum', 'number', isNumber, 'At most %.', smaller],
  ['exclusiveMinimum', 'number', isNumber, 'More than %.', larger],
  ['exclusiveMaximum', 'number', isNumber, 'Less than %.', smaller],
  ['multipleOf', 'number', positive, 'A multiple of %.'],

  ['minItems', 'array', isCount, 'At least % items.', larger],
  ['maxItems', 'array', isCount, 'At most % items.', smaller],
  ['uniqueItems', 'array', isBoolean, 'No item twice.', eitherValue],
  ['contains', 'array', schemaForm, 'Contains an item that fits %.'],
  ['minContains maxContains', 'array', isCount],
  ['prefixItems', 'array', tupleForm, '', each],
  ['items', 'array', schemaForm, '', both],
  ['unevaluatedItems', 'array', schemaForm],

  ['minProperties', 'object', isCount, 'At least % fields.', larger],
  ['maxProperties', 'object', isCount, 'At most % fields.', smaller],
  ['propertyNames', 'object', schemaForm, 'Field names fit %.', both],
  ['required', 'object', isNames, '', unionOfNames],
  ['properties patternProperties', 'object', map, '', joinedMembers],
  ['additionalProperties unevaluatedProperties', 'object', schemaForm, '', both],
  ['dependentRequired', 'object', needs],
  ['dependentSchemas', 'object', map],
  ['dependencies', 'object', any],

  ['type', 'all', isTypes, '', commonTypes],
  ['enum', 'all', isList, '', commonValues],
  ['const', 'all', any, '', noValue],
  ['format', 'all', isString, 'Format: %.'],
  ['anyOf oneOf allOf', 'all', branches],
  ['not if then else', 'all', schemaForm],
  ['$ref', 'all', isString],

  ['default', 'annotation', any, 'Default: %.'],
  ['examples', 'annotation', any, 'Examples: %.'],
  ['deprecated', 'annotation', any, 'Deprecated.'],
  ['$schema', 'annotation', isString],
  ['$defs definitions', 'annotation', map],
  ['$id $comment $anchor title description readOnly writeOnly nullable', 'annotation', any],
]

const keywords = new Map(
  keywordTable.flatMap(([all, of, reads, sentence, merge]) =>
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

/** Returns the keywords of a schema that constrain something, with what they say. */
export function constraintsOf(root: SchemaObject): [string, unknown][] {
  return Object.entries(root).filter(([keyword]) => !isAnnotation(keyword))
}

/** Returns whether a keyword has a meaning for values of a type. Without a type, each has. */
export function speaksOf(keyword: string, type: TypeName | undefined): boolean {
  const of = keywordOf(keyword)?.of ?? 'all'
  return type === undefined || hasWord(`all annotation ${type === 'integer' ? 'number' : type}`, of)
}

/** Returns the members of both. `merge` decides what stands under a key of both. */
export function joinedMembers<Value>(
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

function isSome(content: unknown): content is readonly unknown[] {
  return isList(content) && content.length > 0
}

function unionOfNames<Name>(one: readonly Name[], other: readonly Name[]): readonly Name[] {
  return [...new Set([...one, ...other])]
}

/** Returns the values of one list that the other has too. */
export function commonValues(one: readonly unknown[], other: readonly unknown[]): readonly unknown[] {
  const texts = new Set(other.map(jsonOf))
  return one.filter((value) => texts.has(jsonOf(value)))
}

function commonTypes(one: SchemaObject['type'], other: SchemaObject['type']): SchemaObject['type'] {
  const [some, others] = [listOf<TypeName>(one), listOf<TypeName>(other)]
  const shared = unionOfNames(some, others).filter((type) => hasType(some, type) && hasType(others, type))
  return shared.length > 1 ? shared : (shared[0] ?? noValue())
}

function noValue(): never {
  throw new NoValue()
}
