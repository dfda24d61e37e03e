import type { ToolResult } from '../index.ts'

/** What was done under a key. */
export interface Done extends Pick<ToolResult, 'invocationId' | 'status' | 'effect' | 'content'>, Kept {
  readonly session: string
  /** Milliseconds of the monotonic clock when it was over. */
  readonly at: number
  /** Where and when a repeated call was told of it. */
  readonly telling?: { readonly session: string; readonly at: number } | undefined
}

type Kept = Partial<Pick<ToolResult, 'artifact' | 'handle'>>

/** What is under way or done under a key. */
interface EffectEntry {
  readonly done: Done | undefined
  /** Those who wait until it is over; nothing, if nothing is under way. */
  readonly waiting?: (() => void)[]
  /** The invocation that is under way. */
  readonly by?: string
}

/** The longest result that is kept, as JSON, in characters. */
const longestKept = 16_384

/** Remembers what was done, by keys. What is under way is not forgotten. */
export class DoneEffects {
  readonly #entries = new Map<string, EffectEntry>()
  readonly #window: number
  readonly #most: number

  /** @param window How long it remembers, in milliseconds. */
  constructor(window: number, most: number) {
    this.#window = window
    this.#most = most
  }

  /** Whether something is under way. */
  isBusy(key: string): boolean {
    return this.#entries.get(key)?.waiting !== undefined
  }

  /** Returns the invocation that is under way. */
  underWay(key: string): string | undefined {
    return this.#entries.get(key)?.by
  }

  /** Waits until what is under way is over, or the call gives up. */
  rest(key: string, { signal }: { readonly signal: AbortSignal }): Promise<void> {
    return new Promise((resolve) => {
      const { waiting } = this.#entries.get(key) ?? {}
      if (waiting === undefined || signal.aborted) return resolve()
      waiting.push(() => {
        signal.removeEventListener('abort', giveUp)
        resolve()
      })
      const giveUp = (): void => resolve()
      signal.addEventListener('abort', giveUp, { once: true })
    })
  }

  /** Returns what was done within the window. */
  get(key: string): Done | undefined {
    const done = this.#entries.get(key)?.done
    return done !== undefined && performance.now() - done.at <= this.#window ? done : undefined
  }

  /** Says that something is under way, by an invocation. Returns what was done before. */
  begin(key: string, by: string): Done | undefined {
    const done = this.get(key)
    this.#entries.set(key, { done, waiting: [], by })
    return done
  }

  /** Says what is done now. Lets those go on that wait. */
  end(key: string, done: Done | undefined): void {
    const { waiting = [] } = this.#entries.get(key) ?? {}
    this.#entries.delete(key)
    if (done !== undefined) this.#entries.set(key, { done })
    for (const goOn of waiting) goOn()
    if (this.#entries.size > this.#most) this.#forget()
  }

  #forget(): void {
    for (const [key, { waiting }] of this.#entries) {
      if (waiting !== undefined) continue
      this.#entries.delete(key)
      return
    }
  }
}

/** Returns what is kept of a result. */
export function doneOf(result: ToolResult, session: string, at: number): Done {
  const { invocationId, status, effect, content, artifact, handle } = result
  const large = { ...(artifact && handle !== undefined && { artifact, handle }) }
  return { invocationId, status, effect, content: isShort(content) ? content : [], session, at, ...large }
}

/** A middleware may have given blocks that are no JSON. */
function isShort(content: ToolResult['content']): boolean {
  try {
    return JSON.stringify(content).length <= longestKept
  } catch {
    return false
  }
}
