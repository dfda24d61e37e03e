// Run by _bank-rounds.ts in a process of its own: waits for a word, then makes payments until it is killed.
import { createExecutor } from 'toolwright'
import { records } from 'toolwright/records'
import { momentsUntil, mortal, waitForWord } from './_killed.ts'
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
await waitForWord()
const moment = momentsUntil(lastMoment)

const extension = openJournal(place)
const executor = createExecutor({
  tools: bankTools(bank, moment),
  use: [{ ...extension, ...records(mortal(extension.journal, moment)) }],
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
