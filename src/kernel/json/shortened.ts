/** Returns a text that was cut off without half a surrogate pair at its end. */
export function wholeCharacters(text: string): string {
  return /[\ud800-\udbff]$/.test(text) ? text.slice(0, -1) : text
}

/** Returns the text, or its beginning with an ellipsis as the last character if it is longer. */
export function shortened(text: string, longest: number): string {
  return text.length <= longest ? text : `${wholeCharacters(text.slice(0, longest - 1))}…`
}
