/** After so many milliseconds others get a chance to run. */
const longestWork = 12
/** So many pieces of work are one turn if the clock stands still, as it does in a Worker while code runs. */
const mostUntimed = 32

/** Returns a function to wait for after each piece of long work: now and then it lets others run. */
export function workInTurns(): () => undefined | Promise<void> {
  let since = performance.now()
  let pieces = 0
  return () => {
    pieces++
    const time = performance.now() - since
    return (time === 0 ? pieces < mostUntimed : time < longestWork) ? undefined : othersHaveRun()
  }

  async function othersHaveRun(): Promise<void> {
    try {
      await new Promise((resolve) => setTimeout(resolve))
    } catch {
      // While the modules of a Worker load there are no timers, and there is no other work.
    }
    since = performance.now()
    pieces = 0
  }
}
