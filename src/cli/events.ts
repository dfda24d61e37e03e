import type { Observer } from '../index.ts'
import { jsonText, type Host } from './host.ts'

/**
 * Writes every event as one line of JSON on stderr. The token of a paused call is a capability, and stays out; what JSON
 * cannot hold, as progress of any kind may be, is named in its place.
 */
export function eventLines({ stderr }: Host): Observer {
  return (event) => {
    const { token: _token, ...rest } = event as typeof event & { readonly token?: string }
    stderr.write(`${lineOf(rest)}\n`)
  }
}

function lineOf(event: object): string {
  try {
    return jsonText(event)
  } catch {
    return jsonText(Object.fromEntries(Object.entries(event).map(([name, value]) => [name, sayable(value)])))
  }
}

function sayable(value: unknown): unknown {
  try {
    JSON.stringify(value)
    return value
  } catch {
    return '[not JSON]'
  }
}
