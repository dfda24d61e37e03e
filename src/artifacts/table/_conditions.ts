import { ArtifactError } from '../../errors.ts'

export const operators = [
  'equals',
  'not_equals',
  'contains',
  'starts_with',
  'ends_with',
  '<',
  '<=',
  '>',
  '>=',
  'in',
  'empty',
  'not_empty',
] as const

/** A value to compare cells with. A number is compared with cells that are numbers, a string with the text of any cell. */
export type CellValue = string | number | boolean

/** A condition that a row must meet. */
export interface Condition {
  readonly column: string
  /** `<`, `<=`, `>` and `>=` compare numbers if both sides are numbers, else text, such as dates that begin with the year. */
  readonly operator: (typeof operators)[number]
  /** An array for `in`; none for `empty` and `not_empty`. */
  readonly value?: CellValue | readonly CellValue[]
}

const longestNumber = 400

type CellTest = (cell: string) => boolean

/** Compiled conditions. */
export interface RowTest {
  /** How many cells it needs, from the first on. Missing cells count as empty. */
  readonly count: number
  holds(cells: readonly string[]): boolean
}

export function rowTest(conditions: readonly Condition[], columns: readonly string[]): RowTest {
  const tests = conditions.map((condition) => [columnIndex(columns, condition.column), cellTest(condition)] as const)
  return {
    count: Math.max(0, ...tests.map(([index]) => index + 1)),
    holds: (cells) => tests.every(([index, test]) => test(cells[index] ?? '')),
  }
}

/**
 * Returns the index of the column with a name.
 *
 * @throws `E_ARTIFACT` if there is none, with the existing names.
 */
export function columnIndex(columns: readonly string[], name: string): number {
  const index = columns.indexOf(name)
  if (index >= 0) return index
  const columnNames = columns.slice(0, 50).map((column) => JSON.stringify(column.slice(0, 60)))
  throw new ArtifactError(
    `There is no column ${JSON.stringify(String(name).slice(0, 60))}. The table has ${columnNames.join(', ')}${columns.length > 50 ? ' …' : ''}.`,
  )
}

function cellTest({ column, operator, value }: Condition): CellTest {
  switch (operator) {
    case 'empty':
      return (cell) => cell === ''
    case 'not_empty':
      return (cell) => cell !== ''
    case 'in': {
      if (!Array.isArray(value)) throw unfit(column, operator, 'an array of values')
      const tests = (value as readonly CellValue[]).map((each) => equality(column, each))
      return (cell) => tests.some((test) => test(cell))
    }
    default:
  }
  if (value === undefined || !isCellValue(value)) throw unfit(column, operator, 'a text, a number, true or false')
  const text = String(value)
  switch (operator) {
    case 'equals':
      return equality(column, value)
    case 'not_equals': {
      const test = equality(column, value)
      return (cell) => !test(cell)
    }
    case 'contains':
      return (cell) => cell.includes(text)
    case 'starts_with':
      return (cell) => cell.startsWith(text)
    case 'ends_with':
      return (cell) => cell.endsWith(text)
    case '<':
      return ordering(value, (order) => order < 0)
    case '<=':
      return ordering(value, (order) => order <= 0)
    case '>':
      return ordering(value, (order) => order > 0)
    case '>=':
      return ordering(value, (order) => order >= 0)
    default:
      throw new ArtifactError(
        `There is no operator ${JSON.stringify(String(operator).slice(0, 60))}. There are ${operators.join(', ')}.`,
      )
  }
}

function equality(column: string, value: unknown): CellTest {
  if (!isCellValue(value)) throw unfit(column, 'equals or in', 'texts, numbers, true or false')
  if (typeof value === 'number') return (cell) => numberIn(cell) === value
  return typeof value === 'boolean' ? (cell) => cell.trim().toLowerCase() === String(value) : (cell) => cell === value
}

function ordering(value: CellValue, fits: (order: number) => boolean): CellTest {
  const wanted = typeof value === 'number' ? value : numberIn(String(value))
  return (cell) => {
    const cellNumber = wanted === undefined ? undefined : numberIn(cell)
    if (cellNumber !== undefined && wanted !== undefined) return fits(cellNumber - wanted)
    if (typeof value === 'number' || cell === '') return false
    return fits(cell < String(value) ? -1 : cell === String(value) ? 0 : 1)
  }
}

/** Returns the number in a cell, or `undefined` if it is not a number. */
export function numberIn(cell: string): number | undefined {
  if (cell.length > longestNumber) return undefined
  return /^\s*[+-]?(?:\d+(?:\.\d*)?|\.\d+)(?:[eE][+-]?\d+)?\s*$/.test(cell) ? Number(cell) : undefined
}

function isCellValue(value: unknown): value is CellValue {
  return ['string', 'number', 'boolean'].includes(typeof value)
}

function unfit(column: string, operator: string, wanted: string): ArtifactError {
  return new ArtifactError(
    `The condition on ${JSON.stringify(column.slice(0, 60))} needs ${wanted} as its value for ${operator}.`,
  )
}
