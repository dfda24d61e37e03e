import type { StoredRecord } from './_kept.ts'

/** A call that waits for a worker or runs on one. */
interface QueuedPlace {
  readonly session: SessionLines
  readonly isAlone: boolean
  /** The line in which it waits. Nothing if it runs. */
  readonly line: QueueLine | undefined
  readonly createdAt: number
  /** The number of its arrival. */
  readonly number: number
  readonly id: string
  readonly expiresAt: number
  hasLeft: boolean
}

/** The calls of a session that wait in one queue: all, and those that run alone, oldest first. */
interface QueueLine {
  readonly all: QueuedPlace[]
  readonly alone: QueuedPlace[]
}

interface SessionLines {
  readonly name: string
  readonly lines: Map<string, QueueLine>
  count: number
  running: number
  runningAlone: number
}

/** Tells which calls for workers may run now, so that a call that runs alone runs beside no other of its session. */
export class MemoryOrder {
  readonly #places = new Map<string, QueuedPlace>()
  readonly #sessions = new Map<string, SessionLines>()
  #arrived = 0

  /** Adds a call that waits or runs, in place of what it did before. Leaves out a call that is not for workers. */
  put(facts: StoredRecord, isTaken = false): void {
    const { id, isAlone } = facts
    this.leave(id)
    if (isAlone === undefined) return
    const { session: name, queue, standing, createdAt, expiresAt = Infinity } = facts
    if (standing === 'settled') return
    const session = this.#sessionOf(name)
    const line = standing === 'running' || isTaken || queue === undefined ? undefined : lineOf(session, queue)
    const number = this.#arrived++
    const place: QueuedPlace = { session, isAlone, line, createdAt, number, id, expiresAt, hasLeft: false }
    this.#places.set(id, place)
    session.count++
    if (line === undefined) {
      session.running++
      if (isAlone) session.runningAlone++
      return
    }
    insert(line.all, place)
    if (isAlone) insert(line.alone, place)
  }

  leave(id: string): void {
    const place = this.#places.size === 0 ? undefined : this.#places.get(id)
    if (place === undefined) return
    const { session, line, isAlone } = place
    this.#places.delete(id)
    place.hasLeft = true
    if (line === undefined) session.running--
    if (line === undefined && isAlone) session.runningAlone--
    if (--session.count === 0) this.#sessions.delete(session.name)
  }

  /** Whether a call that waits may run now. `except` are calls that keep no other waiting. */
  has(id: string, now: number, except: ReadonlySet<string> = new Set()): boolean {
    const place = this.#places.get(id)
    if (place?.line === undefined) return false
    const { session, line, isAlone } = place
    if (isAlone) return session.running === 0 && firstTakeable(line.all, now, except) === place
    if (session.runningAlone > 0) return false
    const alone = firstTakeable(line.alone, now, except)
    return alone === undefined || isOlder(place, alone)
  }

  #sessionOf(name: string): SessionLines {
    let session = this.#sessions.get(name)
    if (session === undefined) {
      session = { name, lines: new Map(), count: 0, running: 0, runningAlone: 0 }
      this.#sessions.set(name, session)
    }
    return session
  }
}

function lineOf({ lines }: SessionLines, queue: string): QueueLine {
  const line = lines.get(queue) ?? { all: [], alone: [] }
  lines.set(queue, line)
  return line
}

function isOlder(one: QueuedPlace, other: QueuedPlace): boolean {
  return one.createdAt === other.createdAt ? one.number < other.number : one.createdAt < other.createdAt
}

/** Adds a call at its place: at the end, unless it waits again. */
function insert(places: QueuedPlace[], place: QueuedPlace): void {
  let index = places.length
  while (index > 0 && isOlder(place, places[index - 1]!)) index--
  places.splice(index, 0, place)
}

/** Returns the first call that can still be taken. Drops those at the beginning that have left. */
function firstTakeable(places: QueuedPlace[], now: number, except: ReadonlySet<string>): QueuedPlace | undefined {
  const begin = places.findIndex(({ hasLeft }) => !hasLeft)
  if (begin !== 0) places.splice(0, begin < 0 ? places.length : begin)
  return places.find(({ hasLeft, expiresAt, id }) => !hasLeft && expiresAt >= now && !except.has(id))
}
