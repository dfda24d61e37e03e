/** Returns unguessable random bytes, a multiple of 4, as hex digits. */
export function randomDigits(bytes: number): string {
  const words = crypto.getRandomValues(new Uint32Array(bytes / 4))
  return Array.from(words, (word) => word.toString(16).padStart(8, '0')).join('')
}
