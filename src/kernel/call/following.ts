/** What a call does with work that it waits for: one object for all calls, since functions of each call cost, and lose their code. */
export interface Following<Value, Next, Call, Around> {
  /** Reads the value at once. A value that passes through a promise first may be a thenable that never settles. */
  take(value: Value, call: Call, around: Around): Next | PromiseLike<Next>
  /** Called if the work ends after the call was cancelled or has settled. */
  late?(isError: boolean, call: Call, around: Around): void
  /** Throws another error in place of one of the work or `take`. */
  fail?: ((error: unknown, call: Call, around: Around) => never) | undefined
}

export type Resolve<Value> = (value: Value | PromiseLike<Value>) => void
export type Reject = (error: unknown) => void

/** The functions that were lent last. */
export let lentResolve: Resolve<never>
export let lentReject: Reject

/** Lends the functions of a new promise to its maker: one function for all promises. */
export function lend(resolve: Resolve<never>, reject: Reject): void {
  lentResolve = resolve
  lentReject = reject
}

/** What a wait does with a value by default. */
export function asItIs(value: unknown): never {
  return value as never
}
