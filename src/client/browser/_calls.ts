import { foldView, isOver, type CallPage, type CallView, type WireEvent } from '../protocol.ts'
import type { WireError } from './_request.ts'

/** The most calls that are kept. */
const mostPageCalls = 5_000

/** The calls that a page knows. A view is replaced, never changed. */
export class KnownCalls {
  readonly #views = new Map<string, CallView>()
  readonly #listeners = new Set<(event?: WireEvent) => void>()
  readonly #fetch: (invocationId: string) => Promise<CallView>
  readonly #report: (error: unknown) => void
  readonly #fetching = new Set<string>()
  #sorted: readonly CallView[] | undefined
  /** Called with each view that is new. */
  onView: (view: CallView) => void = () => {}

  constructor(fetch: (invocationId: string) => Promise<CallView>, report: (error: unknown) => void) {
    this.#fetch = fetch
    this.#report = report
  }

  get(invocationId: string): CallView | undefined {
    return this.#views.get(invocationId)
  }

  all(): readonly CallView[] {
    return (this.#sorted ??= [...this.#views.values()].toSorted((one, other) => other.createdAt - one.createdAt))
  }

  subscribe(listener: (event?: WireEvent) => void): () => void {
    this.#listeners.add(listener)
    return () => void this.#listeners.delete(listener)
  }

  tell(event?: WireEvent): void {
    for (const listener of this.#listeners) {
      try {
        listener(event)
      } catch (error) {
        this.#report(error) // it is the application's: the stream and the other listeners go on
      }
    }
  }

  /** Takes a list: all that wait, and the newest others. */
  list({ calls }: Pick<CallPage, 'calls'>): void {
    const listed = new Set(calls.map(({ invocationId }) => invocationId))
    for (const view of calls) this.#put(view)
    for (const [id, view] of this.#views) if (!listed.has(id) && !isOver(view)) this.#look(id)
    this.tell()
  }

  take(view: CallView): void {
    this.#put(view)
    this.tell()
  }

  /** Folds an event. If others before it were missed, the call is fetched. */
  fold(event: WireEvent): void {
    const { invocationId, seq } = event
    const before = this.#views.get(invocationId)
    const expected = before?.seq ?? 0
    if (seq < expected) return
    this.#set(foldView(before, event))
    if (seq > expected) this.#look(invocationId)
    this.tell(event)
  }

  #put(view: CallView): void {
    const before = this.#views.get(view.invocationId)
    if (before !== undefined && before.seq > view.seq) return
    this.#set(before?.progress === undefined ? view : { ...view, progress: before.progress })
  }

  #set(view: CallView): void {
    this.#views.set(view.invocationId, view)
    this.#sorted = undefined
    if (this.#views.size > mostPageCalls) {
      for (const [id, each] of this.#views) {
        if (!isOver(each)) continue
        this.#views.delete(id)
        break
      }
    }
    this.onView(view)
  }

  #look(invocationId: string): void {
    if (this.#fetching.has(invocationId)) return
    this.#fetching.add(invocationId)
    const before = this.#views.get(invocationId)
    this.#fetch(invocationId)
      .then((view) => this.take(view))
      .catch((error: WireError) => {
        // A list comes when the server is there again. One that was started anew may know the call no more.
        if (error.status !== 404 || this.#views.get(invocationId) !== before || !before || isOver(before)) return
        this.#views.delete(invocationId)
        this.#sorted = undefined
        this.tell()
      })
      .finally(() => this.#fetching.delete(invocationId))
  }
}
