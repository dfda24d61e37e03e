import { Listeners, tellRow, type RecordHint } from '../_listeners.ts'
import { runAtOnce, type StatementResult, type Statement } from '../sql/_operations.ts'
import type { SqlStatements } from '../sql/_statements.ts'
import { after, lastChange, dataVersion } from './_words.ts'

/** How often it is checked whether another process has changed the file, in milliseconds. */
const fileWatchInterval = 250

/** Tells listeners of changes to the file, by this process and by others. */
export class SqliteWatch {
  readonly #statements: SqlStatements
  readonly #answer: (statement: Statement) => StatementResult
  readonly #listeners = new Listeners({ begin: () => this.#begin(), end: () => this.close() })
  #timer: ReturnType<typeof setInterval> | undefined
  #version: unknown
  #last = 0

  constructor(statements: SqlStatements, answer: (statement: Statement) => StatementResult) {
    this.#statements = statements
    this.#answer = answer
  }

  add(listener: (...hint: RecordHint) => void): () => void {
    return this.#listeners.add(listener)
  }

  close(): void {
    clearInterval(this.#timer)
    this.#timer = undefined
    this.#listeners.clear()
  }

  /** Tells what has changed since it looked last. */
  look(): void {
    if (this.#timer === undefined) return
    try {
      for (const row of runAtOnce(this.#statements.changed(after, [this.#last]), this.#answer)) {
        this.#last = Number(row['changed'])
        tellRow(this.#listeners, row)
      }
    } catch {
      // Another process has the file. The next look tells the same.
    }
  }

  #begin(): void {
    this.#version = this.#dataVersion()
    this.#last = Number(this.#answer(lastChange).rows[0]?.['last'])
    this.#timer = setInterval(() => this.#check(), fileWatchInterval)
    this.#timer.unref() // a watch does not keep the process alive
  }

  #dataVersion(): unknown {
    return this.#answer(dataVersion).rows[0]?.['data_version']
  }

  #check(): void {
    try {
      const found = this.#dataVersion()
      if (found === this.#version) return
      this.look()
      this.#version = found
    } catch {
      // Another process has the file. The next check finds the same.
    }
  }
}
