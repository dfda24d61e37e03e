import type { Decision, Extension, Observer, Policy, ToolContext, ToolDefinition, Validated } from '../index.ts'
import { identityOf, ToolList, wordOf, type ToolName } from './_options.ts'

const mostTallies = 10_000
const mostAsked = 10_000

const scopes = ['session', 'tool', 'session-and-tool', 'principal'] as const

/**
 * Whose calls share a limit: those of a session, of a tool, of a tool within a session, or of a principal in all of its
 * sessions. The host names the principal in `CallOptions`, and an MCP server over HTTP fills it; a call without one counts for
 * its session.
 */
export type LimitedBy = (typeof scopes)[number]

/** What is counted of the calls that share a limit. */
export interface Tally {
  /** Calls that were let through and have not begun yet. */
  waiting: number
}

export interface Limit<Counted extends Tally> {
  readonly name: string
  readonly per: LimitedBy | undefined
  /** Default: every tool. */
  readonly tools: readonly ToolName[] | undefined
  create(): Counted
  readonly calls: number
  /** Why no further call may begin; nothing where one may. `allowance` tells how many are allowed, and whose. */
  refusal(tally: Counted, allowance: string): string | undefined
  /** A call has begun. */
  begun(tally: Counted): void
}

/** A policy with an observer of its own. */
export type Limiting = Extension & { readonly policies: readonly [Policy]; readonly observers: readonly [Observer] }

/**
 * Limits how many calls begin. A call takes its place when it is decided on, so that calls side by side cannot slip past;
 * the place becomes a start with `tool:start`, or when a client is asked, and is given back where the call settles without
 * one. What the client answers is neither judged again nor another start.
 */
export function limitStarts<Counted extends Tally>(limit: Limit<Counted>): Limiting {
  const per = wordOf(limit.name, 'per', limit.per, scopes, 'session-and-tool')
  const tools = limit.tools === undefined ? undefined : new ToolList(limit.name, 'tools', limit.tools)
  // The least recently used first.
  const tallies = new Map<string, Counted>()
  // How many places a call holds; more than one where executors share the limit, and a host gave two calls one id.
  const places = new Map<string, number>()
  // Calls that began when their client was asked, and wait for its answer; the oldest first.
  const asked = new Map<string, number>()
  // An extension may be mounted twice, or on trial too: what it said of a call it says again.
  const decided = new WeakMap<ToolContext, { readonly decision: Decision }>()

  // A tool's identity has no line break, so that no session can pass for another pair, nor a principal for a session.
  function keyOf({ session, principal }: Counting, tool: ToolDefinition): string {
    if (per === 'principal') return principal === undefined ? `\n${session}` : `principal\n${principal}`
    return per === 'session' ? session : per === 'tool' ? identityOf(tool) : `${identityOf(tool)}\n${session}`
  }

  function tallyOf(key: string): Counted {
    const tally = tallies.get(key) ?? limit.create()
    tallies.delete(key)
    tallies.set(key, tally)
    for (const [oldest, { waiting }] of tallies) {
      if (tallies.size <= mostTallies) break
      if (waiting === 0 && oldest !== key) tallies.delete(oldest)
    }
    return tally
  }

  function decide(call: Validated, context: ToolContext): Decision {
    if (tools !== undefined && !tools.includes(call.tool)) return undefined
    const known = decided.get(context)
    if (known !== undefined) return known.decision
    // Where a client has answered, its call began when it was asked.
    const decision = call.resumption?.reason === 'client' ? undefined : judge(call)
    decided.set(context, { decision })
    return decision
  }

  function judge(call: Validated): Decision {
    const { tool, invocationId } = call
    const key = keyOf(call, tool)
    const tally = tallyOf(key)
    const of = per === 'session' || per === 'principal' ? '' : ` of ${JSON.stringify(tool.name)}`
    const many = limit.calls === 1 ? '1 call' : `${limit.calls} calls`
    const allowance = `${many}${of}${whose[per]} ${limit.calls === 1 ? 'is' : 'are'} allowed`
    const reason = limit.refusal(tally, allowance)
    if (reason !== undefined) return { decision: 'deny', reason }
    tally.waiting++
    add(places, placeOf(invocationId, key))
    return undefined
  }

  const observe: Observer = (event, tool) => {
    if (tool === undefined) return // its call was never judged
    const { invocationId } = event
    const isAsked = event.event === 'call:paused' && event.reason === 'client'
    if (!isAsked && event.event !== 'tool:start' && event.event !== 'call:settled') return
    const key = keyOf(event, tool)
    const place = placeOf(invocationId, key)
    if (take(places, place)) tallyOf(key).waiting--
    if (event.event === 'call:settled') {
      if (event.status !== 'pending') take(asked, place)
    } else if ((tools === undefined || tools.includes(tool)) && !(event.event === 'tool:start' && asked.has(place))) {
      limit.begun(tallyOf(key))
      if (isAsked) remember(place)
    }
  }

  function remember(place: string): void {
    add(asked, place)
    for (const oldest of asked.keys()) {
      if (asked.size <= mostAsked) break
      asked.delete(oldest)
    }
  }

  const isOfSession = per === 'session' || per === 'session-and-tool'
  const policy: Policy = { name: limit.name, decide, ...(isOfSession && { scope: 'session' }) }
  return { policies: [policy], observers: [observe] }
}

const whose: Readonly<Record<LimitedBy, string>> = {
  session: ' in a session',
  tool: '',
  'session-and-tool': ' in a session',
  principal: ' for a principal',
}

/** Whose a call is. */
interface Counting {
  readonly session: string
  readonly principal?: string | undefined
}

/** A call, among those that share a limit. */
function placeOf(invocationId: string, key: string): string {
  return JSON.stringify([invocationId, key])
}

function add(counts: Map<string, number>, place: string): void {
  counts.set(place, (counts.get(place) ?? 0) + 1)
}

/** Takes one away; tells whether there was one. */
function take(counts: Map<string, number>, place: string): boolean {
  const count = counts.get(place) ?? 0
  if (count > 1) counts.set(place, count - 1)
  else counts.delete(place)
  return count > 0
}
