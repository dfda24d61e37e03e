// Of ES2024, so every engine has it that has what else is used here, but not every TypeScript library.
const wellFormed: (this: string) => boolean = Reflect.get(String.prototype, 'isWellFormed')

/** Whether a string has no lone surrogates, and so has a UTF-8 of its own. */
export function isWellFormed(value: string): boolean {
  return wellFormed.call(value)
}

/** Counts the bytes of a text in UTF-8. */
export function utf8Length(text: string): number {
  let bytes = text.length
  if (bytes > 256) return new TextEncoder().encode(text).length
  for (let index = 0; index < text.length; index++) {
    const code = text.charCodeAt(index)
    if (code >= 0xd800 && code <= 0xdfff) return new TextEncoder().encode(text).length
    if (code >= 0x80) bytes += code >= 0x800 ? 2 : 1
  }
  return bytes
}

/** The keys that a JSON Pointer names, from the root on. */
export function pointerSteps(pointer: string): string[] {
  return pointer
    .split('/')
    .slice(1)
    .map((step) => step.replaceAll('~1', '/').replaceAll('~0', '~'))
}

/** Random bytes as hexadecimal digits: what nobody can guess. */
export function randomDigits(bytes: number): string {
  const random = crypto.getRandomValues(new Uint8Array(bytes))
  return Array.from(random, (byte) => byte.toString(16).padStart(2, '0')).join('')
}

/** A text that was cut off, without the half of a character at its end. */
export function wholeCharacters(text: string): string {
  return /[\ud800-\udbff]$/.test(text) ? text.slice(0, -1) : text
}

/** Returns the text, or the beginning of one that is longer, with an ellipsis as its last character. */
export function shortened(text: string, longest: number): string {
  return text.length <= longest ? text : `${wholeCharacters(text.slice(0, longest - 1))}…`
}
