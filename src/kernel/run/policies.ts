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
  const { deadline, context } = validated
  const words = `Policy ${policy.name} could not decide`
  const refuse = (cause: unknown): never => {
    deadline.check()
    throw new ToolDeniedError(words, { cause })
  }
  const read = (decision: unknown): PolicyAnswer =>
    readAnswer(decision, (why) => ({ decision: 'deny', reason: `${words}: ${why}.` }))
  try {
    const decision: unknown = policy.decide(validated, context)
    return isThenable(decision) ? deadline.within(decision, read).catch(refuse) : read(decision)
  } catch (cause) {
    return refuse(cause)
  }
}

function readAnswer(decision: unknown, invalid: (why: string) => PolicyAnswer): PolicyAnswer {
  if (decision === undefined || decision === null) return noObjection
  const said: Record<string, unknown> = typeof decision === 'object' ? { ...decision } : {}
  const { decision: word, timeout = 0, reason, meta } = said
  if (reason !== undefined && typeof reason !== 'string') return invalid('`reason` is text')
  if (word === 'deny' || (word !== 'ask' && 'result' in said)) return said
  if (word !== 'ask') return invalid('a decision asks, denies, or gives a result')
  if (!(typeof timeout === 'number' && timeout >= 0)) return invalid('`timeout` is a number of at least 0')
  if (meta === undefined) return said
  try {
    const text = jsonText(meta) // records and pages get it
    if (!text.startsWith('{')) return invalid('`meta` is an object')
    return { ...said, meta: readText(text) as NonNullable<PolicyAnswer['meta']> }
  } catch (error) {
    const { path = [] } = (error as InvalidToolResultError).issues?.[0] ?? {}
    return invalid(`JSON cannot hold \`${pathText(path, 'meta')}\`. Return plain values`)
  }
}

/** The answer of a policy that does not object. */
export const noObjection: PolicyAnswer = Object.freeze({})
