import type { ToolError } from '../errors.ts'

/** The others who wait for the work of a call. As long as there are some, the work outlives the patience of its caller. */
export class Sharing {
  readonly #end: (reason: ToolError) => void
  #count = 0
  /** Why the caller has given up. */
  #released: ToolError | undefined

  /** @param end Ends the call when its caller has given up, and nothing waits any more. */
  constructor(end: (reason: ToolError) => void) {
    this.#end = end
  }

  /** Adds one that waits. Returns a function that removes it. */
  add(): () => void {
    let isWaiting = true
    this.#count++
    return () => {
      if (!isWaiting) return
      isWaiting = false
      this.#count--
      if (this.#count === 0 && this.#released !== undefined) this.#end(this.#released)
    }
  }

  /** Whether the work goes on although its caller gives up. */
  keeps(reason: ToolError): boolean {
    if (this.#count === 0) return false
    this.#released ??= reason
    return true
  }
}
