import type { ToolError } from '../errors.ts'

/** The others who wait for the work of a call, which keep it alive. */
export class Sharing {
  readonly #end: (reason: ToolError) => void
  #count = 0
  /** Why the caller has given up. */
  #released: ToolError | undefined
  /** Called when the caller gives up, and the work goes on. */
  onRelease: ((reason: ToolError) => void) | undefined

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
    if (this.#released === undefined) this.onRelease?.((this.#released = reason))
    return true
  }
}
