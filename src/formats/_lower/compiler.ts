import type { SchemaLoss } from '../../index.ts'
import { isObject } from '../_read.ts'
import type { Dialect } from './dialect.ts'
import { keywordOf } from './keywords.ts'
import { pointerPart, Refusal, same, type Lowered, type LoweredSchema, type Node, type Schema } from './schema.ts'

/** A schema that is read, and what was lost of it. */
export interface Reading {
  readonly root: Schema
  /** The schemas by their places in the original, for `$ref`. */
  readonly places: ReadonlyMap<string, Schema>
  readonly losses: SchemaLoss[]
  /** Makes a schema that has the place of another one. */
  readonly made: (schema: Schema, place: Schema) => Schema
  /** Returns the place of a schema, as a JSON Pointer. */
  readonly pointerOf: (schema: Schema) => string
  /** Returns the schema that `$ref` means. Throws a Refusal if it leads nowhere. */
  readonly resolve: (reference: string) => Schema
  /** Counts a schema. Throws a Refusal if there are too many. */
  readonly count: () => void
  readonly lose: (schema: Schema, keyword: string, done: SchemaLoss['done'], note?: string) => void
  /** Tells of a keyword that the dialect has not: in words, if it constrains anything. */
  readonly tell: (schema: Schema, keyword: string, words: string[], sentence: string) => void
}

/** The state of one compilation. */
export interface Compiler extends Reading {
  readonly dialect: Dialect
  /** Returns whether the dialect has a keyword. */
  readonly takes: (keyword: string) => boolean
  readonly lower: (schema: Schema) => Lowered
  /** Returns the definition that a lowered `$ref` means, or `undefined` while it is being made. */
  readonly definitionOf: (schema: Schema) => Schema | undefined
}

/** The place of a schema, and what stands there. */
interface Origin {
  readonly pointer: string
  readonly given: object
}

/** The most schemas that one compilation visits or merges. It bounds the work that a hostile schema can cause. */
const mostSchemas = 20_000
const deepest = 256

/** Reads a schema and lowers it. Never throws: a schema that the dialect cannot take comes back with the reason. */
export function compiled(
  original: Node,
  make: (reading: Reading) => Omit<LoweredSchema, 'losses' | 'refused'>,
): LoweredSchema {
  try {
    const reading = read(original)
    const made = make(reading)
    const losses = [...new Map(reading.losses.map((loss) => [JSON.stringify(loss), loss])).values()]
    // Without a loss, the schema goes out byte for byte.
    return { ...made, schema: losses.length === 0 ? original : made.schema, losses }
  } catch (error) {
    const refused = error instanceof Refusal ? error.message : 'it is nested too deeply'
    return { schema: original, way: same, losses: [], refused }
  }
}

/** A schema that no value fits. */
export const never: Schema = always(false)

/** Returns an object for the schema `true`, or for `false`, so that it has a place too. */
function always(takesAll: boolean): Schema {
  // Words and copies say what was written.
  return Object.defineProperty({}, 'toJSON', { value: () => takesAll })
}

/** Returns what a schema was that is no object: `true`, or `false`, which takes no value. */
export function booleanOf(schema: Schema | undefined): unknown {
  return typeof schema?.['toJSON'] === 'function' ? schema['toJSON']() : undefined
}

/**
 * Reads a schema: `true` and `false` become objects, and the tuples of draft 07 `prefixItems`.
 *
 * @throws {Refusal} if it has not the form of a schema, or is too large.
 */
function read(original: Node): Reading {
  const origins = new WeakMap<Schema, Origin>()
  const places = new Map<string, Schema>()
  const losses: SchemaLoss[] = []
  let count = 0
  const originOf = (schema: Schema): Origin => origins.get(schema) ?? { pointer: '', given: original }
  const lose: Reading['lose'] = (schema, keyword, done, note) => {
    const { pointer, given } = originOf(schema)
    const isOwn = Object.hasOwn(given, keyword)
    // The compiler made this `allOf` itself: a loss of the keyword that it stands for is known.
    if (done === 'inlined' && !isOwn) return
    // What the schema does not have is lost of the schema itself.
    losses.push({ pointer: isOwn ? pointer + pointerPart(keyword) : pointer, keyword, done, ...(note && { note }) })
  }
  const root = schemaOf(original, '', 0)
  const inner = [...places].findLast(([pointer, { $id }]) => pointer !== '' && typeof $id === 'string')
  if (inner && [...places.values()].some(({ $ref }) => $ref !== undefined)) {
    throw new Refusal(`it has an $id inside${at(inner[0])}, from which a $ref may start`)
  }
  return {
    root,
    places,
    losses,
    pointerOf: (schema) => originOf(schema).pointer,
    lose,
    made(schema, place) {
      origins.set(schema, originOf(place))
      return schema
    },
    resolve(reference) {
      const target = /^#(?:\/|$)/.test(reference) && places.get(unescaped(reference.slice(1)))
      if (target) return target
      throw new Refusal(`$ref ${JSON.stringify(reference)} leads to no schema in it`)
    },
    count() {
      count += 1
      if (count > mostSchemas) throw new Refusal(`it has more than ${mostSchemas} schemas, if each reference counts`)
    },
    tell(schema, keyword, words, sentence) {
      words.push(sentence)
      lose(schema, keyword, sentence === '' ? 'dropped' : 'in words', sentence)
    },
  }

  function schemaOf(given: unknown, pointer: string, depth: number): Schema {
    const isBoolean = typeof given === 'boolean'
    if (!isBoolean && !isObject(given)) throw new Refusal(`it is no schema${at(pointer)}`)
    if (depth > deepest || places.size >= mostSchemas) throw new Refusal('it is too large')
    // Without a prototype, a keyword such as `__proto__` is one like any other.
    const schema = (isBoolean ? always(given) : Object.create(null)) as Record<string, unknown>
    origins.set(schema, { pointer, given: Object(given) as object })
    places.set(pointer, schema)
    if (isBoolean) return schema
    const isTuple = Array.isArray(given['items'])
    if (isTuple) lose(schema, 'items', 'widened', 'prefixItems')
    for (const [name, content] of Object.entries(given)) {
      if (name === 'additionalItems' && !isTuple) continue // it means nothing without a tuple
      const keyword = isTuple && name === 'items' ? 'prefixItems' : name === 'additionalItems' ? 'items' : name
      const place = pointer + pointerPart(name)
      const { form } = keywordOf(keyword) ?? {}
      const value = form ? form(content, (each, part) => schemaOf(each, place + part, depth + 1)) : content
      if (value === undefined) throw new Refusal(`it is no schema${at(place)}`)
      schema[keyword] = value
    }
    return schema
  }
}

function unescaped(text: string): string {
  try {
    return decodeURIComponent(text)
  } catch {
    return text // no place
  }
}

function at(pointer: string): string {
  return pointer && ` at ${pointer}`
}
