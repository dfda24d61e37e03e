import type { Deleted, Fence, Journal, RecordQuery, TakeQuery, UnsentQuery } from '../../records/index.ts'
import { columnsOf, sessionKey, type Columns } from '../_columns.ts'
import { fenceOf, foundRows, isId, listPages, recordOf, requireId, type KeyOf, type Row } from '../_rows.ts'
import type { Operation } from './_operations.ts'
import type { SqlStatements } from './_statements.ts'

/** The rows of a database. A change is durable once it is answered. */
export interface Rows {
  /** What the tables keep of an id. Default: the id. */
  readonly keyOf?: KeyOf
  claim(columns: Columns, owner: string, session: string): Promise<boolean>
  write(columns: Columns, fence: Fence, session: string): Promise<boolean>
  read(id: string): Promise<Row | undefined>
  takeOver(id: string, fence: Fence, owner: string): Promise<boolean>
  list(query: RecordQuery, limit: number): Promise<readonly Row[]>
  take(wanted: TakeQuery, owner: string): Promise<readonly Row[]>
  unsent(wanted: UnsentQuery): Promise<readonly Row[]>
  free(ids: readonly string[]): Promise<string[]>
  depth(queue: string, atMost: number): Promise<number>
  settledOf(ids: readonly string[]): Promise<readonly Row[]>
  /** Returns the invocation that is noted then. */
  claimEffect(scope: string, effectKey: string, id: string, former: string | undefined): Promise<string>
  beat(owner: string): Promise<string[]>
  requestCancel(id: string): Promise<boolean>
  /** Deletes some. `isEnd`: whether nothing more is to be deleted. */
  delete(
    settledBefore: number,
    limit: number,
  ): Promise<{ readonly deleted: readonly Deleted[]; readonly isEnd: boolean }>
  cuts(): Promise<string[]>
}

/** Makes a journal of the rows of a database: records become columns, and rows records with their fences. */
export function journalOf(rows: Rows, deletedAtOnce: number): Journal {
  const { keyOf } = rows
  return {
    isDurable: true,

    async claim(record, owner) {
      return (await rows.claim(columnsOf(record), owner, record.session)) ? { owner, number: 0 } : null
    },

    async write(record, fence) {
      return rows.write(columnsOf(record), fence, record.session)
    },

    async read(invocationId) {
      requireId(invocationId)
      const row = await rows.read(invocationId)
      if (row === undefined) return null
      const key = keyOf === undefined ? invocationId : keyOf(invocationId)
      return { record: recordOf(row['record'], key, keyOf), fence: fenceOf(row) }
    },

    async takeOver(invocationId, fence, owner) {
      requireId(invocationId)
      return (await rows.takeOver(invocationId, fence, owner)) ? { owner, number: fence.number + 1 } : null
    },

    // In pages: a read that stays open would keep old versions of rows in the database.
    list: (query, report) => listPages((page, limit) => rows.list(page, limit), query, report, keyOf),

    take: async (wanted, owner) => foundRows(await rows.take(wanted, owner), keyOf),

    async unsent(wanted) {
      const names = new Map(wanted.queues.map((queue) => [sessionKey(queue), queue]))
      const found = await rows.unsent(wanted)
      return found.map(({ id, queue }) => ({ invocationId: String(id), queue: names.get(String(queue)) ?? '' }))
    },

    free: (ids) => rows.free(ids.filter(isId)),

    depth: (queue, atMost) => rows.depth(queue, atMost),

    settledOf: async (ids) => foundRows(await rows.settledOf(ids.filter(isId)), keyOf),

    async claimEffect(scope, effectKey, invocationId, former) {
      requireId(invocationId)
      return rows.claimEffect(scope, effectKey, invocationId, former)
    },

    beat: (owner) => rows.beat(owner),

    async requestCancel(invocationId) {
      requireId(invocationId)
      return rows.requestCancel(invocationId)
    },

    async delete({ settledBefore, limit }) {
      const all: Deleted[] = []
      while (all.length < limit) {
        const { deleted, isEnd } = await rows.delete(settledBefore, Math.min(limit - all.length, deletedAtOnce))
        all.push(...deleted)
        if (isEnd) break
      }
      return all
    },

    cuts: () => rows.cuts(),
  }
}

/** What runs operations on a database. */
export interface OperationRunner {
  /** Runs one in a transaction, perhaps together with others. */
  readonly change: <Value>(operation: () => Operation<Value>) => Promise<Value>
  /** Runs one that only reads. */
  readonly read: <Value>(operation: () => Operation<Value>) => Promise<Value>
}

/** Makes the rows of a database of its statements. */
export function rowsOf(statements: SqlStatements, { change, read }: OperationRunner, keyOf?: KeyOf): Rows {
  return {
    ...(keyOf && { keyOf }),
    claim: (columns, owner) => change(() => statements.claim(columns, owner)),
    write: (columns, fence) => change(() => statements.write(columns, fence)),
    read: (id) => read(() => statements.read(id)),
    takeOver: (id, fence, owner) => change(() => statements.takeOver(id, fence, owner)),
    list: (query, limit) => read(() => statements.list(query, limit)),
    take: (wanted, owner) => change(() => statements.take(wanted, owner)),
    unsent: (wanted) => change(() => statements.unsent(wanted)),
    free: (ids) => read(() => statements.free(ids)),
    depth: (queue, atMost) => read(() => statements.depth(queue, atMost)),
    settledOf: (ids) => read(() => statements.settledOf(ids)),
    claimEffect: (...claim) => change(() => statements.claimEffect(...claim)),
    beat: (owner) => change(() => statements.beat(owner)),
    requestCancel: (id) => change(() => statements.requestCancel(id)),
    async delete(settledBefore, limit) {
      const deleted = await change(() => statements.delete(settledBefore, limit))
      return { deleted, isEnd: deleted.length < limit }
    },
    cuts: () => read(() => statements.cuts()),
  }
}
