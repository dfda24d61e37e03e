import { unref } from '#clock'
import { ToolTimeoutError } from '../errors.ts'
import { timerLength } from './deadline.ts'
import { describeCall, later, notStarted, type Blocker } from './blocker.ts'
import { overlappingKeys, type LockKey } from './lock-keys.ts'
import { Claim, LockTable, type ClaimEntry } from './lock-table.ts'
import type { Confirmed, Received } from './parcel.ts'

/** How long work may outlive its call before other calls stop waiting for it, in milliseconds. */
const lateLimit = 30_000

const mostShownKeys = 16

/**
 * Decides which calls run at the same time. Calls that touch the same thing run one after the other, in the order of arrival; a
 * tool that is not concurrent touches the whole session. A call takes all its locks at once, so calls cannot wait for each other
 * in a circle. It keeps them until its work has ended, even if the call was cancelled before.
 */
export class Locks {
  readonly #inFlight: Iterable<Received>
  /** How long what a call waits for may stand still, in milliseconds. */
  readonly #waitTimeout: number
  readonly #report: (error: unknown) => void
  readonly #table = new LockTable()
  /** Calls that have settled while their work continues. */
  readonly #late = new Set<Received>()
  #count = 0

  constructor(inFlight: Iterable<Received>, waitTimeout: number, report: (error: unknown) => void) {
    this.#inFlight = inFlight
    this.#waitTimeout = waitTimeout === 0 ? Infinity : waitTimeout
    this.#report = report
  }

  /** Whether a session has calls that wait for all of it, or run alone. */
  isContended(session: string): boolean {
    return this.#table.counts(session)
  }

  /**
   * Takes the locks of a call: at once, or when the promise resolves. Rejects with `E_TOOL_TIMEOUT` if what it waits for stands
   * still.
   *
   * @param isInSession Whether the call counts among those of its session.
   */
  enter(call: Confirmed, keys: readonly LockKey[], isInSession: boolean): Promise<void> | undefined {
    const isAlone = !call.tool.traits.concurrent
    const counts = isInSession && (isAlone || this.#table.counts(call.session))
    if (keys.length === 0 && !counts) {
      call.isRunning = isInSession
      return undefined
    }
    const claim = new Claim(call, keys, this.#count++, isInSession)
    if (!counts && this.#table.holdOnly(claim)) {
      call.claim = claim
      call.isRunning = isInSession
      return undefined
    }
    this.#table.addKeys(claim)
    if (isAlone && counts) this.#countSession(call.session)
    if (counts) this.#table.addSession(claim, isAlone)
    call.claim = claim
    const blocker = this.#table.blockerOf(claim)
    if (blocker === undefined) {
      this.#hold(claim)
      return undefined
    }
    return new Promise<void>((begin, refuse) => {
      claim.begin = begin
      claim.refuse = refuse
      this.#table.wait(claim)
      this.#block(claim, blocker)
      this.#limit(claim, this.#waitTimeout)
    })
  }

  /** Returns what stands next before a call that waits. */
  blockerOf({ claim, session }: Received): Blocker {
    const { key, claim: before } = claim!.blocker!
    const keys = key && overlappingKeys(claim!.keys, key).slice(0, mostShownKeys)
    return {
      by: 'lock',
      ...(keys && { keys: keys.map(({ name }) => name) }),
      ...(before.call.session === session && { behind: before.call.invocationId }),
    }
  }

  /** Frees the locks once the work of the call has ended, or leaves the line. */
  leave(call: Received): void {
    const isHolding = call.isRunning || (call.claim !== undefined && call.claim.isHolding)
    if (isHolding && call.deadline.works > 0) this.#linger(call)
    else this.#leave(call)
  }

  /** Claims the session of the calls that run in it: until now it did not count. */
  #countSession(session: string): void {
    if (this.#table.counts(session)) return
    const calls = [...this.#inFlight, ...this.#late].filter(
      (call) => call.session === session && (call.isRunning || call.claim !== undefined),
    )
    for (const call of calls) {
      if (call.claim === undefined) {
        call.claim = new Claim(call, [], -1, true)
        call.claim.isLate = this.#late.has(call)
        this.#table.hold(call.claim)
      }
      if (call.claim.isInSession) this.#table.addSession(call.claim, false)
    }
  }

  #hold(claim: Claim): void {
    this.#table.hold(claim)
    ;(claim.call as Received).isRunning = claim.isInSession
  }

  /** Keeps the locks of a call whose work continues, up to the limit. */
  #linger(call: Received): void {
    const end = (): void => {
      clearTimeout(timer)
      this.#late.delete(call)
      this.#leave(call)
    }
    const timer = setTimeout(() => {
      const isInTheWay = call.claim !== undefined
      end()
      if (!isInTheWay) return
      const work = `The work of ${describeCall(call)} goes on ${lateLimit.toLocaleString('en')} ms after its call was over`
      this.#report(new ToolTimeoutError(`${work}: other calls no longer wait for it.`))
    }, lateLimit)
    unref(timer) // it keeps no process alive
    this.#late.add(call)
    if (call.claim !== undefined) {
      call.claim.isLate = true
      this.#tellDependents(call.claim)
    }
    call.deadline.onRest(end)
  }

