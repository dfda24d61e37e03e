import type { WaitReason } from './wait.ts'

// What only wings make: the words for a call that waits, and names that cannot be guessed. Apart, since no other call needs it.

/** Returns the words for the model about a call that waits. */
export function waitingWords(toolName: string, reason: WaitReason): string {
  if (reason === 'worker') return `${toolName} waits for a worker.`
  if (reason === 'client') return `${toolName} waits for the answer of the client.`
  return `${toolName} has not run yet: it waits for approval by a person.`
}

/** Returns unguessable random bytes as hexadecimal digits. */
export function randomDigits(bytes: number): string {
  const random = crypto.getRandomValues(new Uint8Array(bytes))
  return Array.from(random, (byte) => byte.toString(16).padStart(2, '0')).join('')
}
