/** Steps between two looks at the clock. */
const clockSteps = 16
/** Steps after which the loop yields regardless of the clock: on some platforms it stands still until then. */
const mostSteps = 4_096
/** Milliseconds of work after which the loop yields. */
const sliceTime = 10

/** Keeps a loop over foreign input from starving the process: input that is always ready never yields. */
export class Pace {
  #steps = 0
  #yieldedAt = performance.now()

  /** Counts a step of the loop. Returns a promise if timers and sockets are due. */
  step(): Promise<void> | undefined {
    if (++this.#steps % clockSteps !== 0) return undefined
    if (this.#steps < mostSteps && performance.now() - this.#yieldedAt < sliceTime) return undefined
    return new Promise((resolve) => {
      soon(() => {
        this.#steps = 0
        this.#yieldedAt = performance.now()
        resolve()
      })
    })
  }
}

function soon(task: () => void): void {
  const { setImmediate } = globalThis as { setImmediate?: (task: () => void) => unknown }
  if (setImmediate === undefined) setTimeout(task, 0)
  else setImmediate(task)
}
