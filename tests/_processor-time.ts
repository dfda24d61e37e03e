/** At least so much is measured, in milliseconds: on some machines the clock of processor time moves by 10 ms at a time. */
const leastMeasured = 200

/** The processor time that this process has taken, in milliseconds. That of another process does not count, however busy the machine is. */
function taken(): number {
  const { user, system } = process.cpuUsage()
  return (user + system) / 1_000
}

/**
 * Returns the processor time that a piece of work takes, in milliseconds: the mean of as many rounds as take `least` milliseconds
 * together. If a single round is to be held to a limit of seconds, `least` is 0.
 */
export async function processorTime(work: () => unknown, least: number = leastMeasured): Promise<number> {
  const before = taken()
  for (let rounds = 1; ; rounds++) {
    await work()
    const all = taken() - before
    if (all >= least) return all / rounds
  }
}

/** Waits for some work; returns the most processor time that was taken between two turns of the event loop, in milliseconds. */
export async function longestTurn(work: Promise<unknown>): Promise<number> {
  let longest = 0
  let last = taken()
  const turn = (): void => {
    const now = taken()
    longest = Math.max(longest, now - last)
    last = now
  }
  const beat = setInterval(turn, 5)
  await work.finally(() => clearInterval(beat))
  turn()
  return longest
}
