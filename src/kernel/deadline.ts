import { InvalidConfigurationError, ToolCancelledError, ToolTimeoutError, type ToolError } from './errors.ts'
import type { Deadline } from './parcel.ts'

const longestTimer = 2 ** 31 - 1

/** What a timer can wait for, of what was asked; a longer wait would be over at once. */
export function timerLength(milliseconds: number): number {
  return Math.min(Math.max(0, milliseconds), longestTimer)
}

/** In the next turn of the event loop, by whatever the platform has for that. */
function soon(task: () => void): void {
  const { setImmediate } = globalThis as { setImmediate?: (task: () => void) => unknown }
  if (setImmediate === undefined) setTimeout(task, 0)
  else setImmediate(task)
}

/** Arms deadlines a turn of the event loop after their clocks have started: most work is done by then, and needs no timer. */
export class Alarms {
  #started: CallDeadline[] = []
  #most = 1_000
  #isDue = false

  add(deadline: CallDeadline): void {
    this.#started.push(deadline)
    if (this.#started.length > this.#most) {
      this.#started = this.#started.filter(({ isRunning }) => isRunning)
      this.#most = Math.max(1_000, this.#started.length * 2)
    }
    if (this.#isDue) return
    this.#isDue = true
    soon(() => {
      this.#isDue = false
      for (const started of this.#started.splice(0)) started.arm()
    })
  }
}

/** The clock of one call: it is started by the first wait, and a call that never waits never makes a timer. */
export class CallDeadline implements Deadline {
  #timeout = 0
  readonly #callerSignal: AbortSignal | undefined
  #remaining = Infinity
  #runningSince = 0
  #isRunning = false
  readonly #alarms: Alarms | undefined
  #timer: ReturnType<typeof setTimeout> | undefined
  #controller: AbortController | undefined
  #onAbort: (() => void) | undefined
  #ended = false
  #reason: ToolError | undefined
  #working = 0
  #outside = 0
  #releases: ((reason: ToolError) => void)[] | undefined

  /**
   * @param timeout Milliseconds; `0` or `Infinity` for none.
   * @param callerSignal Gives the call up.
   * @param alarms Sets the timer later; without them it is set at once.
   */
  constructor(timeout: number, callerSignal: AbortSignal | undefined, alarms?: Alarms) {
    this.limit(timeout)
    this.#callerSignal = callerSignal
    this.#alarms = alarms
  }

  limit(timeout: number): void {
    this.#timeout = timeout
    this.#remaining = timeout === 0 ? Infinity : timeout
  }

  cancel(message: string): void {
    this.#fail(new ToolCancelledError(message))
  }

  get signal(): AbortSignal {
    if (this.#controller === undefined) {
      this.#controller = new AbortController()
      if (this.#reason !== undefined) this.#controller.abort(this.#reason)
      else this.#listen()
    }
    return this.#controller.signal
  }

  get isOver(): boolean {
    return this.#ended
  }

  get isRunning(): boolean {
    return this.#isRunning
  }

  check(): void {
    if (this.#callerSignal !== undefined) this.#checkCaller(this.#callerSignal)
    if (this.#reason !== undefined) throw this.#reason
    if (this.#ended) throw new ToolCancelledError('The call is over.')
  }

  within<Value>(work: PromiseLike<Value>): Promise<Value> {
    this.#working++
    this.#startClock()
    return this.#race(work, false)
  }

  outside<Value>(wait: PromiseLike<Value>): Promise<Value> {
    this.#outside++
    this.#stopClock()
    return this.#race(wait, true)
  }

  end(): void {
    this.#ended = true
    this.#isRunning = false
    if (this.#timer !== undefined) clearTimeout(this.#timer)
    this.#timer = undefined
    if (this.#onAbort !== undefined) this.#callerSignal?.removeEventListener('abort', this.#onAbort)
    this.#onAbort = undefined
    this.#releases = undefined
  }

  #race<Value>(work: PromiseLike<Value>, isOutside: boolean): Promise<Value> {
    this.#listen()
    return new Promise((resolve, reject) => {
      this.#releases ??= []
      this.#releases.push(reject)
      // What the work does after it lost the race is heard by nobody, and so is never an unhandled rejection.
      work.then(
        (value) => {
          this.#leave(reject, isOutside)
          resolve(value)
        },
        (error: unknown) => {
          this.#leave(reject, isOutside)
          reject(error)
        },
      )
      if (this.#reason !== undefined) reject(this.#reason)
    })
  }

  #leave(release: (reason: ToolError) => void, isOutside: boolean): void {
    const place = this.#releases?.indexOf(release) ?? -1
    if (place >= 0) this.#releases?.splice(place, 1)
    if (isOutside) this.#outside--
    else this.#working--
    if (isOutside && this.#working > 0) this.#startClock() // the work around the wait goes on
  }

  #listen(): void {
    if (this.#ended || this.#onAbort !== undefined || this.#callerSignal === undefined) return
    if (this.#callerSignal.aborted) this.#giveUp()
    else {
      const onAbort = (): void => this.#giveUp()
      this.#callerSignal.addEventListener('abort', onAbort, { once: true })
      this.#onAbort = onAbort
    }
  }

  #startClock(): void {
    if (this.#ended || this.#outside > 0 || this.#isRunning || this.#remaining === Infinity) return
    this.#isRunning = true
    this.#runningSince = performance.now()
    if (this.#alarms === undefined) this.arm()
    else this.#alarms.add(this)
  }

  /** Sets the timer for what is left of the time, where the clock runs. */
  arm(): void {
    if (!this.#isRunning || this.#timer !== undefined) return
    const left = this.#remaining - (performance.now() - this.#runningSince)
    this.#timer = setTimeout(() => {
      this.#fail(new ToolTimeoutError(`The call was not done within ${this.#timeout.toLocaleString('en')} ms.`))
    }, timerLength(left))
  }

  #stopClock(): void {
    if (!this.#isRunning) return
    this.#isRunning = false
    if (this.#timer !== undefined) clearTimeout(this.#timer)
    this.#timer = undefined
    this.#remaining -= performance.now() - this.#runningSince
  }

  #checkCaller(signal: Partial<AbortSignal>): void {
    if (signal.aborted === true) this.#giveUp()
    else if (typeof signal.addEventListener !== 'function') {
      throw new InvalidConfigurationError('`signal` is not an AbortSignal. Pass the `signal` of an AbortController.')
    }
  }

  #giveUp(): void {
    const cause: unknown = this.#callerSignal?.reason
    this.#fail(new ToolCancelledError('The call was cancelled by its caller.', { cause }))
  }

  #fail(reason: ToolError): void {
    if (this.#reason !== undefined) return
    this.#reason = reason
    for (const release of this.#releases ?? []) release(reason)
    this.#controller?.abort(reason)
  }
}
