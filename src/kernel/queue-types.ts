import type { ToolResult } from './call/call.ts'
import type { ResumableCall } from './call/wait.ts'
import type { ToolValues } from './call/context-types.ts'

/** The calls that wait for workers. A worker asks it. */
export interface CallQueue {
  /**
   * Takes over calls of a queue, oldest first. `run` runs them. A call that is taken and not run waits again after a while.
   *
   * @param except Invocations to leave out.
   * @returns Their invocations. None, if the journal cannot take calls by their queue.
   */
  take(queue: string, limit: number, except?: readonly string[]): Promise<readonly string[]>
  /** Returns calls that could run and have waited for so many milliseconds. Each is returned to one worker, and again after that time. */
  unsent(
    queues: readonly string[],
    milliseconds: number,
  ): Promise<readonly { readonly invocationId: string; readonly queue: string }[]>
  /**
   * Calls the listener with calls that `run` left alone because of other calls of their session, once they may run. Returns an
   * unsubscribe function.
   */
  onOrder(listener: (calls: readonly OrderedCall[]) => void): () => void
  /** Counts the calls that wait in a queue, up to a number. */
  depth(queue: string, atMost: number): Promise<number>
  /** Cancels the calls here whose cancellation was requested. Each sign of life does so too. */
  cancelRequested(): Promise<void>
  /** The bus of the journal. Default: none. */
  readonly bus?: Bus | undefined
}

/**
 * Carries messages between the processes of a fleet: the events of a running call, and requests to cancel one. It may lose
 * messages. It keeps the order of those that one process sends, and delivers none twice.
 */
export interface Bus {
  /** Sends a message to all who listen to a topic. */
  publish(topic: string, message: string): void
  /** Calls the listener with each message of a topic. Returns an unsubscribe function. */
  subscribe(topic: string, listener: (message: string) => void): () => void
}

/** A call whose place in the order of its session has come. `place` is another one each time. */
export interface OrderedCall {
  readonly invocationId: string
  readonly queue: string
  readonly place: string
}

/** The call for which a worker makes the application's values. */
export type CarriedCall = Pick<ResumableCall, 'invocationId' | 'session' | 'principal' | 'caller'>

/** Options of a worker's run. */
export interface RunOptions {
  /** Cancels the run. */
  readonly signal?: AbortSignal | undefined
  /** Makes the application's values of what its fleet carried. Default: no values. */
  readonly receive?: ((carried: unknown, call: CarriedCall) => ToolValues | Promise<ToolValues>) | undefined
}

/** The hand of a worker: the calls in the journal that wait for workers, and what runs one. */
export interface ExecutorQueue extends CallQueue {
  /**
   * Runs a call that waits for a worker, to its end. Returns nothing if it waits no more, as when another worker took it.
   *
   * @throws `E_UNAVAILABLE` if this executor lacks the tool, or has another version of it; `E_JOURNAL`; `E_TOOL_CANCELLED` if it
   * is closed. Then the call waits for another worker.
   */
  run(invocationId: string, options?: RunOptions): Promise<ToolResult | undefined>
}