  #leave(call: Received): void {
    call.isRunning = false
    const { claim } = call
    if (claim === undefined) return
    call.claim = undefined
    clearTimeout(claim.timer)
    claim.blocker?.claim.dependents?.delete(claim)
    this.#table.remove(claim)
    const { dependents } = claim
    if (dependents !== undefined) for (const dependent of dependents) this.#advance(dependent)
  }

  /** Starts a waiting call if nothing stands in its way any more. */
  #advance(claim: Claim): void {
    claim.movedAt = performance.now()
    const blocker = this.#table.blockerOf(claim)
    if (blocker !== undefined) return this.#block(claim, blocker)
    claim.blocker = undefined
    clearTimeout(claim.timer)
    this.#hold(claim)
    this.#stall(claim, false)
    claim.begin?.()
  }

  #block(claim: Claim, blocker: ClaimEntry): void {
    claim.movedAt = performance.now()
    claim.blocker = blocker
    const dependents = (blocker.claim.dependents ??= new Set())
    dependents.add(claim)
    this.#stall(claim, blocker.claim.isLate || blocker.claim.isStalled)
  }

  /** Lets the clock of a waiting call run as long as it waits, in the end, for work whose own call is over, and stops it again. */
  #stall(claim: Claim, isStalled: boolean): void {
    if (claim.isStalled === isStalled) return
    claim.isStalled = isStalled
    claim.call.deadline.countOutside(isStalled ? () => lateness(claim) : undefined)
    this.#tellDependents(claim)
  }

  #tellDependents({ dependents, isLate, isStalled }: Claim): void {
    for (const dependent of dependents ?? []) this.#stall(dependent, isLate || isStalled)
  }

  /** Refuses a waiting call if what it waits for stands still. */
  #limit(claim: Claim, milliseconds: number): void {
    if (milliseconds === Infinity) return
    claim.timer = setTimeout(() => {
      const left = this.#waitTimeout - (performance.now() - movedLast(claim))
      if (left > 0) this.#limit(claim, left)
      else claim.refuse?.(this.#refusal(claim))
    }, timerLength(milliseconds))
  }

  #refusal(claim: Claim): ToolTimeoutError {
    const who = describeHolder(claim)
    const [key] = claim.blocker?.key ? overlappingKeys(claim.keys, claim.blocker.key) : []
    const why =
      key === undefined
        ? `in its session ${who} runs, and one of the two tools runs beside no other.`
        : `it waited for ${JSON.stringify(key.name)}, behind ${who}.`
    return notStarted(this.#waitTimeout, why)
  }
}

/** Names the call that a waiting one waits for in the end. Only a call of the same session may be told. */
function describeHolder(claim: Claim): string {
  const { call } = holderOf(claim).claim
  return call.session === claim.call.session ? describeCall(call) : 'a call of another session'
}

function lateness(claim: Claim): ToolTimeoutError {
  const who = describeHolder(claim)
  return later(
    `The time of the call was over while it waited for the work of ${who}, which goes on after its own call.`,
  )
}

/** Returns what a waiting claim waits for in the end: one that holds. */
function holderOf({ blocker }: Claim): ClaimEntry {
  let entry = blocker!
  for (let next = entry.claim.blocker; next !== undefined; next = entry.claim.blocker) entry = next
  return entry
}

/** Returns when something moved last for a waiting claim, in milliseconds of the monotonic clock. */
function movedLast({ movedAt, blocker }: Claim): number {
  let last = movedAt
  for (let entry = blocker; entry !== undefined; entry = entry.claim.blocker) {
    last = Math.max(last, entry.claim.movedAt)
  }
  return last
}
