/** One line of a table: how long a variant takes, and how that compares with the first. */
export interface Row {
  readonly title: string
  readonly name: string
  /** Nanoseconds of one run: the median of the rounds, and where the middle four fifths of them lie. */
  readonly median: number
  readonly p10: number
  readonly p90: number
  /** The median over the rounds of this variant's time divided by the first variant's in the same round. */
  readonly ratio: number
}

export interface Options {
  /** How often each variant is measured. Default: 41. */
  readonly rounds?: number
  /** How long one measurement lasts, in milliseconds. Default: 5. */
  readonly duration?: number
}

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
  { rounds = 41, duration = 5 }: Options = {},
): Promise<Row[]> {
  const subjects = []
  for (const [name, run] of Object.entries(variants)) {
    const isAsync = isThenable(run())
    const measure = isAsync ? measureAsync : measureSync
    let times = 1
    // Doubled until one measurement is long enough, which is the warm-up as well.
    for (let spent = 0, took = 0; took < duration || spent < duration * 20; spent += took) {
      if (took < duration) times *= 2
      took = (await measure(run, times)) * times * 1e-6
    }
    subjects.push({ name, run, times, measure, samples: [] as number[] })
  }
  for (let round = 0; round < rounds; round++) {
    if (round % 8 === 0) globalThis.gc?.()
    for (const subject of round % 2 === 0 ? subjects : subjects.toReversed()) {
      subject.samples.push(await subject.measure(subject.run, subject.times))
    }
  }
  const first = subjects[0]!.samples
  return subjects.map(({ name, samples }) => ({
    title,
    name,
    median: quantile(samples, 0.5),
    p10: quantile(samples, 0.1),
    p90: quantile(samples, 0.9),
    ratio: quantile(
      samples.map((sample, round) => sample / first[round]!),
      0.5,
    ),
  }))
}

/** Prints rows as a table of aligned columns, with a line between groups. */
export function printTable(rows: readonly Row[]): void {
  const head = ['', 'variant', 'median', 'p10', 'p90', 'ratio']
  let last = ''
  const cells = rows.map((row) => {
    const title = row.title === last ? '' : row.title
    last = row.title
    return [title, row.name, time(row.median), time(row.p10), time(row.p90), row.ratio.toFixed(2)]
  })
  const widths = head.map((name, column) => Math.max(name.length, ...cells.map((row) => row[column]!.length)))
  const line = (row: readonly string[]): string =>
    row.map((cell, column) => (column < 2 ? cell.padEnd(widths[column]!) : cell.padStart(widths[column]!))).join('  ')
  for (const row of [head, ...cells]) {
    if (row[0] !== '') process.stdout.write('\n')
    process.stdout.write(line(row).trimEnd() + '\n')
  }
  process.stdout.write('\n')
}

function measureSync(run: () => unknown, times: number): number {
  const start = process.hrtime.bigint()
  for (let index = 0; index < times; index++) sink = run()
  return Number(process.hrtime.bigint() - start) / times
}

async function measureAsync(run: () => unknown, times: number): Promise<number> {
  const start = process.hrtime.bigint()
  for (let index = 0; index < times; index++) sink = await run()
  return Number(process.hrtime.bigint() - start) / times
}

function isThenable(value: unknown): boolean {
  return typeof value === 'object' && value !== null && 'then' in value && typeof value.then === 'function'
}

function quantile(samples: readonly number[], at: number): number {
  const sorted = samples.toSorted((left, right) => left - right)
  return sorted[Math.round((sorted.length - 1) * at)]!
}

function time(nanoseconds: number): string {
  if (nanoseconds < 1e3) return `${nanoseconds.toFixed(1)} ns`
  if (nanoseconds < 1e6) return `${(nanoseconds / 1e3).toFixed(2)} µs`
  return `${(nanoseconds / 1e6).toFixed(2)} ms`
}
