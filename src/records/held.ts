import type { ToolResult } from '../kernel/call/call.ts'
import { CallResult } from '../kernel/call/call-result.ts'
import type { ToolEvent } from '../kernel/call/events.ts'
import type { Received } from '../kernel/call/parcel.ts'
import type { PausedCall, WaitingCall } from '../kernel/call/pause.ts'
import type { PauseRecord, ToolCallRecord, ToolCallSnapshot } from '../kernel/call/record.ts'
import { InvalidConfigurationError, JournalError, ToolCancelledError, type ToolError } from '../kernel/errors.ts'
import type { CallQuery, RecordedCalls, WaitingQuery } from '../kernel/calls-types.ts'
import { copyOf } from '../kernel/json/copy.ts'
import { readText } from '../kernel/json/json-text.ts'
import type { Kernel } from '../kernel/kernel.ts'
import type { PauseKeeper, Settlement } from '../kernel/ports.ts'
import { closing, expiry, publishEnd } from './close.ts'
import { newestFirst } from './facts.ts'
import { begun, fold } from './fold.ts'
import { cancelInFlight, recordInFlight, unlisted } from './in-flight.ts'
import { KeptResults, mostBytes, mostKept, overhead } from './kept-results.ts'
import { snapshotOf } from './record.ts'
import { replay } from './replay.ts'
import { untilSettled } from './settled.ts'
import { isWanted, keyOf, leased, livingLease, requireLease, requireLimit, waitingCall } from './waiting.ts'

interface Held {
  readonly call: PausedCall
  readonly paused: PauseRecord
  /** What a journal would have. Its args are left out, unless the tool has secrets: then they are masked. */
  readonly record: ToolCallRecord
  /** About how many bytes it takes. */
  readonly bytes: number
}

/** A call that is in flight, or held. */
type Listed = Held | { readonly record: ToolCallRecord }

/**
 * Keeps the paused calls of an executor without a journal, by the digests of their tokens. A call that resumes leaves it, and
 * its result is kept until the application asks for it. If it is full, it drops the oldest call of the session whose calls take most, so
 * that one caller cannot push out the others.
 */
export class HeldCalls implements PauseKeeper, RecordedCalls {
  readonly calls: RecordedCalls = this
  readonly #kernel: Kernel
  readonly #held = new Map<string, Held>()
  /** About how many bytes the calls of each session take. */
  readonly #sizes = new Map<string, number>()
  #bytes = 0
  readonly #results = new KeptResults()
  /** The calls that were answered and go on. */
  readonly #resumed = new Set<string>()
  /** The `call:paused` of the call that is about to settle. */
  #asked: ToolEvent | undefined

  constructor(kernel: Kernel) {
    this.#kernel = kernel
  }

  note(_call: Received, event: ToolEvent): void {
    this.#asked = event
  }

