import { unref } from '#clock'
import { ToolTimeoutError } from '../errors.ts'
import type { CallsInFlight } from '../executor-context.ts'
import type { ToolResult } from './call.ts'
import { timerLength } from './deadline.ts'
import { stageFields, type Confirmed, type Received } from './parcel.ts'

/** How long the same calls may block the line of a session, in milliseconds. */
const mostWait = 60_000
/** How long work may outlive its call before other calls stop waiting for it, in milliseconds. */
const mostLate = 30_000

export class InFlight implements CallsInFlight {
  // Each call stores its index. A map would allocate again every few calls.
  readonly #calls: Received[] = []
  /** Whether the executor may have made an id. */
  readonly #isOurs: (invocationId: string) => boolean
  /** The calls whose id the application chose. */
  readonly #named = new Map<string, Received>()
  /** The ids of calls that are about to enter, by the promise of their arrival. */
  readonly #arriving = new Map<Promise<void>, string>()
  /** Why calls are cancelled; set when the drain is over. */
  #reason: string | undefined
  isEnding = false
  /** Listeners for the end of a call, by its id; made on first use. */
  #waiting: Map<string, Set<(result?: ToolResult) => void>> | undefined

  constructor(isOurs: (invocationId: string) => boolean) {
    this.#isOurs = isOurs
  }

  get isClosing(): boolean {
    return this.#reason !== undefined
  }

  expect(invocationId: string): () => void {
    let arrived = (): void => {}
    const arrival = new Promise<void>((resolve) => (arrived = resolve))
    this.#arriving.set(arrival, invocationId)
    return () => {
      this.#arriving.delete(arrival)
      arrived()
    }
  }

