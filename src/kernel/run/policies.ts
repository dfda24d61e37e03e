import { ToolDeniedError } from '../errors.ts'
import type { Validated } from '../call/parcel.ts'
import type { Policy } from '../ports.ts'
import { isThenable } from '../json/thenable.ts'

/** Everything that a policy can say, read once. */
export interface Said {
  readonly decision?: 'ask' | 'deny'
  readonly reason?: string
  readonly meta?: Readonly<Record<string, unknown>>
  readonly toolResult?: unknown
  readonly result?: unknown
}

/** Asks a policy; one that breaks, or says what it cannot say, has not agreed. */
export function consult(policy: Policy, validated: Validated): Said | Promise<Said> {
  const { deadline, context } = validated
  const refuse = (cause: unknown): never => {
    deadline.check()
    throw new ToolDeniedError(`Policy ${policy.name} could not decide`, { cause })
  }
  try {
    const decision: unknown = policy.decide(validated, context)
    return isThenable(decision) ? deadline.within(decision, read).catch(refuse) : read(decision)
  } catch (cause) {
    return refuse(cause)
  }
}

function read(decision: unknown): Said {
  if (decision === undefined || decision === null) return noObjection
  if (typeof decision !== 'object') throw new TypeError(`a decision is an object, not ${typeof decision}`)
  const said: Record<string, unknown> = { ...decision }
  if (said['decision'] === 'ask' || said['decision'] === 'deny' || 'result' in said) return said
  throw new TypeError('a decision asks, denies, or gives a result')
}

/** What a policy says that says nothing. */
export const noObjection: Said = Object.freeze({})
