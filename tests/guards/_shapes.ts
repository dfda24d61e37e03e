// Prints, as JSON, the hidden classes that the objects of a call have and that no object has once the call is over. Each is told by
// the class and the fields of such an object. None is to be there: `src/kernel/shapes.ts` says why.
import { getHeapSnapshot } from 'node:v8'
import { createExecutor, tool, type Extension } from 'toolwright'
import { memoryJournal } from 'toolwright/journals/memory'

interface HeapNode {
  readonly id: number
  readonly type: string
  readonly name: string
  readonly edges: readonly { readonly type: string; readonly name: string; readonly to: number }[]
}

interface Snapshot {
  readonly snapshot: {
    readonly meta: {
      readonly node_fields: readonly string[]
      readonly node_types: readonly [readonly string[]]
      readonly edge_fields: readonly string[]
      readonly edge_types: readonly [readonly string[]]
    }
  }
  readonly nodes: readonly number[]
  readonly edges: readonly number[]
  readonly strings: readonly string[]
}

/** They are kept, since they are no part of a call. */
const streams: unknown[] = []

/** Takes a snapshot of everything that is alive, once all garbage is collected. It is read later: what is read is in the heap too. */
async function takeSnapshot(): Promise<Buffer> {
  const pieces: Buffer[] = []
  const stream = getHeapSnapshot()
  streams.push(stream)
  for await (const piece of stream) pieces.push(piece as Buffer)
  return Buffer.concat(pieces)
}

/** The objects of a snapshot, each by the number that it keeps. */
function nodesOf(bytes: Buffer): ReadonlyMap<number, HeapNode> {
  const { snapshot, nodes, edges, strings } = JSON.parse(bytes.toString()) as Snapshot
  const { node_fields, node_types, edge_fields, edge_types } = snapshot.meta
  const [type, name, id, count] = ['type', 'name', 'id', 'edge_count'].map((field) => node_fields.indexOf(field))
  const [edgeType, edgeName, to] = ['type', 'name_or_index', 'to_node'].map((field) => edge_fields.indexOf(field))
  const found = new Map<number, HeapNode>()
  let edge = 0
  for (let node = 0; node < nodes.length; node += node_fields.length) {
    const own = Array.from({ length: nodes[node + count!]! }, () => {
      const kind = edge_types[0][edges[edge + edgeType!]!]!
      const label = edges[edge + edgeName!]!
      const target = nodes[edges[edge + to!]! + id!]!
      edge += edge_fields.length
      return { type: kind, name: kind === 'element' || kind === 'hidden' ? `${label}` : strings[label]!, to: target }
    })
    const number = nodes[node + id!]!
    found.set(number, {
      id: number,
      type: node_types[0][nodes[node + type!]!]!,
      name: strings[nodes[node + name!]!]!,
      edges: own,
    })
  }
  return found
}

const extensions: Record<string, readonly Extension[]> = {
  plain: [],
  watched: [{ observers: [keep], policies: [{ name: 'none', decide: () => undefined }] }],
  recorded: [{ observers: [keep] }, memoryJournal({ settled: 10 })],
}
const use = extensions[process.argv[2] ?? '']
if (use === undefined) throw new Error('which call?')

let kept: unknown[] = []
let isKeeping = false
function keep(made: unknown): void {
  if (isKeeping) kept.push(made)
}

let release = (_value: unknown): void => {}
const held = new Promise((resolve) => (release = resolve))
const later = Promise.withResolvers<void>()
const executor = createExecutor({
  use,
  tools: [
    tool('text', () => 'done'),
    tool('json', async () => ({})),
    tool('late', async () => {
      later.resolve()
      return held
    }),
  ],
})

/** Makes a call of each kind, and keeps what comes of it. */
async function callAll(principal?: string): Promise<void> {
  for (const id of [undefined, 'call_1']) {
    for (const name of ['text', 'json']) keep(await executor.execute({ id, name }, { principal }))
    keep(await executor.execute({ id, name: 'text', args: 'no JSON' }, { principal }))
  }
}

for (let index = 0; index < 2_000; index++) {
  await callAll()
  await callAll('someone')
}
const before = await takeSnapshot()
isKeeping = true
await callAll()
await callAll('someone')
const running = executor.execute({ name: 'late' })
await later.promise
const during = await takeSnapshot()
release('done')
await running
isKeeping = false
kept = []
await new Promise((resolve) => setImmediate(resolve))
const after = await takeSnapshot()

const [old, left] = [nodesOf(before), nodesOf(after)]
const lost = new Set<string>()
for (const { id, type, name, edges } of nodesOf(during).values()) {
  if (type !== 'object' || old.has(id)) continue
  const map = edges.find((edge) => edge.name === 'map')
  if (map === undefined || left.has(map.to)) continue
  // An error is made once in a failure, and takes longer than code that is not compiled.
  if (edges.some((edge) => edge.type === 'property' && edge.name === 'stack')) continue
  const fields = edges.flatMap((edge) => (edge.type === 'property' && edge.name !== '__proto__' ? [edge.name] : []))
  lost.add(`${name} { ${fields.join(', ')} }`)
}
process.stdout.write(JSON.stringify([...lost].toSorted()))
