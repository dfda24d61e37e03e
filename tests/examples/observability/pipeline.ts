import type { CallStatus, ToolEvent } from 'toolwright'
import type { Observer } from 'toolwright/extension'

/** One occurrence of a call: from its start to its end. */
export interface Run {
  readonly invocationId: string
  readonly startedAt?: number
  readonly durationMs?: number
  readonly status?: CallStatus
  /** The code of the error that it settled with. */
  readonly code?: string
}

/** All that was called with the same tool and args. */
export interface CallGroup {
  readonly callId: string
  readonly toolName: string
  readonly runs: readonly Run[]
}

/** An observer that keeps what it saw, by call. */
export interface Pipeline {
  readonly observer: Observer
  /** Calls by `callId`. A run that has started and not ended has no `durationMs`. */
  readonly groups: () => CallGroup[]
  /** The runs that have begun and not ended. */
  readonly open: () => Run[]
}

/** Groups events by `callId`, which names what is called, and pairs start and end by `invocationId`, which names this run. */
export function pipeline(): Pipeline {
  const calls = new Map<string, { toolName: string; runs: Map<string, Run> }>()

  function update({ callId, invocationId, toolName }: ToolEvent, news: Partial<Run>): void {
    const key = callId ?? `${toolName} without a callId` // of an unknown tool, or of args without a canonical form
    const call = calls.get(key) ?? { toolName, runs: new Map<string, Run>() }
    calls.set(key, call)
    call.runs.set(invocationId, { ...call.runs.get(invocationId), ...news, invocationId })
  }

  const groups = (): CallGroup[] =>
    Array.from(calls, ([callId, { toolName, runs }]) => ({ callId, toolName, runs: [...runs.values()] }))

  return {
    observer(event) {
      if (event.event === 'call:received') update(event, {})
      else if (event.event === 'tool:start') update(event, { startedAt: event.timestamp })
      else if (event.event === 'tool:end') update(event, { durationMs: event.durationMs })
      else if (event.event === 'call:waiting') update(event, { status: 'waiting' })
      else if (event.event === 'call:settled') {
        const { status, error } = event
        update(event, { status, ...(error !== undefined && { code: error.code }) })
      }
    },
    groups,
    open: () =>
      groups().flatMap(({ runs }) => runs.filter((run) => run.startedAt !== undefined && run.durationMs === undefined)),
  }
}
