const blockedInDeno = /^Fetch failed: Requests to port \d+ are blocked$/

/**
 * Returns what to do about a port that `fetch` refuses, or `undefined` if something else was thrown. Platforms refuse the ports of some
 * other protocols, and say no more than `bad port` deep in the causes; Deno says a little more.
 *
 * @param thrown What `fetch` threw, or an error that has it as a cause.
 * @example
 * ```ts
 * import { refusedPortAdvice } from 'toolwright/extension'
 *
 * await fetch('http://127.0.0.1:6000').catch((error: unknown) => console.log(refusedPortAdvice(error)))
 * ```
 */
export function refusedPortAdvice(thrown: unknown): string | undefined {
  try {
    let last = thrown as { readonly message?: unknown; readonly cause?: unknown } | null | undefined
    for (let depth = 0; depth < 8 && typeof last === 'object' && last !== null; depth++) {
      const { message } = last
      if (message === 'bad port' || (typeof message === 'string' && blockedInDeno.test(message)))
        return '`fetch` refuses this port: let the server listen at another one, or give a `fetch` that takes it'
      last = last.cause as typeof last
    }
  } catch {
    // what cannot be read is another error
  }
  return undefined
}
