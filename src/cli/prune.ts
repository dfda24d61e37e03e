import { UsageError, type Command } from './arguments.ts'
import { printAnswer, printText } from './host.ts'
import { journalOptions, withRecords } from './journal.ts'

const units: Readonly<Record<string, number>> = { s: 1_000, m: 60_000, h: 3_600_000, d: 86_400_000 }
const date = /^\d{4}-\d\d-\d\d(?:T\d\d:\d\d(?::\d\d(?:\.\d{1,3})?)?(?:Z|[+-]\d\d:\d\d))?$/

/** `toolwright prune`: deletes old records of settled calls. */
export const pruneCommand: Command = {
  name: 'prune',
  help: `\
Usage: toolwright prune --journal FILE --before DATE|AGE [options]

Deletes the records of calls that settled before a time, oldest first, and prints how
many. Never deletes a call that waits or runs. Content that a program keeps in an
artifact store of its own stays there.

  --journal FILE    the SQLite file that has the calls
  --before WHEN     a date, 2026-01-31 or 2026-01-31T12:00:00Z, in UTC without an offset;
                    or an age: 30d, 12h, 45m, 90s
  --limit N         how many at most (default: all)
  --json            print the count as JSON
  -h, --help`,
  options: {
    ...journalOptions,
    before: { type: 'string' },
    limit: { type: 'string' },
    json: { type: 'boolean' },
    help: { type: 'boolean', short: 'h' },
  },
  takes: [0, 0],

  async perform(options, host) {
    const settledBefore = timeOf(options.text('before'))
    const limit = options.count('limit', 1)
    const pruned = await withRecords(options, host, (executor) =>
      executor.calls.prune(limit === undefined ? { settledBefore } : { settledBefore, limit }),
    )
    if (options.flag('json')) await printAnswer(host, { pruned })
    else await printText(host.stdout, `${pruned} ${pruned === 1 ? 'record is' : 'records are'} deleted.\n`)
    return 0
  },
}

/** Returns the time of `--before`, in milliseconds since the epoch. @throws {UsageError} if it is no time, or to come. */
function timeOf(text: string | undefined): number {
  if (text === undefined) throw new UsageError('--before is missing. Give a date as 2026-01-31, or an age as 30d.')
  const [, count, unit = ''] = /^(\d{1,9})([smhd])$/.exec(text) ?? []
  if (count !== undefined) return Date.now() - Number(count) * (units[unit] ?? Number.NaN)
  const time = isDate(text) ? Date.parse(text) : Number.NaN
  if (Number.isNaN(time)) throw new UsageError(`--before takes a date as 2026-01-31, or an age as 30d, got "${text}".`)
  if (time > Date.now()) throw new UsageError(`--before takes a time that has passed, got "${text}".`)
  return time
}

/** Whether the calendar has the day: parsers take the 31st of February for a day in March. */
function isDate(text: string): boolean {
  const day = text.slice(0, 10)
  const midnight = new Date(`${day}T00:00:00Z`)
  return date.test(text) && !Number.isNaN(midnight.getTime()) && midnight.toISOString().startsWith(day)
}
