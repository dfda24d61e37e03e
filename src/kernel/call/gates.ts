import { ToolTimeoutError } from '../errors.ts'
import { stageFields, type Confirmed, type Received, type Slots } from './parcel.ts'
import type { Gates } from '../kernel.ts'

/** A fixed number of slots. A call that finds none free waits in line. */
export class TurnSlots implements Slots {
  #free: number
  /** In the order of arrival. */
  readonly #waiting = new Map<Promise<void>, () => void>()

  constructor(count: number) {
    this.#free = count
  }

  enter(): Promise<void> | undefined {
    if (this.#free > 0) {
      this.#free--
      return undefined
    }
    let begin = (): void => {}
    const turn = new Promise<void>((resolve) => (begin = resolve))
    this.#waiting.set(turn, begin)
    return turn
  }

  leave(turn: Promise<void> | undefined): void {
    if (turn !== undefined && this.#waiting.delete(turn)) return // it left the line before its turn came
    for (const [next, begin] of this.#waiting) {
      this.#waiting.delete(next)
      begin()
      return
    }
    this.#free++
  }
}

/** Milliseconds. */
interface Limits {
  /** How long the same calls may block the line. */
  readonly turn: number
  /** How long work may outlive its call before other calls stop waiting for it. */
  readonly late: number
}

const defaultLimits: Limits = { turn: 60_000, late: 30_000 }

/**
 * Decides which calls of a session run at the same time. Calls of a tool that is not concurrent run alone, in the order of
 * arrival. A call counts as running until its work has ended, even if the call was cancelled before.
 */
export class SessionGates implements Gates {
  readonly #inFlight: Iterable<Received>
  readonly #report: (error: unknown) => void
  readonly #limits: Limits
  /** The lines of the sessions in which a call runs alone or waits. Other sessions have none. */
  readonly #lines = new Map<string, Line>()
  /** Calls that have settled while their work continues. */
  readonly #late = new Set<Received>()

  constructor(inFlight: Iterable<Received>, report: (error: unknown) => void, limits: Limits = defaultLimits) {
    this.#inFlight = inFlight
    this.#report = report
    this.#limits = limits
  }

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
      if (!call.isRunning) this.#limit(waiting, this.#limits.turn)
    })
  }

  hasLine(session: string): boolean {
    return this.#lines.size > 0 && this.#lines.has(session)
  }

  leave(call: Received): void {
    if (call.isRunning && call.deadline.isWorking) this.#linger(call)
    else this.#leave(call)
  }

  /** Keeps the place of a call whose work continues, up to the limit. */
  #linger(call: Received): void {
    const { late } = this.#limits
    const end = (): void => {
      clearTimeout(timer)
      this.#late.delete(call)
      this.#leave(call)
    }
    const timer = setTimeout(() => {
      const isInTheWay = this.#lines.has(call.session)
      end()
      if (!isInTheWay) return
      const work = `The work of ${describeCall(call)} goes on ${late.toLocaleString('en')} ms after its call was over`
      this.#report(new ToolTimeoutError(`${work}: other calls of its session no longer wait for it.`))
    }, late)
    ;(timer as { unref?: () => void }).unref?.() // it keeps no process alive
    this.#late.add(call)
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
      const left = this.#limits.turn - (performance.now() - movedAt)
      if (left > 0) this.#limit(waiting, left)
      else waiting.refuse(this.#refusal(waiting.call))
    }, milliseconds)
  }

  #refusal({ session }: Confirmed): ToolTimeoutError {
    const [holder] = this.#running(session)
    const held = holder === undefined ? 'calls before it' : describeCall(holder)
    const words = `The call had no turn within ${this.#limits.turn.toLocaleString('en')} ms: in its session ${held} runs, and one of the two tools runs beside no other.`
    return new ToolTimeoutError(words, { retryable: true, recommendations: ['Call the tool again later.'] })
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
      next.begin()
    }
    if (line.waiting.length === 0 && !isAlone) this.#lines.delete(session)
  }
}

interface Line {
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

function describeCall({ name, invocationId }: Received): string {
  return `tool ${JSON.stringify(name)} (invocation ${JSON.stringify(invocationId)})`
}
