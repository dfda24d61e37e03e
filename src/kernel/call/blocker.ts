import { ToolTimeoutError } from '../errors.ts'

/** What a call waits for before it starts. */
export interface Blocker {
  /** A gate; calls that hold what it touches; or an earlier call of its turn. */
  readonly by: 'gate' | 'lock' | 'order'
  /** The name of the gate. */
  readonly gate?: string
  /** The things for which it waits, as its tool names them: at most 16. Without them it waits for a lock of its session. */
  readonly keys?: readonly string[]
  /** The invocation next before it, if that is of the same session. */
  readonly behind?: string
}

/** Refuses a call that has waited too long. */
export function notStarted(milliseconds: number, why: string): ToolTimeoutError {
  return later(`The call was not started within ${milliseconds.toLocaleString('en')} ms: ${why}`)
}

export function later(words: string): ToolTimeoutError {
  return new ToolTimeoutError(words, { retryable: true, recommendations: ['Call the tool again later.'] })
}

export function describeCall({ name, invocationId }: { readonly name: string; readonly invocationId: string }): string {
  return `tool ${JSON.stringify(name)} (invocation ${JSON.stringify(invocationId)})`
}
