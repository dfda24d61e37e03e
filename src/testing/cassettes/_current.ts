// A line of a tape while its call runs.
import type { Confirmed, Redactor } from '../../extension.ts'
import type { ContentBlock, ToolDefinition, ToolEvent, ToolEventOf } from '../../index.ts'
import { isOwnType } from '../_handlers.ts'
import type { RecordedAnswer, RecordedAttempt, RecordedCall, RecordedEnd } from './_recorded.ts'

/** A line while its call runs. */
export interface OpenLine extends RecordedCall {
  callId: string | null
  args?: unknown
  attempts: RecordedAttempt[]
  answers?: RecordedAnswer[]
  status: RecordedCall['status']
  effect: RecordedCall['effect']
  code?: string
  result?: { kind?: string; mediaType: string; byteLength?: number }
  content?: readonly ContentBlock[]
  digest?: string
}

/** A call of this run. */
export interface CurrentCall {
  readonly line: OpenLine
  /** The line of the tape that it is. */
  readonly before: RecordedCall | undefined
  /** How many attempts were played. */
  played: number
  isOver: boolean
  isMissed: boolean
  /** What it last waited for. */
  reason: string | undefined
  /** Its present `callId`, if a person has edited the args. */
  editedId: string | null | undefined
  isOwnType: boolean
  /** Hides the secrets of the call, once its handler ran. */
  redactor: Redactor | undefined
}

/** Returns the `callId` of the args as a person edited them. */
export function editedIdOf({ answers = [] }: RecordedCall): string | null | undefined {
  return answers
    .flatMap((answer) => (answer.reason === 'approval' ? [answer.callId] : []))
    .findLast((id) => id !== undefined)
}

/** Ends the last attempt of a call that its deadline or its caller ended. */
export function endLast({ attempts, status }: OpenLine, message: string): void {
  const last = attempts.at(-1)
  if (last === undefined || (status !== 'timed_out' && status !== 'cancelled')) return
  const ended: RecordedEnd = { status, message }
  const { outcome } = last
  if ('isOpen' in outcome) attempts.splice(-1, 1, { ...last, outcome: { ended } })
  else if ('stream' in outcome && outcome.thrown === undefined) {
    attempts.splice(-1, 1, { ...last, outcome: { ...outcome, ended } })
  }
}

/** Whether the tape has less than the handler gave. */
export function isMasked({ attempts }: RecordedCall): boolean {
  return attempts.some(({ outcome }) => 'isMasked' in outcome)
}

/** Whether the deadline or the caller of a call has ended it. */
export function hasEnded({ deadline }: Confirmed): boolean {
  try {
    deadline.check()
    return false
  } catch {
    return true
  }
}

/** Describes a result for its line. */
function resultDescription(result: {
  readonly kind?: unknown
  readonly mediaType: string
  readonly byteLength: number
}): NonNullable<OpenLine['result']> {
  const { kind, mediaType, byteLength } = result
  return { ...(typeof kind === 'string' && { kind }), mediaType, byteLength }
}

/** Returns the answer of a person. */
function answerOfEvent(event: ToolEventOf<'call:resumed'>): RecordedAnswer {
  const { decision, decidedBy, note, always, args, callId } = event
  return {
    reason: 'approval',
    decision,
    ...(decidedBy !== undefined && { decidedBy }),
    ...(note !== undefined && { note }),
    ...(always !== undefined && { always }),
    ...(args !== undefined && { args, callId }),
  }
}

export function newLine(
  place: Pick<RecordedCall, 'tool' | 'callId' | 'occurrence' | 'label'> & { readonly args: unknown },
): OpenLine {
  const { args, ...rest } = place
  return { ...rest, ...(args !== undefined && { args }), attempts: [], status: 'running', effect: 'none' }
}

export function newCurrentCall(
  line: OpenLine,
  before: RecordedCall | undefined,
  tool: ToolDefinition | undefined,
): CurrentCall {
  return {
    line,
    before,
    played: 0,
    isOver: false,
    isMissed: false,
    reason: undefined,
    editedId: undefined,
    isOwnType: tool !== undefined && isOwnType(tool),
    redactor: undefined,
  }
}

/** Writes what an event tells into the line of its call. */
export function followEvent(current: CurrentCall, event: ToolEvent): void {
  const { line } = current
  switch (event.event) {
    case 'call:waiting':
      current.reason = event.reason
      if (event.inProcess !== true) line.status = 'waiting'
      break
    case 'call:resumed':
      line.status = 'running'
      if (event.args !== undefined) current.editedId = event.callId
      if (current.reason === 'approval') (line.answers ??= []).push(answerOfEvent(event))
      break
    case 'call:settled':
      line.status = event.status
      line.effect = event.effect
      if (event.error !== undefined) line.code = event.error.code
      if (event.result !== undefined) line.result = resultDescription(event.result)
      break
    case 'call:received':
    case 'call:repaired':
    case 'call:blocked':
    case 'tool:start':
    case 'tool:progress':
    case 'tool:end':
  }
}
