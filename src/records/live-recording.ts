import type { Received } from '../kernel/call/parcel.ts'
import type { Recording } from '../kernel/call/record.ts'
import { JournalError, SealedError } from '../kernel/errors.ts'
import { duplicate } from '../kernel/outcome/failure.ts'
import type { OpenRecord } from './fold.ts'
import type { Fence } from './journal.ts'

/** The record of a call in flight, and its fence. */
export class LiveRecording implements Recording {
  readonly record: OpenRecord
  fence: Fence | undefined
  /** The last write. It may still succeed after its timeout, so the next write waits for it. */
  writing: Promise<void> | undefined = undefined
  isOver = false

  constructor(record: OpenRecord, fence?: Fence) {
    this.record = record
    this.fence = fence
  }
}

export function recordingOf({ recording }: Received): LiveRecording {
  if (recording !== undefined) return recording as LiveRecording
  throw new JournalError('There is nothing to write: the call has emitted no event.')
}

/** Reads a journal's answer to a claim or a write. */
export function acceptAnswer(answer: unknown, recording: LiveRecording, call: Received): void {
  if (recording.fence !== undefined) {
    if (answer) return
    throw takenOver(call.invocationId)
  }
  if (answer === null) throw duplicate(call)
  if (typeof answer !== 'object') throw new JournalError('The journal returned no fence for a record that it claimed.')
  recording.fence = answer as Fence
}

export function takenOver(invocationId: string): SealedError {
  return new SealedError(
    `Invocation ${invocationId} has been taken over by another executor; what it gives here is lost.`,
  )
}
