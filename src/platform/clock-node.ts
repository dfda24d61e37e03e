/** The clock of a call. */
interface Clock {
  readonly isRunning: boolean
  /** Sets the timer for the remaining time, if the clock runs. */
  arm(): void
}

/** Lets the process end although a timer is set. On some platforms a timer is a number, which keeps no process alive. */
export function unref(timer: unknown): void {
  ;(timer as { unref?: () => void }).unref?.()
}

/** How long to keep what may be needed again soon, in milliseconds. */
export const keptFor: number = 30_000

/** Sets timers one round of the event loop after the clocks start. Most work is done by then and needs no timer. */
export class Alarms {
  #started: Clock[] = []
  #most = 64
  #isDue = false

  add(clock: Clock): void {
    this.#started.push(clock)
    if (this.#started.length > this.#most) {
      this.#started = this.#started.filter(({ isRunning }) => isRunning)
      this.#most = Math.max(64, this.#started.length * 2)
    }
    if (this.#isDue) return
    this.#isDue = true
    setImmediate(() => {
      this.#isDue = false
      for (const started of this.#started.splice(0)) started.arm()
    })
  }
}

/** Repeats the signs of life of an executor, from the first until it stops. One timer is enough. */
export class Pulse {
  readonly #beat: () => void
  readonly #interval: number
  #timer: ReturnType<typeof setInterval> | undefined
  #hasStopped = false

  /**
   * @param beat Gives a sign of life.
   * @param interval Milliseconds between two of them.
   */
  constructor(beat: () => void, interval: number) {
    this.#beat = beat
    this.#interval = interval
  }

  /** Starts the signs of life, which end with the process. */
  start(_call?: object): void {
    if (this.#timer !== undefined || this.#hasStopped) return
    this.#beat()
    this.#timer = setInterval(this.#beat, this.#interval)
    unref(this.#timer)
  }

  /** On other platforms each call has signs of life of its own, which end here. */
  release(_call: object): void {}

  stop(): void {
    this.#hasStopped = true
    clearInterval(this.#timer)
    this.#timer = undefined
  }
}
