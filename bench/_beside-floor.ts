// Measures what the calls of one handler take of the processor, each way of calling beside the floor, and prints it as JSON: a program
// of its own, see `_against.ts`.
import { quantile } from './_results.ts'
import { measureAsync, processorTime } from './_runner.ts'
import { controls, variantsOf } from './_variants.ts'

/**
 * About how long a variant runs before the floor has its turn, in nanoseconds. The machine changes within fractions of a second,
 * and clocks of processors may tick every 4 ms.
 */
const slice = 16e6
/** How often the two take turns. */
const turns = 31
/** How often each variant runs before any is measured, since all of them change what the engine knows of the code they share. */
const callsBefore = 10_000
/** How often it runs before it is measured itself: a journal drops records only after the first 10,000. */
const warmUp = 20_000

type Run = () => unknown

/** Returns what one of some calls takes of the processor, in nanoseconds, with what the collector does meanwhile. */
function measure(run: Run, calls: number): Promise<number> {
  return measureAsync(run, calls, processorTime)
}

async function callsInSlice(run: Run): Promise<number> {
  return Math.ceil(slice / (await measure(run, warmUp)))
}

const title = process.argv[2] ?? ''
const { 'floor with canonicalize': floor, ...variants } = variantsOf(title)
for (const run of [floor!, ...Object.values(variants)]) await measure(run, callsBefore)
globalThis.gc?.()
const floorCalls = await callsInSlice(floor!)
const figures = []
for (const [name, run] of Object.entries(variants)) {
  const calls = await callsInSlice(run)
  const [times, floorTimes]: [number[], number[]] = [[], []]
  for (let turn = 0; turn < turns; turn++) {
    const isFirst = turn % 2 === 0
    if (isFirst) times.push(await measure(run, calls))
    floorTimes.push(await measure(floor!, floorCalls))
    if (!isFirst) times.push(await measure(run, calls))
  }
  const ratioAt = (share: number): number => quantile(times, share) / quantile(floorTimes, share)
  const isControl = controls.includes(name)
  figures.push({ title, name, time: quantile(times, 0.5), ratio: ratioAt(0.5), low: ratioAt(0.1), isControl })
}
process.stdout.write(JSON.stringify(figures))
