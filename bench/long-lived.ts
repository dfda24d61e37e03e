// What a full collection costs the calls after it. Engines throw compiled code away if no object is alive of a kind that it was
// compiled for, and every process that lives for long collects. The time is that of the processor. Threads of the collector sweep
// for some milliseconds after it: they are waited for, since that is no cost of the calls.
import { setTimeout } from 'node:timers/promises'
import { variantsOf } from './_variants.ts'
import { measureAsync, printTable, processorTime } from './_runner.ts'
import { isQuick, rowsOf } from './_results.ts'

const rounds = Number(process.env['BENCH_ROUNDS'] ?? (isQuick ? 5 : 41))
/** How many calls are measured at a time: about as many as run slowly if the code is gone. */
const calls = 3_000
/** How long the threads of the collector may go on, in milliseconds. */
const sweeping = 50
const measured = ['tight floor', 'whole pipeline', '… one policy, one observer', '… and a journal in memory']

const variants = variantsOf('an async handler')
for (const name of measured) {
  const run = variants[name]!
  const samples = { 'before a full collection': [] as number[], 'after it': [] as number[] }
  for (let round = -2; round < rounds; round++) {
    await measureAsync(run, calls * 3, processorTime) // what the collection before has cost is over
    globalThis.gc?.({ type: 'minor', execution: 'sync' })
    await setTimeout(sweeping)
    const before = await measureAsync(run, calls, processorTime)
    globalThis.gc?.()
    await setTimeout(sweeping)
    const after = await measureAsync(run, calls, processorTime)
    if (round < 0) continue
    samples['before a full collection'].push(before)
    samples['after it'].push(after)
  }
  printTable(rowsOf(`${name}, the next 3,000 calls`, samples))
}
