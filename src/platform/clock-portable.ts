// On some platforms a timer belongs to the request that set it, and dies with it: no call may wait for another call's timer.

/** Lets the process end although a timer is set. On some platforms a timer is a number, which keeps no process alive. */
export function unref(timer: unknown): void {
  ;(timer as { unref?: () => void }).unref?.()
}

/** How long to keep what may be needed again soon, in milliseconds: no timer would end it. */
export const keptFor: number = 0

/** Sets the timer of each call when its clock starts. */
export class Alarms {
  add(clock: { arm(): void }): void {
    clock.arm()
  }
}

/** Repeats the signs of life of an executor for as long as a call of it runs. Each call has its own timer. */
export class Pulse {
  readonly #beat: () => void
  readonly #interval: number
  readonly #timers = new Map<object, ReturnType<typeof setInterval>>()
  #beatAt = -Infinity
  #hasStopped = false

  /**
   * @param beat Gives a sign of life.
   * @param interval Milliseconds between two of them.
   */
  constructor(beat: () => void, interval: number) {
    this.#beat = beat
    this.#interval = interval
  }

  /**
   * Gives a sign of life, unless the last one is recent.
   *
   * @param call Repeats the signs of life until this call is released.
   */
  start(call?: object): void {
    if (this.#hasStopped) return
    this.#beatIfDue()
    if (call === undefined || this.#timers.has(call)) return
    const timer = setInterval(() => this.#beatIfDue(), this.#interval)
    unref(timer)
    this.#timers.set(call, timer)
  }

  release(call: object): void {
    clearInterval(this.#timers.get(call))
    this.#timers.delete(call)
  }

  stop(): void {
    this.#hasStopped = true
    for (const timer of this.#timers.values()) clearInterval(timer)
    this.#timers.clear()
  }

  /** The timers of two calls are out of step, so half an interval is long enough. */
  #beatIfDue(): void {
    const now = performance.now()
    if (now - this.#beatAt < this.#interval / 2) return
    this.#beatAt = now
    this.#beat()
  }
}
