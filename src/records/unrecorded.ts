import { noRecord, type ToolResult } from '../kernel/call/call.ts'
import type { ToolEvent } from '../kernel/call/events.ts'
import type { Received } from '../kernel/call/parcel.ts'
import type { ResumableCall, Wait, WaitingCall } from '../kernel/call/wait.ts'
import type { WaitRecord, ToolCallRecord, ToolCallSnapshot } from '../kernel/call/record.ts'
import { InvalidConfigurationError, ToolCancelledError, type ToolError } from '../kernel/errors.ts'
import type { CallQuery, RecordedCalls, WaitingQuery } from '../kernel/calls-types.ts'
import { copyOf } from '../kernel/json/copy.ts'
import { readText } from '../kernel/json/json-text.ts'
import type { Answers, BeginningWait, RecorderCalls, SettledOptions, WaitKeeper } from '../kernel/recorder.ts'
import { KeptAnswers } from './answers.ts'
import { beginningOf } from './beginning.ts'
import { closingOf, expiry, publishEnd } from './close.ts'
import { newestFirst } from './facts.ts'
import { begun, fold } from './fold.ts'
import { cancelInFlight, recordInFlight, unlisted } from './in-flight.ts'
import { KeptResults, mostBytes, mostKept, overhead } from './kept-results.ts'
import { snapshotOf } from './record.ts'
import { untilSettled } from './settled.ts'
import { isWanted, waitKeyOf, leased, livingLease, requireLease, requireLimit, waitingCall } from './waiting.ts'
import type { RecordsContext } from '../kernel/executor-context.ts'

interface UnrecordedCall {
  readonly call: ResumableCall
  readonly wait: WaitRecord
  /** What a journal would have. Its args are left out, unless the tool has secrets: then they are masked. */
  readonly record: ToolCallRecord
  /** About how many bytes it takes. */
  readonly bytes: number
}

/** A call that is in flight, or waits. */
type Listed = UnrecordedCall | { readonly record: ToolCallRecord }

/**
 * Keeps the waiting calls of an executor without a journal, by the digests of their tokens. A call that resumes leaves it, and
 * its result is kept until the application asks for it. If it is full, it drops the oldest call of the session whose calls take most, so
 * that one caller cannot push out the others.
 */
export class UnrecordedCalls implements WaitKeeper, RecorderCalls {
  readonly answers: Answers
  readonly calls: RecorderCalls = this
  readonly #kernel: RecordsContext
  readonly #entries = new Map<string, UnrecordedCall>()
  /** About how many bytes the calls of each session take. */
  readonly #sizes = new Map<string, number>()
  #bytes = 0
  readonly #results = new KeptResults()
  /** The calls that were answered and go on. */
  readonly #resumed = new Set<string>()

  constructor(kernel: RecordsContext) {
    this.#kernel = kernel
    this.answers = new KeptAnswers(kernel, this)
  }

