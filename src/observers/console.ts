/**
 * Events as lines for people and logs. This leaf writes and steers nothing: it never writes the token of a call that waits,
 * never lets a text of a tool or a model reach the terminal unescaped, and never writes more than a few lines' worth.
 *
 * @module
 */
import { InvalidConfigurationError, type CallStatus, type Extension, type Observer, type ToolEvent } from '../index.ts'
import { escaped, preview, start } from './_line.ts'

export interface ConsoleObserverOptions {
  /** Takes one line, without its end. Default: `console.error`, so that what a program prints stays its own. */
  readonly write?: (line: string) => void
  /** `text` for people, `json` for programs: one object on each line. Default: `'text'`. */
  readonly format?: 'text' | 'json'
  /** Whether lines of `text` are coloured. Default: `false`. */
  readonly color?: boolean
}

const longestValue = 200
const longestWords = 1_000
const longestName = 128

const colors: Readonly<Record<CallStatus, number>> = {
  ok: 32,
  error: 31,
  denied: 31,
  timed_out: 31,
  cancelled: 31,
  pending: 33,
}

/**
 * Writes one line for each event.
 *
 * Args, inputs and progress are cut at 200 characters, messages at 1,000; control and direction characters are escaped. In
 * `json`, a value that was cut is the beginning of its own JSON, as a string. `token` is left out.
 *
 * @param options Where to, and how. What `write` throws is reported by the executor as the fault of an observer.
 * @throws `E_INVALID_CONFIGURATION` where an option is wrong.
 * @example
 * ```ts
 * import { createExecutor } from 'toolwright'
 * import { consoleObserver } from 'toolwright/observers/console'
 *
 * const executor = createExecutor({ use: [consoleObserver({ color: true })] })
 * ```
 * @experimental
 */
export function consoleObserver(
  options: ConsoleObserverOptions = {},
): Extension & { readonly observers: readonly [Observer] } {
  // oxlint-disable-next-line eslint/no-console -- the documented default
  const { write = (line: string) => console.error(line), format = 'text', color = false } = options
  if (typeof write !== 'function') throw wrong('takes a function as `write`')
  if (format !== 'text' && format !== 'json') throw wrong('takes "text" or "json" as `format`')
  const lineOf = format === 'json' ? jsonLine : (event: ToolEvent) => textLine(event, color === true)
  return {
    observers: [
      (event) => {
        let line: string
        try {
          line = lineOf(event)
        } catch {
          line = format === 'json' ? '{"event":"[unreadable]"}' : '[unreadable]' // an error of somebody's own making may throw when it is read
        }
        write(line)
      },
    ],
  }
}

function wrong(message: string): InvalidConfigurationError {
  return new InvalidConfigurationError(`\`consoleObserver\` ${message}.`)
}

/** A short text of anybody's, on one line. */
function words(text: unknown, longest = longestName): string {
  return escaped(start(typeof text === 'string' ? text : preview(text, longest).text, longest))
}

/** The beginning of a value of an event. */
function value(event: ToolEvent, name: string): string {
  const given = read(event, name)
  return given === undefined ? '' : preview(given, longestValue).text
}

/** What an event says; what stands in it may break when it is read. */
function read(event: ToolEvent, name: string): unknown {
  try {
    return (event as unknown as Record<string, unknown>)[name]
  } catch {
    return '[unreadable]'
  }
}

function textLine(event: ToolEvent, isColored: boolean): string {
  const time = new Date(event.timestamp).toISOString()
  const color = event.event === 'call:settled' ? colors[event.status] : 36
  const name = isColored ? `\u001b[${color}m${event.event}\u001b[39m` : event.event
  const parts = [time, name, words(event.toolName), words(event.invocationId), ...detailsOf(event)]
  return parts.filter((part) => part !== '').join(' ')
}

function detailsOf(event: ToolEvent): readonly string[] {
  switch (event.event) {
    case 'call:received':
      return [value(event, 'args')]
    case 'call:paused':
      return [
        words(event.reason),
        words(event.prompt, longestWords),
        event.why === undefined ? '' : `because ${words(event.why, longestWords)}`,
      ]
    case 'call:resumed':
      return [
        words(event.decision),
        event.decidedBy === undefined ? '' : `by ${words(event.decidedBy)}`,
        event.note === undefined ? '' : words(event.note, longestWords),
      ]
    case 'tool:start':
      return [value(event, 'input')]
    case 'tool:progress':
      return [words(event.type), value(event, 'data')]
    case 'tool:end':
      return [event.isError ? 'failed' : 'done', duration(event.durationMs)]
    case 'call:settled': {
      const { status, effect, error, result, durationMs } = event
      const size = result === undefined ? '' : `${result.byteLength} bytes`
      const message = error === undefined ? '' : `${words(error.code)} ${words(error.message, longestWords)}`
      return [words(status), `effect ${words(effect)}`, duration(durationMs), size, message]
    }
    default:
      return []
  }
}

function duration(milliseconds: number): string {
  return `${Math.round(milliseconds * 10) / 10} ms`
}

/** Fields whose values are anybody's, and as large as they please. */
const open = new Set(['args', 'input', 'data', 'meta'])

function jsonLine(event: ToolEvent): string {
  const members: string[] = []
  for (const name of Object.keys(event)) {
    const given = name === 'token' ? undefined : read(event, name)
    if (given === undefined) continue
    const { text, isWhole } = preview(name === 'error' ? errorOf(given) : given, lengthOf(name))
    members.push(`${JSON.stringify(name)}:${isWhole ? text : escaped(JSON.stringify(text))}`)
  }
  return `{${members.join(',')}}`
}

function lengthOf(name: string): number {
  if (open.has(name)) return longestValue
  return name === 'error' ? longestWords * 2 : longestWords
}

/** Of an error, what may be written down: never its cause and its stack. */
function errorOf(error: unknown): unknown {
  const { name, code, message, category, retryable } = error as Partial<Record<string, unknown>>
  return {
    name,
    code,
    category,
    retryable,
    message: typeof message === 'string' ? start(message, longestWords) : message,
  }
}
