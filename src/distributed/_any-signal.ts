/** The work that each signal is to end. A signal goes through all of its listeners for one that comes or goes, so it has one for all. */
const followers = new WeakMap<AbortSignal, Set<AbortController>>()

/** Does work with a signal that aborts when one of these does. */
export async function withAny<Value>(
  signals: readonly (AbortSignal | undefined)[],
  work: (signal: AbortSignal) => Promise<Value>,
): Promise<Value> {
  const either = new AbortController()
  const followed: Set<AbortController>[] = []
  for (const signal of signals) {
    if (signal?.aborted) either.abort(signal.reason)
    else if (signal !== undefined) followed.push(followersOf(signal).add(either))
  }
  try {
    return await work(either.signal)
  } finally {
    for (const each of followed) each.delete(either)
  }
}

function followersOf(signal: AbortSignal): Set<AbortController> {
  const former = followers.get(signal)
  if (former !== undefined) return former
  const own = new Set<AbortController>()
  const abort = (): void => {
    for (const follower of own) follower.abort(signal.reason)
  }
  signal.addEventListener('abort', abort, { once: true })
  followers.set(signal, own)
  return own
}
