import { ToolDeniedError } from '../errors.ts'
import type { Validated } from '../call/parcel.ts'
import type { Policy } from '../ports.ts'
import { isThenable } from '../json/thenable.ts'

/** A policy's decision. Each field was read once. */
export interface PolicyAnswer {
  readonly decision?: 'ask' | 'deny'
  readonly reason?: string
  readonly meta?: Readonly<Record<string, unknown>>
  readonly timeout?: number
  readonly toolResult?: unknown
  readonly result?: unknown
}

/** Asks a policy. A policy that throws or returns an invalid decision denies the call. */
export function askPolicy(policy: Policy, validated: Validated): PolicyAnswer | Promise<PolicyAnswer> {
  const { deadline, context } = validated
  const refuse = (cause: unknown): never => {
    deadline.check()
    throw new ToolDeniedError(`Policy ${policy.name} could not decide`, { cause })
  }
  try {
    const decision: unknown = policy.decide(validated, context)
    return isThenable(decision) ? deadline.within(decision, readAnswer).catch(refuse) : readAnswer(decision)
  } catch (cause) {
    return refuse(cause)
  }
}

function readAnswer(decision: unknown): PolicyAnswer {
  if (decision === undefined || decision === null) return noObjection
  if (typeof decision !== 'object') throw new TypeError(`a decision is an object, not ${typeof decision}`)
  const said: Record<string, unknown> = { ...decision }
  const { decision: word, timeout = 0 } = said
  if (word === 'ask' && !(typeof timeout === 'number' && timeout >= 0)) {
    throw new TypeError('`timeout` is a number of at least 0')
  }
  if (word === 'ask' || word === 'deny' || 'result' in said) return said
  throw new TypeError('a decision asks, denies, or gives a result')
}

/** The answer of a policy that does not object. */
export const noObjection: PolicyAnswer = Object.freeze({})
