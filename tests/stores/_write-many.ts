// Run by file.test.ts in a process of its own, which has few descriptors (`ulimit -n`): results that all come at once.
import { createExecutor, tool } from 'toolwright'
import { fileStore } from 'toolwright/stores/file'

const [directory = '', count = '0', kind] = process.argv.slice(2).join(' ').split(' ')
const text = 'line\n'.repeat(10_000)
const executor = createExecutor({
  tools: [
    tool('text', ({ index }: { index: number }) => `${index}\n${text}`),
    tool('stream', ({ index }: { index: number }) => ReadableStream.from([`${index}\n`, text, text])),
  ],
  use: [fileStore(directory)],
  timeout: 0,
})
const calls = Array.from({ length: Number(count) }, async (_, index) => {
  const name = kind ?? (index % 2 === 0 ? 'text' : 'stream')
  const { status, artifact, error } = await executor.execute({ name, args: { index } }, { session: 'one' })
  if (status !== 'ok') return error?.message ?? status
  return (await artifact?.head(1)) === String(index) ? 'kept' : 'another text'
})
const answers: Record<string, number> = {}
for (const answer of await Promise.all(calls)) answers[answer] = (answers[answer] ?? 0) + 1
console.log(JSON.stringify({ answers }))
