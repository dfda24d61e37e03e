import type { RecordedCall } from './_recorded.ts'

/** Names sessions, and counts equal calls, in the order in which they come in. */
export class CallPlaces {
  readonly #label: ((session: string) => string) | undefined
  readonly #labels = new Map<string, string>()
  readonly #counts = new Map<string, number>()

  /** @param label The application's own names of sessions. */
  constructor(label: ((session: string) => string) | undefined) {
    this.#label = label
  }

  /** Returns the name of a session that is the same each time. */
  labelOf(session: string): string {
    const former = this.#labels.get(session)
    if (former !== undefined) return former
    const label = this.#label === undefined ? `s${this.#labels.size}` : String(this.#label(session))
    this.#labels.set(session, label)
    return label
  }

  /** Counts a call. Returns how many equal ones came before. */
  next({ callId, tool, label }: Pick<RecordedCall, 'callId' | 'tool' | 'label'>): number {
    const counted = `${callId ?? `?${tool}`} ${label}`
    const count = this.#counts.get(counted) ?? 0
    this.#counts.set(counted, count + 1)
    return count
  }
}
