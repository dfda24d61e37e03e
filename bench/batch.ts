// What a call costs if many are in flight together, in time and in memory.
import { createExecutor, tool } from 'toolwright'
import * as zod from 'zod'
import { floorOf } from './_floor.ts'
import { printTable, rowsOf } from './_results.ts'
import { compare } from './_runner.ts'
import { args, searchSchema } from './_search.ts'

const inputSchema = searchSchema(zod)
const counts = [1, 10, 100, 1_000, 10_000]

let gate = Promise.resolve()
let open = (): void => {}
const close = (): void => void (gate = new Promise((resolve) => (open = resolve)))
const handler = async (): Promise<string> => {
  await gate
  return 'done'
}
const floor = floorOf('search', inputSchema, handler)
const executor = createExecutor({ tools: [tool({ name: 'search', description: 'Searches', inputSchema, handler })] })
const turns = createExecutor({
  tools: [tool({ name: 'search', description: 'Searches', inputSchema, handler })],
  concurrency: 10_000,
})
const call = { name: 'search', args }

/** All of them begin before the first may end. */
async function together(count: number, start: (count: number) => Promise<unknown>): Promise<unknown> {
  close()
  const all = start(count)
  open()
  return all
}

const ways: Record<string, (count: number) => Promise<unknown>> = {
  floor: (count) => Promise.all(Array.from({ length: count }, () => floor(args))),
  execute: (count) => Promise.all(Array.from({ length: count }, () => executor.execute(call))),
  executeToolCalls: (count) => turns.executeToolCalls(Array.from({ length: count }, () => call)),
}

for (const [way, start] of Object.entries(ways)) {
  const variants = counts.map(
    (count) => [`${count.toLocaleString('en')} in flight`, () => together(count, start)] as const,
  )
  const rows = await compare(`time for each call: ${way}`, Object.fromEntries(variants), {
    rounds: 21,
    clock: 'processor',
  })
  const each = rows.map((row, index) => ({
    name: row.name,
    samples: (row.samples ?? []).map((sample) => sample / (counts[index] ?? 1)),
  }))
  printTable(rowsOf(rows[0]?.title ?? '', Object.fromEntries(each.map(({ name, samples }) => [name, samples]))))
}

/** What the heap has more of while so many calls wait. */
async function heapOf(count: number, start: (count: number) => Promise<unknown>): Promise<number> {
  close()
  globalThis.gc?.()
  const before = process.memoryUsage().heapUsed
  const all = start(count)
  for (let turn = 0; turn < 50; turn++) await Promise.resolve()
  globalThis.gc?.()
  const held = (process.memoryUsage().heapUsed - before) / count
  open()
  await all
  return held
}

const held: Record<string, number[]> = {}
for (let round = 0; round < 7; round++) {
  for (const [way, start] of Object.entries(ways)) (held[way] ??= []).push(await heapOf(10_000, start))
}
printTable(rowsOf('memory that each of 10,000 calls holds while it waits', held, 'B'))
