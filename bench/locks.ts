// What locks add to a call: none, one that no other call wants, and ten thousand calls that want the same. The first line of each table
// is a tool without `conflicts`, and the time is that of the processor. A handler that returns at once gives its locks back before the
// next call begins; in the last table all calls have theirs, or wait for them, at the same time.
import { createExecutor, tool } from 'toolwright'
import type { Conflict } from 'toolwright/extension'
import { printTable } from './_results.ts'
import { compare } from './_runner.ts'

type Numbered = { index: number }
type Conflicts = (input: Numbered) => readonly Conflict[]
const inputSchema = {
  type: 'object',
  properties: { index: { type: 'integer' } },
  required: ['index'],
} as const

const atOnce = ({ index }: Numbered): number => index
const later = async ({ index }: Numbered): Promise<number> => index

/** An executor with one tool, whose calls touch what `conflicts` returns. */
function executorOf(
  conflicts?: Conflicts,
  handler: typeof atOnce | typeof later = atOnce,
): ReturnType<typeof createExecutor> {
  const options = { name: 'edit', description: 'Edits a file', inputSchema, handler }
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
const locks: Record<string, Conflicts | undefined> = {
  'no locks': undefined,
  'a lock of its own for each': ({ index }) => [`file:work/${index}`],
  'one lock for all, read': () => [{ key: 'file:work', mode: 'read' }],
  'one lock for all, written': () => ['file:work'],
}
for (const [title, handler] of Object.entries({ 'handlers that return at once': atOnce, 'async handlers': later })) {
  const together = Object.entries(locks).map(([name, conflicts]) => {
    const executor = executorOf(conflicts, handler)
    const call = (_: unknown, index: number): unknown => executor.execute({ name: 'edit', args: { index } })
    return [name, () => Promise.all(Array.from({ length: count }, call))]
  })
  const what = `${count.toLocaleString('en')} calls at once, ${title}`
  printTable(await compare(what, Object.fromEntries(together), { rounds: 11, clock: 'processor' }))
}
