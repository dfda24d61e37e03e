// What is committed of the results: the figures of the last run of each bench, without the samples.
import type { Machine, Results, Row, Unit, Words } from './_results.ts'

/** The name of a variant, its median, where the middle four fifths lie, and its ratio to the first; `null` where there is none. */
export type SummaryRow = readonly [
  name: string,
  median: number | null,
  p10: number | null,
  p90: number | null,
  ratio: number | null,
]

export interface SummaryTable {
  readonly title: string
  readonly unit: Unit
  readonly rows: readonly SummaryRow[]
}

export interface BenchSummary {
  /** The day of the run, as in `2026-11-22`. */
  readonly date: string
  /** How long it took. Earlier runs do not say it. */
  readonly seconds?: number
  readonly machine: Machine
  readonly tables: readonly SummaryTable[]
  readonly words: readonly Words[]
}

/** By the name of the bench. */
export type Summary = Readonly<Record<string, BenchSummary>>

/** Puts new results in the place of old ones; a bench that was not run keeps what it had. */
export function summaryOf(results: readonly Results[], before: Summary): Summary {
  const summary: Record<string, BenchSummary> = { ...before }
  for (const { bench, date, seconds, machine, rows, words } of results) {
    const titles = [...new Set(rows.map(({ title }) => title))]
    const tables = titles.map((title) =>
      tableOf(
        title,
        rows.filter((row) => row.title === title),
      ),
    )
    summary[bench] = { date: date.slice(0, 10), ...(seconds !== undefined && { seconds }), machine, tables, words }
  }
  return Object.fromEntries(Object.entries(summary).toSorted(([one], [other]) => (one < other ? -1 : 1)))
}

function tableOf(title: string, rows: readonly Row[]): SummaryTable {
  return {
    title,
    unit: rows[0]?.unit ?? 'ns',
    rows: rows.map(({ name, median, p10, p90, ratio }) => [
      name,
      rounded(median),
      rounded(p10),
      rounded(p90),
      rounded(ratio),
    ]),
  }
}

/** As many digits as a figure of a noisy machine is worth; a count keeps all of its own. Raw results have `null` for what is no number. */
function rounded(figure: number | null): number | null {
  if (figure === null || Number.isNaN(figure)) return null
  return Number(figure.toPrecision(figure >= 100 && Number.isInteger(figure) ? 6 : 3))
}
