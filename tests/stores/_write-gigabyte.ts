// Run by file.test.ts in a process of its own: how much memory a result of many bytes takes on its way to the disk.
import { createExecutor, tool } from 'toolwright'
import { fileStore } from 'toolwright/stores/file'

const [directory = '', length = '0', pieceLength = '65536'] = process.argv.slice(2)
let highest = 0

async function* pieces(bytes: number): AsyncGenerator<Uint8Array, void, undefined> {
  const longest = Number(pieceLength)
  for (let written = 0; written < bytes; written += longest) {
    if (written % 16_777_216 === 0) highest = Math.max(highest, process.memoryUsage.rss())
    // Fresh ones, as a file or a socket gives them: a store that holds on to them holds all of them.
    yield new Uint8Array(Math.min(longest, bytes - written)).fill(written / longest)
  }
}

const executor = createExecutor({
  tools: [
    tool('warm', () => ReadableStream.from(pieces(50_000_000))),
    tool('large', () => ReadableStream.from(pieces(Number(length)))),
  ],
  use: [fileStore(directory)],
  timeout: 0,
})
await executor.execute({ name: 'warm' })
// What the source itself leaves to the collector is not the store's: it is there also if the pieces are thrown away.
for await (const _ of ReadableStream.from(pieces(500_000_000))) continue
globalThis.gc?.()
const before = highest
const { status, artifact } = await executor.execute({ name: 'large' })
highest = Math.max(highest, process.memoryUsage.rss())
console.log(JSON.stringify({ status, byteLength: artifact?.byteLength(), growth: highest - before }))
