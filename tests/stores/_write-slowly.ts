// Run by file.test.ts in a process of its own, which is killed while it writes.
import { fileStore } from 'toolwright/stores/file'

const [directory = ''] = process.argv.slice(2)

async function* source(): AsyncGenerator<Uint8Array, void, undefined> {
  for (;;) {
    yield new Uint8Array(1_048_576)
    await new Promise((resolve) => setTimeout(resolve, 5))
  }
}
await fileStore(directory).store.write(source(), { session: 'one', mediaType: 'text/plain' })
