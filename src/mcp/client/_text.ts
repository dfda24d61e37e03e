import { escapeDeceptive } from '../../extension.ts'

const longestServerText = 500

/** Escapes the deceptive characters of a server's text, except tabs and the ends of lines. */
export function safeText(text: string): string {
  return escapeDeceptive(text, '\n\t')
}

/** Quotes a server's text for a message. */
export function quotedName(text: string): string {
  return JSON.stringify(safeText(text))
}

/** Returns the message of an error on one line, bounded, since a server may have written megabytes. */
export function errorLine(error: unknown): string {
  const words = error instanceof Error ? error.message : String(error)
  const start = safeText(words.slice(0, longestServerText).replace(/[\ud800-\udbff]$/, '')).replaceAll('\n', '\\n')
  return words.length > longestServerText ? `${start}…` : start
}
