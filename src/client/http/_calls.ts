import { isToolError, type ToolCallSnapshot, type ToolEvent, type ToolExecutor } from '../../index.ts'
import { foldView, isOver, type CallPage, type CallView } from '../protocol.ts'
import type { AudienceChannels } from './_channels.ts'
import { lightened, mergedView, wireEventOf, viewOfSnapshot, viewOfWaiting, waitView } from './_views.ts'

/** The most calls of all sessions that are kept here. */
const mostViewedCalls = 10_000
const callsOnPage = 200

/** The calls of an executor, as pages see them: of this process by its events, and of others by the journal. */
export class PageCalls {
  readonly #executor: ToolExecutor
  readonly #channels: AudienceChannels
  readonly #mostOfSession: number
  readonly #report: (error: unknown) => void
  readonly #views = new Map<string, CallView>()
  readonly #sessions = new Map<string, Set<string>>()
  /** The calls that run in this process: their events tell all of them. */
  readonly #running = new Set<string>()
  readonly #resumed = new Map<string, Set<() => void>>()
  readonly #looking = new Map<string, boolean>()
  readonly #stops: (() => void)[]
  #isClosed = false

  constructor(
    executor: ToolExecutor,
    channels: AudienceChannels,
    limits: { readonly calls: number },
    report: (error: unknown) => void,
  ) {
    this.#executor = executor
    this.#channels = channels
    this.#mostOfSession = limits.calls
    this.#report = report
    this.#stops = [executor.on('*', (event) => this.#hear(event))]
    this.#stops.push(
      executor.calls.watch((invocationId, session) => {
        if (!this.#running.has(invocationId)) this.refresh(invocationId, session)
      }),
    )
    channels.onBeat = (sessions) => void this.#sweep(sessions)
  }

