// Control characters, characters that change the direction of text, and characters that only a model sees.
const hidden = new RegExp(
  '[\\u0000-\\u0008\\u000b-\\u001f\\u007f-\\u009f\\u061c\\u200b\\u200e\\u200f\\u2028-\\u202e' +
    '\\u2060-\\u2069\\ufeff\\u{e0000}-\\u{e007f}]',
  'gu',
)
const longest = 500

/** Escapes the hidden characters of a server's text. */
export function visible(text: string): string {
  return text.replace(hidden, (character) => `\\u{${character.codePointAt(0)?.toString(16) ?? ''}}`)
}

/** Quotes a server's text for a message. */
export function quoted(text: string): string {
  return JSON.stringify(visible(text))
}

/** Returns the message of an error on one line, bounded, since a server may have written megabytes. */
export function shortened(error: unknown): string {
  const words = error instanceof Error ? error.message : String(error)
  const start = visible(words.slice(0, longest)).replaceAll('\n', '\\n')
  return words.length > longest ? `${start}…` : start
}
