import { booleanOption, checkOptions } from '../../extension.ts'
import { createExecutor, type ContentBlock, type ToolLike, type ToolResult } from '../../index.ts'
import { jsonDifferences, type JsonDifference } from './_differences.ts'
import { isHarmless } from '../_handlers.ts'
import { openTape, type CassetteOptions } from './_open.ts'
import type { RecordedCall } from './_recorded.ts'

/** A recorded call that comes out differently now. */
export interface Replayed {
  readonly tool: string
  readonly args: unknown
  /** Where, as a JSON Pointer into `{ status, effect, code, content }`. */
  readonly pointer: string
  readonly before: unknown
  readonly after: unknown
}

/** How many calls came out the same, came out differently, and could not be made again. */
export interface ReplayCounts {
  readonly same: number
  readonly different: number
  readonly skipped: number
}

/** The options of `replay`: which tools run for real, and what is compared. */
export interface ReplayOptions {
  /** Whether every tool runs for real. Else only those run that the application calls `readonly`. Default: `false`. */
  readonly all?: boolean
  /** JSON Pointers of what is not compared, such as `/content`. Default: none. */
  readonly ignore?: readonly string[]
}

/**
 * Makes the calls of a tape again, in order, and yields what comes out differently. Tools that are `readonly` run for real, the
 * others answer from the tape. Calls that a person answered, whose args are masked, or whose handler did not run are skipped.
 *
 * @param file The path of the tape.
 * @param tools The tools as they are now.
 * @param options Which tools run, and what is not compared.
 * @returns How many calls were compared.
 * @throws `E_INVALID_CONFIGURATION` if the file is no tape, or an option is wrong.
 * @example
 * ```ts
 * import { tool } from 'toolwright'
 * import { replay } from 'toolwright/testing/cassettes'
 *
 * const tools = [tool('now', () => '12:00')]
 * for await (const { tool: name, pointer, before, after } of replay('tape.jsonl', tools, { ignore: ['/effect'] })) {
 *   console.log(name, pointer, before, after)
 * }
 * ```
 * @experimental
 */
export async function* replayTape(
  file: string,
  tools: Iterable<ToolLike>,
  options: ReplayOptions = {},
): AsyncGenerator<Replayed, ReplayCounts, undefined> {
  checkOptions('replay', options, {
    all: booleanOption,
    ignore: {
      expected: 'an array of JSON Pointers',
      accepts: (value) =>
        Array.isArray(value) && value.every((pointer) => typeof pointer === 'string' && pointer.startsWith('/')),
    },
  })
  const { all = false, ignore = [] } = options
  const settings: CassetteOptions = {
    mode: 'replay',
    live: (tool) => all || isHarmless(tool),
    label: (session) => session,
  }
  const { deck, tape } = openTape(file, { ...settings, report: () => {} })
  const counts = { same: 0, different: 0, skipped: 0 }
  const executor = createExecutor({ tools, use: [tape], report: () => {} })
  try {
    for (const before of deck.recorded) {
      if (cannotRepeat(before)) {
        deck.skip(before)
        counts.skipped++
        continue
      }
      const { tool, args, label } = before
      const result = await executor.execute({ name: tool, args }, { session: label })
      const changes = changesOfResult(before, deck.contentOf(before), result, ignore)
      if (changes.length === 0) counts.same++
      else counts.different++
      for (const change of changes) yield { tool, args, ...change }
    }
    return counts
  } finally {
    await executor.close()
  }
}

/** Whether a recorded call cannot be made again: its handler did not run, a person answered it, or its args are masked. */
function cannotRepeat({ callId, args, attempts, answers, status }: RecordedCall): boolean {
  if (callId === null || attempts.length === 0 || answers !== undefined || status === 'waiting') return true
  return JSON.stringify(args ?? null).includes('[secret]')
}

/**
 * Returns what comes out differently now.
 *
 * @param content What the model was told before, if it is known.
 * @param ignored JSON Pointers, such as `/content`. What they point to, and all within, is not compared.
 */
function changesOfResult(
  before: RecordedCall,
  content: readonly ContentBlock[] | undefined,
  result: ToolResult,
  ignored: readonly string[],
): readonly JsonDifference[] {
  const { status, effect, code } = before
  const after = {
    status: result.status,
    effect: result.effect,
    code: result.error?.code,
    content: content === undefined ? undefined : (JSON.parse(JSON.stringify(result.content)) as unknown),
  }
  return jsonDifferences({ status, effect, code, content }, after).filter(
    ({ pointer }) => !ignored.some((place) => pointer === place || pointer.startsWith(`${place}/`)),
  )
}
