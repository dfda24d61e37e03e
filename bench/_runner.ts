// How benches measure: variants of one question interleaved in one process, since only ratios taken in one process are worth
// comparing; and fresh processes for what happens but once in a process.
import { spawnSync } from 'node:child_process'
import { isQuick, rowsOf, type Row } from './_results.ts'

export { printTable, type Row } from './_results.ts'

export interface Options {
  /** How often each variant is measured. Default: the variable `BENCH_ROUNDS`, or 41; 9 with `--quick`. */
  readonly rounds?: number
  /** How long one measurement lasts, in milliseconds. Default: 5. */
  readonly duration?: number
  /**
   * What time is taken of: the clock on the wall, or the processor, whose time is the same where others keep the machine busy,
   * and which does not tell of waiting. Default: `'wall'`.
   */
  readonly clock?: 'wall' | 'processor'
}

/** How often each variant is measured for nothing after a full collection. */
const warmUps = 4

/** What the variants return ends here, so that no engine can leave their work out. */
export let sink: unknown

/**
 * Measures variants against the first of them: warmed up, then in alternating rounds, so that a machine which gets slower or
 * faster meanwhile does so for all of them.
 *
 * @param title Names the group of rows.
 * @param variants What to run, by name; the first is the measure of the others. A promise is awaited, nothing else is.
 */
export async function compare(
  title: string,
  variants: Record<string, () => unknown>,
  { rounds = Number(process.env['BENCH_ROUNDS'] ?? (isQuick ? 9 : 41)), duration = 5, clock = 'wall' }: Options = {},
): Promise<Row[]> {
  const now = clock === 'wall' ? wallTime : processorTime
  const subjects = []
  for (const [name, run] of Object.entries(variants)) {
    const isAsync = isThenable(run())
    const measure = isAsync ? measureAsync : measureSync
    let times = 1
    // Doubled until one measurement is long enough, which is the warm-up as well.
    for (let spent = 0, took = 0; took < duration || spent < duration * 20; spent += took) {
      if (took < duration) times *= 2
      took = (await measure(run, times, now)) * times * 1e-6
    }
    subjects.push({ name, run, times, measure, samples: [] as number[] })
  }
  for (let round = 0; round < rounds; round++) {
    if (round % 8 === 0) {
      globalThis.gc?.()
      // A full collection takes code with it that was made for shapes of which no object lives: it is made anew here, which
      // takes the engine some thousand calls.
      for (let again = 0; again < warmUps; again++) {
        for (const { run, times, measure } of subjects) await measure(run, times, now)
      }
    }
    for (const subject of round % 2 === 0 ? subjects : subjects.toReversed()) {
      // So that none pays for the garbage of the one before it.
      if (clock === 'processor') globalThis.gc?.({ type: 'minor', execution: 'sync' })
      subject.samples.push(await subject.measure(subject.run, subject.times, now))
    }
  }
  return rowsOf(title, Object.fromEntries(subjects.map(({ name, samples }) => [name, samples])))
}

/**
 * Measures what variants take of the processor, in alternating rounds: for work that mostly waits, where a clock on the wall
 * would measure the waiting.
 *
 * @param variants What to run, by name, each `calls` times side by side; the first is the measure of the others.
 */
export async function compareProcessorTime(
  title: string,
  variants: Record<string, () => Promise<unknown>>,
  { rounds = isQuick ? 5 : 21, calls = 100 }: { readonly rounds?: number; readonly calls?: number } = {},
): Promise<Row[]> {
  const samples: Record<string, number[]> = Object.fromEntries(Object.keys(variants).map((name) => [name, []]))
  const entries = Object.entries(variants)
  // The first rounds are the warm-up.
  for (let round = -3; round < rounds; round++) {
    if (round % 4 === 0) {
      globalThis.gc?.()
      for (let again = 0; again < warmUps; again++) for (const [, run] of entries) await measureTurns(run, calls)
    }
    for (const [name, run] of round % 2 === 0 ? entries : entries.toReversed()) {
      // So that none pays for the garbage of the one before it.
      globalThis.gc?.({ type: 'minor', execution: 'sync' })
      const taken = await measureTurns(run, calls)
      if (round >= 0) samples[name]!.push(taken)
    }
  }
  return rowsOf(title, samples)
}

/**
 * Runs programs in fresh processes, in alternating rounds, and gives what each printed: one number, or several.
 *
 * @param programs The arguments of Node, by the name of the variant.
 */
export function freshly<Name extends string>(
  programs: Record<Name, readonly string[]>,
  rounds = 15,
): Record<Name, number[][]> {
  const entries = Object.entries(programs) as [Name, readonly string[]][]
  const printed = Object.fromEntries(entries.map(([name]) => [name, []])) as unknown as Record<Name, number[][]>
  for (let round = 0; round < (isQuick ? Math.min(rounds, 2) : rounds); round++) {
    for (const [name, program] of round % 2 === 0 ? entries : entries.toReversed()) {
      const { stdout, stderr, status } = spawnSync(process.execPath, program, { encoding: 'utf8' })
      if (status !== 0) throw new Error(`${name} failed:\n${stderr}`)
      printed[name].push(stdout.trim().split(/\s+/).map(Number))
    }
  }
  return printed
}

/** The rows that a program prints as JSON, run in a process of its own: what one question makes the engine learn ends there. */
export function measuredBy(program: string, ...args: readonly string[]): Row[] {
  const { stdout, stderr, status } = spawnSync(process.execPath, [...process.execArgv, program, ...args], {
    encoding: 'utf8',
  })
  if (status !== 0) throw new Error(`${program} failed:\n${stderr}`)
  return JSON.parse(stdout) as Row[]
}

function measureSync(run: () => unknown, times: number, now: () => number): number {
  const start = now()
  for (let index = 0; index < times; index++) sink = run()
  return (now() - start) / times
}

/** The time of the processor for each of so many calls, of which ten are under way at a time. */
async function measureTurns(run: () => Promise<unknown>, calls: number): Promise<number> {
  const start = processorTime()
  for (let index = 0; index < calls; index += 10) sink = await Promise.all(Array.from({ length: 10 }, () => run()))
  return (processorTime() - start) / calls
}

/** What one call takes, in nanoseconds: the mean of so many. */
export async function measureAsync(run: () => unknown, times: number, now: () => number): Promise<number> {
  const start = now()
  for (let index = 0; index < times; index++) sink = await run()
  return (now() - start) / times
}

function wallTime(): number {
  return performance.now() * 1e6
}

/** Of the whole process: what the collector and the compiler do beside the program is part of what the program costs. */
export function processorTime(): number {
  const { user, system } = process.cpuUsage()
  return (user + system) * 1e3
}

function isThenable(value: unknown): boolean {
  return typeof value === 'object' && value !== null && 'then' in value && typeof value.then === 'function'
}
