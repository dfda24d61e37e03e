/**
 * Policies on trial. This file only reports what policies would have decided. It never changes a call, waits for no promise
 * of a policy, and mounts nothing through which an extension acts.
 *
 * @module
 */
import type { Extension, ToolContext } from '../index.ts'
import { optionsError, type Policy, type Validated } from '../extension.ts'

/** What a policy would have decided on a call. */
export interface ShadowReport {
  /** The name of the policy. */
  readonly policy: string
  readonly callId: string
  readonly invocationId: string
  readonly toolName: string
  readonly session: string
  /** `none`: no objection. `failed`: the policy threw or returned an invalid decision, which would have denied the call. */
  readonly said: 'none' | 'ask' | 'deny' | 'result' | 'failed'
  readonly reason?: string
  /** What the policy threw. */
  readonly error?: unknown
}

/**
 * Asks the policies of another extension about every call, and reports what they would have decided.
 *
 * Each policy is asked, even after one that would have denied the call, and receives a copy of the input. Of the extension,
 * only its policies, its observers and its `close` are mounted, so a budget counts as usual.
 *
 * @param extension The extension on trial.
 * @param report Called once for each policy and call, at once or when the policy's promise settles. Its errors are ignored.
 * @throws `E_INVALID_CONFIGURATION` if the extension has no policies, or `report` is not a function.
 * @example
 * ```ts
 * import { createExecutor } from 'toolwright'
 * import { permissions } from 'toolwright/policies/permissions'
 * import { shadow } from 'toolwright/policies/shadow'
 *
 * const trial = shadow(permissions({ mode: 'deny', autoAllowTools: ['fs_read'] }), ({ toolName, said }) => {
 *   if (said !== 'none') console.log(toolName, said)
 * })
 * const executor = createExecutor({ use: [trial] })
 * ```
 * @experimental
 */
export function shadow(
  extension: Extension,
  report: (outcome: ShadowReport) => void,
): Extension & { readonly policies: readonly Policy[] } {
  const { policies = [], observers } = (extension ?? {}) as Partial<Extension>
  if (policies.length === 0)
    throw optionsError('shadow', 'takes an extension with policies, as in shadow(permissions({ … }), …)')
  if (typeof report !== 'function') throw optionsError('shadow', 'takes a function as `report`')

  function ask(policy: Policy, call: Validated, context: ToolContext): void {
    const { callId, invocationId, session } = call
    const about = { policy: policy.name, callId, invocationId, toolName: call.tool.name, session }
    const tell = (outcome: Pick<ShadowReport, 'said' | 'reason' | 'error'>): void => {
      try {
        report({ ...about, ...outcome })
      } catch {
        // a listener must not change a call
      }
    }
    const failed = (error: unknown): void => tell({ said: 'failed', error })
    try {
      const decision: unknown = policy.decide(callCopy(call), context)
      if (!isPromiseLike(decision)) return tell(meaning(decision))
      void Promise.resolve(decision).then((settled) => tell(meaning(settled)), failed)
    } catch (error) {
      failed(error)
    }
  }

  return {
    policies: policies.map((policy) => ({
      name: `shadow of ${policy.name}`,
      ...(policy.names && { names: policy.names }),
      decide: (call, context) => ask(policy, call, context),
      evaluate: () => undefined,
    })),
    ...(observers && { observers }),
    ...(extension.close && { close: () => extension.close?.() }),
  }
}

function meaning(decision: unknown): Pick<ShadowReport, 'said' | 'reason' | 'error'> {
  try {
    if (decision === undefined || decision === null) return { said: 'none' }
    const { decision: word, reason } = decision as { readonly decision?: unknown; readonly reason?: unknown }
    if (word === 'ask' || word === 'deny') return typeof reason === 'string' ? { said: word, reason } : { said: word }
    if (typeof decision === 'object' && 'result' in decision) return { said: 'result' }
    return { said: 'failed', error: new TypeError('a decision asks, denies, or gives a result') }
  } catch (error) {
    return { said: 'failed', error }
  }
}

function isPromiseLike(value: unknown): value is PromiseLike<unknown> {
  return typeof value === 'object' && value !== null && typeof (value as { then?: unknown }).then === 'function'
}

/** Returns the call with a copy of its input and args, so that a policy on trial cannot change the real call. */
function callCopy(call: Validated): Validated {
  const { input, args, identity } = call
  const own = { input: deepCopy(input), args: deepCopy(args), identity: { ...identity, args: deepCopy(identity.args) } }
  return Object.create(call, Object.getOwnPropertyDescriptors(own)) as Validated
}

/** Copies arrays and plain objects; returns everything else, such as dates and instances, as it is. */
function deepCopy(value: unknown, copies = new Map<object, unknown>()): unknown {
  if (typeof value !== 'object' || value === null) return value
  const prototype: unknown = Object.getPrototypeOf(value)
  if (!Array.isArray(value) && prototype !== Object.prototype && prototype !== null) return value
  const formerCopy = copies.get(value)
  if (formerCopy !== undefined) return formerCopy
  const copy = (Array.isArray(value) ? [] : Object.create(prototype as object | null)) as Record<string, unknown>
  copies.set(value, copy)
  for (const [key, item] of Object.entries(value)) {
    // Defined, not set: `__proto__` is an ordinary key.
    Object.defineProperty(copy, key, {
      value: deepCopy(item, copies),
      writable: true,
      enumerable: true,
      configurable: true,
    })
  }
  return copy
}
