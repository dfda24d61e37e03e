import type { ToolError } from '../errors.ts'
import { timerLength } from './deadline.ts'
import { asItIs } from './following.ts'

/**
 * Waits for work that the package does not control, for a limited time. Later outcomes are ignored.
 *
 * @param next Reads the value at once. A value that passes through a promise first may be a thenable that delays it.
 */
export async function limited<Value, Next = Value>(
  work: Value | PromiseLike<Value>,
  milliseconds: number,
  late: () => ToolError,
  next: (value: Value) => Next | PromiseLike<Next> = asItIs,
): Promise<Next> {
  let timer: ReturnType<typeof setTimeout> | undefined
  const limit = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(late()), timerLength(milliseconds))
  })
  const read = async (): Promise<Next> => next(await work)
  try {
    return await Promise.race([read(), limit])
  } finally {
    clearTimeout(timer)
  }
}
