import type { ToolCallRecord } from '../../extension.ts'
import type { Journal } from '../../records/index.ts'

type TimedWait = NonNullable<NonNullable<ToolCallRecord['journal']>['awaits']>

/** The last millisecond that a `Date` can hold. */
const lastOfDates = 8.64e15

/**
 * Keeps the times until which calls wait by the clock of the server, and gives each process those by its own. So processes whose
 * clocks differ expire no calls of each other.
 *
 * @param askAhead Returns by how many milliseconds the server's clock is ahead of that of this process.
 */
export function inServerTime(
  journal: Journal,
  askAhead: () => number | Promise<number>,
): Pick<Journal, 'claim' | 'write' | 'read' | 'list' | 'take'> {
  async function toServer(record: ToolCallRecord): Promise<ToolCallRecord> {
    return shifted(record, await askAhead())
  }

  async function toOwn<Found extends { readonly record: ToolCallRecord }>(found: Found): Promise<Found> {
    if (!waits(found.record)) return found
    const ahead = await askAhead()
    return ahead === 0 ? found : { ...found, record: shifted(found.record, -ahead) }
  }

  return {
    claim: (record, owner) =>
      waits(record) ? toServer(record).then((kept) => journal.claim(kept, owner)) : journal.claim(record, owner),

    write: (record, fence) =>
      waits(record) ? toServer(record).then((kept) => journal.write(kept, fence)) : journal.write(record, fence),

    async read(invocationId) {
      const found = await journal.read(invocationId)
      return found && toOwn(found)
    },

    async *list(query, report) {
      const { expiresBefore } = query
      const inItsTime =
        expiresBefore === undefined ? query : { ...query, expiresBefore: expiresBefore + (await askAhead()) }
      for await (const listed of journal.list(inItsTime, report))
        yield waits(listed.record) ? await toOwn(listed) : listed
    },

    take: async (wanted, owner) => Promise.all(((await journal.take?.(wanted, owner)) ?? []).map(toOwn)),
  }
}

function waits({ journal }: ToolCallRecord): boolean {
  return journal?.awaits !== undefined || journal?.work !== undefined
}

/** Returns a record whose times to come are later by so many milliseconds. */
function shifted(record: ToolCallRecord, by: number): ToolCallRecord {
  if (by === 0 || record.journal === undefined) return record
  const { awaits, work } = record.journal
  const journal = {
    ...record.journal,
    ...(awaits && { awaits: shiftedWait(awaits, by) }),
    ...(work && { work: shiftedWait(work, by) }),
  }
  return { ...record, journal }
}

function shiftedWait(wait: TimedWait, by: number): TimedWait {
  const { expiresAt, lease } = wait
  return {
    ...wait,
    expiresAt: Math.min(expiresAt + by, lastOfDates),
    ...(lease && { lease: { ...lease, since: lease.since + by, until: lease.until + by } }),
  }
}
