// What keeping a result costs. In memory it is measured against one SHA-256 over the bytes, which each program pays that names
// contents by their hash; on the disk against SHA-256, write and fsync by hand. Streams come in pieces of 64 kB.
import { createHash } from 'node:crypto'
import { mkdtemp, open, rm, unlink } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createExecutor, memoryStore, tool } from 'toolwright'
import { fileStore } from 'toolwright/stores/file'
import { compare, printTable, type Row } from './_runner.ts'

const sizes = { '1 kB': 1e3, '20 kB': 2e4, '1 MB': 1e6, '16 MB': 1.6e7, '1 GB': 1e9 }
const largestBytes = 1e8
const pieceLength = 65_536
const spooling = { session: 'bench', mediaType: 'application/octet-stream' }
const directory = await mkdtemp(join(tmpdir(), 'toolwright-bench-'))
const files = fileStore(join(directory, 'artifacts'))
const memory = memoryStore()

let count = 0
/** Makes bytes others than they were, since equal ones would be kept once. */
function renewed(bytes: Uint8Array): Uint8Array {
  new DataView(bytes.buffer).setUint32(0, ++count)
  return bytes
}

async function* pieces(length: number): AsyncGenerator<Uint8Array, void, undefined> {
  const piece = renewed(new Uint8Array(pieceLength))
  for (let offset = 0; offset < length; offset += pieceLength) {
    yield length - offset < pieceLength ? piece.subarray(0, length - offset) : piece
  }
}

async function byHand(source: AsyncIterable<Uint8Array> | Iterable<Uint8Array>): Promise<string> {
  const path = join(directory, `by-hand-${++count}`)
  const hash = createHash('sha256')
  const file = await open(path, 'w')
  for await (const piece of source) {
    hash.update(piece)
    await file.write(piece)
  }
  await file.sync()
  await file.close()
  await unlink(path)
  return hash.digest('hex')
}

async function toFile(source: Uint8Array | AsyncIterable<Uint8Array>): Promise<string> {
  const { handle, sha256 } = await files.store.write(source, spooling)
  await files.store.delete(handle)
  return sha256
}

const inMemory: Row[] = []
const onDisk: Row[] = []
for (const [title, length] of Object.entries(sizes)) {
  // What takes a second needs no repetition to be measured well.
  const options =
    length > largestBytes
      ? { rounds: 3, duration: 1 }
      : { rounds: length > 1e5 ? 11 : 21, duration: length > 1e5 ? 20 : 5 }
  const streams = createExecutor({
    tools: [tool('stream', () => ReadableStream.from(pieces(length)))],
    use: [files],
    timeout: 0,
  })
  const streamed = async (): Promise<unknown> => {
    const { handle } = await streams.execute({ name: 'stream' }, { session: 'bench' })
    return handle === undefined ? undefined : files.store.delete(handle)
  }
  if (length > largestBytes) {
    onDisk.push(
      ...(await compare(
        `${title}, as a stream`,
        {
          'sha256 + write + fsync': () => byHand(pieces(length)),
          'file store': () => toFile(pieces(length)),
          'whole call, file store': streamed,
        },
        options,
      )),
    )
    continue
  }
  const bytes = new Uint8Array(length).fill(7)
  const text = 'A line of a log that is long enough.\n'.repeat(length / 37)
  const executor = createExecutor({
    tools: [tool('bytes', () => bytes), tool('text', () => text)],
    use: [{ store: memory }],
  })
  inMemory.push(
    ...(await compare(
      title,
      {
        sha256: () => createHash('sha256').update(bytes).digest('hex'),
        'copy + sha256': () => createHash('sha256').update(new Uint8Array(bytes)).digest('hex'),
        'memory store': () => memory.write(bytes, spooling),
        'whole call, bytes': () => executor.execute({ name: 'bytes' }, { session: 'bench' }),
        'whole call, text': () => executor.execute({ name: 'text' }, { session: 'bench' }),
      },
      options,
    )),
  )
  onDisk.push(
    ...(await compare(
      title,
      {
        'sha256 + write + fsync': () => byHand([renewed(bytes)]),
        'file store': () => toFile(renewed(bytes)),
        'file store, as a stream': () => toFile(pieces(length)),
        'whole call, as a stream': streamed,
      },
      options,
    )),
  )
}
printTable(inMemory)
printTable(onDisk)

const length = sizes['1 GB']
globalThis.gc?.()
const before = process.memoryUsage.rss()
let highest = before
async function* watched(): AsyncGenerator<Uint8Array, void, undefined> {
  for await (const piece of pieces(length)) {
    if (++count % 256 === 0) highest = Math.max(highest, process.memoryUsage.rss())
    yield piece
  }
}
await toFile(watched())
process.stdout.write(`1 GB to the file store: the process grows by ${((highest - before) / 1e6).toFixed(0)} MB\n`)
await rm(directory, { recursive: true })
