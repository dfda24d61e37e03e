import type { CallView, ToolClient, WireEvent } from '../../../client/protocol.ts'

/** One thing that happened to a call. */
export interface TimelineMoment {
  readonly at: number
  readonly name: string
  readonly note: string
}

/** The most calls whose events are kept. */
const mostCalls = 1_000

/** The events of calls, as this page has seen them. */
export class Timelines {
  readonly #events = new Map<string, WireEvent[]>()

  constructor(client: ToolClient) {
    client.subscribe((event) => {
      // What comes while a call runs is shown apart.
      if (event === undefined || event.event === 'tool:progress') return
      const events = this.#events.get(event.invocationId) ?? []
      this.#events.set(event.invocationId, events)
      events.push(event)
      for (const oldest of this.#events.keys()) {
        if (this.#events.size <= mostCalls) break
        this.#events.delete(oldest)
      }
    })
  }

  /** Returns what happened to a call: by its events if all were seen, else by its audit trail. */
  of({ invocationId, auditTrail = [] }: CallView): readonly TimelineMoment[] {
    const events = this.#events.get(invocationId)
    if (events?.[0]?.seq === 0) {
      return events.map((event) => ({
        at: event.timestamp,
        name: event.event.replace(/^.*:/, ''),
        note: noteOf(event),
      }))
    }
    return auditTrail.map(({ state, timestamp, note = '' }) => ({
      at: timestamp,
      name: state.toLowerCase().replace('_', ' '),
      note,
    }))
  }
}

function noteOf(event: WireEvent): string {
  switch (event.event) {
    case 'call:repaired':
      return event.steps.map(({ step, path }) => [step, path.join('.')].filter(Boolean).join(' ')).join(' · ')
    case 'call:blocked':
      return [event.gate ?? event.keys?.join(' ') ?? event.by, event.behind && `behind ${event.behind}`]
        .filter(Boolean)
        .join(' · ')
    case 'call:waiting':
      return event.why ?? (event.reason === 'approval' ? 'for approval' : 'for a page')
    case 'call:resumed':
      return [event.decision, event.decidedBy && `by ${event.decidedBy}`, event.note].filter(Boolean).join(' · ')
    case 'call:settled':
      return event.error === undefined ? event.status.replace('_', ' ') : event.error.code
    default:
      return ''
  }
}
