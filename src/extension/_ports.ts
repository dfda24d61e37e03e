import { causesOf } from './_causes.ts'

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
  const isRefused = causesOf(thrown).some(({ message }) => message === 'bad port' || blockedInDeno.test(message))
  return isRefused
    ? '`fetch` refuses this port: let the server listen at another one, or give a `fetch` that takes it'
    : undefined
}
