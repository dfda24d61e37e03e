import type { ToolContext } from '../index.ts'
import type { Output } from './sandbox.ts'

/** Bytes that wait in memory until it is known whether the stream is large. */
const mostHeldBytes = 32_768

/** One stream of a command: it goes to the store once it is larger than what a result shows. */
export class OutputSpooling {
  readonly #keep: ToolContext['keep']
  #held: Uint8Array[] = []
  #length = 0
  #kept: Promise<string> | undefined
  #next: ((step: IteratorResult<Uint8Array, undefined>) => void) | undefined
  #taken: (() => void) | undefined
  #isOver = false

  constructor(keep: ToolContext['keep']) {
    this.#keep = keep
  }

  /** Resolves when the store has taken the piece, so that a fast command waits for a slow store. */
  push(bytes: Uint8Array): void | Promise<void> {
    if (this.#isOver) return
    this.#length += bytes.length
    this.#held.push(bytes)
    if (this.#length <= mostHeldBytes) return
    if (this.#kept === undefined) {
      this.#kept = this.#start()
      this.#kept.catch(() => {}) // `end` tells of it
    }
    this.#hand()
    if (this.#held.length === 0) return
    return new Promise((resolve) => {
      this.#taken = resolve
    })
  }

  /** Returns the output with the handle of the whole, or the reason why it was not kept. */
  async end(output: Output): Promise<Output & { readonly handle?: string; readonly notKept?: string }> {
    this.#isOver = true
    this.#hand()
    if (this.#kept === undefined) return output
    try {
      return { ...output, handle: await this.#kept }
    } catch (error) {
      return { ...output, notKept: (error as Error).message }
    }
  }

  async #start(): Promise<string> {
    try {
      const source: AsyncIterable<Uint8Array> = { [Symbol.asyncIterator]: () => this.#iterator() }
      return (await this.#keep(source, { mediaType: 'text/plain' })).handle
    } finally {
      // The store takes no more: the command goes on without it.
      this.#isOver = true
      this.#held = []
      this.#taken?.()
    }
  }

  #iterator(): AsyncIterator<Uint8Array, undefined> {
    return {
      next: () =>
        new Promise((resolve) => {
          this.#next = resolve
          this.#hand()
        }),
      return: () => Promise.resolve({ done: true, value: undefined }),
    }
  }

  #hand(): void {
    const next = this.#next
    if (next === undefined) return
    const [piece] = this.#held.splice(0, 1)
    if (piece === undefined && !this.#isOver) return
    this.#next = undefined
    next(piece === undefined ? { done: true, value: undefined } : { done: false, value: piece })
    if (this.#held.length > 0) return
    this.#taken?.()
    this.#taken = undefined
  }
}
