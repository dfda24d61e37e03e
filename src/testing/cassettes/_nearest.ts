// Words for what does not fit a tape.
import { differenceLines, jsonDifferences, shownValue, type JsonDifference } from './_differences.ts'
import type { RecordedCall } from './_recorded.ts'

const longestArgs = 200
/** The most recorded calls with which a call is compared. */
const mostCompared = 1_000

/** Returns a call as it is written in code. */
export function callText({ tool, args }: Pick<RecordedCall, 'tool' | 'args'>): string {
  const text = args === undefined ? '' : JSON.stringify(args)
  return `${tool}(${text.length > longestArgs ? `${text.slice(0, longestArgs).toWellFormed()}…` : text})`
}

/**
 * Returns which recorded call is nearest to one that was not recorded, and what differs.
 *
 * @param isUsed Whether a call of this run has used a recorded one. Those come last.
 */
export function nearestWords(
  call: RecordedCall,
  recorded: readonly RecordedCall[],
  isUsed: (one: RecordedCall) => boolean,
): string {
  if (recorded.length === 0)
    return ' The cassette has no calls: record it (`mode`: "record", or TOOLWRIGHT_CASSETTES=record).'
  const candidates = recorded.filter(({ tool }) => tool === call.tool)
  if (candidates.length === 0) return ` No call of ${call.tool} was recorded.`
  const equal = candidates.filter(({ callId, label }) => callId === call.callId && label === call.label).length
  if (equal > 0) {
    return ` It was recorded ${equal === 1 ? 'once' : `${equal} times`}, and this is call ${call.occurrence + 1}.`
  }
  const free = candidates.filter((one) => !isUsed(one))
  let nearest: readonly JsonDifference[] | undefined
  for (const { args } of (free.length > 0 ? free : candidates).slice(0, mostCompared)) {
    const found = jsonDifferences(args, call.args)
    if (nearest === undefined || found.length < nearest.length) nearest = found
  }
  if (nearest === undefined || nearest.length === 0) {
    return ' A call with the same args was recorded in another session, or with secrets that are masked here.'
  }
  return ` The nearest recorded call:\n${differenceLines(nearest)}`
}

/** Returns what came out differently, besides the content. */
export function outcomeChanges(before: RecordedCall, after: RecordedCall, isOwnType: boolean): readonly string[] {
  const names = isOwnType ? (['status', 'code'] as const) : (['status', 'effect', 'code'] as const)
  const changes = names
    .filter((name) => before[name] !== after[name])
    .map((name) => `${name}: ${before[name] ?? 'none'} → ${after[name] ?? 'none'}`)
  // A size is left out where something was hidden.
  const differences =
    before.result === undefined
      ? []
      : jsonDifferences({ byteLength: after.result?.byteLength, ...before.result }, { ...after.result })
  return [
    ...changes,
    ...differences.map((one) => `result${one.pointer}: ${shownValue(one.before)} → ${shownValue(one.after)}`),
  ]
}