  close(): void {
    this.#isClosed = true
    for (const stop of this.#stops) stop()
  }

  /** Calls the listener when a call goes on. Returns an unsubscribe function. */
  onResumed(invocationId: string, listener: () => void): () => void {
    const listeners = this.#resumed.get(invocationId) ?? new Set()
    this.#resumed.set(invocationId, listeners.add(listener))
    return () => {
      listeners.delete(listener)
      if (listeners.size === 0) this.#resumed.delete(invocationId)
    }
  }

  /** Returns what is known here of a call, as of now. */
  knownView(invocationId: string): CallView | undefined {
    return this.#views.get(invocationId)
  }

  /**
   * Looks for a call, here and in the journal.
   *
   * @returns Its view and its snapshot, if it has a record; `undefined` if there is no such call that the user sees.
   * @throws `E_JOURNAL`, `retryable`.
   */
  async look(
    invocationId: string,
    session: string,
  ): Promise<{ readonly view: CallView; readonly snapshot: ToolCallSnapshot | undefined } | undefined> {
    const snapshot = await this.#executor.calls.get(invocationId).catch((error: unknown) => {
      if (isToolError(error) && error.code === 'E_JOURNAL' && !error.retryable) return undefined // it has no record
      throw error
    })
    const [waiting] =
      snapshot !== undefined && isOver(snapshot) ? [] : await this.#executor.calls.waiting({ invocationId })
    const before = this.#views.get(invocationId)
    let view = before
    if (snapshot !== undefined) view = mergedView(before, viewOfSnapshot(snapshot, waiting))
    else if (waiting !== undefined) view = { ...(before ?? viewOfWaiting(waiting)), waiting: waitView(waiting) }
    else if (before?.waiting !== undefined) {
      const { waiting: _over, ...rest } = before
      view = rest
    }
    if (view === undefined || (session !== '*' && view.session !== session)) return undefined
    return { view, snapshot }
  }

  /** Lists the calls that a user sees: without `before` first those that wait, then the others, newest first. */
  async list(session: string, before?: string, limit: number = callsOnPage): Promise<Pick<CallPage, 'calls' | 'next'>> {
    const own = session === '*' ? {} : { session }
    const place = callPosition(before)
    const snapshots = await this.#executor.calls.list({ ...own, ...(place && { before: place }), limit })
    const sessionCalls = this.#of(session)
    // The last look: a call that began to wait before it is in the list, and the event of a later one comes.
    const waiting = await this.#executor.calls.waiting(own)
    const waits = new Map(waiting.slice(0, this.#mostOfSession).map((call) => [call.invocationId, call]))
    const views = new Map<string, CallView>()
    const add = (view: CallView): void =>
      void views.set(view.invocationId, mergedView(views.get(view.invocationId), view))
    for (const view of sessionCalls) if (place === undefined || isAfter(view, place)) add(unwaiting(view))
    for (const snapshot of snapshots) add(viewOfSnapshot(snapshot, waits.get(snapshot.id)))
    if (place === undefined) for (const call of waiting) if (!views.has(call.invocationId)) add(viewOfWaiting(call))
    for (const [id, call] of waits) {
      const view = views.get(id)
      if (view !== undefined) views.set(id, { ...view, waiting: waitView(call) })
    }
    const all = [...views.values()].toSorted((one, other) => (isAfter(other, placeIn(one)) ? -1 : 1))
    const others = all.filter((view) => view.waiting === undefined)
    const page = others.slice(0, limit)
    const last = page.at(-1)
    const hasMore = last !== undefined && (others.length > limit || snapshots.length >= limit)
    const calls = place === undefined ? [...all.filter(({ waiting: wait }) => wait !== undefined), ...page] : page
    return { calls, ...(hasMore && { next: `${last.createdAt}.${last.invocationId}` }) }
  }

  /** Looks at a call again, and tells the pages if it has changed. */
  refresh(invocationId: string, session: string): void {
    if (this.#isClosed || !this.#channels.hasAudience(session)) return
    const isLooking = this.#looking.has(invocationId)
    this.#looking.set(invocationId, isLooking)
    if (isLooking) return // that look is followed by another
    const again = async (): Promise<void> => {
      const latest = await this.look(invocationId, session)
      if (latest !== undefined && !this.#isClosed) this.#take(latest.view)
    }
    const go = (): void => {
      again()
        .catch(this.#report)
        .finally(() => {
          const isWanted = this.#looking.get(invocationId) === true
          if (isWanted) this.#looking.set(invocationId, false)
          else this.#looking.delete(invocationId)
          if (isWanted) go()
        })
    }
    go()
  }

  #hear(event: ToolEvent): void {
    const { invocationId, session } = event
    const wireEvent = wireEventOf(event)
    const isSettled = wireEvent.event === 'call:settled'
    const isWaiting = wireEvent.event === 'call:waiting' && wireEvent.inProcess === undefined
    if (isSettled || isWaiting) this.#running.delete(invocationId)
    else this.#running.add(invocationId)
    const view = lightened(foldView(this.#views.get(invocationId), wireEvent))
    this.#keep(view)
    this.#channels.push(session, 'event', wireEvent)
    if (wireEvent.event === 'call:waiting') this.#tell(view)
    if (isSettled) this.refresh(invocationId, session) // for its content
    if (wireEvent.event === 'call:resumed' || isSettled || isWaiting) {
      for (const listener of this.#resumed.get(invocationId) ?? []) listener()
    }
  }

  #take(view: CallView): void {
    const before = this.#views.get(view.invocationId)
    if (before !== undefined && (before.seq > view.seq || JSON.stringify(before) === JSON.stringify(view))) return
    this.#keep(view)
    this.#tell(view)
  }

  #tell({ progress: _ownEvents, ...publicView }: CallView): void {
    this.#channels.push(publicView.session, 'call', publicView)
  }

  #keep(view: CallView): void {
    const { invocationId, session } = view
    const before = this.#views.get(invocationId)
    this.#views.set(invocationId, view)
    if (before?.session === session) return
    if (before !== undefined) this.#sessions.get(before.session)?.delete(invocationId) // its id is used again
    const ids = this.#sessions.get(session) ?? new Set()
    this.#sessions.set(session, ids.add(invocationId))
    this.#drop(session, ids, ids.size - this.#mostOfSession)
    if (this.#views.size <= mostViewedCalls) return
    // Those of the session that has most, many at once, so that this is rare.
    const [largest, views] = [...this.#sessions].reduce((most, each) => (each[1].size > most[1].size ? each : most))
    this.#drop(largest, views, Math.ceil(views.size / 10))
  }

  /** Forgets the oldest calls of a session. */
  #drop(session: string, ids: Set<string>, count: number): void {
    let left = count
    for (const id of ids) {
      if (left-- <= 0) break
      ids.delete(id)
      this.#views.delete(id)
    }
    if (ids.size === 0) this.#sessions.delete(session)
  }

  #of(session: string): CallView[] {
    if (session === '*') return [...this.#views.values()]
    return [...(this.#sessions.get(session) ?? [])].flatMap((id) => this.#views.get(id) ?? [])
  }

  /** Finds what no event and no hint has told: calls that expired, and changes by other processes. */
  async #sweep(sessions: readonly string[]): Promise<void> {
    try {
      const now = Date.now()
      const isLate = ({ invocationId, status, waiting }: CallView): boolean =>
        status === 'waiting' && (waiting?.expiresAt ?? 0) < now && !this.#running.has(invocationId)
      if ([...this.#views.values()].some(isLate)) await this.#executor.calls.expire()
      for (const session of sessions) {
        const { calls } = await this.list(session)
        if (this.#isClosed) return
        for (const view of calls) if (!this.#running.has(view.invocationId)) this.#take(view)
      }
    } catch (error) {
      if (!this.#isClosed) this.#report(error)
    }
  }
}

interface CallPosition {
  readonly createdAt: number
  readonly id: string
}

function callPosition(text: string | undefined): CallPosition | undefined {
  const [, createdAt, id] = /^(\d{1,16})\.([^]{1,1024})$/.exec(text ?? '') ?? []
  return id === undefined ? undefined : { createdAt: Number(createdAt), id }
}

function placeIn({ createdAt, invocationId: id }: CallView): CallPosition {
  return { createdAt, id }
}

/** Whether a call is older than a place in a list, which is newest first. */
function isAfter({ createdAt, invocationId }: CallView, { createdAt: createdBefore, id }: CallPosition): boolean {
  return createdAt === createdBefore ? invocationId < id : createdAt < createdBefore
}

/** Whether a call waits is known by asking who waits. */
function unwaiting({ waiting: _stale, ...view }: CallView): CallView {
  return view
}
