import { isNode, memberOf, type DocumentNode } from './_document.ts'
import { schemaLists, schemaMaps, subschemas } from './_schemas.ts'

/** What was cut of a schema that a model is shown. */
export interface TrimmedSchema {
  readonly schema: DocumentNode
  readonly note: string
}

const deepestDescription = 3
const deepestBranch = 6

/** Cuts a schema that is too large until its JSON has at most as many characters: deep descriptions first, then deep branches. */
export function trimmedSchema(schema: DocumentNode, most: number): TrimmedSchema {
  const plain = cutAt(schema, deepestDescription, Infinity)
  if (JSON.stringify(plain).length <= most)
    return { schema: plain, note: `descriptions below level ${deepestDescription} are left out` }
  for (let level = deepestBranch; ; level--) {
    const cut = cutAt(schema, Math.min(deepestDescription, level), level)
    const isLast = level === 0
    if (!isLast && JSON.stringify(cut).length > most) continue
    return { schema: cut, note: `branches below level ${level} are any value to the model` }
  }
}

function cutAt(schema: DocumentNode, descriptions: number, branches: number): DocumentNode {
  const definitions = memberOf(schema, '$defs')
  const levels = new Map<string, number>()
  // In the order of levels, so that a definition has the lowest at which it is used.
  let waiting: { readonly name: string; readonly level: number }[] = []
  const note = (name: string, level: number): void => {
    if (levels.has(name)) return
    levels.set(name, level)
    waiting.push({ name, level })
  }
  const { $defs: _definitions, ...root } = schema
  const top = cutNode(root, 0) as DocumentNode
  const definitionEntries: [string, unknown][] = []
  while (waiting.length > 0) {
    const now = waiting.toSorted((one, other) => one.level - other.level)
    waiting = []
    for (const { name, level } of now) definitionEntries.push([name, cutNode(memberOf(definitions, name) ?? {}, level)])
  }
  return definitionEntries.length === 0 ? top : { ...top, $defs: Object.fromEntries(definitionEntries) }

  function cutNode(node: unknown, level: number): unknown {
    if (!isNode(node)) return node
    if (level > branches) return {}
    const reference = memberOf(node, '$ref')
    if (typeof reference === 'string' && reference.startsWith('#/$defs/')) note(reference.slice(8), level)
    const entries = Object.entries(node).flatMap(([key, value]): [string, unknown][] => {
      if (key === 'description' && level > descriptions) return []
      if (schemaMaps.has(key) && isNode(value)) return [[key, mapped(value, level + 1)]]
      if (schemaLists.has(key) && Array.isArray(value)) return [[key, value.map((each) => cutNode(each, level + 1))]]
      if (subschemas.has(key)) return [[key, cutNode(value, level + 1)]]
      return [[key, value]]
    })
    return Object.fromEntries(entries)
  }

  function mapped(map: DocumentNode, level: number): DocumentNode {
    return Object.fromEntries(Object.entries(map).map(([name, each]) => [name, cutNode(each, level)]))
  }
}
