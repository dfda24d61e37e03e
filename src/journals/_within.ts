import { JournalError } from '../errors.ts'

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
