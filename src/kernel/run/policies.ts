import { ToolDeniedError, type InvalidToolResultError } from '../errors.ts'
import type { Validated } from '../call/parcel.ts'
import type { Policy } from '../ports.ts'
import { jsonText, readText } from '../json/json-text.ts'
import { pathText } from '../json/text.ts'
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
  try {
    const decision: unknown = policy.decide(validated, validated.context)
    return isThenable(decision) ? answerLater(decision, policy, validated) : readAnswer(decision, policy)
  } catch (cause) {
    throw policyRefusal(cause, policy, validated)
  }
}

/** A function of its own, so that a synchronous decision makes no closure. */
function answerLater(decision: PromiseLike<unknown>, policy: Policy, validated: Validated): Promise<PolicyAnswer> {
  const answer = validated.deadline.within(decision, (later) => readAnswer(later, policy))
  return answer.catch((cause: unknown) => {
    throw policyRefusal(cause, policy, validated)
  })
}

function policyRefusal(cause: unknown, policy: Policy, { deadline }: Validated): ToolDeniedError {
  deadline.check()
  return new ToolDeniedError(`${titleOf(policy)} could not decide`, { cause })
}

function titleOf({ name }: { readonly name?: string }): string {
  return `Policy ${name ?? '(without a name)'}`
}

function undecided(policy: Pick<Policy, 'name'>, why: string): PolicyAnswer {
  return { decision: 'deny', reason: `${titleOf(policy)} could not decide: ${why}.` }
}

/** Reads a decision once. Anything else denies. */
export function readAnswer(decision: unknown, policy: Pick<Policy, 'name'>): PolicyAnswer {
  if (decision === undefined || decision === null) return noObjection
  const answer: Record<string, unknown> = typeof decision === 'object' ? { ...decision } : {}
  const { decision: word, timeout = 0, reason, meta } = answer
  if (reason !== undefined && typeof reason !== 'string') return undecided(policy, '`reason` is text')
  if (word === 'deny' || (word !== 'ask' && 'result' in answer)) return answer
  if (word !== 'ask')
    return undecided(policy, 'let it return { decision: "ask" or "deny" }, { result }, or nothing to allow the call')
  if (!(typeof timeout === 'number' && timeout >= 0)) return undecided(policy, '`timeout` is a number of at least 0')
  if (meta === undefined) return answer
  try {
    const text = jsonText(meta) // records and pages get it
    if (!text.startsWith('{')) return undecided(policy, '`meta` is an object')
    return { ...answer, meta: readText(text) as NonNullable<PolicyAnswer['meta']> }
  } catch (error) {
    const { path = [] } = (error as InvalidToolResultError).issues?.[0] ?? {}
    return undecided(policy, `JSON cannot hold \`${pathText(path, 'meta')}\`. Return plain values`)
  }
}

/** The answer of a policy that does not object. */
export const noObjection: PolicyAnswer = Object.freeze({})
