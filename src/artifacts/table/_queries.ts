import type { ArtifactQuery } from '../../index.ts'
import { integerField, objectSchema, type QueryContext, type Ranged, shortText } from '../_query.ts'
import { columnIndex, operators, type Condition } from './_conditions.ts'
import type { ColumnSummary } from './_summary.ts'

/** A row of a table: its cells by the names of their columns. */
export type Row = Readonly<Record<string, string>>

/** A row that a search found, and its number, counted from 0. */
export interface FoundRow {
  readonly row: number
  readonly cells: Row
}

/** The methods of a table that the queries use. */
interface Table {
  columns(): Promise<readonly string[]>
  rowCount(): Promise<number>
  slice(start: number, end: number): Promise<readonly Row[]>
  where(
    conditions: readonly Condition[],
    options: { readonly start?: number; readonly limit?: number; readonly signal?: AbortSignal | undefined },
  ): Promise<readonly FoundRow[]>
  column(name: string, options: { readonly signal?: AbortSignal | undefined }): Promise<ColumnSummary>
}

/** The most characters of a cell that are shown. */
const longestCell = 500

const valueField = { type: ['string', 'number', 'boolean'] }
const columnsField = {
  type: 'array',
  items: { type: 'string' },
  description: 'The names of the columns to show. Default: all',
}
const limit = { ...integerField(1, 'How many rows to show at most. Default: 50'), maximum: 1_000 }
const conditions = {
  type: 'array',
  maxItems: 50,
  description: 'The conditions that a row must meet, all of them',
  items: {
    type: 'object',
    properties: {
      column: { type: 'string', description: 'The name of the column' },
      operator: {
        enum: operators,
        description: 'How to compare the cell. <, <=, > and >= compare numbers if both sides are numbers, else text',
      },
      value: {
        anyOf: [valueField, { type: 'array', items: valueField, maxItems: 1_000 }],
        description: 'What to compare with: an array for in, nothing for empty and not_empty',
      },
    },
    required: ['column', 'operator'],
    additionalProperties: false,
  },
}

interface ColumnChoice {
  readonly columns?: readonly string[]
}

/** The queries for tables. */
export const tableQueries: Readonly<Record<string, ArtifactQuery>> = {
  table_columns: {
    description: 'Lists the columns of a table, each with its cell in the first row.',
    inputSchema: objectSchema({ start: integerField(0, 'How many columns to skip. Default: 0') }),
    async answer(artifact: Table, { start = 0 }: Ranged) {
      const [first = {}] = await artifact.slice(0, 1)
      return (await artifact.columns())
        .slice(start)
        .map((column) => ({ column, example: shortText(first[column] ?? '', 80) }))
    },
  },
  table_row_count: {
    description: 'Tells how many rows a table has, without the one with the names of its columns.',
    answer: (artifact: Table) => artifact.rowCount(),
  },
  table_rows: {
    description: `Shows rows of a table, counted from 0. Cells are cut after ${longestCell} characters, and end with "…".`,
    inputSchema: objectSchema({ start: integerField(0, 'The first row. Default: 0'), limit, columns: columnsField }),
    async answer(artifact: Table, { start = 0, limit: most = 50, columns: wanted }: Ranged & ColumnChoice) {
      const show = columnFilter(await artifact.columns(), wanted)
      return (await artifact.slice(start, start + most)).map(show)
    },
  },
  table_where: {
    description:
      'Finds the rows of a table that meet all conditions, and shows them with their numbers. If `limit` rows are shown, there may be more: go on with from_row, one after the last.',
    inputSchema: objectSchema(
      { conditions, columns: columnsField, from_row: integerField(0, 'The row to begin at. Default: 0'), limit },
      ['conditions'],
    ),
    async answer(
      artifact: Table,
      input: Ranged & ColumnChoice & { readonly conditions: readonly Condition[]; readonly from_row?: number },
      context?: QueryContext,
    ) {
      const show = columnFilter(await artifact.columns(), input.columns)
      const { from_row: start = 0, limit: most = 50 } = input
      const found = await artifact.where(input.conditions, { start, limit: most, signal: context?.signal })
      return found.map(({ row, cells }) => ({ row, cells: show(cells) }))
    },
  },
  table_column: {
    description:
      'Sums up a column of a table: how many cells are empty, their range and mean if they are numbers, the most frequent ones.',
    inputSchema: objectSchema({ column: { type: 'string', description: 'The name of the column' } }, ['column']),
    answer: (artifact: Table, { column }: { readonly column: string }, context?: QueryContext) =>
      artifact.column(column, { signal: context?.signal }),
  },
}

/** Returns a function that picks the cells to show and cuts long ones. */
function columnFilter(all: readonly string[], wanted: readonly string[] | undefined): (row: Row) => Row {
  for (const column of wanted ?? []) columnIndex(all, column)
  return (row) => {
    const names = wanted ?? Object.keys(row)
    return Object.fromEntries(names.map((name) => [name, shortText(row[name] ?? '', longestCell)]))
  }
}
