// Run by _bank-rounds.ts in a process of its own: waits for a word, then makes payments until it is killed.
import { createExecutor } from 'toolwright'
import { type Journal, records } from 'toolwright/records'
import { bankTools, paymentOf, paymentsOfRound } from './_bank.ts'
import { openJournal, type Place } from './_work.ts'

interface Task {
  readonly place: Place
  readonly bank: string
  readonly round: number
  /** At which moment it kills itself. */
  readonly lastMoment: number
}

const { place, bank, round, lastMoment } = JSON.parse(process.argv[2] ?? '') as Task
const isWanted = await new Promise((told) => {
  process.stdin.once('data', () => told(true))
  process.stdin.once('end', () => told(false))
})
if (isWanted !== true) process.exit()

let moments = 0
function moment(): void {
  if (++moments === lastMoment) process.kill(process.pid, 'SIGKILL')
}

/** A journal that lets the process die before and after each write, and so at each write of a finding. */
function watched(journal: Journal): Journal {
  const around = async <Value>(change: () => Value | Promise<Value>): Promise<Value> => {
    moment()
    const value = await change()
    moment()
    return value
  }
  return {
    isDurable: journal.isDurable,
    claim: (record, owner) => around(() => journal.claim(record, owner)),
    write: (record, fence) => around(() => journal.write(record, fence)),
    read: (invocationId) => journal.read(invocationId),
    takeOver: (invocationId, fence, owner) => around(() => journal.takeOver(invocationId, fence, owner)),
    list: (query, report) => journal.list(query, report),
    beat: (owner) => journal.beat(owner),
  }
}

const extension = openJournal(place)
const executor = createExecutor({
  tools: bankTools(bank, moment),
  use: [{ ...extension, ...records(watched(extension.journal)) }],
})

let next = 0
async function work(): Promise<void> {
  while (next < paymentsOfRound) {
    const { call, invocationId } = paymentOf(round, next++)
    const { effect } = await executor.execute(call, { invocationId, session: 'bank' })
    if (effect === 'unknown') await executor.calls.reconcile(invocationId)
  }
}

await Promise.all(Array.from({ length: 3 }, work))
process.kill(process.pid, 'SIGKILL')
