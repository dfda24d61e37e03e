import { InvalidConfigurationError, ToolCancelledError, type ToolError, ToolTimeoutError } from '../errors.ts'
import { asItIs, type Following, lend, lentReject, lentResolve, type Reject, type Resolve } from './following.ts'
import { Sharing } from './sharing.ts'

/** The longest time that a timer can wait, in milliseconds: 24.8 days. A longer one would end at once. */
export const longestTimer: number = 2 ** 31 - 1

/**
 * Limits a wait to what `setTimeout` can take.
 *
 * @param milliseconds The wait; `Infinity` for the longest, 2,147,483,647 ms. Negative ones count as 0.
 * @example setTimeout(() => console.log('never'), timerLength(Infinity)).unref()
 */
export function timerLength(milliseconds: number): number {
  return Math.min(Math.max(0, milliseconds), longestTimer)
}

interface Alarms {
  add(deadline: Deadline): void
}

/**
 * The time limit of a call. It counts work, and not the wait for people or slots. The first wait starts the clock, so a call
 * that never waits makes no timer.
 */
export class Deadline {
  #timeout = 0
  readonly #callerSignal: AbortSignal | undefined
  // Doubles from the start: a field that turns from an integer into one changes the hidden class.
  #remaining = 0.5
  #runningSince = 0.5
  #isRunning = false
  readonly #alarms: Alarms | undefined
  #timer: ReturnType<typeof setTimeout> | undefined
  #controller: AbortController | undefined
  #onAbort: (() => void) | undefined
  #ended = false
  #reason: ToolError | undefined
  #working = 0
  #outside = 0
  #release: Reject | undefined // of the innermost wait; mostly there is one
  #outerReleases: Reject[] | undefined
  #onRest: (() => void) | undefined
  /** Makes the error at the deadline if the clock runs outside too. */
  #reasonOutside: (() => ToolError) | undefined
  #sharing: Sharing | undefined

  /** @param alarms Decides when the timer is set. Default: at once. */
  constructor(timeout: number, callerSignal: AbortSignal | undefined, alarms?: Alarms) {
    this.limit(timeout)
    this.#callerSignal = callerSignal
    this.#alarms = alarms
  }

  /** Sets the time limit in milliseconds; `0` or `Infinity` for none. If the clock runs, it begins anew. */
  limit(timeout: number): void {
    const wasRunning = this.#isRunning
    if (wasRunning) this.#stopClock()
    this.#timeout = timeout
    this.#remaining = timeout === 0 ? Infinity : timeout
    if (wasRunning) this.#startClock()
  }

  /** Ends the call with an error of the package; a message makes it `E_TOOL_CANCELLED`. */
  cancel(reason: string | ToolError): void {
    this.#fail(typeof reason === 'string' ? new ToolCancelledError(reason) : reason)
  }

