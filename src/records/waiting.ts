import { sha256 } from '#sha256'
import { copyOf } from '../kernel/json/copy.ts'
import { invocationOf, type WaitingCall } from '../kernel/call/wait.ts'
import type { WaitRecord, ToolCallRecord } from '../kernel/call/record.ts'
import { InvalidConfigurationError } from '../kernel/errors.ts'
import type { WaitingQuery } from '../kernel/calls-types.ts'
import { isSettled } from './record.ts'

/** How far the clocks of two machines may be apart, in milliseconds. */
const skew = 30_000
const longestHolder = 1_024

/** What names a wait: its invocation, and the SHA-256 of its token. A lease changes neither. */
export interface WaitKey {
  readonly invocationId: string
  readonly digest: string
}

/** The waits of the waiting calls that were listed. Nothing else can stand for them. */
const listedWaits = new WeakMap<object, WaitKey>()

/** Returns the wait that a token or a listed call names. Returns `undefined` for anything else. */
export function waitKeyOf(token: unknown): WaitKey | undefined {
  if (typeof token === 'string') return { invocationId: invocationOf(token), digest: sha256(token) }
  return typeof token === 'object' && token !== null ? listedWaits.get(token) : undefined
}

/** Makes the waiting call of a record, as the application sees it. */
export function waitingCall(record: ToolCallRecord, wait: WaitRecord, args: unknown = record.input): WaitingCall {
  const { id: invocationId, callId, toolCallId: id, name: toolName, session, parent, approval, createdAt } = record
  const { expiresAt, prompt = approval.prompt ?? '', digest } = wait
  const { why, meta } = approval
  const lease = livingLease(wait)
  const call: WaitingCall = Object.freeze({
    invocationId,
    callId,
    ...(id !== undefined && { id }),
    toolName,
    session,
    ...(parent !== undefined && { parent }),
    reason: wait.reason === 'client' ? 'client' : 'approval',
    prompt,
    ...(why !== undefined && { why }),
    ...(record.repairs && { repaired: record.repairs }),
    ...(meta && { meta: copyOf(meta) as typeof meta }),
    args,
    createdAt,
    expiresAt,
    ...(lease && { lease }),
  })
  listedWaits.set(call, { invocationId, digest })
  return call
}

/** Returns the wait of a record that still waits, unless it has expired. */
export function waitOf({ state, journal }: ToolCallRecord, now: number = Date.now()): WaitRecord | undefined {
  const wait = isSettled(state) ? undefined : journal?.awaits
  return wait !== undefined && wait.expiresAt >= now ? wait : undefined
}

/** Whether a query takes a waiting call. */
export function isWanted({ id, session }: ToolCallRecord, { reason }: WaitRecord, query: WaitingQuery): boolean {
  return (
    reason !== 'worker' && // workers answer it, and no one else
    (query.session === undefined || query.session === session) &&
    (query.invocationId === undefined || query.invocationId === id) &&
    (query.reason === undefined || query.reason === reason)
  )
}

/** Returns the lease of a wait, unless it has run out. A lease of a time to come is void: the clock was set back. */
export function livingLease({ lease }: WaitRecord): WaitingCall['lease'] {
  const now = Date.now()
  if (lease === undefined || lease.until <= now || lease.since > now + skew) return undefined
  return Object.freeze({ holder: lease.holder, until: lease.until })
}

/** Returns a wait with a new lease. Returns `undefined` if another client holds it. */
export function leased(wait: WaitRecord, holder: string, milliseconds: number): WaitRecord | undefined {
  const living = livingLease(wait)
  if (living !== undefined && living.holder !== holder) return undefined
  const since = Date.now()
  return { ...wait, lease: { holder, since, until: Math.min(since + milliseconds, wait.expiresAt) } }
}

/** @throws `E_INVALID_CONFIGURATION` if the holder or the length of a lease is wrong. */
export function requireLease(holder: string, milliseconds: number): void {
  if (typeof holder !== 'string' || holder === '' || holder.length > longestHolder) {
    throw new InvalidConfigurationError(`The holder of a lease is text of 1 to ${longestHolder} characters.`)
  }
  if (typeof milliseconds === 'number' && milliseconds > 0) return
  const value = typeof milliseconds === 'number' ? milliseconds : typeof milliseconds
  throw new InvalidConfigurationError(`A lease lasts a number of milliseconds above 0, got ${value}.`)
}

/** @throws `E_INVALID_CONFIGURATION` if the most records of a list is wrong. */
export function requireLimit(limit: number): void {
  if (limit === Infinity || (Number.isInteger(limit) && limit >= 1)) return
  const value = typeof limit === 'number' ? limit : typeof limit
  throw new InvalidConfigurationError(`\`limit\` must be a whole number of at least 1, got ${value}.`)
}
