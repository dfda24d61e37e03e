import type { ToolResult } from '../kernel/call/call.ts'

/** The queues of the calls that wait for a worker or run on one, by their results. A call that runs has the queue `''`. */
const queues = new WeakMap<ToolResult, string>()

/** Returns the queue of a result that waits for a worker. */
export function queueOf(result: ToolResult): string | undefined {
  return queues.get(result)
}

/** Marks a result that waits for a worker. */
export function inQueue(result: ToolResult, queue: string): ToolResult {
  queues.set(result, queue)
  return result
}
