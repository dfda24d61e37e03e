import { numberIn } from './_conditions.ts'

/** A summary of a column. */
export interface ColumnSummary {
  readonly column: string
  readonly rows: number
  /** How many rows have an empty cell. */
  readonly empty: number
  /** Present if every cell that is not empty is a number. */
  readonly numbers?: { readonly minimum: number; readonly maximum: number; readonly mean: number; readonly sum: number }
  /** The number of different cells. Absent, as is `mostFrequent`, if there are more than 10,000, or a cell has more than 4,096 characters. */
  readonly distinct?: number
  /** The 20 most frequent cells. */
  readonly mostFrequent?: readonly { readonly value: string; readonly count: number }[]
}

const mostDistinct = 10_000
const longestShown = 200

/** Sums up the cells of a column. */
export class Summary {
  #rows = 0
  #empty = 0
  #sum = 0
  #minimum = Infinity
  #maximum = -Infinity
  #areNumbers = true
  #counts: Map<string, number> | undefined = new Map()

  add(cell: string): void {
    this.#rows++
    if (cell === '') {
      this.#empty++
      return
    }
    const number = this.#areNumbers ? numberIn(cell) : undefined
    if (number === undefined) this.#areNumbers = false
    else {
      this.#sum += number
      this.#minimum = Math.min(this.#minimum, number)
      this.#maximum = Math.max(this.#maximum, number)
    }
    if (this.#counts === undefined) return
    const count = this.#counts.get(cell)
    if (count !== undefined) this.#counts.set(cell, count + 1)
    else if (this.#counts.size >= mostDistinct || cell.length > 4_096) this.#counts = undefined
    else this.#counts.set(ownText(cell), 1)
  }

  of(column: string): ColumnSummary {
    const filled = this.#rows - this.#empty
    const [minimum, maximum, sum] = [this.#minimum, this.#maximum, this.#sum]
    const frequent = [...(this.#counts ?? [])].toSorted((left, right) => right[1] - left[1]).slice(0, 20)
    return {
      column,
      rows: this.#rows,
      empty: this.#empty,
      ...(this.#areNumbers && filled > 0 ? { numbers: { minimum, maximum, mean: sum / filled, sum } } : undefined),
      ...(this.#counts && {
        distinct: this.#counts.size,
        mostFrequent: frequent.map(([value, count]) => ({ value: value.slice(0, longestShown), count })),
      }),
    }
  }
}

/** Copies a text, since a slice would retain the memory of the whole text. */
function ownText(text: string): string {
  return text.length < 13 ? text : (JSON.parse(JSON.stringify(text)) as string)
}
