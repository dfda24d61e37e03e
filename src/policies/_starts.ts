import type { Extension, ToolContext, ToolDefinition } from '../index.ts'
import { oneOf, type Decision, type Observer, type OptionCheck, type Policy, type Validated } from '../extension.ts'
import { plainNames, toolIdentity, ToolList, type ToolName } from './_options.ts'

const mostTallies = 10_000
const mostAsked = 10_000

const scopes = ['session', 'tool', 'session-and-tool', 'principal'] as const

/**
 * Which calls share a limit: those of a session, of a tool, of a tool within a session, or of a principal in all of its
 * sessions. The application sets the principal in `CallOptions`; an MCP server over HTTP sets it itself. A call without a principal
 * counts for its session.
 */
export type LimitedBy = (typeof scopes)[number]

/** Takes one of those scopes. */
export const scope: OptionCheck = oneOf(...scopes)

/** The counts of the calls that share a limit. */
export interface Tally {
  /** Calls that were allowed and have not begun yet. */
  waiting: number
  /** What those calls reserve: 1 each, unless they are evaluated. */
  reserved: number
}

export interface Limit<Counted extends Tally> {
  readonly name: string
  readonly per: LimitedBy | undefined
  /** Default: every tool. */
  readonly tools: readonly ToolName[] | undefined
  create(): Counted
  /** How many calls or units are allowed. */
  readonly most: number
  /** What is counted. Default: `'call'`. */
  readonly unit?: 'unit'
  /** Returns how many units a call reserves, or the reason why that is not known. Default: 1. */
  weightOf?(call: Validated): number | string
  /** Whether each `callId` is counted apart. Default: `false`. */
  readonly isByCall?: boolean
  /** Returns why no further call may begin, or `undefined` if one may. `allowance` says how much is allowed, and of what. */
  refusal(tally: Counted, allowance: () => string, weight: number): string | undefined
  /** Counts a call that has begun. */
  begun(tally: Counted, weight: number): void
  /** Called with the tally of each call that is decided on, for a policy that adds to it. */
  decided?(tally: Counted, context: ToolContext, weight: number): void
}

/** A policy and the observer that counts for it. */
export type Limiting = Extension & { readonly policies: readonly [Policy]; readonly observers: readonly [Observer] }

/**
 * Limits how many calls begin, or what they evaluate. A call takes a place when the policy decides on it, so that parallel calls cannot exceed the
 * limit. The place becomes a start at `tool:start`, or when a client is asked. If the call settles without a start, the place
 * is free again. The client's answer is not decided on again, and is no second start.
 */
