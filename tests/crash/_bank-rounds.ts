import { spawn, type ChildProcess } from 'node:child_process'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { createExecutor } from 'toolwright'
import { isSettled } from 'toolwright/records'
import { expect } from 'vitest'
import { bankTools, paymentOf, paymentsIn, paymentsOfRound } from './_bank.ts'
import { applicationName } from './_rounds.ts'
import { openJournal, type Place } from './_work.ts'

/** How many processes are killed. */
export const bankRounds: number = Number(process.env['BANK_ROUNDS'] ?? 30)

/** What all rounds came to, to see that something was tested. */
export interface BankTally {
  completed: number
  none: number
  neverBegun: number
  halfWritten: number
  foundLater: number
}

export interface BankSetting {
  readonly place: Place
  readonly directory: string
  /** Waits until nothing of the dead process is under way any more. */
  readonly gone?: () => Promise<void>
  /** Lets so much time go by in the journal that a dead process is known to be dead. */
  readonly age: () => Promise<void> | void
}

function start(directory: string, task: unknown): ChildProcess {
  const child = fileURLToPath(new URL('_bank-child.ts', import.meta.url))
  const flags = ['-C', '@toolwright/source', '--disable-warning=ExperimentalWarning']
  const env = { ...process.env, PGAPPNAME: applicationName, NODE_COMPILE_CACHE: join(directory, 'compiled') }
  return spawn(process.execPath, [...flags, child, JSON.stringify(task)], {
    stdio: ['pipe', 'inherit', 'inherit'],
    env,
  })
}

/** Lets processes pay, kills each at another moment, and finds out each time what has become of every payment. */
export async function rounds(setting: BankSetting): Promise<BankTally> {
  const { place, directory, gone } = setting
  const bank = join(directory, 'bank')
  writeFileSync(bank, '')
  const tally: BankTally = { completed: 0, none: 0, neverBegun: 0, halfWritten: 0, foundLater: 0 }
  const ready: ChildProcess[] = []
  const momentsOfRound = paymentsOfRound * 9
  try {
    for (let round = 0; round < bankRounds; round++) {
      for (let ahead = round + ready.length; ahead < Math.min(bankRounds, round + 2); ahead++) {
        ready.push(start(directory, { place, bank, round: ahead, lastMoment: 1 + ((ahead * 7) % momentsOfRound) }))
      }
      const child = ready.shift()
      child?.stdin?.write('go\n')
      const signal = await new Promise((resolve) => child?.on('close', (_, by) => resolve(by)))
      expect(signal).toBe('SIGKILL')
      await gone?.()
      await setting.age()
      await lookAfter(round, bank, place, tally)
    }
  } finally {
    for (const child of ready) child.kill('SIGKILL')
  }
  return tally
}

async function lookAfter(round: number, bank: string, place: Place, tally: BankTally): Promise<void> {
  const [extension, another] = [openJournal(place), openJournal(place)]
  const [executor, other] = [extension, another].map((each) =>
    createExecutor({ tools: bankTools(bank), use: [each] }),
  ) as [ReturnType<typeof createExecutor>, ReturnType<typeof createExecutor>]
  const { journal } = extension
  const before = paymentsIn(bank)
  for await (const { record } of journal.list({ state: 'running' })) {
    if (record.reconciles !== undefined) tally.halfWritten++
  }
  const found = await Promise.all([executor, other].map((each) => each.calls.recover({ staleAfter: 0 })))
  for (const { effect, invocationId } of found.flatMap(({ sealed }) => sealed)) {
    // What is said of a payment is true: of none is it unknown, since the tool always knows.
    expect([invocationId, effect]).toEqual([invocationId, before.has(invocationId) ? 'completed' : 'none'])
  }
  for await (const { record } of journal.list({ state: 'running' })) expect.unreachable(`${record.id} is left`)

  for (let index = 0; index < paymentsOfRound; index++) {
    const { call, invocationId, kind } = paymentOf(round, index)
    const record = (await journal.read(invocationId))?.record
    if (record === undefined) tally.neverBegun++
    else if (isSettled(record.state) && record.effect === 'unknown' && record.journal?.args !== undefined) {
      tally.foundLater++
    }
    const results = await Promise.all(
      [executor, other].map((each) => each.execute(call, { invocationId, session: 'bank' })),
    )
    for (const result of results) {
      if (result.error?.code === 'E_DUPLICATE_INVOCATION') continue // the other of the two runs it now
      if (record === undefined && kind !== 'pay') continue // it ran now, and is asked about below
      const isPaid = paymentsIn(bank).has(invocationId)
      expect([invocationId, result.effect]).toEqual([invocationId, isPaid ? 'completed' : 'none'])
    }
    if (record === undefined) continue
    const { effect } = await executor.calls.reconcile(invocationId)
    if (effect === 'completed') tally.completed++
    else tally.none++
    const { journal: own } = (await journal.read(invocationId))!.record
    expect(own?.args).toBe(undefined)
  }
  expect([...paymentsIn(bank)].filter(([, count]) => count > 1)).toEqual([])
  await executor.close()
  await other.close()
}
