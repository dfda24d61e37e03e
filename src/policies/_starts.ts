import type { Extension, Observer, Policy, Validated } from '../index.ts'
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
  const waiting = new Map<string, Counted>()

  function tallyOf(session: string, toolName: string): Counted {
    // A tool's name has no line break, so that no session can pass for another pair.
    const key = per === 'session' ? session : per === 'tool' ? toolName : `${toolName}\n${session}`
    const tally = tallies.get(key) ?? limit.create()
    tallies.delete(key)
    tallies.set(key, tally)
    for (const [oldest, { waiting: held }] of tallies) {
      if (tallies.size <= mostTallies) break
      if (held === 0 && oldest !== key) tallies.delete(oldest)
    }
    return tally
  }

  function decide({ tool, session, invocationId }: Validated): ReturnType<Policy['decide']> {
    if ((tools !== undefined && !tools.has(tool.name)) || waiting.has(invocationId)) return undefined
    const tally = tallyOf(session, tool.name)
    const of = per === 'session' ? '' : ` of ${JSON.stringify(tool.name)}`
    const many = limit.calls === 1 ? '1 call' : `${limit.calls} calls`
    const allowance = `${many}${of}${per === 'tool' ? '' : ' in a session'} ${limit.calls === 1 ? 'is' : 'are'} allowed`
    const reason = limit.refusal(tally, allowance)
    if (reason !== undefined) return { decision: 'deny', reason }
    tally.waiting++
    waiting.set(invocationId, tally)
    return undefined
  }

  const observe: Observer = (event) => {
    const { invocationId, session, toolName } = event
    if (event.event !== 'tool:start' && event.event !== 'call:settled') return
    const held = waiting.get(invocationId)
    if (held !== undefined) held.waiting--
    waiting.delete(invocationId)
    if (event.event === 'tool:start' && (tools === undefined || tools.has(toolName))) {
      limit.begun(held ?? tallyOf(session, toolName))
    }
  }

  return { policies: [{ name: limit.name, decide }], observers: [observe] }
}