export function limitStarts<Counted extends Tally>(limit: Limit<Counted>): Limiting {
  const { per = 'session-and-tool' } = limit
  const tools = limit.tools && new ToolList(limit.tools)
  // Least recently used first.
  const tallies = new Map<string, Counted>()
  // What each place of a call reserves. A call has several if executors share the limit and an application gave two calls the same id.
  const places = new Map<string, number[]>()
  // Calls that began when their client was asked and that wait for its answer. Oldest first.
  const weights = new Map<string, number[]>()
  // An extension may be mounted twice, or also in `shadow`: it repeats its decision on the same call.
  const decided = new WeakMap<ToolContext, { readonly decision: Decision }>()

  // A tool's identity has no line break, so keys of different kinds never collide.
  function keyOf(counting: Counting, tool: ToolDefinition): string {
    return limit.isByCall === true ? `${scopeOf(counting, tool)}\n${counting.callId}` : scopeOf(counting, tool)
  }

  function scopeOf({ session, principal }: Counting, tool: ToolDefinition): string {
    if (per === 'principal') return principal === undefined ? `\n${session}` : `principal\n${principal}`
    return per === 'session' ? session : per === 'tool' ? toolIdentity(tool) : `${toolIdentity(tool)}\n${session}`
  }

  function tallyOf(key: string): Counted {
    const tally = tallies.get(key) ?? limit.create()
    tallies.delete(key)
    tallies.set(key, tally)
    if (tallies.size <= mostTallies) return tally
    for (const [oldest, { waiting }] of tallies) {
      if (tallies.size <= mostTallies) break
      if (waiting === 0 && oldest !== key) tallies.delete(oldest)
    }
    return tally
  }

  function decide(call: Validated, context: ToolContext): Decision {
    if (tools !== undefined && !tools.includes(call.tool)) return undefined
    const earlierDecision = decided.get(context)
    if (earlierDecision !== undefined) return earlierDecision.decision
    const weight = limit.weightOf?.(call) ?? 1
    const decision: Decision =
      typeof weight === 'string' ? { decision: 'deny', reason: weight } : decideNew(call, weight)
    if (typeof weight === 'number') limit.decided?.(tallyOf(keyOf(call, call.tool)), context, weight)
    decided.set(context, { decision })
    return decision
  }

  function decideNew(call: Validated, weight: number): Decision {
    const { tool, invocationId, resumption } = call
    const key = keyOf(call, tool)
    const tally = tallyOf(key)
    const place = limitKey(invocationId, key)
    // A call that a client has answered began when the client was asked, perhaps in another process.
    const isAnswered = resumption?.reason === 'client'
    if (isAnswered && weights.has(place)) return undefined
    const reason = isAnswered ? undefined : limit.refusal(tally, () => allowanceOf(tool), weight)
    if (reason !== undefined) return { decision: 'deny', reason }
    tally.waiting++
    tally.reserved += weight
    addWeight(places, place, weight)
    return undefined
  }

  /** Says what `decide` would say, and takes no place. */
  function evaluate(call: Validated): Decision {
    const { tool } = call
    if (tools !== undefined && !tools.includes(tool)) return undefined
    const weight = limit.weightOf?.(call) ?? 1
    const tally = tallies.get(keyOf(call, tool)) ?? limit.create()
    const reason = typeof weight === 'string' ? weight : limit.refusal(tally, () => allowanceOf(tool), weight)
    return reason === undefined ? undefined : { decision: 'deny', reason }
  }

  function allowanceOf(tool: ToolDefinition): string {
    const of = per === 'session' || per === 'principal' ? '' : ` of ${JSON.stringify(tool.name)}`
    const many = `${limit.most} ${limit.unit ?? 'call'}${limit.most === 1 ? '' : 's'}`
    return `${many}${of}${limitWords[per]} ${limit.most === 1 ? 'is' : 'are'} allowed`
  }

  const observe: Observer = (event, tool) => {
    if (tool === undefined) return // no policy decided on a call without a tool
    const { invocationId } = event
    const isWaiting = event.event === 'call:waiting' && event.inProcess === undefined
    if (!isWaiting && event.event !== 'tool:start' && event.event !== 'call:settled') return
    const isAsked = isWaiting && event.reason === 'client'
    const key = keyOf(event, tool)
    const place = limitKey(invocationId, key)
    const weight = take(places, place)
    const tally = tallies.get(key) // what has a place is not evicted
    if (weight !== undefined && tally !== undefined) giveBack(tally, weight)
    if (event.event === 'call:settled') take(weights, place)
    else if (isWaiting && !isAsked) return
    else if ((tools === undefined || tools.includes(tool)) && !(event.event === 'tool:start' && weights.has(place))) {
      limit.begun(tally ?? tallyOf(key), weight ?? 1)
      if (isAsked) remember(place)
    }
  }

  function remember(place: string): void {
    addWeight(weights, place, 1)
    for (const oldest of weights.keys()) {
      if (weights.size <= mostAsked) break
      weights.delete(oldest)
    }
  }

  const isOfSession = per === 'session' || per === 'session-and-tool'
  const names = plainNames(limit.tools)
  const policy: Policy = { name: limit.name, names, decide, evaluate, ...(isOfSession && { scope: 'session' }) }
  return { policies: [policy], observers: [observe] }
}

const limitWords: Readonly<Record<LimitedBy, string>> = {
  session: ' in a session',
  tool: '',
  'session-and-tool': ' in a session',
  principal: ' for a principal',
}

/** The owner of a call. */
interface Counting {
  readonly session: string
  readonly principal?: string | undefined
  readonly callId: string | null
}

/** Returns the key of a call among the calls that share a limit. The length keeps two pairs of the same letters apart. */
function limitKey(invocationId: string, key: string): string {
  return `${invocationId.length} ${invocationId}${key}`
}

function giveBack(tally: Tally, weight: number): void {
  tally.waiting--
  tally.reserved = tally.waiting === 0 ? 0 : tally.reserved - weight // no rest of a sum of fractions stays
}

function addWeight(weights: Map<string, number[]>, place: string, weight: number): void {
  const same = weights.get(place)
  if (same === undefined) weights.set(place, [weight])
  else same.push(weight)
}

/** Removes a place. Returns what it reserved, or `undefined` if there is none. */
function take(weights: Map<string, number[]>, place: string): number | undefined {
  const same = weights.get(place)
  const weight = same?.pop()
  if (same?.length === 0) weights.delete(place)
  return weight
}
