import { sha256 } from '#sha256'
import { unref } from '#clock'
import type { Client } from '@modelcontextprotocol/client'
import type { ToolContext } from '../../index.ts'
import { longestOnceId, onceKey } from '../_once-key.ts'
import type { Target } from './_options.ts'
import { longestDelay } from './_pauses.ts'
import { errorLine } from './_text.ts'

/** How many answers of a call were failures. A call that is made again after an answer is another one for its server. */
const answeredFailures = new WeakMap<ToolContext, number>()

/** Remembers that a server has answered a call with a failure. */
export function noteFailure(context: ToolContext): void {
  answeredFailures.set(context, (answeredFailures.get(context) ?? 0) + 1)
}

/** The id under which a server runs a call once. */
export interface OnceCall {
  readonly id: string
  /** Where the server knows the id: in one session, or everywhere if it is empty. */
  readonly scope: string
}

/** Returns the id under which a server runs a call once, or `undefined` if the server does not declare that it does. */
export function onceCall(client: Client, context: ToolContext): OnceCall | undefined {
  const scope = declaredScope(client.getServerCapabilities()?.extensions)
  if (scope === undefined) return undefined
  const failures = answeredFailures.get(context) ?? 0
  const id = failures === 0 ? context.invocationId : `${context.invocationId} ${failures + 1}`
  return { id: id.length <= longestOnceId ? id : sha256(id), scope }
}

function declaredScope(extensions: unknown): string | undefined {
  if (typeof extensions !== 'object' || extensions === null || !Object.hasOwn(extensions, onceKey)) return undefined
  const { session = '' } = Object((extensions as Record<string, unknown>)[onceKey]) as { readonly session?: unknown }
  return typeof session === 'string' && session.length <= longestOnceId ? session : undefined
}

/** A call whose answer was lost, and which is made again. */
export class Reissues {
  /** The error by which the last answer was lost. */
  error: unknown
  readonly scope: string
  readonly context: ToolContext
  readonly #target: Target
  #count = 0

  constructor(error: unknown, { scope }: OnceCall, target: Target, context: ToolContext) {
    this.error = error
    this.scope = scope
    this.#target = target
    this.context = context
  }

  /** How often the call was made again. */
  get count(): number {
    return this.#count
  }

  /** Waits before the call is made again, and emits `reissue`. Returns `false` if it was made often enough, or was cancelled. */
  async next(): Promise<boolean> {
    const { reconnects, reconnectDelay } = this.#target
    const { signal } = this.context
    if (this.#count >= reconnects || signal.aborted) return false
    const growing = reconnectDelay * 2 ** (this.#count - 1)
    if (this.#count > 0) await pauseUntil(Math.min(longestDelay, growing), signal) // the first one follows at once
    if (signal.aborted) return false
    this.#count++
    this.context.emit('reissue', { count: this.#count, cause: errorLine(this.error) })
    return true
  }
}

/** Waits without keeping the process alive, until a signal aborts. */
function pauseUntil(milliseconds: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    const end = (): void => {
      clearTimeout(timer)
      signal.removeEventListener('abort', end)
      resolve()
    }
    const timer = setTimeout(end, milliseconds)
    unref(timer)
    signal.addEventListener('abort', end, { once: true })
  })
}
