import { isObject } from '../_read.ts'
import { pointerPart, Refusal, type Node } from './schema.ts'

/** What a schema is made of, once every keyword in it is known to have the form that the standard gives it. */
export interface Survey {
  readonly root: Node
  /** The place of each schema in the original. The compiler adds those that it makes. */
  readonly pointers: WeakMap<Node, string>
  /** The schemas that were `true` or `false`. */
  readonly booleans: WeakMap<Node, boolean>
  /** The schemas by their places, for `$ref`. */
  readonly places: ReadonlyMap<string, Node>
  /** The schemas whose tuples were written as in draft 07. */
  readonly tuples: readonly Node[]
}

/** The most schemas that one compilation visits or merges. It bounds the work that a hostile schema can cause. */
export const mostSchemas = 20_000
const deepest = 256

const isText = (value: unknown): boolean => typeof value === 'string'
const isCount = (value: unknown): boolean => Number.isSafeInteger(value) && (value as number) >= 0
const isNumber = (value: unknown): boolean => Number.isFinite(value)
const areNames = (value: unknown): boolean => Array.isArray(value) && value.every(isText)
const isType = (value: unknown): boolean =>
  /^(?:object|array|string|number|integer|boolean|null)$/.test(typeof value === 'string' ? value : '')

/** What a keyword must be: a test of its value, or how it contains schemas. */
type Form = ((value: unknown) => boolean) | 'schema' | 'schemas' | 'map'

const forms = new Map(
  (
    [
      ['$ref $schema pattern format', isText],
      ['type', (value) => isType(value) || (Array.isArray(value) && value.length > 0 && value.every(isType))],
      ['enum', Array.isArray],
      ['minLength maxLength minItems maxItems minProperties maxProperties minContains maxContains', isCount],
      ['minimum maximum exclusiveMinimum exclusiveMaximum', isNumber],
      ['multipleOf', (value) => isNumber(value) && (value as number) > 0],
      ['uniqueItems', (value) => typeof value === 'boolean'],
      ['required', areNames],
      ['dependentRequired', (value) => isObject(value) && Object.values(value).every(areNames)],
      ['items additionalItems additionalProperties unevaluatedItems unevaluatedProperties propertyNames', 'schema'],
      ['contains not if then else contentSchema', 'schema'],
      ['anyOf oneOf allOf prefixItems', 'schemas'],
      ['properties patternProperties $defs definitions dependentSchemas', 'map'],
    ] satisfies [string, Form][]
  ).flatMap(([names, form]) => names.split(' ').map((name): [string, Form] => [name, form])),
)

/**
 * Checks and copies a schema: `true` and `false` become objects, and the tuples of draft 07 `prefixItems`.
 *
 * @throws {Refusal} if it is no schema, or too large.
 */
export function survey(root: unknown): Survey {
  const pointers = new WeakMap<Node, string>()
  const booleans = new WeakMap<Node, boolean>()
  const places = new Map<string, Node>()
  const tuples: Node[] = []
  let inside: string | undefined
  let refers = false
  const whole = schema(root, '', 0)
  if (inside !== undefined && refers)
    throw new Refusal(`it has an $id inside${at(inside)}, from which a $ref may start`)
  return { root: whole, pointers, booleans, places, tuples }

  function schema(given: unknown, pointer: string, depth: number): Node {
    if (!isObject(given) && typeof given !== 'boolean') throw new Refusal(`it is no schema${at(pointer)}`)
    if (depth > deepest || places.size >= mostSchemas) throw new Refusal('it is too large')
    const made: Record<string, unknown> = {}
    pointers.set(made, pointer)
    places.set(pointer, made)
    if (typeof given === 'boolean') {
      booleans.set(made, given)
      Object.defineProperty(made, 'toJSON', { value: () => given }) // so that words and copies say what was written
    } else {
      const isTuple = Array.isArray(given['items'])
      if (isTuple) tuples.push(made)
      if (pointer !== '' && typeof given['$id'] === 'string') inside = pointer
      if (given['$ref'] !== undefined) refers = true
      for (const [keyword, value] of Object.entries(given)) {
        if (keyword === 'additionalItems' && !isTuple) continue // it means nothing without a tuple
        const name = isTuple && keyword === 'items' ? 'prefixItems' : keyword === 'additionalItems' ? 'items' : keyword
        const checked = content(name, value, pointer + pointerPart(keyword), depth + 1)
        Object.defineProperty(made, name, { value: checked, enumerable: true, writable: true, configurable: true })
      }
    }
    return made
  }

  function content(keyword: string, value: unknown, pointer: string, depth: number): unknown {
    const form = forms.get(keyword)
    if (form === undefined) return value
    if (form === 'schema') return schema(value, pointer, depth)
    if (form === 'schemas' && Array.isArray(value) && (value.length > 0 || keyword === 'prefixItems')) {
      return value.map((item, index) => schema(item, pointer + pointerPart(index), depth))
    }
    if (form === 'map' && isObject(value)) {
      return Object.fromEntries(
        Object.entries(value).map(([name, inner]) => [name, schema(inner, pointer + pointerPart(name), depth)]),
      )
    }
    if (typeof form === 'string' || !form(value)) throw new Refusal(`it is no schema${at(pointer)}`)
    return value
  }
}

function at(pointer: string): string {
  return pointer === '' ? '' : ` at ${pointer}`
}
