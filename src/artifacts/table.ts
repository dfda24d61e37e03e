/**
 * Tables in CSV or TSV. It reads rows as a stream and never loads the whole table. It changes no cell, guesses no types, and
 * evaluates no formula.
 *
 * @module
 */
import { TextArtifact, type ArtifactQuery } from '../index.ts'
import type { ArtifactSource } from '../extension.ts'
import { lazily } from './_lazily.ts'
import { countRecords, recordGroups, recordIndexOf, type RecordIndex } from './_records.ts'
import { columnIndex, rowTest, type CellValue, type Condition } from './table/_conditions.ts'
import { tableQueries, type FoundRow, type Row } from './table/_queries.ts'
import { cellsOf, delimiterOf, RowAssembler, uniqueNames, type RawRow } from './table/_rows.ts'
import { Summary, type ColumnSummary } from './table/_summary.ts'

export type { CellValue, ColumnSummary, Condition, FoundRow, Row }

/** The options of `where` of a table. */
export interface WhereOptions {
  /** The first row, counted from 0. Default: 0. */
  readonly start?: number | undefined
  /** The most rows to return. Default: 1,000. */
  readonly limit?: number | undefined
  /** Aborts the search. */
  readonly signal?: AbortSignal | undefined
}

interface Header {
  readonly columns: readonly string[]
  readonly names: ReadonlySet<string>
  readonly delimiter: string
}

/**
 * A result that is a table. The first row names the columns; the other rows are read on demand.
 *
 * Cells are separated by tabs if the media type is `text/tab-separated-values`, else by commas; if the first line has no comma,
 * by semicolons or tabs. Cells may be in quotes, and line ends within them become `\n`. Empty lines are skipped. A column
 * without a name, or a cell beyond the last column, is named by its place, such as `column_3`. A repeated name becomes `name_2`.
 * Missing cells are empty. Rows are counted from 0, without the row of the names.
 *
 * @example
 * ```ts
 * import { tool } from 'toolwright'
 * import { TableArtifact } from 'toolwright/artifacts/table'
 *
 * const orders = tool({
 *   name: 'export_orders',
 *   description: 'Exports all orders',
 *   artifact: TableArtifact,
 *   handler: () => 'id,total\n1,9.50\n2,120\n',
 * })
 * ```
 * @see https://www.rfc-editor.org/rfc/rfc4180
 * @experimental
 */
export class TableArtifact extends TextArtifact {
  static override readonly kind: string = 'table'
  static override readonly mediaType: string = 'text/csv'
  /** All media types of tables. */
  static override readonly mediaTypes: readonly string[] = ['text/csv', 'text/tab-separated-values']
  static override readonly queries: Readonly<Record<string, ArtifactQuery>> = tableQueries
  readonly #index: RecordIndex
  readonly #head: () => Promise<Header> = lazily(() => this.#readHead())

  constructor(source: ArtifactSource) {
    super(source)
    this.#index = recordIndexOf(source)
  }

  /** Returns the names of the columns. */
  async columns(): Promise<readonly string[]> {
    return (await this.#head()).columns
  }

  /** Returns the number of rows. */
  async rowCount(): Promise<number> {
    const { delimiter } = await this.#head()
    return Math.max(0, (await countRecords(this, this.#index, new RowAssembler(delimiter))) - 1)
  }

  /**
   * Yields the rows from `start` up to and without `end`, one by one.
   *
   * @param start The first row. An index finds it if an earlier query read past it. Default: 0.
   * @throws `E_ARTIFACT` if a row has more than 16,777,216 characters or 16,384 cells.
   */
  async *rows(start = 0, end: number = Infinity): AsyncGenerator<Row, void, undefined> {
    const header = await this.#head()
    let next = Math.max(0, start)
    if (end <= next) return
    for await (const { rows } of this.#groups(header, next)) {
      for (const row of rows) {
        yield rowOf(header, cellsOf(row, header.delimiter))
        if (++next >= end) return
      }
    }
  }

  /** Returns the rows from `start` up to and without `end`. Negative numbers count from the end. */
  async slice(start = 0, end: number = Infinity): Promise<Row[]> {
    const fromEnd = async (position: number): Promise<number> =>
      position < 0 ? (await this.rowCount()) + position : position
    const rows: Row[] = []
    for await (const row of this.rows(await fromEnd(start), await fromEnd(end))) rows.push(row)
    return rows
  }

  /**
   * Returns the rows that meet all conditions.
   *
   * @throws `E_ARTIFACT` if there is no such column or operator, or a value does not fit.
   */
  async where(conditions: readonly Condition[], options: WhereOptions = {}): Promise<FoundRow[]> {
    const { start = 0, limit = 1_000, signal } = options
    const header = await this.#head()
    const test = rowTest(conditions, header.columns)
    const found: FoundRow[] = []
    if (limit <= 0) return found
    for await (const { first, rows } of this.#groups(header, Math.max(0, start), signal)) {
      for (const [offset, row] of rows.entries()) {
        if (!test.holds(cellsOf(row, header.delimiter, test.count))) continue
        found.push({ row: first + offset, cells: rowOf(header, cellsOf(row, header.delimiter)) })
        if (found.length >= limit) return found
      }
    }
    return found
  }

  /**
   * Returns a summary of a column.
   *
   * @param options `signal`: aborts the reading.
   * @throws `E_ARTIFACT` if there is no such column.
   */
  async column(name: string, { signal }: Pick<WhereOptions, 'signal'> = {}): Promise<ColumnSummary> {
    const header = await this.#head()
    const index = columnIndex(header.columns, name)
    const summary = new Summary()
    for await (const { rows } of this.#groups(header, 0, signal)) {
      for (const row of rows) summary.add(cellsOf(row, header.delimiter, index + 1)[index] ?? '')
    }
    return summary.of(name)
  }

  async #readHead(): Promise<Header> {
    for await (const { texts } of this.lineGroups({ longest: 65_536 })) {
      const first = texts.find((text) => text !== '')
      if (first === undefined) continue
      const delimiter = delimiterOf(this.mediaType, first)
      for await (const { records } of recordGroups(this, this.#index, new RowAssembler(delimiter))) {
        const columns = uniqueNames(cellsOf(records[0]!, delimiter))
        return { columns, names: new Set(columns), delimiter }
      }
    }
    return { columns: [], names: new Set(), delimiter: ',' }
  }

  /** Yields unparsed rows, many at a time. Records count the row of the names, rows do not: hence the offset of 1. */
  async *#groups(
    { delimiter }: Header,
    start: number,
    signal?: AbortSignal,
  ): AsyncGenerator<{ readonly first: number; readonly rows: readonly RawRow[] }, void, undefined> {
    const groups = recordGroups(this, this.#index, new RowAssembler(delimiter), { start: start + 1, signal })
    for await (const { first, records } of groups) yield { first: first - 1, rows: records }
  }
}

function rowOf({ columns, names }: Header, cells: readonly string[]): Row {
  const entries = columns.map((column, index): [string, string] => [column, cells[index] ?? ''])
  for (let index = columns.length; index < cells.length; index++) {
    let name = `column_${index + 1}`
    while (names.has(name)) name += '_'
    entries.push([name, cells[index] ?? ''])
  }
  return Object.fromEntries(entries)
}
