const [shortest, longest] = [500, 30_000]

/** Returns how long to wait before a call is tried again, in milliseconds: twice as long each time, with some chance. */
export function backoff(attempt: number): number {
  const most = Math.min(longest, shortest * 2 ** Math.min(attempt - 1, 10))
  return Math.round(most * (0.75 + Math.random() / 4))
}
