import type { ToolDefinition } from '../index.ts'
import { InvalidConfigurationError, ToolTimeoutError } from '../errors.ts'
import type { RankedTool } from './_rank.ts'
import type { ToolRanker } from './_rankers.ts'

/** A ranker that always answers with tools of the list. */
export type Rank = (
  query: string,
  tools: readonly ToolDefinition[],
  limit: number,
  signal: AbortSignal,
) => Promise<readonly RankedTool[]>

/** Guards a ranker of the application: another one answers if it throws, takes too long, or returns no list, or one that has nothing right. */
export function guarded(
  ranker: ToolRanker,
  other: ToolRanker,
  timeout: number,
  report: (error: unknown) => void,
): Rank {
  return async (query, tools, limit, signal) => {
    signal.throwIfAborted()
    if (ranker === other) return other.rank(query, tools, limit, signal)
    try {
      return listedTools(
        await rankedWithin(timeout, signal, (own) => ranker.rank(query, tools, limit, own)),
        tools,
        limit,
        report,
      )
    } catch (error) {
      signal.throwIfAborted()
      report(error)
      return other.rank(query, tools, limit, signal)
    }
  }
}

/** Waits for an answer. Rejects if it takes too long, or is no longer awaited; either aborts its signal. */
async function rankedWithin<Answer>(
  timeout: number,
  signal: AbortSignal,
  answer: (signal: AbortSignal) => Answer | Promise<Answer>,
): Promise<Answer> {
  const controller = new AbortController()
  const { promise, reject } = Promise.withResolvers<never>()
  const end = (reason: unknown): void => {
    controller.abort(reason)
    reject(reason)
  }
  const cancel = (): void => end(signal.reason)
  signal.addEventListener('abort', cancel)
  const late = new ToolTimeoutError(
    `The ranker of \`toolSearch\` did not answer within ${timeout.toLocaleString('en')} ms.`,
  )
  const timer = setTimeout(() => end(late), timeout)
  try {
    return await Promise.race([(async () => answer(controller.signal))(), promise])
  } finally {
    clearTimeout(timer)
    signal.removeEventListener('abort', cancel)
  }
}

/** Returns what a ranker found, without names that it made up, and without what is no number. Both are reported, or thrown if nothing is left. */
function listedTools(
  ranked: unknown,
  tools: readonly ToolDefinition[],
  limit: number,
  report: (error: unknown) => void,
): readonly RankedTool[] {
  if (!Array.isArray(ranked)) throw new InvalidConfigurationError('The ranker of `toolSearch` returned no list.')
  const names = new Set(tools.map(({ name }) => name))
  const own: RankedTool[] = []
  let strangers = 0
  for (const entry of ranked.slice(0, limit) as unknown[]) {
    const { name, score } = entry as RankedTool
    if (names.delete(name) && Number.isFinite(score)) own.push({ name, score })
    else strangers++
  }
  if (strangers > 0) {
    const fault = new InvalidConfigurationError(
      `Of what the ranker of \`toolSearch\` returned, ${strangers} of ${strangers + own.length} are left out: an entry has a name of the list, once, and a number as \`score\`.`,
    )
    if (own.length === 0) throw fault
    report(fault)
  }
  return own
}
