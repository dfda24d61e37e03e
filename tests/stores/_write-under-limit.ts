// Run by file.test.ts in a process of its own, whose files (`ulimit -f`) or descriptors (`ulimit -n`) are limited.
import { openSync } from 'node:fs'
import { createExecutor, tool } from 'toolwright'
import { fileStore } from 'toolwright/stores/file'

const [directory = '', limit] = process.argv.slice(2)
process.on('SIGXFSZ', () => {}) // the write then fails with EFBIG, as it does where nothing ends the process
const extension = fileStore(directory)
await extension.store.write('warm', { session: 'one', mediaType: 'text/plain' })

const taken: number[] = []
const large = 'line\n'.repeat(400_000)
// What keeps large results is loaded with the first of them, which takes descriptors.
await createExecutor({ tools: [tool('large', () => large)] }).execute({ name: 'large' })
const executor = createExecutor({
  tools: [
    tool('large', () => {
      if (limit === 'descriptors') {
        try {
          for (;;) taken.push(openSync('/dev/null', 'r'))
        } catch {
          // now there are none left
        }
      }
      return large
    }),
    tool('small', () => 'small'),
  ],
  use: [extension],
})
const failed = await executor.execute({ name: 'large' })
const next = await executor.execute({ name: 'small' })
const { status, effect, error, content } = failed
console.log(JSON.stringify({ status, effect, code: error?.code, content, next: next.status }))
