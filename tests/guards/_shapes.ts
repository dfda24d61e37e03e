// Prints, as JSON, the hidden classes that the objects of a call have and that no object has once the call is over. Each is told by
// the class and the fields of such an object. None is to be there: `src/kernel/shapes.ts` says why.
import { getHeapSnapshot } from 'node:v8'
import { createExecutor, tool, type Extension } from 'toolwright'
import { memoryJournal } from 'toolwright/journals/memory'

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

/** Of each node of a snapshot: how many fields it has, where its number is, and what else is read of it. */
function fieldsOf({ snapshot: { meta } }: Snapshot): Record<'size' | 'id' | 'type' | 'name' | 'edges', number> {
  const [id, type, name, edges] = ['id', 'type', 'name', 'edge_count'].map((field) => meta.node_fields.indexOf(field))
  return { size: meta.node_fields.length, id: id!, type: type!, name: name!, edges: edges! }
}

/** The numbers of all that a snapshot has. Each keeps its number for as long as it lives. */
function numbersOf(bytes: Buffer): ReadonlySet<number> {
  const read = JSON.parse(bytes.toString()) as Snapshot
  const { size, id } = fieldsOf(read)
  const numbers = new Set<number>()
  for (let node = id; node < read.nodes.length; node += size) numbers.add(read.nodes[node]!)
  return numbers
}

/** The objects of a snapshot that are not old: each with its number, its hidden class, and the names of its fields. */
function* objectsOf(
  bytes: Buffer,
  old: ReadonlySet<number>,
): Generator<{ map: number; name: string; fields: string[] }> {
  const read = JSON.parse(bytes.toString()) as Snapshot
  const { nodes, edges, strings } = read
  const { edge_fields, edge_types, node_types } = read.snapshot.meta
  const { size, id, type, name, edges: count } = fieldsOf(read)
  const [kind, label, to] = ['type', 'name_or_index', 'to_node'].map((field) => edge_fields.indexOf(field))
  const [isObject, isProperty, isInternal] = [
    node_types[0].indexOf('object'),
    edge_types[0].indexOf('property'),
    edge_types[0].indexOf('internal'),
  ]
  let edge = 0
  for (let node = 0; node < nodes.length; node += size) {
    const end = edge + nodes[node + count]! * edge_fields.length
    let map = -1
    const fields: string[] = []
    if (nodes[node + type] !== isObject || old.has(nodes[node + id]!)) edge = end
    for (; edge < end; edge += edge_fields.length) {
      const text = strings[edges[edge + label!]!]!
      if (edges[edge + kind!] === isProperty && text !== '__proto__') fields.push(text)
      if (edges[edge + kind!] === isInternal && text === 'map') map = nodes[edges[edge + to!]! + id]!
    }
    if (map >= 0) yield { map, name: strings[nodes[node + name]!]!, fields }
  }
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

for (let index = 0; index < 200; index++) {
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

const left = numbersOf(after)
const lost = new Set<string>()
for (const { map, name, fields } of objectsOf(during, numbersOf(before))) {
  // An error is made once in a failure, and takes longer than code that is not compiled.
  if (!left.has(map) && !fields.includes('stack')) lost.add(`${name} { ${fields.join(', ')} }`)
}
process.stdout.write(JSON.stringify([...lost].toSorted()))
