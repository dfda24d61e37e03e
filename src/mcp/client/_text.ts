// What a terminal obeys, what turns the direction of text, and what nobody sees but a model.
const hidden = new RegExp(
  '[\\u0000-\\u0008\\u000b-\\u001f\\u007f-\\u009f\\u061c\\u200b\\u200e\\u200f\\u2028-\\u202e' +
    '\\u2060-\\u2069\\ufeff\\u{e0000}-\\u{e007f}]',
  'gu',
)
const longest = 500

/** Text of a stranger with nothing hidden in it. */
export function visible(text: string): string {
  return text.replace(hidden, (character) => `\\u{${character.codePointAt(0)?.toString(16) ?? ''}}`)
}

/** A stranger's word in a sentence of ours. */
export function quoted(text: string): string {
  return JSON.stringify(visible(text))
}

/** The words of an error, on one line: a stranger may have written megabytes of them. */
export function shortened(error: unknown): string {
  const words = error instanceof Error ? error.message : String(error)
  const start = visible(words.slice(0, longest)).replaceAll('\n', '\\n')
  return words.length > longest ? `${start}…` : start
}
