import type { WaitReason } from '../kernel/call/approval.ts'

/** Returns the words for the model about a call that waits. */
export function waitingWords(toolName: string, reason: WaitReason): string {
  if (reason === 'worker') return `${toolName} waits for a worker.`
  if (reason === 'client') return `${toolName} waits for the answer of the client.`
  return `${toolName} has not run yet: it waits for approval by a person.`
}
