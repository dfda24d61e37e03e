import { memoryStore, type ToolExecutor } from 'toolwright'
import { elsewhere } from 'toolwright/distributed/elsewhere'
import { memoryJournal } from 'toolwright/journals/memory'
import { expect, test, vi } from 'vitest'
import { outcome, pause } from '../_calls.ts'
import { recordIn, type Place } from '../_journals.ts'
import { Bank, processOn } from './_bank.ts'

const workers = elsewhere({ queueOf: () => 'q', expiry: 60_000, isLocal: true, send: async () => {} })

/** A worker that dies while it runs a call, and a process that looks after it. */
async function leftByWorker(bank: Bank, options: object = {}): Promise<{ next: ToolExecutor; place: Place }> {
  const mounted = memoryJournal()
  const place: Place = { open: () => mounted }
  const store = { store: memoryStore() }
  const tools = [bank.pay({ timeout: 0, ...options })]
  const caller = processOn(place, tools, { use: [mounted, store, workers] })
  const worker = processOn(place, tools, { use: [mounted, store] })
  void caller.execute({ name: 'pay', args: { amount: 5 } }, { session: 's', invocationId: 'one' })
  await vi.waitFor(async () => expect((await recordIn(mounted, 'one')).journal?.awaits).not.toBe(undefined))
  void worker.queue.run('one')
  await vi.waitFor(async () => expect((await recordIn(mounted, 'one')).state).toBe('EXECUTING'))
  await pause(5)
  return { next: processOn(place, tools, { use: [mounted, store, workers] }), place }
}

test('a call of a dead worker that was done is settled, and runs on no other', async () => {
  for (const traits of [{}, { idempotent: true }]) {
    const bank = new Bank()
    const { next, place } = await leftByWorker(bank, { traits })
    const { sealed, requeued } = await next.calls.recover({ staleAfter: 0 })
    expect([sealed.map(outcome), requeued]).toEqual([['ok completed'], []])
    expect((await recordIn(place.open(), 'one')).journal).not.toHaveProperty('work')
    expect([...bank.paid.values()]).toEqual([5])
  }
})

test('a call of a dead worker that did nothing waits for another worker, whatever its tool', async () => {
  const bank = new Bank()
  bank.pays = false
  const { next, place } = await leftByWorker(bank)
  const { sealed, requeued } = await next.calls.recover({ staleAfter: 0 })
  expect([sealed, requeued.map(({ invocationId }) => invocationId)]).toEqual([[], ['one']])
  expect(await recordIn(place.open(), 'one')).toMatchObject({
    effect: 'none',
    journal: { awaits: { reason: 'worker' } },
  })
  bank.pays = true
  bank.after = () => 'paid'
  expect(outcome((await next.queue.run('one'))!)).toBe('ok completed')
})

test('a call of a dead worker that did nothing and has no attempt left did not happen', async () => {
  const bank = new Bank()
  bank.pays = false
  const { next } = await leftByWorker(bank)
  const { sealed } = await next.calls.recover({ staleAfter: 0, attempts: 1 })
  expect(sealed.map(outcome)).toEqual(['error none E_SEALED'])
})

test('a call of a dead worker of which nothing is known runs on no other, even if its tool may run twice', async () => {
  const bank = new Bank()
  bank.says = () => ({ effect: 'unknown' })
  const { next, place } = await leftByWorker(bank, { traits: { idempotent: true } })
  const { sealed, requeued } = await next.calls.recover({ staleAfter: 0 })
  expect([sealed.map(outcome), requeued]).toEqual([['error unknown E_SEALED'], []])
  expect((await recordIn(place.open(), 'one')).journal?.args).toBe('{"amount":5}')
})

test('a call of a dead worker whose tool cannot be asked waits for another, if it may run twice', async () => {
  const { next } = await leftByWorker(new Bank(), { traits: { idempotent: true }, reconcile: undefined })
  const { requeued } = await next.calls.recover({ staleAfter: 0 })
  expect(requeued.map(({ invocationId }) => invocationId)).toEqual(['one'])
})
