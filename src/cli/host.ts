import type { Readable, Writable } from 'node:stream'

/** What the command is given of the process that it runs in. */
export interface Host {
  readonly stdin: Readable & { readonly isTTY?: boolean }
  /** Takes the answer, and nothing else. */
  readonly stdout: Sink
  /** Takes words for people, prompts, and events. */
  readonly stderr: Writable & { readonly isTTY?: boolean }
  /** Gives the calls up that still run. */
  readonly signal: AbortSignal
}

/** As much of a stream as writing an answer takes. */
export interface Sink {
  readonly isTTY?: boolean | undefined
  write(text: string, done: (error?: Error | null) => void): unknown
}

// Control, direction and separator characters: a terminal obeys some, and a log reader is misled by others.
// oxlint-disable-next-line eslint/no-control-regex -- these are what is looked for
const unsafe = /[\u0000-\u001f\u007f-\u009f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069]/g

/**
 * Writes the answer on stdout: one line, or for a person, indented. A reader that has gone away (`| head`) is no fault.
 *
 * @throws The stream's own error, such as `ENOSPC`.
 */
export function answer({ stdout }: Host, value: unknown): Promise<void> {
  return print(stdout, `${jsonText(value, stdout.isTTY === true ? 2 : 0)}\n`)
}

/** Writes text as it is, and waits until it is out. */
export function print(sink: Sink, text: string): Promise<void> {
  return new Promise((resolve, reject) => {
    sink.write(text, (error) => {
      if (error === undefined || error === null || isGone(error)) resolve()
      else reject(error)
    })
  })
}

/** Says one thing on stderr, in one line. */
export function note({ stderr }: Host, text: string): void {
  stderr.write(`toolwright: ${oneLine(text)}\n`)
}

/** JSON with everything escaped that a terminal could obey: the same value for whoever parses it. */
export function jsonText(value: unknown, indent = 0): string {
  const text = JSON.stringify(value, null, indent) ?? 'null'
  return text.replace(unsafe, (character) => (character === '\n' ? character : escape(character)))
}

/** Text of strangers as one line that no terminal obeys. @param longest In UTF-16 units. Default: 1,000. */
export function oneLine(text: string, longest = 1_000): string {
  const line = text
    .slice(0, longest * 2)
    .replace(/\s*[\r\n]\s*/g, ' ')
    .replace(unsafe, escape)
  return line.length > longest ? `${line.slice(0, longest - 1)}…` : line
}

/** The words of whatever was thrown: it may be no error, and its getters may throw in turn. */
export function wordsOf(thrown: unknown): string {
  try {
    if (typeof thrown !== 'object' || thrown === null) return String(thrown)
    const { name, message } = thrown as { readonly name?: unknown; readonly message?: unknown }
    if (typeof message !== 'string' || message === '') return typeof name === 'string' ? name : JSON.stringify(thrown)
    return typeof name === 'string' && name !== 'Error' && name !== '' ? `${name}: ${message}` : message
  } catch {
    return 'something was thrown that cannot be read'
  }
}

function isGone(error: Error): boolean {
  const { code } = error as NodeJS.ErrnoException
  return code === 'EPIPE' || code === 'ERR_STREAM_DESTROYED'
}

function escape(character: string): string {
  return `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`
}
