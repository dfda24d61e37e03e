// Does again what a handler did.
import type { Confirmed } from '../../extension.ts'
import type { ToolContext } from '../../index.ts'
import type { TapeFiles } from './_files.ts'
import { playOutcome } from './_outcome.ts'
import type { RecordedAttempt, RecordedStep } from './_recorded.ts'
import { untagged } from './_values.ts'

/** What playing needs of a tape. */
export interface Playing {
  readonly files: TapeFiles
  /** Whether an attempt takes as long as it did. */
  readonly isTimed: boolean
}

/** Plays an attempt. Without steps that take time, it gives its outcome at once. */
export function playAttempt(
  attempt: RecordedAttempt,
  call: Confirmed,
  context: ToolContext,
  playing: Playing,
): unknown {
  const { steps = [], outcome, ms = 0 } = attempt
  const { files, isTimed } = playing
  if (steps.some((step) => 'yielded' in step)) return playedGenerator(attempt, call, context, playing)
  const wait = isTimed ? ms : 0
  if (wait === 0 && !steps.some((step) => 'keep' in step)) {
    for (const step of steps) playEmit(step, context)
    return playOutcome(outcome, call, files)
  }
  return playedLater(steps, context, playing, wait).then(() => playOutcome(outcome, call, files))
}

async function playedLater(
  steps: readonly RecordedStep[],
  context: ToolContext,
  { files }: Playing,
  wait: number,
): Promise<void> {
  for (const step of steps) await playStep(step, context, files)
  if (wait > 0) await new Promise((resolve) => setTimeout(resolve, wait))
}

async function* playedGenerator(
  { steps = [], outcome, ms = 0 }: RecordedAttempt,
  call: Confirmed,
  context: ToolContext,
  { files, isTimed }: Playing,
): AsyncGenerator<unknown, unknown, undefined> {
  for (const step of steps) {
    if ('yielded' in step) yield untagged(step.yielded)
    else await playStep(step, context, files)
  }
  if (isTimed && ms > 0) await new Promise((resolve) => setTimeout(resolve, ms))
  return playOutcome(outcome, call, files)
}

function playEmit(step: RecordedStep, context: ToolContext): void {
  if ('emit' in step) context.emit(step.emit, untagged(step.data))
}

async function playStep(step: RecordedStep, context: ToolContext, files: TapeFiles): Promise<void> {
  if (!('keep' in step)) return playEmit(step, context)
  const { keep, mediaType, hasFailed = false } = step
  try {
    await context.keep(files.pieces(keep), { mediaType })
  } catch (error) {
    if (!hasFailed) throw error // it was kept when it was recorded
  }
}
