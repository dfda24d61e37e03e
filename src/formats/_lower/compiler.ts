import type { SchemaLoss } from '../../extension.ts'
import { isObject } from '../_read.ts'
import type { Dialect } from './dialect.ts'
import { keywordOf } from './keywords.ts'
import { distinct, jsonOf, pointerPart, DialectRefusal, same } from './schema.ts'
import type { Lowered, LoweredSchema, Node, SchemaObject } from './schema.ts'

/** A schema that is read, and what was lost of it. */
export interface SchemaSource {
  readonly root: SchemaObject
  /** The schemas by their places in the original, for `$ref`. */
  readonly places: ReadonlyMap<string, SchemaObject>
  readonly losses: SchemaLoss[]
  /** Makes a schema that has the place of another one. */
  readonly placed: (schema: SchemaObject, place: SchemaObject) => SchemaObject
  /** Returns the place of a schema, as a JSON Pointer. */
  readonly pointerOf: (schema: SchemaObject) => string
  /** Returns the schema that `$ref` means. Throws a Refusal if it leads nowhere. */
  readonly resolve: (reference: string) => SchemaObject
  /** Counts a schema. Throws a Refusal if there are too many. */
  readonly count: () => void
  readonly lose: (schema: SchemaObject, keyword: string, done: SchemaLoss['done'], note?: string) => void
  /** Tells of a keyword that the dialect has not: in words, if it constrains anything. */
  readonly tell: (schema: SchemaObject, keyword: string, words: string[], sentence: string) => void
}

/** The state of one compilation. */
export interface Compiler extends SchemaSource {
  readonly dialect: Dialect
  /** Returns whether the dialect has a keyword. */
  readonly takes: (keyword: string) => boolean
  readonly lower: (schema: SchemaObject) => Lowered
  /** The definitions by the `$ref` that means them: `undefined` while one is being made, or if no value fits it. */
  readonly definitions: Map<string, Lowered | undefined>
}

/** The place of a schema, and what stands there. */
type SchemaOrigin = { readonly pointer: string; readonly source: object }

/** The most schemas that one compilation visits or merges. It bounds the work that a hostile schema can cause. */
const mostSchemas = 20_000
const deepestSchema = 256

/**
 * Reads a schema and lowers it. Never throws: a schema that the dialect cannot take comes back with the reason.
 *
 * @param takesBooleans Whether the dialect has `true` as a schema in all places. Default: `true`. If not, only
 *   `additionalProperties` has it. Elsewhere it is written `{}`, which is no loss.
 */
export function compiledSchema(
  original: Node,
  make: (reading: SchemaSource) => Omit<LoweredSchema, 'losses' | 'refused'>,
  takesBooleans = true,
): LoweredSchema {
  try {
    const reading = readSchema(original)
    const result = make(reading)
    const losses = distinct(reading.losses)
    // Without a loss, the schema goes out byte for byte.
    const isTaken = losses.length === 0 && (takesBooleans || !hasAlways(reading.places))
    return { ...result, schema: isTaken ? original : result.schema, losses }
  } catch (error) {
    const refused = error instanceof DialectRefusal ? error.message : 'it is nested too deeply'
    return { schema: original, way: same, losses: [], refused }
  }
}

/** A schema that no value fits. */
export const never: SchemaObject = booleanSchema(false)

/** Returns an object for the schema `true`, or for `false`, so that it has a place too. */
function booleanSchema(takesAll: boolean): SchemaObject {
  // Words and copies say what was written.
  return Object.defineProperty({}, 'toJSON', { value: () => takesAll })
}

/** Returns whether a schema is `true`. */
export function isAlways(schema: SchemaObject | undefined): boolean {
  return typeof schema?.['toJSON'] === 'function' && !isNever(schema)
}

function hasAlways(places: SchemaSource['places']): boolean {
  return [...places].some(([pointer, schema]) => isAlways(schema) && !pointer.endsWith('/additionalProperties'))
}

