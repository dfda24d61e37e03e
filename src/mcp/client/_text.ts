import { escapeDeceptive } from '../../extension.ts'

const longest = 500

/** Escapes the deceptive characters of a server's text, except tabs and the ends of lines. */
export function visible(text: string): string {
  return escapeDeceptive(text, '\n\t')
}

/** Quotes a server's text for a message. */
export function quoted(text: string): string {
  return JSON.stringify(visible(text))
}

/** Returns the message of an error on one line, bounded, since a server may have written megabytes. */
export function shortened(error: unknown): string {
  const words = error instanceof Error ? error.message : String(error)
  const start = visible(words.slice(0, longest).replace(/[\ud800-\udbff]$/, '')).replaceAll('\n', '\\n')
  return words.length > longest ? `${start}…` : start
}
