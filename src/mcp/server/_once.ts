import { sha256 } from '#sha256'
import {
  ProtocolError,
  ProtocolErrorCode,
  SdkError,
  SdkErrorCode,
  type ServerCapabilities,
} from '@modelcontextprotocol/server'
import type { ToolExecutor } from '../../index.ts'
import { isDurable } from '../../kernel/run/served.ts'
import { longestOnceId, onceKey } from '../_once-key.ts'
import type { Conversation } from './_rounds.ts'
import type { Peer } from './_settings.ts'

/** Whose ids of calls a client's are. */
type IdScope = readonly ['principal' | 'session', string]

/**
 * Returns whose ids a client's are: its principal's, else those of its session. Returns `undefined` if nothing can be promised,
 * since each request is a session, or the records go with the process.
 */
function idScope({ principal, session, isLone }: Peer, executor: ToolExecutor): IdScope | undefined {
  if (!isDurable(executor)) return undefined
  if (principal !== undefined) return ['principal', principal]
  return isLone ? undefined : ['session', session]
}

/** Declares to a client that its calls run once. What holds only in a session names it, so that the client knows it again. */
export function onceCapability(peer: Peer, executor: ToolExecutor): ServerCapabilities {
  const [kind, name] = idScope(peer, executor) ?? []
  if (kind === undefined || name === undefined) return {}
  return { extensions: { [onceKey]: kind === 'principal' ? {} : { session: sha256(name).slice(0, 32) } } }
}

/**
 * Returns the `invocationId` for the client's id of a call, if it has one. No two principals have the same.
 *
 * @throws {ProtocolError} If the id is not text of 1 to 256 characters, since the call would run without protection.
 */
export function invocationIdOf(
  meta: Readonly<Record<string, unknown>> | undefined,
  peer: Peer,
  executor: ToolExecutor,
): string | undefined {
  if (meta === undefined || !Object.hasOwn(meta, onceKey)) return undefined
  const scope = idScope(peer, executor)
  if (scope === undefined) return undefined
  const id = meta[onceKey]
  if (typeof id === 'string' && id !== '' && id.length <= longestOnceId) {
    return `mcp-${sha256(JSON.stringify([...scope, id]))}`
  }
  const expected = `\`${onceKey}\` is text of 1 to ${longestOnceId} characters`
  throw new ProtocolError(ProtocolErrorCode.InvalidParams, `Invalid _meta: ${expected}. The call was not run.`)
}

/** Returns whether a request ended since its connection did, and not because its client cancelled it. */
export function isCut(reason: unknown): boolean {
  return reason instanceof SdkError && reason.code === SdkErrorCode.ConnectionClosed
}

/** The calls with an id of their client, until they have settled, by a key of their `invocationId` and caller. */
export class OnceCalls {
  readonly #open = new Map<string, Conversation>()

  /** Returns a call that has not settled, and is not cancelled. */
  get(key: string): Conversation | undefined {
    const conversation = this.#open.get(key)
    return conversation?.signal.aborted === false ? conversation : undefined
  }

  set(key: string, conversation: Conversation): void {
    this.#open.set(key, conversation)
  }

  delete(key: string, conversation: Conversation): void {
    if (this.#open.get(key) === conversation) this.#open.delete(key)
  }

  /** Cancels the calls of a session, or all. */
  end(session?: string): void {
    for (const conversation of this.#open.values()) {
      if (session === undefined || conversation.session === session)
        conversation.leave(new Error('The server was closed.'))
    }
  }
}

/** Calls a function if a signal aborts, or has aborted. Returns what takes it back. */
export function onAbort(signal: AbortSignal | undefined, act: () => void): () => void {
  if (signal?.aborted === true) act()
  else signal?.addEventListener('abort', act, { once: true })
  return () => signal?.removeEventListener('abort', act)
}
