import { InvalidConfigurationError, JournalError } from '../errors.ts'

/** Waits for a limited time. A late write may still succeed: then the fence decides. */
export async function within<Value>(timeout: number, run: () => Promise<Value>): Promise<Value> {
  let timer: ReturnType<typeof setTimeout> | undefined
  const late = new Promise<never>((_, reject) => {
    timer = setTimeout(() => {
      reject(new JournalError(`The journal's server did not answer within ${timeout} ms.`, { retryable: true }))
    }, timeout)
  })
  try {
    return await Promise.race([run(), late])
  } finally {
    clearTimeout(timer)
  }
}

/** Checks an option of a time that a timer can wait. */
export function milliseconds(option: string, value: number): number {
  if (typeof value === 'number' && value > 0 && value < 2 ** 31) return value
  throw new InvalidConfigurationError(`\`${option}\` must be a number of milliseconds above 0, got ${String(value)}.`)
}
