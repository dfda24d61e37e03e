/** Returns random bytes, 4 at a time, as hex digits. */
export function randomDigits(bytes: number): string {
  const words = crypto.getRandomValues(new Uint32Array(bytes / 4))
  return Array.from(words, (word) => word.toString(16).padStart(8, '0')).join('')
}