  begin(call: Received, wait: Wait): BeginningWait {
    return beginningOf(call, wait, this.#kernel)
  }

  wait(call: Received, event: ToolEvent, { result, wait }: BeginningWait): void {
    const record = begun(event)
    fold(record, event)
    record.effect = result.effect
    if (result.via !== undefined) record.via = result.via // there was no event that told it
    if (call.parent !== undefined) record.parent = call.parent.invocationId
    if (call.redactor !== undefined) record.input = call.redactor.args()
    const resumable = resumableOf(call, event.seq + 1, wait)
    this.#results.take(record.id) // of another call with the same id
    this.#put({ call: resumable, wait, record, bytes: callBytes(resumable, record) })
    while (this.#entries.size > 1 && (this.#entries.size > mostKept || this.#bytes > mostBytes)) this.#drop()
  }

  async find(token: unknown): Promise<ResumableCall | undefined> {
    const key = waitKeyOf(token)
    const entry = key && this.#entries.get(key.digest)
    if (entry === undefined) return undefined
    // An expired approval is found once, for its error. A late answer of a client still ends its call.
    if (entry.call.reason === 'approval' && Date.now() > entry.call.expiresAt)
      await this.#close(entry, expiry(entry.wait))
    const lease = livingLease(entry.wait)
    return { ...entry.call, ...(lease && { lease }) }
  }

  async take({ digest, lease }: ResumableCall): Promise<ResumableCall | undefined> {
    const entry = this.#entries.get(digest)
    const isFree = entry !== undefined && livingLease(entry.wait)?.holder === lease?.holder
    if (!isFree) return undefined // a client has leased it since it was found
    this.#remove(digest)
    this.#follow(entry.record.id)
    return entry.call
  }

  /** Keeps the result of a call that goes on, once it has one. It may wait again before. */
  #follow(invocationId: string): void {
    if (this.#resumed.has(invocationId)) return
    this.#resumed.add(invocationId)
    const listen = (): void => {
      this.#kernel.inFlight.next(invocationId, (result) => {
        if (result?.status === 'waiting') return listen()
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
      ({ record, wait }) => wait.expiresAt >= now && isWanted(record, wait, query),
    )
    return wanted.map(({ record, wait }) => waitingCall(record, wait, visibleArgs(record, wait)))
  }

  async lease(call: WaitingCall, holder: string, milliseconds: number): ReturnType<RecordedCalls['lease']> {
    requireLease(holder, milliseconds)
    const key = typeof call === 'string' ? undefined : waitKeyOf(call)
    if (key === undefined) throw unlisted()
    const entry = this.#entries.get(key.digest)
    const wait = entry && Date.now() <= entry.wait.expiresAt ? leased(entry.wait, holder, milliseconds) : undefined
    if (entry === undefined || wait === undefined) return undefined
    this.#entries.set(key.digest, { ...entry, wait })
    const argsToShow = visibleArgs(entry.record, wait)
    const args = wait.reason === 'client' ? readText(wait.text) : argsToShow
    return { call: waitingCall(entry.record, wait, argsToShow), args }
  }

  async list({ session, parent, before, limit = 50 }: CallQuery = {}): Promise<ToolCallSnapshot[]> {
    requireLimit(limit)
    const listed = new Map<string, Listed>()
    for (const call of this.#kernel.inFlight) listed.set(call.invocationId, { record: recordInFlight(call) })
    for (const entry of this.#entries.values()) listed.set(entry.record.id, entry)
    const page = [...listed.values()]
      .filter(({ record }) => session === undefined || record.session === session)
      .filter(({ record }) => parent === undefined || record.parent === parent)
      .filter(({ record }) => before === undefined || newestFirst(record, before) > 0)
      .toSorted((one, other) => newestFirst(one.record, other.record))
    return page.slice(0, limit).map((one) => {
      const record = 'call' in one ? wholeRecord(one) : one.record
      return snapshotOf(record, this.#kernel.inFlight.get(record.id))
    })
  }

  async settled(call: ToolResult | string, { signal, closed }: SettledOptions = {}): Promise<ToolResult> {
    const invocationId = typeof call === 'string' ? call : call.invocationId
    const settled = await untilSettled(invocationId, this.#kernel, [signal, closed], async () => {
      const entry = this.#ofInvocation(invocationId)
      if (entry !== undefined) {
        const { expiresAt } = entry.wait
        return Date.now() > expiresAt ? { result: await this.#close(entry, expiry(entry.wait)) } : { until: expiresAt }
      }
      if (this.#kernel.inFlight.has(invocationId)) return { until: Date.now() + 20 } // it is about to resume
      const result = this.#results.get(invocationId)
      if (result !== undefined) return { result }
      throw noRecord(invocationId)
    })
    this.#results.take(invocationId)
    return settled
  }

  async cancel(invocationId: string, reason = 'The call was cancelled.'): ReturnType<RecordedCalls['cancel']> {
    const here = await cancelInFlight(invocationId, reason, this.#kernel)
    if (here !== undefined) return here
    const entry = this.#ofInvocation(invocationId)
    if (entry === undefined) return 'not found'
    await this.#close(entry, new ToolCancelledError(reason))
    return 'cancelled'
  }

  /** Cancels the calls that wait. Those that are being answered go on. */
  async cancelAll(reason: string): Promise<void> {
    const { inFlight, report } = this.#kernel
    const waiting = [...this.#entries.values()].filter(({ record }) => !inFlight.has(record.id))
    await Promise.all(waiting.map((entry) => this.#close(entry, new ToolCancelledError(reason)).catch(report)))
  }

  async expire(): Promise<ToolCallSnapshot[]> {
    const now = Date.now()
    const expired = this.#newestFirst().filter(({ wait }) => wait.expiresAt < now)
    const closed = expired.map((entry) => ({ entry, result: this.#close(entry, expiry(entry.wait)) }))
    await Promise.all(closed.map(({ result }) => result))
    return expired.map((entry) =>
      snapshotOf(closingOf(wholeRecord(entry), expiry(entry.wait), entry.record.effect).record),
    )
  }

  async prune(): Promise<number> {
    throw new InvalidConfigurationError('There is nothing to prune: the executor has no journal that deletes records.')
  }

  readonly watch: RecordedCalls['watch'] = () => () => {} // there is no other process

  /** Settles a call that is given up, and tells of it. */
  async #close(
    entry: UnrecordedCall,
    error: ToolError,
    effect: ToolCallRecord['effect'] = entry.record.effect,
  ): Promise<ToolResult> {
    this.#remove(entry.call.digest)
    this.#kernel.waitingValues.delete(entry.call.digest)
    const { events, result } = closingOf(wholeRecord(entry), error, effect)
    publishEnd({ events }, this.#kernel)
    this.#results.put(result)
    this.#kernel.inFlight.tell(entry.record.id, result)
    return result
  }

  #put(entry: UnrecordedCall): void {
    const { digest, session } = entry.call
    this.#entries.set(digest, entry)
    this.#bytes += entry.bytes
    this.#sizes.set(session, (this.#sizes.get(session) ?? 0) + entry.bytes)
  }

  #remove(digest: string): UnrecordedCall | undefined {
    const entry = this.#entries.get(digest)
    if (entry === undefined) return undefined
    this.#entries.delete(digest)
    this.#bytes -= entry.bytes
    const { session } = entry.call
    const size = (this.#sizes.get(session) ?? 0) - entry.bytes
    if (size <= 0) this.#sizes.delete(session)
    else this.#sizes.set(session, size)
    return entry
  }

  #drop(): void {
    let most: [session: string, size: number] = ['', 0]
    for (const entry of this.#sizes) if (entry[1] > most[1]) most = entry
    for (const entry of this.#entries.values()) {
      if (entry.call.session !== most[0]) continue
      const words = `The call waited, and was dropped: an executor without a journal holds ${mostKept.toLocaleString('en')} calls and 64 MiB.`
      const error = new ToolCancelledError(words)
      this.#kernel.report(error)
      this.#close(entry, error, 'none').catch(this.#kernel.report)
      return
    }
  }

  #ofInvocation(invocationId: string): UnrecordedCall | undefined {
    for (const entry of this.#entries.values()) if (entry.record.id === invocationId) return entry
    return undefined
  }

  #newestFirst(): UnrecordedCall[] {
    return [...this.#entries.values()].toReversed()
  }
}

/** Returns about how many bytes a call takes: its args, those that are shown if they differ, and what it brought. */
function callBytes({ call }: ResumableCall, { input, approval }: ToolCallRecord): number {
  return overhead + String(call.args).length + JSON.stringify([input, call.result, approval]).length
}

/** Returns the args as they are shown, as a new value each time: an application that changes them changes no other's. */
function visibleArgs({ input }: ToolCallRecord, { text }: WaitRecord): unknown {
  return input === undefined ? readText(text) : copyOf(input)
}

/** Returns the record as a journal would have it. */
function wholeRecord({ record, wait, call: { caller, principal } }: UnrecordedCall): ToolCallRecord {
  const journal = { caller, ...(principal !== undefined && { principal }), owner: '', fence: 0, awaits: wait }
  return { ...record, input: visibleArgs(record, wait), journal }
}

function resumableOf(received: Received, seq: number, wait: WaitRecord): ResumableCall {
  const { call, name, callId, invocationId, session, principal, caller, parent } = received
  const { lease: _lease, work: _work, ...rest } = wait
  return {
    ...rest,
    call: { ...call, name, args: wait.text }, // a provider's result stays as it is: it need not be JSON
    callId,
    invocationId,
    session,
    principal,
    caller,
    parent: parent?.invocationId,
    isApproved: wait.isApproved === true,
    seq,
    recording: undefined,
  }
}
