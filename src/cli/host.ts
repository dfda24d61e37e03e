import type { Readable, Writable } from 'node:stream'
import { escapeDeceptive, escapeOf } from '../kernel/json/deceptive.ts'

/** The parts of the process that a command uses. */
export interface Host {
  readonly stdin: Readable & { readonly isTTY?: boolean }
  /** Gets only the answer. */
  readonly stdout: Sink
  /** Gets messages for people, prompts, and events. */
  readonly stderr: Writable & { readonly isTTY?: boolean }
  /** Cancels the calls that still run. */
  readonly signal: AbortSignal
}

/** The part of a stream that writes an answer. */
export interface Sink {
  readonly isTTY?: boolean | undefined
  write(text: string, done: (error?: Error | null) => void): unknown
}

/**
 * Writes the answer on stdout as JSON: on one line, or indented if stdout is a terminal. Ignores a reader that has gone
 * away (`| head`).
 *
 * @throws the stream's own error, such as `ENOSPC`.
 */
export function printAnswer({ stdout }: Host, value: unknown): Promise<void> {
  return printText(stdout, `${terminalJson(value, stdout.isTTY === true ? 2 : 0)}\n`)
}

/** Writes text unchanged. Resolves when it is written. */
export function printText(sink: Sink, text: string): Promise<void> {
  return new Promise((resolve, reject) => {
    sink.write(text, (error) => {
      if (error === undefined || error === null || isGone(error)) resolve()
      else reject(error)
    })
  })
}

/** Writes one message on stderr, on one line. */
export function note({ stderr }: Host, text: string): void {
  stderr.write(`toolwright: ${terminalLine(text)}\n`)
}

/** Returns JSON with control characters escaped, so that it cannot control a terminal. It parses to the same value. */
export function terminalJson(value: unknown, indent = 0): string {
  const text = JSON.stringify(value, null, indent) ?? 'null'
  return escapeDeceptive(text, '\n')
}

/** Returns text without a gap in which a reader could overlook what follows: the spaces are escaped. Indentation stays. */
export function withoutGaps(text: string): string {
  return text.replace(/(?<=[^ \n])[\p{Zs}\u2800]{33,}/gu, escapeOf)
}

/** Returns untrusted text on one line, with control characters escaped. @param longest In UTF-16 units. Default: 1,000. */
export function terminalLine(text: string, longest = 1_000): string {
  const line = escapeDeceptive(text.slice(0, longest * 2).replace(/\s*[\r\n]\s*/g, ' '))
  return line.length > longest ? `${line.slice(0, longest - 1)}…` : line
}

/** Returns the message of a thrown value, which may not be an error, and whose getters may throw. */
export function thrownMessage(thrown: unknown): string {
  try {
    if (typeof thrown !== 'object' || thrown === null) return String(thrown)
    const { name, message } = thrown as { readonly name?: unknown; readonly message?: unknown }
    if (typeof message !== 'string' || message === '') return typeof name === 'string' ? name : JSON.stringify(thrown)
    return typeof name === 'string' && name !== 'Error' && name !== '' ? `${name}: ${message}` : message
  } catch {
    return 'something was thrown that cannot be read'
  }
}

/** Resolves when the process is told to end. */
export function untilInterrupted({ signal }: Host): Promise<void> {
  return new Promise((resolve) => {
    if (signal.aborted) resolve()
    signal.addEventListener('abort', () => resolve(), { once: true })
  })
}

function isGone(error: Error): boolean {
  const { code } = error as NodeJS.ErrnoException
  return code === 'EPIPE' || code === 'ERR_STREAM_DESTROYED'
}
