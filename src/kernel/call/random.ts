/** Returns unguessable random bytes as hexadecimal digits. */
export function randomDigits(bytes: number): string {
  const random = crypto.getRandomValues(new Uint8Array(bytes))
  return Array.from(random, (byte) => byte.toString(16).padStart(2, '0')).join('')
}
