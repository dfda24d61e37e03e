import { isDigest } from '../_columns.ts'
import { recordOf } from '../_rows.ts'
import type { Row, Statements } from './_statements.ts'

/** How often it is checked whether another process has changed the file, in milliseconds. */
const interval = 250

type Listener = (invocationId: string, session: string) => void

/** Tells listeners of changes to the file, by this process and by others. */
export class Watch {
  readonly #statements: Statements
  readonly #listeners = new Set<Listener>()
  #timer: ReturnType<typeof setInterval> | undefined
  #version: unknown
  #last = 0

  constructor(statements: Statements) {
    this.#statements = statements
  }

  add(listener: Listener): () => void {
    const own: Listener = (invocationId, session) => listener(invocationId, session)
    if (this.#listeners.size === 0) this.#begin()
    this.#listeners.add(own)
    return () => {
      this.#listeners.delete(own)
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
        this.#tell(row)
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

  #tell(row: Row): void {
    const id = String(row['id'])
    const session = sessionOf(row, id)
    if (session === undefined) return
    for (const listener of this.#listeners) listener(id, session)
  }
}

function sessionOf(row: Row, id: string): string | undefined {
  const key = String(row['session'])
  try {
    return isDigest(key) ? recordOf(row['record'], id).session : key
  } catch {
    return undefined // damaged
  }
}
