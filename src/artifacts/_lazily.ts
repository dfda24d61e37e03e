/** Returns a function that makes a value on its first call and keeps it. After a failure the next call tries again. */
export function lazily<Value>(make: () => Promise<Value>): () => Promise<Value> {
  let promise: Promise<Value> | undefined
  return () => {
    promise ??= make().catch((error: unknown) => {
      promise = undefined
      throw error
    })
    return promise
  }
}