  settle(call: Received, event: ToolEvent, { paused }: Settlement): undefined {
    const asked = this.#asked
    this.#asked = undefined
    if (paused === undefined || asked === undefined) return
    const record = begun(asked)
    fold(record, asked)
    fold(record, event)
    if (call.redactor !== undefined) record.input = call.redactor.args()
    const held = pausedCall(call, event.seq + 1, paused)
    this.#results.take(record.id) // of another call with the same id
    this.#put({ call: held, paused, record, bytes: bytesOf(held, record) })
    while (this.#held.size > 1 && (this.#held.size > mostKept || this.#bytes > mostBytes)) this.#drop()
  }

  async find(token: unknown): Promise<PausedCall | undefined> {
    const key = keyOf(token)
    const held = key && this.#held.get(key.digest)
    if (held === undefined) return undefined
    // An expired approval is found once, for its error. A late answer of a client still ends its call.
    if (held.call.reason === 'approval' && Date.now() > held.call.expiresAt)
      await this.#close(held, expiry(held.paused))
    const lease = livingLease(held.paused)
    return { ...held.call, ...(lease && { lease }) }
  }

  async take({ digest, lease }: PausedCall): Promise<PausedCall | undefined> {
    const held = this.#held.get(digest)
    const isFree = held !== undefined && livingLease(held.paused)?.holder === lease?.holder
    if (!isFree) return undefined // a client has leased it since it was found
    this.#remove(digest)
    this.#follow(held.record.id)
    return held.call
  }

  /** Keeps the result of a call that goes on, once it has one. It may pause again before. */
  #follow(invocationId: string): void {
    if (this.#resumed.has(invocationId)) return
    this.#resumed.add(invocationId)
    const listen = (): void => {
      this.#kernel.inFlight.next(invocationId, (result) => {
        if (result?.status === 'pending') return listen()
        this.#resumed.delete(invocationId)
        if (result !== undefined) this.#results.put(result)
      })
    }
    listen()
  }

  async outcome(invocationId: string): Promise<ToolResult | undefined> {
    return this.#results.take(invocationId)
  }

  async waiting(query: WaitingQuery = {}): Promise<WaitingCall[]> {
    const now = Date.now()
    const wanted = this.#newestFirst().filter(
      ({ record, paused }) => paused.expiresAt >= now && isWanted(record, paused, query),
    )
    return wanted.map(({ record, paused }) => waitingCall(record, paused, argsOf(record, paused)))
  }

  async lease(call: WaitingCall, holder: string, milliseconds: number): ReturnType<RecordedCalls['lease']> {
    requireLease(holder, milliseconds)
    const key = typeof call === 'string' ? undefined : keyOf(call)
    if (key === undefined) throw unlisted()
    const held = this.#held.get(key.digest)
    const paused = held && Date.now() <= held.paused.expiresAt ? leased(held.paused, holder, milliseconds) : undefined
    if (held === undefined || paused === undefined) return undefined
    this.#held.set(key.digest, { ...held, paused })
    const shown = argsOf(held.record, paused)
    const args = paused.reason === 'client' ? readText(paused.text) : shown
    return { call: waitingCall(held.record, paused, shown), args }
  }

  async list({ session, before, limit = 50 }: CallQuery = {}): Promise<ToolCallSnapshot[]> {
    requireLimit(limit)
    const listed = new Map<string, Listed>()
    for (const call of this.#kernel.inFlight) listed.set(call.invocationId, { record: recordInFlight(call) })
    for (const held of this.#held.values()) listed.set(held.record.id, held)
    const page = [...listed.values()]
      .filter(({ record }) => session === undefined || record.session === session)
      .filter(({ record }) => before === undefined || newestFirst(record, before) > 0)
      .toSorted((one, other) => newestFirst(one.record, other.record))
    return page.slice(0, limit).map((one) => snapshotOf('call' in one ? wholeRecord(one) : one.record))
  }

  async settled(
    call: ToolResult | string,
    { signal }: { readonly signal?: AbortSignal | undefined } = {},
  ): Promise<ToolResult> {
    const invocationId = typeof call === 'string' ? call : call.invocationId
    const settled = await untilSettled(invocationId, this.#kernel, signal, async () => {
      const held = this.#ofInvocation(invocationId)
      if (held !== undefined) {
        const { expiresAt } = held.paused
        return Date.now() > expiresAt ? { result: await this.#close(held, expiry(held.paused)) } : { until: expiresAt }
      }
      if (this.#kernel.inFlight.has(invocationId)) return { until: Date.now() + 20 } // it is about to resume
      const result = this.#results.get(invocationId)
      if (result !== undefined) return { result }
      throw new JournalError(`Tool record not found: ${invocationId}`)
    })
    this.#results.take(invocationId)
    return settled
  }

  async cancel(invocationId: string, reason = 'The call was cancelled.'): ReturnType<RecordedCalls['cancel']> {
    const here = await cancelInFlight(invocationId, reason, this.#kernel)
    if (here !== undefined) return here
    const held = this.#ofInvocation(invocationId)
    if (held === undefined) return 'not found'
    await this.#close(held, new ToolCancelledError(reason))
    return 'cancelled'
  }

  /** Cancels the calls that wait. Those that are being answered go on. */
  async cancelAll(reason: string): Promise<void> {
    const { inFlight, report } = this.#kernel
    const waiting = [...this.#held.values()].filter(({ record }) => !inFlight.has(record.id))
    await Promise.all(waiting.map((held) => this.#close(held, new ToolCancelledError(reason)).catch(report)))
  }

  async expire(): Promise<ToolCallSnapshot[]> {
    const now = Date.now()
    const expired = this.#newestFirst().filter(({ paused }) => paused.expiresAt < now)
    const closed = expired.map((held) => ({ held, result: this.#close(held, expiry(held.paused)) }))
    await Promise.all(closed.map(({ result }) => result))
    return expired.map((held) => snapshotOf(closing(wholeRecord(held), expiry(held.paused), held.record.effect).record))
  }

  async prune(): Promise<number> {
    throw new InvalidConfigurationError('There is nothing to prune: the executor has no journal that deletes records.')
  }

  readonly watch: RecordedCalls['watch'] = () => () => {} // there is no other process

  /** Settles a call that is given up, and tells of it. */
  async #close(
    held: Held,
    error: ToolError,
    effect: ToolCallRecord['effect'] = held.record.effect,
  ): Promise<ToolResult> {
    this.#remove(held.call.digest)
    this.#kernel.heldValues.delete(held.call.digest)
    const { events, record } = closing(wholeRecord(held), error, effect)
    publishEnd({ events }, this.#kernel)
    const result = CallResult.of(await replay(record, this.#kernel), { error })
    this.#results.put(result)
    this.#kernel.inFlight.tell(held.record.id, result)
    return result
  }

  #put(held: Held): void {
    const { digest, session } = held.call
    this.#held.set(digest, held)
    this.#bytes += held.bytes
    this.#sizes.set(session, (this.#sizes.get(session) ?? 0) + held.bytes)
  }

  #remove(digest: string): Held | undefined {
    const held = this.#held.get(digest)
    if (held === undefined) return undefined
    this.#held.delete(digest)
    this.#bytes -= held.bytes
    const { session } = held.call
    const size = (this.#sizes.get(session) ?? 0) - held.bytes
    if (size <= 0) this.#sizes.delete(session)
    else this.#sizes.set(session, size)
    return held
  }

  #drop(): void {
    let most: [session: string, size: number] = ['', 0]
    for (const entry of this.#sizes) if (entry[1] > most[1]) most = entry
    for (const held of this.#held.values()) {
      if (held.call.session !== most[0]) continue
      const words = `The call waited, and was dropped: an executor without a journal holds ${mostKept.toLocaleString('en')} calls and 64 MiB.`
      const error = new ToolCancelledError(words)
      this.#kernel.report(error)
      this.#close(held, error, 'none').catch(this.#kernel.report)
      return
    }
  }

  #ofInvocation(invocationId: string): Held | undefined {
    for (const held of this.#held.values()) if (held.record.id === invocationId) return held
    return undefined
  }

  #newestFirst(): Held[] {
    return [...this.#held.values()].toReversed()
  }
}

/** Returns about how many bytes a call takes: its args, those that are shown if they differ, and what it brought. */
function bytesOf({ call }: PausedCall, { input, approval }: ToolCallRecord): number {
  return overhead + String(call.args).length + JSON.stringify([input, call.result, approval]).length
}

/** Returns the args as they are shown, as a new value each time: an application that changes them changes no other's. */
function argsOf({ input }: ToolCallRecord, { text }: PauseRecord): unknown {
  return input === undefined ? readText(text) : copyOf(input)
}

/** Returns the record as a journal would have it. */
function wholeRecord({ record, paused, call: { caller, principal } }: Held): ToolCallRecord {
  const journal = { caller, ...(principal !== undefined && { principal }), owner: '', fence: 0, awaits: paused }
  return { ...record, input: argsOf(record, paused), journal }
}

function pausedCall(received: Received, seq: number, paused: PauseRecord): PausedCall {
  const { call, name, callId, invocationId, session, principal, caller } = received
  const { lease: _lease, work: _work, ...pause } = paused
  return {
    ...pause,
    call: { ...call, name, args: paused.text }, // a provider's result stays as it is: it need not be JSON
    callId,
    invocationId,
    session,
    principal,
    caller,
    isApproved: paused.isApproved === true,
    seq,
    recording: undefined,
  }
}
