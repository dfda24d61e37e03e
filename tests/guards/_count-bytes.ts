// Prints how many bytes of heap each call takes, of which none is collected meanwhile: the new space is larger than all of them.
// The least of some rounds, since what V8 has compiled by then saves some objects in one round and not in another.
import { calls } from './_calls.ts'

const run = calls[process.argv[2] ?? '']
if (run === undefined) throw new Error('which call?')
for (let index = 0; index < 20_000; index++) await run()
const samples: number[] = []
for (let round = 0; round < 5; round++) {
  globalThis.gc?.()
  const before = process.memoryUsage().heapUsed
  for (let index = 0; index < 2_000; index++) await run()
  samples.push((process.memoryUsage().heapUsed - before) / 2_000)
}
process.stdout.write(String(Math.min(...samples)))