  enter(call: Received, isNamed: boolean): void {
    if (this.#reason !== undefined) call.deadline.cancel(this.#reason)
    call.place = this.#calls.push(call) - 1
    if (isNamed) this.#named.set(call.invocationId, call)
  }

  leave(call: Received, result?: ToolResult): void {
    const { place } = call
    if (this.#calls[place] !== call) return
    const last = this.#calls.pop()
    if (last !== undefined && last !== call) {
      this.#calls[place] = last
      last.place = place
    }
    if (this.#named.size > 0) this.#named.delete(call.invocationId)
    if (this.#waiting !== undefined) this.tell(call.invocationId, result)
  }

  tell(invocationId: string, result?: ToolResult): void {
    const listeners = this.#waiting?.get(invocationId)
    this.#waiting?.delete(invocationId)
    for (const listener of listeners ?? []) listener(result)
  }

  next(invocationId: string, listener: (result?: ToolResult) => void): () => void {
    const waiting = (this.#waiting ??= new Map())
    const listeners = waiting.get(invocationId) ?? new Set()
    waiting.set(invocationId, listeners.add(listener))
    return () => {
      if (listeners.delete(listener) && listeners.size === 0) waiting.delete(invocationId)
    }
  }

  get(invocationId: string): Received | undefined {
    const named = this.#named.get(invocationId)
    if (named !== undefined || !this.#isOurs(invocationId)) return named
    return this.#calls.find((call) => call.invocationId === invocationId)
  }

  has(invocationId: string): boolean {
    return this.get(invocationId) !== undefined || [...this.#arriving.values()].includes(invocationId)
  }

  [Symbol.iterator](): Iterator<Received> {
    return this.#calls.values()
  }

  async left(invocationId: string): Promise<ToolResult | undefined> {
    return this.get(invocationId) && new Promise((resolve) => this.next(invocationId, resolve))
  }

  /** Waits until all calls have left. Cancels the rest after some milliseconds. */
  async drain(milliseconds: number, reason: string): Promise<void> {
    this.isEnding = true
    if (this.#calls.length === 0 && this.#arriving.size === 0) return
    const timer = setTimeout(() => {
      this.#reason = reason
      for (const { deadline } of this.#calls) deadline.cancel(reason)
    }, timerLength(milliseconds))
    await Promise.all(this.#arriving.keys())
    await Promise.all(this.#calls.map(({ invocationId }) => this.left(invocationId)))
    clearTimeout(timer)
  }
}

/**
 * Decides which calls of a session run at the same time. Calls of a tool that is not concurrent run alone, in the order of
 * arrival. A call counts as running until its work has ended, even if the call was cancelled before.
 */
export class Gates {
  readonly #inFlight: Iterable<Received>
  readonly #report: (error: unknown) => void
  /** The lines of the sessions in which a call runs alone or waits. Other sessions have none. */
  readonly #lines = new Map<string, SessionLine>()
  /** Calls that have settled while their work continues. */
  readonly #late = new Set<Received>()

  constructor(inFlight: Iterable<Received>, report: (error: unknown) => void) {
    this.#inFlight = inFlight
    this.#report = report
  }

  /** Takes a place: at once, or when the promise resolves. Rejects with `E_TOOL_TIMEOUT` if the line does not move. */
  enter(call: Confirmed): Promise<void> | undefined {
    const line = this.#lines.size === 0 ? undefined : this.#lines.get(call.session)
    if (line === undefined && call.tool.traits.concurrent) {
      call.isRunning = true
      return undefined
    }
    return new Promise<void>((begin, refuse) => {
      const waiting: Waiting = { call, begin, refuse, timer: undefined }
      if (line === undefined) this.#lines.set(call.session, { waiting: [waiting], movedAt: 0 })
      else line.waiting.push(waiting)
      this.#advance(call.session)
      if (!call.isRunning) this.#limit(waiting, mostWait)
    })
  }

  /** Whether a session has calls that wait or run alone. */
  hasLine(session: string): boolean {
    return this.#lines.size > 0 && this.#lines.has(session)
  }

  /** Frees the place once the work of the call has ended, or leaves the line. */
  leave(call: Received): void {
    if (call.isRunning && call.deadline.isWorking) this.#linger(call)
    else this.#leave(call)
  }

  /** Keeps the place of a call whose work continues, up to the limit. */
  #linger(call: Received): void {
    const end = (): void => {
      clearTimeout(timer)
      this.#late.delete(call)
      this.#leave(call)
    }
    const timer = setTimeout(() => {
      const isInTheWay = this.#lines.has(call.session)
      end()
      if (!isInTheWay) return
      const work = `The work of ${describeCall(call)} goes on ${mostLate.toLocaleString('en')} ms after its call was over`
      this.#report(new ToolTimeoutError(`${work}: other calls of its session no longer wait for it.`))
    }, mostLate)
    unref(timer) // it keeps no process alive
    this.#late.add(call)
    this.#count(call.session)
    call.deadline.onRest(end)
  }

  #leave(call: Received): void {
    call.isRunning = false
    const line = this.#lines.size === 0 ? undefined : this.#lines.get(call.session)
    if (line === undefined) return
    const place = line.waiting.findIndex((waiting) => waiting.call === call)
    if (place >= 0) clearTimeout(line.waiting.splice(place, 1)[0]?.timer)
    this.#advance(call.session)
  }

  /** Refuses a waiting call if the line does not move in time. */
  #limit(waiting: Waiting, milliseconds: number): void {
    waiting.timer = setTimeout(() => {
      const { movedAt = 0 } = this.#lines.get(waiting.call.session) ?? {}
      const left = mostWait - (performance.now() - movedAt)
      if (left > 0) this.#limit(waiting, left)
      else waiting.refuse(this.#refusal(waiting.call))
    }, milliseconds)
  }

  #refusal({ session }: Confirmed): ToolTimeoutError {
    const [holder] = this.#running(session)
    const held = holder === undefined ? 'calls before it' : describeCall(holder)
    return later(
      `The call was not started within ${mostWait.toLocaleString('en')} ms: in its session ${held} runs, and one of the two tools runs beside no other.`,
    )
  }

  /** Lets the clocks of the waiting calls of a session run as long as they wait for work whose own calls are over. */
  #count(session: string): void {
    const { waiting = [] } = this.#lines.get(session) ?? {}
    if (waiting.length === 0) return
    const isLate = [...this.#running(session)].every((call) => this.#late.has(call))
    for (const { call } of waiting) call.deadline.countOutside(isLate ? () => this.#lateness(call) : undefined)
  }

  #lateness({ session }: Confirmed): ToolTimeoutError {
    const [holder] = this.#running(session)
    const work = holder === undefined ? 'work' : `the work of ${describeCall(holder)}`
    return later(`The time of the call was over while it waited for ${work}, which goes on after its own call.`)
  }

  *#running(session: string): Generator<Received, void, undefined> {
    for (const call of this.#inFlight) if (call.isRunning && call.session === session) yield call
    for (const call of this.#late) if (call.session === session) yield call
  }

  /** Starts the calls that may run now. Deletes the line if none of its calls runs alone or waits. */
  #advance(session: string): void {
    const line = this.#lines.get(session)
    if (line === undefined) return
    const running = [...this.#running(session)]
    let isFree = running.length === 0
    let isAlone = running.some((call) => stageFields(call).tool?.traits.concurrent === false)
    for (let next = line.waiting[0]; next !== undefined && !isAlone; next = line.waiting[0]) {
      const { concurrent } = next.call.tool.traits
      if (!concurrent && !isFree) break
      line.waiting.shift()
      line.movedAt = performance.now()
      isFree = false
      next.call.isRunning = true
      isAlone = !concurrent
      clearTimeout(next.timer)
      next.call.deadline.countOutside()
      next.begin()
    }
    this.#count(session)
    if (line.waiting.length === 0 && !isAlone) this.#lines.delete(session)
  }
}

interface SessionLine {
  readonly waiting: Waiting[]
  /** When the last call of the line started, in milliseconds of the monotonic clock. */
  movedAt: number
}

interface Waiting {
  readonly call: Confirmed
  readonly begin: () => void
  readonly refuse: (error: ToolTimeoutError) => void
  timer: ReturnType<typeof setTimeout> | undefined
}

function later(words: string): ToolTimeoutError {
  return new ToolTimeoutError(words, { retryable: true, recommendations: ['Call the tool again later.'] })
}

function describeCall({ name, invocationId }: Received): string {
  return `tool ${JSON.stringify(name)} (invocation ${JSON.stringify(invocationId)})`
}
