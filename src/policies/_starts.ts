import type { Extension, Observer, Policy, ToolContext, Validated } from '../index.ts'
import { namesOf, wordOf } from './_options.ts'

const mostTallies = 10_000

/** Whose calls share a limit: those of a session, of a tool, or of a tool within a session. */
export type LimitedBy = 'session' | 'tool' | 'session-and-tool'

/** What is counted of the calls that share a limit. */
export interface Tally {
  /** Calls that were let through and have not begun yet. */
  waiting: number
}

export interface Limit<Counted extends Tally> {
  readonly name: string
  readonly per: LimitedBy | undefined
  /** Default: every tool. */
  readonly tools: readonly string[] | undefined
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
 * the place becomes a start with `tool:start`, and is given back where the call settles without one.
 */
export function limitStarts<Counted extends Tally>(limit: Limit<Counted>): Limiting {
  const per = wordOf(limit.name, 'per', limit.per, ['session', 'tool', 'session-and-tool'], 'session-and-tool')
  const tools = limit.tools === undefined ? undefined : namesOf(limit.name, 'tools', limit.tools)
  // The least recently used first.
  const tallies = new Map<string, Counted>()
  // How many places a call holds; more than one where executors share the limit, and a host gave two calls one id.
  const places = new Map<string, number>()
  const decided = new WeakSet<ToolContext>()

  // A tool's name has no line break, so that no session can pass for another pair.
  function keyOf(session: string, toolName: string): string {
    return per === 'session' ? session : per === 'tool' ? toolName : `${toolName}\n${session}`
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

  function decide({ tool, session, invocationId }: Validated, context: ToolContext): ReturnType<Policy['decide']> {
    if ((tools !== undefined && !tools.has(tool.name)) || decided.has(context)) return undefined
    decided.add(context)
    const key = keyOf(session, tool.name)
    const tally = tallyOf(key)
    const of = per === 'session' ? '' : ` of ${JSON.stringify(tool.name)}`
    const many = limit.calls === 1 ? '1 call' : `${limit.calls} calls`
    const allowance = `${many}${of}${per === 'tool' ? '' : ' in a session'} ${limit.calls === 1 ? 'is' : 'are'} allowed`
    const reason = limit.refusal(tally, allowance)
    if (reason !== undefined) return { decision: 'deny', reason }
    const place = JSON.stringify([invocationId, key])
    tally.waiting++
    places.set(place, (places.get(place) ?? 0) + 1)
    return undefined
  }

  const observe: Observer = ({ event, invocationId, session, toolName }) => {
    if (event !== 'tool:start' && event !== 'call:settled') return
    const key = keyOf(session, toolName)
    const place = JSON.stringify([invocationId, key])
    const held = places.get(place) ?? 0
    if (held > 1) places.set(place, held - 1)
    else places.delete(place)
    if (held > 0) tallyOf(key).waiting--
    if (event === 'tool:start' && (tools === undefined || tools.has(toolName))) limit.begun(tallyOf(key))
  }

  return { policies: [{ name: limit.name, decide }], observers: [observe] }
}
