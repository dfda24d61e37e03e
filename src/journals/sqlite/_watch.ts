import { Listeners, tellRow } from '../_listeners.ts'
import type { Statements } from './_statements.ts'

/** How often it is checked whether another process has changed the file, in milliseconds. */
const interval = 250

/** Tells listeners of changes to the file, by this process and by others. */
export class Watch {
  readonly #statements: Statements
  readonly #listeners = new Listeners()
  #timer: ReturnType<typeof setInterval> | undefined
  #version: unknown
  #last = 0

  constructor(statements: Statements) {
    this.#statements = statements
  }

  add(listener: (invocationId: string, session: string) => void): () => void {
    if (this.#listeners.size === 0) this.#begin()
    const remove = this.#listeners.add(listener)
    return () => {
      remove()
      if (this.#listeners.size === 0) this.close()
    }
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
      for (const row of this.#statements.changed(this.#last)) {
        this.#last = Number(row['changed'])
        tellRow(this.#listeners, row)
      }
    } catch {
      // Another process has the file. The next look tells the same.
    }
  }

  #begin(): void {
    this.#version = this.#statements.version()
    this.#last = this.#statements.lastChange()
    this.#timer = setInterval(() => this.#check(), interval)
    this.#timer.unref() // a watch does not keep the process alive
  }

  #check(): void {
    try {
      const version = this.#statements.version()
      if (version === this.#version) return
      this.look()
      this.#version = version
    } catch {
      // Another process has the file. The next check finds the same.
    }
  }
}
