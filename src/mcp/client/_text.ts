import { deceptive } from '../../kernel/json/deceptive.ts'

const longest = 500

/** Escapes the deceptive characters of a server's text, except tabs and the ends of lines. */
export function visible(text: string): string {
  return text.replace(deceptive, (character) =>
    character === '\n' || character === '\t' ? character : `\\u{${character.codePointAt(0)?.toString(16) ?? ''}}`,
  )
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
