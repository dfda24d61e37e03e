import type { WaitRecord, ToolCallRecord } from '../kernel/call/record.ts'
import type { RecordQuery, Standing } from './journal.ts'
import { isSettled } from './record.ts'

/** The fields of a record by which journals list it. */
export interface RecordFacts {
  readonly id: string
  readonly session: string
  readonly createdAt: number
  readonly standing: Standing
  /** What the call waits for, and until when, if it waits. */
  readonly reason: WaitRecord['reason'] | undefined
  readonly expiresAt: number | undefined
  /** The queue in which it waits for a worker. */
  readonly queue: string | undefined
  /** The fingerprint of its tool, if it waits for a worker. */
  readonly fingerprint: string | undefined
  /** Whether it runs beside no other call of its session, if it waits for a worker or runs on one. */
  readonly isAlone: boolean | undefined
  /** When the call was completed, if it has settled. */
  readonly settledAt: number | undefined
}

/** Returns the fields of a record by which journals list it. @example const { standing, settledAt } = factsOf(record) */
export function factsOf(record: ToolCallRecord): RecordFacts {
  const { id, session, createdAt, updatedAt, completedAt = updatedAt, state, journal } = record
  const isOver = isSettled(state)
  const awaits = isOver ? undefined : journal?.awaits
  const work = isOver ? undefined : (awaits ?? journal?.work)?.work
  return {
    id,
    session,
    createdAt,
    standing: standingOf(isOver, awaits),
    reason: awaits?.reason,
    expiresAt: awaits?.expiresAt,
    queue: awaits?.work?.queue,
    fingerprint: awaits?.work && awaits.fingerprint,
    isAlone: work && work.isAlone === true,
    settledAt: isOver ? completedAt : undefined,
  }
}

/** Returns the standing of a record. */
export function standingOf(isOver: boolean, awaits: unknown): Standing {
  return isOver ? 'settled' : awaits === undefined ? 'running' : 'waiting'
}

/**
 * Returns whether a list has a record whose owner is silent for `idle` milliseconds. Limits are the caller's.
 * @example const isWaiting = isListed(factsOf(record), fence.owner, idle, { state: 'waiting' })
 */
export function isListed(facts: RecordFacts, owner: string, idle: number, query: RecordQuery): boolean {
  const { state, session, reason, silentFor = 0, expiresBefore, settledBefore, before } = query
  return (
    (state === undefined || facts.standing === state) &&
    (session === undefined || facts.session === session) &&
    (reason === undefined || facts.reason === reason) &&
    (query.owner === undefined || owner === query.owner) &&
    idle >= silentFor &&
    (expiresBefore === undefined || (facts.expiresAt ?? Infinity) < expiresBefore) &&
    (settledBefore === undefined || (facts.settledAt ?? Infinity) < settledBefore) &&
    (before === undefined || newestFirst(before, facts) < 0)
  )
}

/** Compares two records for a list. @example const records = [record].toSorted(newestFirst) */
export function newestFirst(a: RecordPlace, b: RecordPlace): number {
  if (a.createdAt !== b.createdAt) return b.createdAt - a.createdAt
  return a.id === b.id ? 0 : a.id < b.id ? 1 : -1
}

type RecordPlace = Pick<ToolCallRecord, 'createdAt' | 'id'>
