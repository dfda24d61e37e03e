import { InternalError } from '../errors.ts'

/** Whether a value is a promise, of any realm or library. */
export function isThenable(value: unknown): value is PromiseLike<unknown> {
  return (
    value !== null &&
    (typeof value === 'object' || typeof value === 'function') &&
    typeof (value as { then?: unknown }).then === 'function'
  )
}

/** Awaits work in the background and passes only its failure on. */
export async function unawaited(work: unknown, failed: (error: unknown) => void = () => {}): Promise<void> {
  try {
    await work
  } catch (error) {
    failed(error)
  }
}

/**
 * Waits for a module of the package that is loaded on first use.
 *
 * @throws `E_INTERNAL`, retryable, if it cannot be loaded.
 */
export async function loadPart<Module>(module: Promise<Module>): Promise<Module> {
  try {
    return await module
  } catch (cause) {
    const message = 'A part of the package could not be loaded. Try again, or see `cause`.'
    throw new InternalError(message, { cause, retryable: true })
  }
}

/** Calls `next` synchronously for plain values, asynchronously for promises. A plain value costs no turn of the event loop. */
export function thenSync<Value, Next>(
  value: Value | PromiseLike<Value>,
  next: (value: Value) => Next,
): Next | Promise<Awaited<Next>> {
  return isThenable(value) ? ((value as Promise<Value>).then(next) as Promise<Awaited<Next>>) : next(value)
}

/** Does work, then calls `last` on success and failure, and `next` on success: synchronously unless the work returns a promise. */
export function finallySync<Value, Next = Value>(
  work: () => Value | Promise<Value>,
  last: (isError: boolean) => void,
  next: (value: Value) => Next = asItIs,
): Next | Promise<Awaited<Next>> {
  let value: Value | Promise<Value>
  try {
    value = work()
  } catch (error) {
    last(true)
    throw error
  }
  if (isThenable(value)) return finallyLater(value, last, next)
  last(false)
  return next(value)
}

/** A function of its own, so that the synchronous path allocates no closures. */
function finallyLater<Value, Next>(
  work: Promise<Value>,
  last: (isError: boolean) => void,
  next: (value: Value) => Next,
): Promise<Awaited<Next>> {
  const done = (value: Value): Next => {
    last(false)
    return next(value)
  }
  return work.then(done, (error: unknown) => {
    last(true)
    throw error
  }) as Promise<Awaited<Next>>
}

/** Returns its argument. */
export function asItIs(value: unknown): never {
  return value as never
}
