import type { ToolResult } from '../kernel/call/call.ts'
import { lengthOf } from './stored-content.ts'

/** The most calls, and about the most bytes, that an executor without a journal keeps of each kind: those that wait, and results. */
export const mostKept = 10_000
export const mostBytes = 67_108_864
/** About how many bytes a call takes beside its texts. */
export const overhead = 1_000

/** The results of calls that have waited and settled since, each until it is asked for. If it is full, the oldest go first. */
export class KeptResults {
  readonly #kept = new Map<string, { readonly result: ToolResult; readonly bytes: number }>()
  #bytes = 0

  put(result: ToolResult): void {
    const { invocationId, content } = result
    this.take(invocationId)
    const bytes = overhead + 2 * lengthOf(content) // the artifact of a small result has it once more
    this.#kept.set(invocationId, { result, bytes })
    this.#bytes += bytes
    for (const oldest of this.#kept.keys()) {
      if (this.#kept.size <= mostKept && this.#bytes <= mostBytes) break
      this.take(oldest)
    }
  }

  get(invocationId: string): ToolResult | undefined {
    return this.#kept.get(invocationId)?.result
  }

  take(invocationId: string): ToolResult | undefined {
    const entry = this.#kept.get(invocationId)
    if (entry === undefined) return undefined
    this.#kept.delete(invocationId)
    this.#bytes -= entry.bytes
    return entry.result
  }
}
