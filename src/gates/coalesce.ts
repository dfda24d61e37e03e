/**
 * Runs equal calls that are made at the same time once. Nothing is kept: a call that comes later runs.
 *
 * @module
 */
import type { Extension, ToolDefinition, ToolResult } from '../index.ts'
import {
  checkOptions,
  functionOption,
  type Confirmed,
  type EarlierCalls,
  type Entry,
  type Gate,
  type KnownOutcome,
} from '../extension.ts'
import { Flights } from './_flights.ts'

/** The options of `coalesce`. */
export interface CoalesceOptions {
  /** Returns whether equal calls of a tool run once. Default: if its traits have `readonly`, `idempotent` or `coalesce`. */
  readonly tools?: (tool: ToolDefinition) => boolean
  /** Returns what calls have to share beside their args, such as what the handler reads from `call.context.values`. Default: nothing. */
  readonly key?: (call: Confirmed) => string
}

/**
 * Runs equal calls once while one of them runs: the others get its result. Equal are calls of one session, principal, caller, tool and
 * `callId`. The first one's effect is `completed`, that of the others `none`; a failure is that of all. If the first caller
 * gives up while others wait, its result is `cancelled` and `unknown`, and the work goes on until the last gives up.
 *
 * A call of a client and one that was resumed join no other. A call with a `parent` joins only those of the same.
 *
 * @param options Which tools, and what else makes calls equal.
 * @throws `E_INVALID_CONFIGURATION` if an option is invalid or unknown.
 * @example
 * ```ts
 * import { createExecutor, tool } from 'toolwright'
 * import { coalesce } from 'toolwright/gates/coalesce'
 *
 * const search = tool('search', async () => 'found').with({ traits: { readonly: true } })
 * const executor = createExecutor({ tools: [search], use: [coalesce()] })
 * await Promise.all([1, 2, 3].map(() => executor.execute({ name: 'search' }))) // searches once
 * ```
 * @experimental
 */
export function coalesce(options: CoalesceOptions = {}): Required<Pick<Extension, 'gates'>> {
  checkOptions('coalesce', options, { tools: functionOption, key: functionOption })
  const { tools = mayCoalesce, key } = options
  const ofExecutors = new WeakMap<EarlierCalls, Flights>()
  const enter: Gate['enter'] = (call, _context, calls) => {
    if (call.tool.type === 'client' || call.resumption !== undefined || !tools(call.tool)) return undefined
    let flights = ofExecutors.get(calls)
    if (flights === undefined) ofExecutors.set(calls, (flights = new Flights()))
    const own = flightKeyOf(call, key?.(call))
    const flight = flights.get(call.tool, own)
    if (flight === undefined) return flights.begin(call, own)
    // An equal call elsewhere may wait for the one within which this one is made.
    if (call.parent !== undefined && call.parent !== flight.leader.parent) return undefined
    return followFlight(call, own, flights)
  }
  return { gates: [{ name: 'coalesce', enter }] }
}

function mayCoalesce({ traits }: ToolDefinition): boolean {
  return traits.readonly || traits.idempotent || traits.coalesce === true
}

/** A program of a model may get more of a result than the model itself, so the two share none. */
function flightKeyOf({ session, principal, caller, callId, program }: Confirmed, own: string | undefined): string {
  return JSON.stringify([session, principal ?? null, caller, callId, program !== undefined, own])
}

/** Waits for an equal call. If that has no result yet, since it waits for a person or a client, the next one takes its place. */
async function followFlight(call: Confirmed, key: string, flights: Flights): Promise<Entry> {
  const { signal } = call.context
  for (let flight = flights.get(call.tool, key); flight !== undefined; flight = flights.get(call.tool, key)) {
    const result = await flight.join({ signal })
    if (signal.aborted) return undefined
    if (result !== undefined && result.status !== 'waiting') return { outcome: sharedOutcome(result) }
  }
  return flights.begin(call, key)
}

function sharedOutcome({ status, effect, content, artifact, handle, error, value }: ToolResult): KnownOutcome {
  const own = { content, ...(artifact && { artifact }), ...(handle !== undefined && { handle }) }
  return error === undefined ? { status, effect: 'none', ...own, value } : { status, effect, ...own, error }
}
