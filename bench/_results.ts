// Where figures go: printed as a table, and kept as JSON under `bench/results/`, from which the report is made.
import { mkdirSync, writeFileSync } from 'node:fs'
import { availableParallelism, cpus } from 'node:os'
import { basename, dirname, join } from 'node:path'

/** What a figure counts. */
export type Unit = 'ns' | 'B' | ''

/** One line of a table: what a variant takes, and how that compares with the first. */
export interface Row {
  readonly title: string
  readonly name: string
  /** Of one run, in nanoseconds where `unit` says nothing else: the median, and where the middle four fifths lie. */
  readonly median: number
  readonly p10: number
  readonly p90: number
  /** The median over the rounds of this variant's figure divided by the first variant's in the same round. */
  readonly ratio: number
  /** Default: `'ns'`. */
  readonly unit?: Unit
  /** What was measured, for the raw results. */
  readonly samples?: readonly number[]
}

/** A table of words, for what no number says. */
export interface Words {
  readonly head: readonly string[]
  readonly cells: readonly (readonly string[])[]
}

/** The machine that figures come from. */
export interface Machine {
  readonly node: string
  readonly processor: string
  readonly cores: number
}

/** What a bench leaves in `bench/results/`. */
export interface Results {
  readonly bench: string
  readonly date: string
  /** How long it took. */
  readonly seconds?: number
  readonly machine: Machine
  readonly rows: readonly Row[]
  readonly words: readonly Words[]
}

/** Whether fewer rounds are to do, whose figures are printed and not kept: `npm run bench <name> -- --quick`. */
export const isQuick: boolean = process.env['BENCH_QUICK'] === '1'

const kept: { rows: Row[]; words: Words[] } = { rows: [], words: [] }
const program = process.argv[1] ?? ''
const isBench = dirname(program) === import.meta.dirname && !/^_|^index\./.test(basename(program))

/** Prints rows as a table of aligned columns, with a line between groups, and keeps them. */
export function printTable(rows: readonly Row[]): void {
  keep()
  kept.rows.push(...rows)
  const hasRatio = rows.some(({ ratio }) => !Number.isNaN(ratio))
  const hasSpread = rows.some(({ p10, p90 }) => p10 !== p90)
  const shown = ['', 'variant', 'median', hasSpread && 'p10', hasSpread && 'p90', hasRatio && 'ratio']
  let last = ''
  const cells = rows.map(({ title, name, median, p10, p90, ratio, unit }) => {
    const heading = title === last ? '' : title
    last = title
    const figures = [median, p10, p90].map((figure) => inUnit(figure, unit))
    return [heading, name, ...figures, Number.isNaN(ratio) ? '' : ratio.toFixed(2)]
  })
  const isShown = (_: unknown, column: number): boolean => shown[column] !== false
  printColumns(
    [shown, ...cells].map((line) => line.filter(isShown) as string[]),
    2,
    true,
  )
}

/** Prints a table of words, and keeps it. */
export function printWords(words: Words): void {
  keep()
  kept.words.push(words)
  printColumns([words.head, ...words.cells], words.head.length, false)
}

/** A figure as people read it. */
export function inUnit(figure: number, unit: Unit = 'ns'): string {
  if (Number.isNaN(figure)) return ''
  if (unit === '') return Math.round(figure).toLocaleString('en')
  const steps = unit === 'B' ? ['B', 'kB', 'MB', 'GB'] : ['ns', 'µs', 'ms', 's']
  let step = 0
  while (Math.abs(figure) >= 1e3 && step < 3) {
    figure /= 1e3
    step++
  }
  const digits = step === 0 ? (unit === 'B' ? 0 : 1) : 2
  return `${figure.toFixed(digits)} ${steps[step]}`
}

/** The value below which a share of the samples lies. */
export function quantile(samples: readonly number[], share: number): number {
  const sorted = samples.toSorted((left, right) => left - right)
  return sorted[Math.round((sorted.length - 1) * share)] ?? NaN
}

/** The row of a figure that has no spread: a size, or a count. */
export function exactly(title: string, name: string, figure: number, unit: Unit, first: number = figure): Row {
  return { title, name, median: figure, p10: figure, p90: figure, ratio: figure / first, unit }
}

/** The rows of variants that were measured in the same rounds; the first is the measure of the others. */
export function rowsOf(title: string, measured: Record<string, readonly number[]>, unit: Unit = 'ns'): Row[] {
  const first = Object.values(measured)[0] ?? []
  return Object.entries(measured).map(([name, samples]) => ({
    title,
    name,
    median: quantile(samples, 0.5),
    p10: quantile(samples, 0.1),
    p90: quantile(samples, 0.9),
    ratio: quantile(
      samples.map((sample, round) => sample / (first[round] ?? NaN)),
      0.5,
    ),
    unit,
    samples,
  }))
}

function printColumns(lines: readonly (readonly string[])[], leftAligned: number, isGrouped: boolean): void {
  const widths = lines[0]?.map((_, column) => Math.max(...lines.map((line) => line[column]?.length ?? 0))) ?? []
  for (const [index, line] of lines.entries()) {
    if (isGrouped && line[0] !== '' && index > 0) process.stdout.write('\n')
    const cells = line.map((cell, column) => {
      return column < leftAligned ? cell.padEnd(widths[column] ?? 0) : cell.padStart(widths[column] ?? 0)
    })
    process.stdout.write(`${cells.join('  ').trimEnd()}\n`)
  }
  process.stdout.write('\n')
}

/** Writes what was printed when the process ends, however it does. */
function keep(): void {
  if (!isBench || isQuick || kept.rows.length + kept.words.length > 0) return
  process.once('exit', () => {
    const bench = basename(program, '.ts')
    const machine: Machine = {
      node: process.version,
      processor: cpus()[0]?.model.trim() ?? process.arch,
      cores: availableParallelism(),
    }
    const seconds = Math.ceil(performance.now() / 1e3)
    const results: Results = { bench, date: new Date().toISOString(), seconds, machine, ...kept }
    const folder = join(import.meta.dirname, 'results')
    mkdirSync(folder, { recursive: true })
    writeFileSync(join(folder, `${bench}.json`), `${JSON.stringify(results)}\n`)
  })
}
