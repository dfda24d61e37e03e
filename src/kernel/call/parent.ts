import { InvalidConfigurationError } from '../errors.ts'
import type { CallsInFlight, EventTargets } from '../executor-context.ts'
import { CallContext } from './context.ts'
import type { CallOptions } from './context-types.ts'
import { callOptionsOf } from './options.ts'
import type { Received, Resumption } from './parcel.ts'

/** How many calls may be within a call, each within the one before. */
const mostWithin = 8

/**
 * Returns the options of a call, with what it has of its parent by default.
 *
 * @throws `E_INVALID_CONFIGURATION` if the parent is no running call of this executor, or of another session.
 */
export function inherited<Options extends Omit<CallOptions, 'invocationId'>>(
  owner: string,
  options: Options,
  kernel: EventTargets,
): Options {
  if (callOptionsOf(owner, options).parent === undefined) return options
  const own = { ...options } // each option is read once
  const { principal, caller, values, parent } = own
  const of = runningCall(parent, own.session, kernel)
  return {
    ...own,
    session: of.session,
    principal: principal ?? of.principal,
    caller: caller ?? of.caller,
    values: values ?? of.context.values,
    signal: own.signal ?? of.deadline.signal,
  }
}

/** Returns the call of a parent, as `inherited` requires it. */
export function runningCall(parent: unknown, session: string | undefined, kernel: EventTargets): Received {
  const call = CallContext.callOf(parent, kernel)
  if (call === undefined) {
    const words = '`parent` is no context of a call of this executor. Pass the one that the handler gets, not a copy.'
    throw new InvalidConfigurationError(words)
  }
  if (call.deadline.isOver) {
    throw new InvalidConfigurationError('The call of `parent` has settled. Its handler has to await what it calls.')
  }
  if (session === undefined || session === call.session) return call
  throw new InvalidConfigurationError('A call has the `session` of its `parent`. Leave it out.')
}

/** Returns the call whose handler made one that has waited for an answer, if it still runs. */
export function callAround(
  { parent, session }: Resumption,
  { inFlight }: { readonly inFlight: Pick<CallsInFlight, 'get'> },
): Received | undefined {
  const call = parent === undefined ? undefined : inFlight.get(parent)
  return call?.session === session ? call : undefined
}

/** @throws `E_INVALID_CONFIGURATION` if a call is too deep within others. */
export function requireShallow(call: Received): void {
  let depth = 0
  for (let around = call.parent; around !== undefined; around = around.parent) depth++
  if (depth <= mostWithin) return
  throw new InvalidConfigurationError(`The call was not started: at most ${mostWithin} calls are within another.`)
}
