/** Whether a value has to be waited for: promises of any realm and library, and nothing else. */
export function isThenable(value: unknown): value is PromiseLike<unknown> {
  return (
    value !== null &&
    (typeof value === 'object' || typeof value === 'function') &&
    typeof (value as { then?: unknown }).then === 'function'
  )
}

/** Lets others' work go on unwatched: only its failure is told. */
export async function unawaited(work: unknown, failed: (error: unknown) => void = () => {}): Promise<void> {
  try {
    await work
  } catch (error) {
    failed(error)
  }
}

/** Goes on with a value: at once, or as soon as it is there. What is not waited for costs no turn of the event loop. */
export function after<Value, Next>(
  value: Value | PromiseLike<Value>,
  next: (value: Value) => Next,
): Next | Promise<Awaited<Next>> {
  return isThenable(value) ? ((value as Promise<Value>).then(next) as Promise<Awaited<Next>>) : next(value)
}

/** Does work, then what has to be done whatever comes of it, and goes on: at once, or as soon as the work is done. */
export function lastly<Value, Next = Value>(
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
  if (isThenable(value)) return later(value, last, next)
  last(false)
  return next(value)
}

/** On its own, since what a promise holds on to is made for nothing where there is none. */
function later<Value, Next>(
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

function asItIs(value: unknown): never {
  return value as never
}