  /** Aborts at the deadline and when the caller cancels; made on first use. */
  get signal(): AbortSignal {
    if (this.#controller === undefined) {
      this.#controller = new AbortController()
      if (this.#reason !== undefined) this.#controller.abort(this.#reason)
      else this.#listen()
    }
    return this.#controller.signal
  }

  /** Whether the call has settled. Later progress is dropped. */
  get isOver(): boolean {
    return this.#ended
  }

  get isRunning(): boolean {
    return this.#isRunning
  }

  /** How many waits for work continue, also those of a cancelled call. */
  get works(): number {
    return this.#working
  }

  /** Calls the listener each time the last work ends. */
  onRest(listener: () => void): void {
    this.#onRest = listener
  }

  /**
   * Says that another call waits for the work of this one. As long as one does, a caller that gives up is released alone, and the
   * work goes on.
   *
   * @returns A function that ends this. If the caller has given up, and nothing waits any more, the call ends.
   */
  share(): () => void {
    return this.#shared.add()
  }

  /** Calls the listener if the caller gives up while others wait for the work. */
  onRelease(listener: (reason: ToolError) => void): void {
    this.#shared.onRelease = listener
  }

  get #shared(): Sharing {
    return (this.#sharing ??= new Sharing((reason) => this.#fail(reason)))
  }

  /** Throws if the deadline has passed, the caller has cancelled, or the call is over. */
  check(): void {
    const signal: Partial<AbortSignal> | undefined = this.#callerSignal
    if (signal?.aborted === true) this.#giveUp()
    else if (signal !== undefined && typeof signal.addEventListener !== 'function') {
      throw new InvalidConfigurationError('`signal` is not an AbortSignal. Pass the `signal` of an AbortController.')
    }
    if (this.#reason !== undefined) throw this.#reason
    if (this.#ended) throw callIsOver()
  }

  /** Waits for work. Rejects at the deadline or on abort, even if the work continues. `take` and `fail` are those of `Following`. */
  within<Value, Next = Value>(
    work: Value | PromiseLike<Value>,
    take: (value: Value) => Next | PromiseLike<Next> = asItIs,
    fail?: (error: unknown) => never,
  ): Promise<Next> {
    return this.follow(work, { take, fail }, undefined, undefined)
  }

  /** Waits for work as `within` does, and says what becomes of it by one object for all calls. */
  follow<Value, Next, Call, Around>(
    work: Value | PromiseLike<Value>,
    following: Following<Value, Next, Call, Around>,
    call: Call,
    around: Around,
  ): Promise<Next> {
    this.#working++
    this.#startClock()
    return this.#race(work, false, following, call, around)
  }

  /** Waits for a person or a slot. The clock stops meanwhile; abort still ends the wait. */
  outside<Value, Next = Value>(
    wait: Value | PromiseLike<Value>,
    take: (value: Value) => Next | PromiseLike<Next> = asItIs,
  ): Promise<Next> {
    this.#outside++
    if (this.#reasonOutside === undefined) this.#stopClock()
    return this.#race(wait, true, { take }, undefined, undefined)
  }

  /** Lets the clock run outside too, and `reason` make the error at the deadline. Without it, the clock stops there again. */
  countOutside(reason?: () => ToolError): void {
    this.#reasonOutside = reason
    if (reason !== undefined) this.#startClock()
    else if (this.#outside > 0) this.#stopClock()
  }

  /** Stops the clock and unsubscribes from the caller's signal. */
  end(): void {
    this.#ended = true
    this.#isRunning = false
    if (this.#timer !== undefined) clearTimeout(this.#timer)
    this.#timer = undefined
    if (this.#onAbort !== undefined) this.#callerSignal?.removeEventListener('abort', this.#onAbort)
    this.#onAbort = undefined
  }

  #race<Value, Next, Call, Around>(
    work: Value | PromiseLike<Value>,
    isOutside: boolean,
    following: Following<Value, Next, Call, Around>,
    call: Call,
    around: Around,
  ): Promise<Next> {
    this.#listen()
    const outcome = new Promise<Next>(lend)
    const reject = lentReject
    if (this.#release !== undefined) (this.#outerReleases ??= []).push(this.#release)
    this.#release = reject
    void this.#follow(work, isOutside, following, call, around, lentResolve as Resolve<Next>, reject)
    if (this.#reason !== undefined) reject(this.#reason)
    return outcome
  }

  /**
   * `await` follows the work to its end, also a thenable that gives another thenable. Only then is `resolve` called: after
   * that, the deadline could not reject the promise any more.
   */
  async #follow<Value, Next, Call, Around>(
    work: Value | PromiseLike<Value>,
    isOutside: boolean,
    following: Following<Value, Next, Call, Around>,
    call: Call,
    around: Around,
    resolve: Resolve<Next>,
    reject: Reject,
  ): Promise<void> {
    let isDone = false
    try {
      const value = await work
      isDone = true
      if (this.#leave(reject, isOutside)) resolve(following.take(value, call, around))
      else {
        following.late?.(false, call, around)
        reject(callIsOver())
      }
    } catch (error) {
      if (!isDone && !this.#leave(reject, isOutside)) following.late?.(true, call, around)
      try {
        following.fail?.(error, call, around)
        reject(error)
      } catch (thrown) {
        reject(thrown)
      }
    }
  }

  /** Ends a wait. Returns whether the call still waits: it was neither cancelled nor settled without the work. */
  #leave(release: Reject, isOutside: boolean): boolean {
    if (this.#release === release) this.#release = this.#outerReleases?.pop()
    else this.#outerReleases = this.#outerReleases?.filter((outer) => outer !== release)
    if (isOutside) this.#outside--
    else this.#working--
    if (isOutside && this.#working > 0) this.#startClock() // the work around this wait continues
    if (this.#working === 0 && this.#onRest !== undefined) this.#onRest()
    return this.#reason === undefined && !this.#ended
  }

  #listen(): void {
    if (this.#ended || this.#onAbort !== undefined || this.#callerSignal === undefined) return
    if (this.#callerSignal.aborted) return this.#giveUp()
    this.#onAbort = () => this.#giveUp()
    this.#callerSignal.addEventListener('abort', this.#onAbort, { once: true })
  }

  #startClock(): void {
    const isStopped = this.#outside > 0 && this.#reasonOutside === undefined
    if (this.#ended || isStopped || this.#isRunning || this.#remaining === Infinity) return
    this.#isRunning = true
    this.#runningSince = performance.now()
    if (this.#alarms === undefined) this.arm()
    else this.#alarms.add(this)
  }

  /** Sets the timer for the remaining time, if the clock runs. */
  arm(): void {
    if (!this.#isRunning || this.#timer !== undefined) return
    const left = this.#remaining - (performance.now() - this.#runningSince)
    this.#timer = setTimeout(() => {
      const words = `The call was not done within ${this.#timeout.toLocaleString('en')} ms.`
      this.#fail(this.#reasonOutside?.() ?? new ToolTimeoutError(words))
    }, timerLength(left))
  }

  #stopClock(): void {
    if (!this.#isRunning) return
    this.#isRunning = false
    clearTimeout(this.#timer)
    this.#timer = undefined
    this.#remaining -= performance.now() - this.#runningSince
  }

  #giveUp(): void {
    const cause: unknown = this.#callerSignal?.reason
    const reason = new ToolCancelledError('The call was cancelled by its caller.', { cause })
    if (this.#sharing?.keeps(reason) !== true) this.#fail(reason)
  }

  #fail(reason: ToolError): void {
    if (this.#reason !== undefined) return
    this.#reason = reason
    for (const release of [...(this.#outerReleases ?? []), this.#release]) release?.(reason)
    this.#controller?.abort(reason)
  }
}

function callIsOver(): ToolCancelledError {
  return new ToolCancelledError('The call is over.')
}
