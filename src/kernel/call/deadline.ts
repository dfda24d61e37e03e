import type { Alarms } from '#clock'
import { InvalidConfigurationError, ToolCancelledError, type ToolError, ToolTimeoutError } from '../errors.ts'
import type { Deadline } from './parcel.ts'

const longestTimer = 2 ** 31 - 1

/** Limits a wait to the longest that a timer can take. A longer one would end at once. */
export function timerLength(milliseconds: number): number {
  return Math.min(Math.max(0, milliseconds), longestTimer)
}

/**
 * Waits for work that the package does not control, for a limited time. Later outcomes are ignored.
 *
 * @param milliseconds How long the work may take.
 * @param late Makes the error if the work takes longer.
 * @param next Reads the value at once. A value that passes through a promise first may be a thenable that delays it.
 */
export function limited<Value, Next = Value>(
  work: Value | PromiseLike<Value>,
  milliseconds: number,
  late: () => ToolError,
  next?: (value: Value) => Next | PromiseLike<Next>,
): Promise<Next> {
  return new Promise((resolve, reject) => {
    let isLate = false
    const timer = setTimeout(() => {
      isLate = true
      reject(late())
    }, timerLength(milliseconds))
    const follow = async (): Promise<void> => {
      try {
        const value = await work
        clearTimeout(timer)
        if (!isLate) resolve(next === undefined ? (value as unknown as Next) : next(value))
      } catch (error) {
        clearTimeout(timer)
        reject(error)
      }
    }
    void follow()
  })
}

/** Work that the call waits for, and the functions that take its outcome. */
interface Waiting<Value, Next> {
  readonly work: Value | PromiseLike<Value>
  readonly next: ((value: Value) => Next | PromiseLike<Next>) | undefined
  readonly late: ((isError: boolean) => void) | undefined
  readonly isOutside: boolean
}

/** The clock of one call. The first wait starts it, so a call that never waits makes no timer. */
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
  #onRest: (() => void) | undefined

  /**
   * @param timeout Milliseconds; `0` or `Infinity` for no limit.
   * @param callerSignal Cancels the call.
   * @param alarms Decides when the timer is set. Default: at once.
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

  get isWorking(): boolean {
    return this.#working > 0
  }

  onRest(listener: () => void): void {
    this.#onRest = listener
  }

  check(): void {
    if (this.#callerSignal !== undefined) this.#checkCaller(this.#callerSignal)
    if (this.#reason !== undefined) throw this.#reason
    if (this.#ended) throw new ToolCancelledError('The call is over.')
  }

  within<Value, Next = Value>(
    work: Value | PromiseLike<Value>,
    next?: (value: Value) => Next | PromiseLike<Next>,
    late?: (isError: boolean) => void,
  ): Promise<Next> {
    this.#working++
    this.#startClock()
    return this.#race({ work, next, late, isOutside: false })
  }

  outside<Value, Next = Value>(
    wait: Value | PromiseLike<Value>,
    next?: (value: Value) => Next | PromiseLike<Next>,
  ): Promise<Next> {
    this.#outside++
    this.#stopClock()
    return this.#race({ work: wait, next, late: undefined, isOutside: true })
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

  #race<Value, Next>(waiting: Waiting<Value, Next>): Promise<Next> {
    this.#listen()
    return new Promise((resolve, reject) => {
      this.#releases ??= []
      this.#releases.push(reject)
      void this.#follow(waiting, resolve, reject)
      if (this.#reason !== undefined) reject(this.#reason)
    })
  }

  /**
   * `await` follows the work to its end, also a thenable that gives another thenable. Only then is `resolve` called: after
   * that, the deadline could not reject the promise any more.
   */
  async #follow<Value, Next>(
    { work, next, late, isOutside }: Waiting<Value, Next>,
    resolve: (value: Next | PromiseLike<Next>) => void,
    reject: (reason: unknown) => void,
  ): Promise<void> {
    let value: Value
    try {
      value = await work
    } catch (error) {
      this.#leave(reject, isOutside)
      if (this.#isLost) late?.(true)
      reject(error)
      return
    }
    this.#leave(reject, isOutside)
    if (this.#isLost) {
      late?.(false)
      reject(new ToolCancelledError('The call is over.'))
      return
    }
    try {
      resolve(next === undefined ? (value as unknown as Next) : next(value))
    } catch (error) {
      reject(error)
    }
  }

  /** Whether work that ends now is late: the call was cancelled or has settled without it. */
  get #isLost(): boolean {
    return this.#reason !== undefined || this.#ended
  }

  #leave(release: (reason: ToolError) => void, isOutside: boolean): void {
    const place = this.#releases?.indexOf(release) ?? -1
    if (place >= 0) this.#releases?.splice(place, 1)
    if (isOutside) this.#outside--
    else this.#working--
    if (isOutside && this.#working > 0) this.#startClock() // the work around this wait continues
    if (this.#working === 0 && this.#onRest !== undefined) this.#onRest()
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

  /** Sets the timer for the remaining time, if the clock runs. */
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
