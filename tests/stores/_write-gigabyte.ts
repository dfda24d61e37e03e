// Run by file.test.ts in a process of its own: how much memory a result of many bytes takes on its way to the disk.
import { createExecutor, tool } from 'toolwright'
import { fileStore } from 'toolwright/stores/file'

const [directory = '', length = '0'] = process.argv.slice(2)
const piece = new Uint8Array(65_536).fill(7)
let highest = 0

async function* pieces(bytes: number): AsyncGenerator<Uint8Array, void, undefined> {
  for (let given = 0; given < bytes; given += piece.byteLength) {
    if (given % 16_777_216 === 0) highest = Math.max(highest, process.memoryUsage.rss())
    yield piece.subarray(0, bytes - given)
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
globalThis.gc?.()
const before = process.memoryUsage.rss()
highest = before
const { status, artifact } = await executor.execute({ name: 'large' })
highest = Math.max(highest, process.memoryUsage.rss())
console.log(JSON.stringify({ status, byteLength: artifact?.byteLength(), growth: highest - before }))
