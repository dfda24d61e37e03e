import { isToolError } from '../index.ts'

const [shortestRetry, longestRetry] = [500, 30_000]
/** The longest wait for another worker after one has refused a call, in milliseconds: it may be idle. */
const longestRefused = 2_000

/**
 * Returns how long to wait before a call is tried again, in milliseconds: twice as long each time, with some chance. A call that
 * a worker cannot run, which another may, waits no longer the more workers refuse it.
 */
export function backoff(attempt: number, error: unknown): number {
  if (isToolError(error) && error.code === 'E_UNAVAILABLE') {
    return Math.round(shortestRetry + Math.random() * (longestRefused - shortestRetry))
  }
  const most = Math.min(longestRetry, shortestRetry * 2 ** Math.min(attempt - 1, 10))
  return Math.round(most * (0.75 + Math.random() / 4))
}
