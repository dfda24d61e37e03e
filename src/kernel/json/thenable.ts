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

/** Waits for a module of the package that is loaded on first use. Throws `E_INTERNAL`, retryable, if it cannot be loaded. */
export async function whenLoaded<Module>(module: Promise<Module>): Promise<Module> {
  try {
    return await module
  } catch (cause) {
    const message = 'A part of the package could not be loaded. Try again, or see `cause`.'
    throw new InternalError(message, { cause, retryable: true })
  }
}

/** Calls `next` synchronously for plain values, asynchronously for promises. A plain value does not wait for the event loop. */
export function whenReady<Value, Next>(
  value: Value | PromiseLike<Value>,
  next: (value: Value) => Next,
): Next | Promise<Awaited<Next>> {
  return isThenable(value) ? ((value as Promise<Value>).then(next) as Promise<Awaited<Next>>) : next(value)
}
