import type { CallView, WireEvent } from 'toolwright/client/protocol'

/** One thing that the kernel did with a call. */
export interface Decision {
  readonly name: string
  /** Milliseconds since the call came in. */
  readonly after: number
  readonly sentence: string
}

/** Returns what the kernel did with a call: by its events if the page saw them all, else by the record of the call. */
export function decisionsOf(call: CallView, events: readonly WireEvent[], isOfPage: boolean): readonly Decision[] {
  const { createdAt, auditTrail = [] } = call
  if (events[0]?.seq === 0) {
    return events.map((event) => ({
      name: event.event,
      after: event.timestamp - createdAt,
      sentence: sentenceOfEvent(event, isOfPage),
    }))
  }
  return auditTrail.map(({ state, timestamp, note }, order) => ({
    name: state.toLowerCase().replace('_', ' '),
    after: timestamp - createdAt,
    sentence: note ?? sentenceOfState(state, call, isOfPage, auditTrail[order - 1]?.state === state),
  }))
}

const waitsForPage = 'The args fit, and only the page can answer, so the call waits for the page.'
const waitsForYes = 'The args fit, but the tool needs a yes: nothing runs until a person agrees.'
const goesOn = 'The answer of the page fits the schema, so the call goes on.'
const runs = 'Nothing stands in the way any more, so the handler runs.'

function sentenceOfEvent(event: WireEvent, isOfPage: boolean): string {
  switch (event.event) {
    case 'call:received':
      return identity(event.callId)
    case 'call:repaired':
      return 'The args were nearly right, and are taken as they were meant.'
    case 'call:blocked':
      return 'Another call touches the same thing, so this one waits for it.'
    case 'call:waiting':
      return event.reason === 'approval' ? waitsForYes : waitsForPage
    case 'call:resumed':
      return isOfPage ? goesOn : answer(event.decision, event.decidedBy)
    case 'tool:start':
      return isOfPage ? 'Middleware gets the answer, as it gets the result of a handler.' : runs
    case 'tool:progress':
      return 'The handler tells how far it is.'
    case 'tool:end':
      return event.isError ? 'The handler failed.' : 'The result is there, so the kernel checks and keeps it.'
    case 'call:settled':
      return outcome(event.status, event.error?.code, event.effect)
  }
}

function sentenceOfState(state: CallView['state'], call: CallView, isOfPage: boolean, isAgain: boolean): string {
  switch (state) {
    case 'PENDING':
      return identity(call.callId)
    case 'APPROVAL_REQUIRED':
      return waitsForYes
    case 'APPROVED':
      return answer('allow', call.approval?.decidedBy)
    case 'EXECUTING':
      return !isOfPage ? runs : isAgain ? goesOn : waitsForPage
    default:
      return outcome(call.status, call.error?.code, call.effect)
  }
}

function identity(callId: string | null): string {
  return callId === null
    ? 'The tool is not known, so the call has no callId.'
    : `Its callId, the SHA-256 of its tool and args, begins with ${callId.slice(0, 12)}.`
}

function answer(decision: 'allow' | 'deny', decidedBy = 'The page'): string {
  return `${decidedBy.replace(/^./, (first) => first.toUpperCase())} said ${decision === 'allow' ? 'yes' : 'no'}.`
}

function outcome(status = 'settled', code?: string, effect = 'unknown'): string {
  const reason = code === undefined ? '' : `, ${code}`
  return `The model gets the result: status ${status}${reason}, effect ${effect}.`
}
