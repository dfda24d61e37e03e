import type { Row } from '../_rows.ts'

/** A value of a statement. Numbers are finite. */
export type SqlValue = string | number | null

/** A statement, whose parameters are `$1`, `$2` … in its text. Each may occur more than once. */
export interface Statement {
  readonly text: string
  readonly values: readonly unknown[]
  /** Whether it gives rows. Otherwise it changes some. */
  readonly isRead: boolean
}

/** What a database answers to a statement. */
export interface StatementResult {
  readonly rows: readonly Row[]
  /** How many rows it changed. */
  readonly changes: number
}

/**
 * Statements one after the other, each of which may depend on the answers before it. Databases that answer at once and those
 * that answer later run the same operations.
 */
export type Operation<Value> = Generator<Statement, Value, StatementResult>

/** Returns a statement that gives rows. */
export function reading(text: string, values: readonly unknown[]): Statement {
  return { text, values, isRead: true }
}

/** Returns a statement that changes rows. */
export function changing(text: string, values: readonly unknown[]): Statement {
  return { text, values, isRead: false }
}

/** Runs an operation on a database that answers at once. */
export function runAtOnce<Value>(
  operation: Operation<Value>,
  answer: (statement: Statement) => StatementResult,
): Value {
  let step = operation.next()
  while (step.done !== true) step = operation.next(answer(step.value))
  return step.value
}

/** Runs an operation on a database that answers later. */
export async function runLater<Value>(
  operation: Operation<Value>,
  answer: (statement: Statement) => Promise<StatementResult>,
): Promise<Value> {
  let step = operation.next()
  while (step.done !== true) step = operation.next(await answer(step.value))
  return step.value
}

/** A text as a database reads it. */
export interface Bound {
  readonly text: string
  /** Which parameter stands for each placeholder. Nothing, if the values have the order of the text. */
  readonly order: readonly number[] | undefined
}

/** Writes the parameters of a statement as a database reads them: numbered, or each a `?` in the order of the text. */
export function bound(text: string, placeholder: (number: number) => string = () => '?'): Bound {
  const order: number[] = []
  const written = text.replace(/\$(\d+)/g, (_, digits: string) => {
    order.push(Number(digits) - 1)
    return placeholder(Number(digits))
  })
  const isInOrder = placeholder(1) !== placeholder(2) || order.every((index, place) => index === place)
  return { text: written, order: isInOrder ? undefined : order }
}

/** Returns the values of a statement in the order of its text. */
export function valuesInOrder<Value>(values: readonly Value[], order: Bound['order']): readonly Value[] {
  return order === undefined ? values : order.map((index) => values[index] as Value)
}

/** The most texts whose statements are kept. */
const mostTexts = 500

/** Keeps what is made of each text, so that it is made once. */
export class TextCache<Made> {
  readonly #made = new Map<string, Made>()
  readonly #make: (text: string) => Made

  constructor(make: (text: string) => Made) {
    this.#make = make
  }

  get(text: string): Made {
    let entry = this.#made.get(text)
    if (entry === undefined) {
      if (this.#made.size >= mostTexts) this.#made.clear()
      this.#made.set(text, (entry = this.#make(text)))
    }
    return entry
  }
}
