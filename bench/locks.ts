// What locks add to a call: none, one that no other call wants, and ten thousand calls that want the same. The first line of each table
// is a tool without `conflicts`, and the time is that of the processor.
import { createExecutor, tool } from 'toolwright'
import type { Conflict } from 'toolwright/extension'
import { printTable } from './_results.ts'
import { compare } from './_runner.ts'

type Numbered = { index: number }
const inputSchema = {
  type: 'object',
  properties: { index: { type: 'integer' } },
  required: ['index'],
} as const

/** An executor with one tool, whose calls touch what `conflicts` returns. */
function executorOf(conflicts?: (input: Numbered) => readonly Conflict[]): ReturnType<typeof createExecutor> {
  const options = { name: 'edit', description: 'Edits a file', inputSchema, handler: ({ index }: Numbered) => index }
  return createExecutor({ tools: [tool(conflicts === undefined ? options : { ...options, conflicts })] })
}

const one = { name: 'edit', args: { index: 1 } }
const single = {
  'no locks': executorOf(),
  'one lock': executorOf(({ index }) => [`file:${index}`]),
  'one lock, four segments': executorOf(({ index }) => [`file:work/src/${index}`]),
  'ten locks': executorOf(({ index }) => Array.from({ length: 10 }, (_, other) => `file:${index}/${other}`)),
}
const callsOf = (executors: Record<string, ReturnType<typeof createExecutor>>): Record<string, () => unknown> =>
  Object.fromEntries(Object.entries(executors).map(([name, executor]) => [name, () => executor.execute(one)]))
printTable(await compare('one call at a time', callsOf(single), { clock: 'processor' }))

const count = 10_000
const many = {
  'no locks': executorOf(),
  'a lock of its own for each': executorOf(({ index }) => [`file:work/${index}`]),
  'one lock for all, read': executorOf(() => [{ key: 'file:work', mode: 'read' }]),
  'one lock for all, written': executorOf(() => ['file:work']),
}
const together = Object.fromEntries(
  Object.entries(many).map(([name, executor]) => [
    name,
    () => Promise.all(Array.from({ length: count }, (_, index) => executor.execute({ name: 'edit', args: { index } }))),
  ]),
)
printTable(await compare(`${count.toLocaleString('en')} calls at once`, together, { rounds: 11, clock: 'processor' }))
