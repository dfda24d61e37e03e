// Measures what the calls of one handler take of the processor, each way of calling beside the floor, and prints it as JSON: a program
// of its own, see `_against.ts`.
import { quantile } from './_results.ts'
import { variantsOf } from './_variants.ts'

/** About how long one measurement lasts, in nanoseconds. */
const duration = 20e6
/** How often each variant runs before any is measured, since all of them change what the engine knows of the code they share. */
const callsBefore = 10_000
/** How often it runs before it is measured itself: a journal drops records only after the first 10,000. */
const warmUp = 30_000
const rounds = Number(process.env['BENCH_ROUNDS'] ?? 11)

type Run = () => unknown

async function runOften(run: Run, calls: number): Promise<void> {
  for (let index = 0; index < calls; index++) await run()
}

/** The processor's time for one call, in nanoseconds, with the garbage of the calls: what lives is moved twice before it rests. */
async function measure({ run, calls }: { readonly run: Run; readonly calls: number }): Promise<number> {
  const start = process.cpuUsage()
  await runOften(run, calls)
  for (let turn = 0; turn < 2; turn++) globalThis.gc?.({ type: 'minor', execution: 'sync' })
  const { user, system } = process.cpuUsage(start)
  return ((user + system) * 1e3) / calls
}

/** Warms a variant up. Returns it with the number of calls for one measurement. */
async function warmed(run: Run): Promise<{ readonly run: Run; readonly calls: number }> {
  const start = process.cpuUsage()
  await runOften(run, warmUp)
  const { user, system } = process.cpuUsage(start)
  const variant = { run, calls: Math.ceil((warmUp * duration) / ((user + system) * 1e3)) }
  await measure(variant)
  return variant
}

const title = process.argv[2] ?? ''
const { 'floor with canonicalize': floorRun, ...variants } = variantsOf(title)
const floor = { run: floorRun!, calls: 2_048 }
for (const run of [floorRun!, ...Object.values(variants)]) await runOften(run, callsBefore)
globalThis.gc?.()
const figures = []
for (const [name, run] of Object.entries(variants)) {
  const variant = await warmed(run)
  const times: number[] = []
  const ratios: number[] = []
  for (let round = 0; round < rounds; round++) {
    // Beside each other, and each first in its turn, so that both meet the same machine.
    const before = round % 2 === 0 ? await measure(floor) : undefined
    const time = await measure(variant)
    times.push(time)
    ratios.push(time / (before ?? (await measure(floor))))
  }
  figures.push({ title, name, time: quantile(times, 0.5), ratio: quantile(ratios, 0.5) })
}
process.stdout.write(JSON.stringify(figures))
