import { numberIn } from './_conditions.ts'

/** What stands in a column. */
export interface ColumnSummary {
  readonly column: string
  readonly rows: number
  /** Rows in which the cell is empty. */
  readonly empty: number
  /** Present where every cell that is not empty is a number. */
  readonly numbers?: { readonly minimum: number; readonly maximum: number; readonly mean: number; readonly sum: number }
  /** How many different cells there are, and the 20 most frequent; absent where there are more than 10,000. */
  readonly distinct?: number
  readonly mostFrequent?: readonly { readonly value: string; readonly count: number }[]
}

const mostDistinct = 10_000
const longestShown = 200

/** Goes through the cells of a column. */
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

/** A text that shares no memory with the one that it was cut from, which would be kept as long as it is. */
function ownText(text: string): string {
  return text.length < 13 ? text : (JSON.parse(JSON.stringify(text)) as string)
}
