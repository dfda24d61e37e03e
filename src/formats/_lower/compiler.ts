import type { SchemaLoss } from '../../index.ts'
import type { Dialect } from './dialect.ts'
import { leads, pointerPart, Refusal, type Lowered, type LoweredSchema, type Node } from './schema.ts'
import { mostSchemas, survey, type Survey } from './survey.ts'

/** The schemas that are being lowered, from the innermost to the root. A schema that comes again is a cycle. */
export interface Stack {
  readonly node: Node
  readonly outer: Stack | undefined
}

/** A schema that is read, and what was lost of it. */
export interface Reading extends Pick<Survey, 'root' | 'places' | 'tuples'> {
  readonly losses: SchemaLoss[]
  /** Makes a schema that has the place of another one. */
  readonly made: (node: Node, place: Node) => Node
  /** Returns the place of a schema, as a JSON Pointer. */
  readonly pointerOf: (node: Node) => string
  /** Returns what a schema was that is no object: `true`, or `false`, which takes no value. */
  readonly booleanOf: (node: Node | undefined) => boolean | undefined
  /** Returns the schema that `$ref` means. Throws a Refusal if it leads nowhere. */
  readonly resolve: (reference: unknown) => Node
  /** Counts a schema. Throws a Refusal if there are too many. */
  readonly count: () => void
  readonly lose: (node: Node, keyword: string, done: SchemaLoss['done'], note?: string) => void
  /** Tells of a keyword that the dialect has not: in words, if it constrains anything. */
  readonly tell: (node: Node, keyword: string, words: string[], sentence: string) => void
}

/** The state of one compilation. */
export interface Compiler extends Reading {
  readonly dialect: Dialect
  /** Returns whether the dialect has a keyword. */
  readonly takes: (keyword: string) => boolean
  /** Lowers a schema that stands inside those of the stack. */
  readonly lower: (node: Node, stack: Stack | undefined) => Lowered
  /** Returns the definition that a lowered `$ref` means, or `undefined` while it is being made. */
  readonly definitionOf: (schema: Node) => Node | undefined
}

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
    return { schema: original, losses: [], refused }
  }
}

/** A schema that no value fits. */
export const never: Node = {}

/** Returns whether a schema is on the stack. */
export function isOn(stack: Stack | undefined, node: Node): boolean {
  for (let place = stack; place !== undefined; place = place.outer) if (place.node === node) return true
  return false
}

/** Reads a schema. Throws a Refusal if it has not the form of one. */
function read(original: Node): Reading {
  const { root, pointers, booleans, places, tuples } = survey(original)
  const losses: SchemaLoss[] = []
  let schemas = 0
  const pointerOf = (node: Node): string => pointers.get(node) ?? ''
  const lose: Reading['lose'] = (node, keyword, done, note = '') => {
    let pointer = pointerOf(node) + pointerPart(keyword)
    // The compiler made this `allOf` itself: a loss of the keyword that it stands for is known.
    if (done === 'inlined' && !leads(original, pointer)) return
    // What the schema does not have is lost of the schema itself.
    while (!leads(original, pointer)) pointer = pointer.slice(0, pointer.lastIndexOf('/'))
    losses.push({ pointer, keyword, done, ...(note === '' ? undefined : { note }) })
  }
  return {
    root,
    places,
    tuples,
    losses,
    pointerOf,
    lose,
    made(node, place) {
      pointers.set(node, pointerOf(place))
      return node
    },
    booleanOf: (node) => (node === never ? false : node && booleans.get(node)),
    resolve(reference) {
      const target = places.get(pointerIn(reference))
      if (target !== undefined) return target
      throw new Refusal(`$ref ${JSON.stringify(reference)} leads to no schema in it`)
    },
    count() {
      schemas += 1
      if (schemas > mostSchemas) throw new Refusal(`it has more than ${mostSchemas} schemas, if each reference counts`)
    },
    tell(node, keyword, words, sentence) {
      words.push(sentence)
      lose(node, keyword, sentence === '' ? 'dropped' : 'in words', sentence)
    },
  }
}

/** Returns the pointer of a reference into the same document, or `#`, which is no pointer. */
function pointerIn(reference: unknown): string {
  try {
    return /^#(?:\/|$)/.test(String(reference)) ? decodeURIComponent(String(reference).slice(1)) : '#'
  } catch {
    return '#'
  }
}
