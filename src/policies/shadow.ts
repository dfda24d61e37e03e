/**
 * Policies on trial. This leaf only tells what policies would have said: it never changes what becomes of a call, waits for
 * no promise of theirs, and mounts none of the doors through which an extension acts.
 *
 * @module
 */
import type { Extension, Policy, ToolContext, Validated } from '../index.ts'
import { wrong } from './_options.ts'

/** What a policy would have said of a call. */
export interface ShadowReport {
  /** The name of the policy. */
  readonly policy: string
  readonly callId: string
  readonly invocationId: string
  readonly toolName: string
  readonly session: string
  /** `none` is no objection; `failed` is a policy that threw or said what it cannot say, which would have been a refusal. */
  readonly said: 'none' | 'ask' | 'deny' | 'result' | 'failed'
  readonly reason?: string
  /** What the policy threw. */
  readonly error?: unknown
}

/**
 * Asks the policies of another extension about every call, and reports what they would have said.
 *
 * Every policy is asked, also behind one that would have refused, and is handed a copy of the input. The extension's own
 * observers and its `close` are mounted, so that a budget counts as it would; nothing else of it is.
 *
 * @param extension What is tried out.
 * @param report Hears once for each policy and call, at once or when a promise of the policy settles. What it throws is lost.
 * @throws `E_INVALID_CONFIGURATION` where the extension has no policies, or `report` is no function.
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
  report: (said: ShadowReport) => void,
): Extension & { readonly policies: readonly Policy[] } {
  const { policies = [], observers } = (extension ?? {}) as Partial<Extension>
  if (policies.length === 0)
    throw wrong('shadow', 'takes an extension with policies, as in shadow(permissions({ … }), …)')
  if (typeof report !== 'function')
    throw wrong('shadow', 'takes a function that hears what the policies would have said')

  function ask(policy: Policy, call: Validated, context: ToolContext): void {
    const { callId, invocationId, session } = call
    const about = { policy: policy.name, callId, invocationId, toolName: call.tool.name, session }
    const tell = (said: Pick<ShadowReport, 'said' | 'reason' | 'error'>): void => {
      try {
        report({ ...about, ...said })
      } catch {
        // whoever listens cannot steer either
      }
    }
    const failed = (error: unknown): void => tell({ said: 'failed', error })
    try {
      const decision: unknown = policy.decide(copyOf(call), context)
      if (!isThenable(decision)) return tell(meaning(decision))
      void Promise.resolve(decision).then((settled) => tell(meaning(settled)), failed)
    } catch (error) {
      failed(error)
    }
  }

  return {
    policies: policies.map((policy) => ({
      name: `shadow of ${policy.name}`,
      decide: (call, context) => ask(policy, call, context),
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

function isThenable(value: unknown): value is PromiseLike<unknown> {
  return typeof value === 'object' && value !== null && typeof (value as { then?: unknown }).then === 'function'
}

/** The call as a policy sees it, with an input of its own: what is written to it reaches nobody. */
function copyOf(call: Validated): Validated {
  const { input, args, identity } = call
  const own = { input: copied(input), args: copied(args), identity: { ...identity, args: copied(identity.args) } }
  return Object.create(call, Object.getOwnPropertyDescriptors(own)) as Validated
}

/** A copy of arrays and plain objects; everything else, as dates and instances are, stays what it is. */
function copied(value: unknown, seen = new Map<object, unknown>()): unknown {
  if (typeof value !== 'object' || value === null) return value
  const prototype: unknown = Object.getPrototypeOf(value)
  if (!Array.isArray(value) && prototype !== Object.prototype && prototype !== null) return value
  const known = seen.get(value)
  if (known !== undefined) return known
  const copy = (Array.isArray(value) ? [] : Object.create(prototype as object | null)) as Record<string, unknown>
  seen.set(value, copy)
  for (const [key, item] of Object.entries(value)) {
    // Defined, not set: `__proto__` is an ordinary key.
    Object.defineProperty(copy, key, {
      value: copied(item, seen),
      writable: true,
      enumerable: true,
      configurable: true,
    })
  }
  return copy
}
