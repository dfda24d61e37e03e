import type { Leniency } from '../_dialects.ts'
import { distinct, read, type Reading } from './compiler.ts'
import { flatten } from './merge.ts'
import { renamed, wrapping } from './object.ts'
import {
  fieldsOf,
  freshName,
  listOf,
  objectOf,
  Refusal,
  type Lowered,
  type LoweredSchema,
  type Node,
} from './schema.ts'
import { refines } from './union.ts'
import { alternativesSentence, describe, sentenceOf } from './words.ts'

/** Changes what a provider refuses even if nothing is strict. Everything else goes out as it is. Never throws. */
export function mend(original: Node, leniency: Leniency): LoweredSchema {
  try {
    const reading = read(original)
    if (leniency.needsItems) addItems(reading)
    for (const node of reading.tuples) reading.lose(node, 'items', 'widened', 'prefixItems')
    const { schema, up, down } = named(rooted(reading, leniency), leniency, reading)
    const losses = distinct(reading.losses)
    return { schema: losses.length === 0 ? original : schema, up, down, losses, optional: 0, unions: 0 }
  } catch (error) {
    const refused = error instanceof Refusal ? error.message : 'it is nested too deeply'
    return { schema: original, losses: [], refused, optional: 0, unions: 0 }
  }
}

function addItems({ root, places, lose }: Reading): void {
  const add = (node: Node, keyword: string): void => {
    Object.assign(node, { [keyword]: {} })
    lose(node, keyword, 'widened', keyword === 'items' ? 'any items' : 'no properties')
  }
  for (const node of places.values()) {
    if (listOf(node['type']).includes('array') && node['items'] === undefined) add(node, 'items')
  }
  if (root['type'] === 'object' && root['properties'] === undefined && !hasUnion(root)) add(root, 'properties')
}

function hasUnion(node: Node): boolean {
  return ['anyOf', 'oneOf', 'allOf', '$ref', 'enum', 'const'].some((keyword) => Object.hasOwn(node, keyword))
}

/** Returns a root without the keywords that are refused there. */
function rooted(reading: Reading, { refusedAtRoot }: Leniency): Lowered {
  const { $schema, ...rest } = reading.root
  if ($schema !== undefined) reading.lose(reading.root, '$schema', 'dropped')
  const root = reading.made(rest, reading.root)
  const refused = Object.keys(root).filter((keyword) => refusedAtRoot.has(keyword))
  if (refused.length === 0) return { schema: root }
  const references = [...reading.places.values()].map(({ $ref }) => String($ref))
  const isMeant = refused.some((keyword) => references.some((reference) => reference.startsWith(`#/${keyword}`)))
  const before = reading.losses.length
  const plain = isMeant ? undefined : withoutUnion(root, refusedAtRoot, reading)
  if (plain !== undefined) return { schema: plain }
  reading.losses.length = before
  return wrapped(root, refused[0] ?? '', reading)
}

/** Returns an object that has fields of its own, with its refinements in words, or `undefined` for any other schema. */
function withoutUnion(root: Node, refusedAtRoot: ReadonlySet<string>, reading: Reading): Node | undefined {
  const { node, words, isCycle } = flatten(root, reading, undefined)
  if (isCycle || node['type'] !== 'object' || node['properties'] === undefined) return undefined
  const said = [...words]
  const kept = Object.entries(node).filter(([keyword, content]) => {
    if (!refusedAtRoot.has(keyword)) return true
    if (keyword === 'not') said.push(sentenceOf(keyword, content))
    else if (/^(?:any|one)Of$/.test(keyword) && refines(node, listOf(content) as Node[])) {
      said.push(alternativesSentence(keyword, listOf(content) as Node[]))
    } else return true
    reading.lose(root, keyword, 'in words', said.at(-1))
    return false
  })
  if (kept.some(([keyword]) => refusedAtRoot.has(keyword))) return undefined
  const description = describe(node['description'], said)
  return reading.made({ ...objectOf(kept), ...(description === '' ? undefined : { description }) }, root)
}

/** Puts a schema into the one field of an object. Definitions stay at the root, so that references find them. */
function wrapped(root: Node, keyword: string, reading: Reading): Lowered {
  const { $defs, definitions, description, ...inner } = root
  const names = [...reading.places.values()].flatMap((node) => Object.keys(fieldsOf(node['properties'])))
  const key = freshName('input', new Set(names))
  reading.lose(reading.root, keyword, 'wrapped', key)
  for (const node of [...reading.places.values(), inner]) {
    const { $ref } = node
    if (typeof $ref === 'string' && /^#(?!\/(?:\$defs|definitions)\/)/.test($ref)) {
      Object.assign(node, { $ref: `#/properties/${key}${$ref.slice(1)}` })
    }
  }
  const schema: Node = {
    type: 'object',
    ...(description === undefined ? undefined : { description }),
    properties: { [key]: inner },
    required: [key],
    additionalProperties: false,
    ...($defs === undefined ? undefined : { $defs }),
    ...(definitions === undefined ? undefined : { definitions }),
  }
  return wrapping({ schema: inner }, key, reading.made(schema, root))
}

/** Renames the properties of the root whose names are refused. */
function named(whole: Lowered, { names }: Leniency, reading: Reading): Lowered {
  const { schema } = whole
  const properties = fieldsOf(schema['properties'])
  const refused = Object.keys(properties).filter((name) => names?.test(name) === false)
  if (refused.length === 0) return whole
  const taken = new Set(Object.keys(properties))
  const to = new Map<string, string>()
  for (const name of refused) {
    const fresh = renamed(name, taken)
    taken.add(fresh)
    to.set(name, fresh)
    reading.lose(properties[name] as Node, 'properties', 'renamed', fresh)
  }
  const from = new Map([...to].map(([name, fresh]) => [fresh, name]))
  const rename = (value: unknown, by: ReadonlyMap<string, string>): unknown =>
    typeof value === 'object' && value !== null && !Array.isArray(value)
      ? objectOf(Object.entries(value).map(([key, item]) => [freshKey(key, value, by), item]))
      : value
  const renamedFields = Object.entries(properties).map(([name, field]): [string, unknown] => {
    const fresh = to.get(name)
    if (fresh === undefined) return [name, field]
    const description = describe((field as Node)['description'], [`Stands for ${JSON.stringify(name)}.`])
    return [fresh, { ...(field as Node), description }]
  })
  return {
    schema: {
      ...schema,
      properties: objectOf(renamedFields),
      ...(schema['required'] === undefined
        ? undefined
        : { required: listOf(schema['required']).map((name) => to.get(name as string) ?? name) }),
    },
    up: (value) => rename(value, from),
    down: (value) => rename(value, to),
  }
}

/** Returns the other name of a key, unless the value has that one too. */
function freshKey(key: string, value: object, by: ReadonlyMap<string, string>): string {
  const fresh = by.get(key)
  return fresh === undefined || Object.hasOwn(value, fresh) ? key : fresh
}
