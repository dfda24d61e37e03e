/**
 * Writes events as lines for people and logs. This observer must not affect calls, must not write the token of a waiting call,
 * must escape every text of a tool or a model, and must keep lines short.
 *
 * @module
 */
import type { CallStatus, Extension, ToolEvent } from '../index.ts'
import { booleanOption, checkOptions, escapeDeceptive, functionOption, oneOf, type Observer } from '../extension.ts'
import { preview, headOf } from './_line.ts'

/** The options of `consoleObserver`. */
export interface ConsoleObserverOptions {
  /** Writes one line, given without its line end. Default: `console.error`, because stdout belongs to the program. */
  readonly write?: (line: string) => void
  /** `text` for people, or `json` for programs: one object on each line. Default: `'text'`. */
  readonly format?: 'text' | 'json'
  /** Whether lines of `text` are coloured. Default: `false`. */
  readonly color?: boolean
}

const longestValue = 200
const longestFieldWords = 1_000
const longestShownName = 128

const colors: Readonly<Record<Exclude<CallStatus, 'waiting'>, number>> = {
  ok: 32,
  error: 31,
  denied: 31,
  timed_out: 31,
  cancelled: 31,
}

/**
 * Returns an observer that writes one line for each event.
 *
 * Args, inputs and progress are cut at 200 characters, messages at 1,000. Control and direction characters are escaped. In
 * `json`, a cut value becomes a string with the beginning of its JSON. `token` is left out.
 *
 * @param options The destination and the format. The executor reports errors of `write` as errors of an observer.
 * @throws `E_INVALID_CONFIGURATION` if an option is wrong.
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
  checkOptions('consoleObserver', options, {
    write: functionOption,
    format: oneOf('text', 'json'),
    color: booleanOption,
  })
  // oxlint-disable-next-line eslint/no-console -- the documented default
  const { write = (line: string) => console.error(line), format = 'text', color = false } = options
  const lineOf = format === 'json' ? jsonLine : (event: ToolEvent) => textLine(event, color === true)
  return {
    observers: [
      (event) => {
        let line: string
        try {
          line = lineOf(event)
        } catch {
          // A custom error may throw when it is read.
          line = format === 'json' ? '{"event":"[unreadable]"}' : '[unreadable]'
        }
        write(line)
      },
    ],
  }
}

/** Returns the beginning of an untrusted text, on one line. */
function lineWords(text: unknown, longest = longestShownName): string {
  return escapeDeceptive(headOf(typeof text === 'string' ? text : preview(text, longest).text, longest))
}

/** Returns the beginning of a field of an event, as JSON. */
function fieldText(event: ToolEvent, name: string): string {
  const fieldValue = readField(event, name)
  return fieldValue === undefined ? '' : preview(fieldValue, longestValue).text
}

/** Returns a field of an event, which may throw when it is read. */
function readField(event: ToolEvent, name: string): unknown {
  try {
    return (event as unknown as Record<string, unknown>)[name]
  } catch {
    return '[unreadable]'
  }
}

function textLine(event: ToolEvent, isColored: boolean): string {
  const time = new Date(event.timestamp).toISOString()
  const color = event.event === 'call:settled' ? colors[event.status] : event.event === 'call:waiting' ? 33 : 36
  const name = isColored ? `\u001b[${color}m${event.event}\u001b[39m` : event.event
  const parts = [time, name, lineWords(event.toolName), lineWords(event.invocationId), ...detailsOf(event)]
  return parts.filter((part) => part !== '').join(' ')
}

/** Returns the names of repairs. Events of other packages may have others. */
function stepWords(steps: unknown): string {
  try {
    return (steps as readonly { readonly step: unknown }[]).map(({ step }) => lineWords(String(step))).join(', ')
  } catch {
    return ''
  }
}

function detailsOf(event: ToolEvent): readonly string[] {
  switch (event.event) {
    case 'call:received':
      return [fieldText(event, 'args')]
    case 'call:repaired':
      return [stepWords(event.steps), fieldText(event, 'args')]
    case 'call:blocked':
      return [
        lineWords(event.by),
        event.gate === undefined ? '' : lineWords(event.gate),
        fieldText(event, 'keys'),
        event.behind === undefined ? '' : `behind ${lineWords(event.behind)}`,
      ]
    case 'call:waiting':
      return [
        lineWords(event.reason),
        lineWords(event.prompt, longestFieldWords),
        event.why === undefined ? '' : `because ${lineWords(event.why, longestFieldWords)}`,
      ]
    case 'call:resumed':
      return [
        lineWords(event.decision),
        event.decidedBy === undefined ? '' : `by ${lineWords(event.decidedBy)}`,
        event.note === undefined ? '' : lineWords(event.note, longestFieldWords),
      ]
    case 'tool:start':
      return [fieldText(event, 'input')]
    case 'tool:progress':
      return [lineWords(event.type), fieldText(event, 'data')]
    case 'tool:end':
      return [event.isError ? 'failed' : 'done', durationWords(event.durationMs)]
    case 'call:settled': {
      const { status, effect, error, result, durationMs } = event
      const size = result === undefined ? '' : `${result.byteLength} bytes`
      const message =
        error === undefined ? '' : `${lineWords(error.code)} ${lineWords(error.message, longestFieldWords)}`
      return [lineWords(status), `effect ${lineWords(effect)}`, durationWords(durationMs), size, message]
    }
    default:
      return []
  }
}

function durationWords(milliseconds: number): string {
  return `${Math.round(milliseconds * 10) / 10} ms`
}

/** Fields whose values come from outside and may be large. */
const openFields = new Set(['args', 'input', 'data', 'meta'])

function jsonLine(event: ToolEvent): string {
  const members: string[] = []
  for (const name of Object.keys(event)) {
    const fieldValue = name === 'token' ? undefined : readField(event, name)
    if (fieldValue === undefined) continue
    const { text, isWhole } = preview(name === 'error' ? errorFields(fieldValue) : fieldValue, fieldLength(name))
    members.push(`${JSON.stringify(name)}:${isWhole ? text : escapeDeceptive(JSON.stringify(text))}`)
  }
  return `{${members.join(',')}}`
}

function fieldLength(name: string): number {
  if (openFields.has(name)) return longestValue
  return name === 'error' ? longestFieldWords * 2 : longestFieldWords
}

/** Returns the fields of an error that may be written: never its cause or its stack. */
function errorFields(error: unknown): unknown {
  const { name, code, message, category, retryable } = error as Partial<Record<string, unknown>>
  return {
    name,
    code,
    category,
    retryable,
    message: typeof message === 'string' ? headOf(message, longestFieldWords) : message,
  }
}
