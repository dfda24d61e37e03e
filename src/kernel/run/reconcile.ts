import type { Confirmed, Validated } from '../call/parcel.ts'
import { InvalidToolResultError, isToolError } from '../errors.ts'
import { downstream } from '../outcome/failure.ts'
import { shortened } from '../json/shortened.ts'
import type { Reconciled } from '../tool/reconciled.ts'

const longestNote = 1_024

/**
 * Asks the tool of a call what became of its run, within the deadline of the call. Changes no call.
 *
 * @param startedAt When the handler began, in milliseconds since the epoch.
 * @throws What `reconcile` of the tool throws; `E_INVALID_TOOL_RESULT` if it returns something else than it may.
 */
export async function askTool(call: Validated, startedAt: number): Promise<Reconciled> {
  const { tool, input, invocationId, callId, session, context, deadline } = call
  const { signal, values } = context
  const answer = await tool.reconcile?.(input, { invocationId, callId, session, signal, startedAt, values })
  deadline.check()
  return reconciledOf(answer, tool.name)
}

/** Reads an answer once: its author may be hostile, or may have written it for an older version. */
function reconciledOf(answer: unknown, toolName: string): Reconciled {
  if (typeof answer === 'object' && answer !== null) {
    const { effect, result, note } = answer as { readonly effect?: unknown; result?: unknown; note?: unknown }
    if (effect === 'none') return { effect }
    if (effect === 'completed' && Object.hasOwn(answer, 'result')) return { effect, result }
    if (effect === 'unknown')
      return typeof note === 'string' ? { effect, note: shortened(note, longestNote) } : { effect }
  }
  throw new InvalidToolResultError(
    `\`reconcile\` of tool "${toolName}" returned something else than { effect: 'completed', result }, { effect: 'none' } or { effect: 'unknown' }.`,
  )
}

/**
 * Asks the tool of a call what became of a run that has failed, and notes what is known now in the `effect` of the call. For
 * middleware, after `next` has rejected. `none` counts as `unknown` while the handler may still run.
 *
 * @param call The call, as the middleware got it.
 * @throws What `reconcile` of the tool throws; `E_TOOL_TIMEOUT` and `E_TOOL_CANCELLED` as `next` does.
 * @example
 * ```ts
 * import { reconcile, type Middleware } from 'toolwright/extension'
 *
 * const ask: Middleware = async (call, _context, next) => {
 *   try {
 *     return await next()
 *   } catch (error) {
 *     const found = await reconcile(call)
 *     if (found.effect === 'completed') return found.result
 *     throw error
 *   }
 * }
 * ```
 */
export async function reconcile(call: Confirmed): Promise<Reconciled> {
  const { deadline, tool, redactor, startedAt = call.receivedAt } = call
  if (tool.reconcile === undefined) return { effect: 'unknown' }
  const isRunning = deadline.works > 1 // one is the middleware
  const began = Math.round(performance.timeOrigin + startedAt)
  try {
    const found = await deadline.within(askTool(call, began))
    if (found.effect === 'none' && isRunning) return { effect: 'unknown' }
    if (found.effect !== 'unknown') call.effect = found.effect
    return found
  } catch (thrown) {
    const error = isToolError(thrown) ? thrown : downstream(tool.name, thrown)
    throw redactor?.error(error) ?? error
  }
}