/** Returns whether a schema is `false`, which takes no value. */
export function isNever(schema: SchemaObject | undefined): boolean {
  return typeof schema?.['toJSON'] === 'function' && !schema['toJSON']()
}

/**
 * Reads a schema: `true` and `false` become objects, and the tuples of draft 07 `prefixItems`.
 *
 * @throws {Refusal} if it has not the form of a schema, or is too large.
 */
function readSchema(original: Node): SchemaSource {
  const origins = new WeakMap<SchemaObject, SchemaOrigin>()
  const places = new Map<string, SchemaObject>()
  const losses: SchemaLoss[] = []
  let count = 0
  let hasReference = false
  /** The last place of an `$id` that is not the root's. */
  let inner = ''
  const originOf = (schema: SchemaObject): SchemaOrigin => origins.get(schema) ?? { pointer: '', source: original }
  const lose: SchemaSource['lose'] = (schema, keyword, done, note) => {
    const { pointer, source } = originOf(schema)
    const isOwn = Object.hasOwn(source, keyword)
    // The compiler made this `allOf` itself: a loss of the keyword that it stands for is known.
    if (done === 'inlined' && !isOwn) return
    // What the schema does not have is lost of the schema itself.
    losses.push({ pointer: isOwn ? pointer + pointerPart(keyword) : pointer, keyword, done, ...(note && { note }) })
  }
  const root = schemaOf(original, '', 0)
  if (inner && hasReference) throw new DialectRefusal(`it has an $id inside${at(inner)}, from which a $ref may start`)
  return {
    root,
    places,
    losses,
    pointerOf: (schema) => originOf(schema).pointer,
    lose,
    placed(schema, place) {
      origins.set(schema, originOf(place))
      return schema
    },
    resolve(reference) {
      const target = /^#(?:\/|$)/.test(reference) && places.get(decodedPointer(reference.slice(1)))
      if (target) return target
      throw new DialectRefusal(`$ref ${jsonOf(reference)} leads to no schema in it`)
    },
    count() {
      count += 1
      if (count > mostSchemas)
        throw new DialectRefusal(`it has more than ${mostSchemas} schemas, if each reference counts`)
    },
    tell(schema, keyword, words, sentence) {
      words.push(sentence)
      lose(schema, keyword, sentence ? 'in words' : 'dropped', sentence)
    },
  }

  function schemaOf(member: unknown, pointer: string, depth: number): SchemaObject {
    const isPlain = typeof member === 'boolean'
    if (!isPlain && !isObject(member)) throw new DialectRefusal(`it is no schema${at(pointer)}`)
    if (depth > deepestSchema || places.size >= mostSchemas) throw new DialectRefusal('it is too large')
    // Without a prototype, a keyword such as `__proto__` is one like any other.
    const schema = (isPlain ? booleanSchema(member) : Object.create(null)) as Record<string, unknown>
    const fields = Object(member) as Node
    origins.set(schema, { pointer, source: fields })
    places.set(pointer, schema)
    if (typeof fields['$id'] === 'string') inner = pointer
    hasReference ||= '$ref' in fields
    const isTuple = Array.isArray(fields['items'])
    if (isTuple) lose(schema, 'items', 'widened', 'prefixItems')
    for (const [name, content] of Object.entries(fields)) {
      if (name === 'additionalItems' && !isTuple) continue // it means nothing without a tuple
      const keyword = isTuple && name === 'items' ? 'prefixItems' : name === 'additionalItems' ? 'items' : name
      const place = pointer + pointerPart(name)
      const inside = keywordOf(keyword)?.form(content, (each, part) => schemaOf(each, place + part, depth + 1)) ?? true
      if (inside === false) throw new DialectRefusal(`it is no schema${at(place)}`)
      schema[keyword] = inside === true ? content : inside
    }
    return schema
  }
}

function decodedPointer(text: string): string {
  try {
    return decodeURIComponent(text)
  } catch {
    return text // no place
  }
}

function at(pointer: string): string {
  return pointer && ` at ${pointer}`
}
