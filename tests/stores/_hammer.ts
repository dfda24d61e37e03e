// Run by file.test.ts in processes of their own: some write and delete equal contents, others collect meanwhile.
import { fileStore } from 'toolwright/stores/file'

const [directory = '', role, times = '0'] = process.argv.slice(2)
const { store, collect } = fileStore(directory)
const decoder = new TextDecoder()

if (role === 'collect') {
  const over = new AbortController()
  process.stdin.on('data', () => over.abort()).unref()
  let rounds = 0
  for (; !over.signal.aborted; rounds++) {
    await collect()
    await new Promise((resolve) => setImmediate(resolve)) // or nothing would be heard
  }
  console.log(JSON.stringify({ rounds }))
} else {
  const kept: [handle: string, text: string][] = []
  const lost: string[] = []
  for (let index = 0; index < Number(times); index++) {
    const text = `content ${index % 3}`
    const { handle } = await store.write(text, { session: 'one', mediaType: 'text/plain' })
    try {
      const reader = await store.open(handle, { session: 'one' })
      if (decoder.decode(await reader.read(0, reader.byteLength)) !== text) lost.push(handle)
    } catch (error) {
      lost.push(`${handle}: ${String(error)}`)
    }
    if (index % 8 === 0) kept.push([handle, text])
    else await store.delete(handle)
  }
  console.log(JSON.stringify({ kept, lost }))
}
