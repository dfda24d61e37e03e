import type { Observer } from '../extension.ts'
import { terminalJson, type Host } from './host.ts'

/**
 * Returns an observer that writes every event as one line of JSON on stderr. It leaves out the token of a waiting call,
 * because the token is a capability. It replaces fields that are not JSON, such as some progress, with `[not JSON]`.
 */
export function eventLines({ stderr }: Host): Observer {
  return (event) => {
    const { token: _token, ...rest } = event as typeof event & { readonly token?: string }
    stderr.write(`${eventLine(rest)}\n`)
  }
}

function eventLine(event: object): string {
  try {
    return terminalJson(event)
  } catch {
    return terminalJson(Object.fromEntries(Object.entries(event).map(([name, value]) => [name, sayable(value)])))
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
