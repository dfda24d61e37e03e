import { readFileSync } from 'node:fs'
import type { ToolExecutor, ToolResult } from 'toolwright'
import { digestOf } from 'toolwright/records'
import { describe, expect, test, vi } from 'vitest'
import { deferred, heard, hostile, never, outcome, pause, revoked, sink, soon, text, work } from '../_calls.ts'
import { changed, recordIn, unfinishedIn, type Place } from '../_journals.ts'
import { Bank, processOn } from './_bank.ts'

const session = { session: 's' }
const call = { id: 'p', name: 'pay', args: { amount: 5 } }
const paid = 'ok completed {"receipt":"paid 5"}'

function textOf(result: ToolResult): string {
  const block = result.content[0]
  return `${outcome(result)} ${block?.type === 'json' ? JSON.stringify(block.data) : text(result)}`
}

/** A process that dies while a call runs: what it holds never ends, and its signs of life do not count. */
async function dying(place: Place, bank: Bank, options: object = {}): Promise<ToolExecutor> {
  const executor = processOn(place, [bank.pay({ timeout: 0, ...options })], { timeout: 0 })
  void executor.execute(call, { ...session, invocationId: 'one' })
  await vi.waitFor(async () => expect((await recordIn(place.open(), 'one')).state).toBe('EXECUTING'))
  await pause(5)
  return executor
}

/** A call that timed out in a process of its own, with the effect `unknown`. */
async function timedOut(place: Place, bank: Bank, options: object = {}): Promise<ToolExecutor> {
  const executor = processOn(place, [bank.pay(options)])
  const result = await executor.execute(call, { ...session, invocationId: 'one' })
  expect(outcome(result)).toBe('timed_out unknown E_TOOL_TIMEOUT')
  return executor
}

/** A change of the journal at which a process dies: how many it has made, and whether the last one arrived. */
interface Moment {
  readonly change: number
  readonly isKept: boolean
}

/** The moments at which a process may die that makes so many changes. */
function moments(changes: number): [string, Moment][] {
  return Array.from({ length: changes }, (_, index) => index + 1).flatMap((change): [string, Moment][] => [
    [`before change ${change}`, { change, isKept: false }],
    [`after change ${change}`, { change, isKept: true }],
  ])
}

/** The journal of a process that dies: from then on it hears nothing, and changes nothing. */
function mortal(
  mounted: ReturnType<Place['open']>,
  { change, isKept }: Moment,
): { mounted: ReturnType<Place['open']>; death: Promise<void> } {
  const { promise: death, resolve: die } = deferred()
  let count = 0
  const until = async <Value>(apply: () => Value | Promise<Value>): Promise<Value> => {
    count++
    if (count > change) return never
    const value = count < change || isKept ? await apply() : undefined
    if (count < change) return value as Value
    die()
    return never
  }
  const changes = changed(mounted, {
    claim: (journal) => (record, owner) => until(() => journal.claim(record, owner)),
    write: (journal) => (record, fence) => until(() => journal.write(record, fence)),
    takeOver: (journal) => (id, fence, owner) => until(() => journal.takeOver(id, fence, owner)),
  })
  return { mounted: changes, death }
}

/** What holds for a call whose effect was found out, however often it was begun. */
async function requireFoundOnce(storage: Place, bank: Bank): Promise<void> {
  const [mounted, next] = [storage.open(), processOn(storage, [bank.pay()])]
  const count = bank.asked.length
  expect(textOf(await next.execute(call, { ...session, invocationId: 'one' }))).toBe(paid)
  expect(bank.asked).toHaveLength(count)
  const [first, finding] = [await recordIn(mounted, 'one'), await recordIn(mounted, 'one~reconciled')]
  expect(first).toMatchObject({ status: 'timed_out', effect: 'unknown', journal: { finding: { effect: 'completed' } } })
  expect(first.journal?.args).toBe(undefined)
  expect(finding).toMatchObject({ reconciles: 'one', state: 'COMPLETED', effect: 'completed' })
  for (const record of [first, finding]) {
    const { digest, previous = '' } = record.journal ?? {}
    if (digest !== undefined) expect(digestOf(previous, record)).toBe(digest)
  }
  expect(await unfinishedIn(mounted)).toEqual([])
  expect(bank.paid).toEqual(new Map([['one', 5]]))
}

/**
 * Runs the suite of what is found out about calls, on one kind of journal.
 *
 * @param timeout How long a call that never ends may take, in milliseconds: long enough for the journal to write that it began.
 */
export function describeFindings(name: string, place: () => Place, timeout: number = 40): void {
  const newBank = (): Bank => new Bank(timeout)

  describe(`recovery of calls whose tool can be asked (${name})`, () => {
    test('settles what was done, checked and kept as any result, and runs nothing', async () => {
      const [storage, bank] = [place(), newBank()]
      await dying(storage, bank)
      const next = processOn(storage, [bank.pay()])
      const events = heard(next)
      const { sealed } = await next.calls.recover({ staleAfter: 0 })
      expect(sealed.map(textOf)).toEqual([paid])
      expect(bank.paid).toEqual(new Map([['one', 5]]))
      expect(bank.asked).toHaveLength(1)
      expect(bank.asked[0]).toMatchObject({ input: { amount: 5 }, context: { invocationId: 'one', session: 's' } })
      expect(bank.asked[0]?.context.startedAt).toBeTypeOf('number')
      const record = await recordIn(storage.open(), 'one')
      expect(record).toMatchObject({ state: 'COMPLETED', status: 'ok', effect: 'completed' })
      expect(record.auditTrail.map(({ state, note }) => [state, note])).toEqual([
        ['PENDING', undefined],
        ['EXECUTING', undefined],
        ['EXECUTING', 'reconciled'],
        ['COMPLETED', undefined],
      ])
      expect(record.journal?.args).toBe(undefined)
      expect(events.map(({ event, seq }) => [event, seq])).toEqual([
        ['call:resumed', 2],
        ['tool:end', 3],
        ['call:settled', 4],
      ])
      expect(events[0]).toMatchObject({ decision: 'allow', decidedBy: 'recover' })
      const again = await next.execute(call, { ...session, invocationId: 'one' })
      expect([textOf(again), again.invocationId, again.id]).toEqual([paid, 'one', 'p'])
      expect(bank.asked).toHaveLength(1)
    })

    test('says of what did not happen that it did not, with the effect none', async () => {
      const [storage, bank] = [place(), newBank()]
      bank.pays = false
      await dying(storage, bank)
      const { sealed } = await processOn(storage, [bank.pay()]).calls.recover({ staleAfter: 0 })
      expect(sealed.map(outcome)).toEqual(['error none E_SEALED'])
      expect(sealed.map(text).join()).toContain('did not happen')
      expect(sealed[0]?.error?.retryable).toBe(true)
      expect((await recordIn(storage.open(), 'one')).journal?.args).toBe(undefined)
    })

    test('closes as unknown what cannot be said, with the note of the tool, and asks later', async () => {
      const [storage, bank] = [place(), newBank()]
      await dying(storage, bank)
      bank.says = () => ({ effect: 'unknown', note: 'The bank is closed on Sundays.' })
      const next = processOn(storage, [bank.pay()])
      const { sealed } = await next.calls.recover({ staleAfter: 0 })
      expect(sealed.map(outcome)).toEqual(['error unknown E_SEALED'])
      expect(sealed.map(text).join()).toContain('The bank is closed on Sundays.')
      expect((await recordIn(storage.open(), 'one')).journal?.args).toBe('{"amount":5}')
      bank.says = (_input, { invocationId }) => bank.known(invocationId)
      expect(textOf(await next.calls.reconcile('one'))).toBe(paid)
      expect((await recordIn(storage.open(), 'one')).journal?.args).toBe(undefined)
    })

    test('asks nothing if it is told not to, or only lists', async () => {
      const [storage, bank] = [place(), newBank()]
      await dying(storage, bank)
      const next = processOn(storage, [bank.pay()])
      const { kept } = await next.calls.recover({ staleAfter: 0, strategy: 'manual' })
      expect(kept.map(({ id }) => id)).toEqual(['one'])
      const { sealed } = await next.calls.recover({ staleAfter: 0, reconcile: false })
      expect(sealed.map(outcome)).toEqual(['error unknown E_SEALED'])
      expect(bank.asked).toEqual([])
    })

    test('by two at once settles each call once', async () => {
      const [storage, bank] = [place(), newBank()]
      await dying(storage, bank)
      const both = [processOn(storage, [bank.pay()]), processOn(storage, [bank.pay()])]
      const settled: string[] = []
      for (const each of both) each.on('call:settled', ({ invocationId }) => void settled.push(invocationId))
      const found = await Promise.all(both.map((each) => each.calls.recover({ staleAfter: 0 })))
      expect(found.flatMap(({ sealed }) => sealed.map(textOf))).toEqual([paid])
      expect(settled).toEqual(['one'])
      expect(bank.paid).toEqual(new Map([['one', 5]]))
    })

    test.each([
      ['throws', () => Promise.reject(new Error('the bank is down'))],
      ['hangs', () => never],
      ['says nothing', () => undefined],
      ['says that it was done, and not what came of it', () => ({ effect: 'completed' })],
      ['says what it cannot say', () => ({ effect: 'perhaps', result: 1 })],
      ['gives what cannot be read', () => hostile()],
      ['gives what is revoked', () => revoked()],
      ['gives what inherits its result', () => Object.create({ effect: 'completed', result: 1 }) as unknown],
    ])('takes for unknown what a tool says that %s, and reports it', async (_, says) => {
      const [storage, bank, { reports, report }] = [place(), newBank(), sink()]
      await dying(storage, bank)
      bank.says = says
      const next = processOn(storage, [bank.pay()], { report })
      const { sealed } = await soon(next.calls.recover({ staleAfter: 0 }))
      expect(sealed.map(outcome)).toEqual(['error unknown E_SEALED'])
      expect(reports).toHaveLength(1)
    })

    test('takes for unknown what a tool is asked that is gone, asks no more, or takes other args now', async () => {
      const others = [
        [],
        [work('pay', () => 1)],
        [newBank().pay({ inputSchema: { type: 'object', required: ['iban'] } })],
      ]
      for (const tools of others) {
        const [storage, bank] = [place(), newBank()]
        await dying(storage, bank)
        const { sealed } = await processOn(storage, tools).calls.recover({ staleAfter: 0 })
        expect(sealed.map(outcome)).toEqual(['error unknown E_SEALED'])
        // The args are kept for a program that has the tool.
        expect(textOf(await processOn(storage, [bank.pay()]).calls.reconcile('one'))).toBe(paid)
      }
    })

    test('uses no args that are not those of the call', async () => {
      const [storage, bank, { reports, report }] = [place(), newBank(), sink()]
      await dying(storage, bank)
      const { journal } = storage.open()
      const found = (await journal.read('one'))!
      await journal.write({ ...found.record, journal: { ...found.record.journal!, args: '{"amount":7}' } }, found.fence)
      const { sealed } = await processOn(storage, [bank.pay()], { report }).calls.recover({ staleAfter: 0 })
      expect(sealed.map(outcome)).toEqual(['error unknown E_SEALED'])
      expect(bank.asked).toEqual([])
      expect(reports.map(String).join()).toContain('damaged')
    })

    test('settles what does not fit the outputSchema as an error that had its effect', async () => {
      const [storage, bank] = [place(), newBank()]
      const outputSchema = { type: 'object', required: ['iban'] }
      await dying(storage, bank)
      const { sealed } = await processOn(storage, [bank.pay({ outputSchema })]).calls.recover({ staleAfter: 0 })
      expect(sealed.map(outcome)).toEqual(['error completed E_INVALID_TOOL_RESULT'])
    })

    test('keeps a large result and a stream in the store, and replays both', async () => {
      const large = 'x'.repeat(300_000)
      const stream = (): ReadableStream => new Blob([large]).stream()
      for (const result of [() => large, stream]) {
        const [storage, bank] = [place(), newBank()]
        await dying(storage, bank)
        bank.says = () => ({ effect: 'completed', result: result() })
        const next = processOn(storage, [bank.pay()])
        const { sealed } = await next.calls.recover({ staleAfter: 0 })
        expect(sealed.map(outcome)).toEqual(['ok completed'])
        const again = await next.execute(call, { ...session, invocationId: 'one' })
        expect(again.handle).toBeTypeOf('string')
        expect(again.artifact?.byteLength()).toBe(300_000)
        expect(again.handle).toBe(sealed[0]?.handle)
      }
    })

    test('masks what a tool with secrets says, also when it fails', async () => {
      const [storage, bank, { reports, report }] = [place(), newBank(), sink()]
      const options = { secrets: ['/card'] }
      const executor = processOn(storage, [bank.pay({ timeout: 0, ...options })], { timeout: 0 })
      const args = { amount: 5, card: 'x4111-1111' }
      void executor.execute({ name: 'pay', args }, { ...session, invocationId: 'one' })
      await vi.waitFor(() => expect(bank.paid.size).toBe(1))
      bank.says = () => Promise.reject(new Error('no card x4111-1111'))
      const next = processOn(storage, [bank.pay(options)], { report })
      await next.calls.recover({ staleAfter: 0 })
      expect(JSON.stringify(reports.map((error) => [String(error), error]))).not.toContain('x4111')
      bank.says = () => ({ effect: 'completed', result: { of: 'x4111-1111', is: 'done' } })
      const events = heard(next)
      const result = await next.calls.reconcile('one')
      expect(textOf(result)).toBe('ok completed {"of":"[secret]","is":"done"}')
      expect(JSON.stringify(events)).not.toContain('x4111')
      expect(JSON.stringify(await recordIn(storage.open(), 'one'))).not.toContain('x4111')
      expect(JSON.stringify(await recordIn(storage.open(), 'one~reconciled'))).not.toContain('x4111')
    })
  })

  describe(`a call that settled with an unknown effect (${name})`, () => {
    test('is asked about each time while the bank is down, and never again once it is known', async () => {
      const [storage, bank] = [place(), newBank()]
      bank.after = () => Promise.reject(Object.assign(new Error('cut'), { code: 'ECONNRESET' }))
      const first = processOn(storage, [bank.pay()])
      const before = await first.execute(call, { ...session, invocationId: 'one' })
      expect(outcome(before)).toBe('error unknown E_TOOL_DOWNSTREAM_ERROR')
      bank.says = () => Promise.reject(new Error('the bank is down'))
      const other = processOn(storage, [bank.pay()])
      for (const executor of [first, other]) {
        expect(outcome(await executor.execute(call, { ...session, invocationId: 'one' }))).toBe(outcome(before))
      }
      expect(bank.asked).toHaveLength(2)
      bank.says = (_input, { invocationId }) => bank.known(invocationId)
      const events = heard(other)
      const five = await Promise.all(Array.from({ length: 5 }, () => other.calls.reconcile('one')))
      expect(new Set(five.map(textOf))).toEqual(new Set([paid]))
      expect(five.map(({ invocationId, callId }) => [invocationId, callId])).toEqual(
        five.map(() => ['one', before.callId]),
      )
      expect(bank.asked).toHaveLength(3)
      expect(events.map(({ event, invocationId, seq }) => [event, invocationId, seq])).toEqual([
        ['call:received', 'one~reconciled', 0],
        ['call:settled', 'one~reconciled', 1],
      ])
      const answers = [
        await first.execute(call, { ...session, invocationId: 'one' }),
        await other.calls.settled('one'),
        await first.calls.reconcile('one'),
      ]
      expect(answers.map(textOf)).toEqual([paid, paid, paid])
      expect(answers.map(({ id }) => id)).toEqual(['p', 'p', 'p'])
      expect(bank.asked).toHaveLength(3)
      expect(bank.paid).toEqual(new Map([['one', 5]]))
    })

    test('keeps what was told of it, and its chain', async () => {
      const [storage, bank] = [place(), newBank()]
      bank.after = () => Promise.reject(new Error('cut'))
      const executor = processOn(storage, [bank.pay()])
      const digests = new Map<string, string | undefined>()
      executor.on('call:settled', ({ invocationId, digest }) => void digests.set(invocationId, digest))
      await executor.execute(call, { ...session, invocationId: 'one' })
      const { journal: own, ...before } = await recordIn(storage.open(), 'one')
      expect(own?.args).toBe('{"amount":5}')
      await executor.calls.reconcile('one')
      const { journal, ...after } = await recordIn(storage.open(), 'one')
      expect(after).toEqual(before)
      expect(journal).toMatchObject({ finding: { status: 'ok', effect: 'completed' }, failure: own?.failure })
      expect(journal?.args).toBe(undefined)
      for (const id of ['one', 'one~reconciled']) {
        const record = await recordIn(storage.open(), id)
        const { digest, previous = '' } = record.journal ?? {}
        expect(digests.get(id)).toBe(digest)
        if (digest !== undefined) expect(digestOf(previous, record)).toBe(digest)
      }
      expect(await recordIn(storage.open(), 'one~reconciled')).toMatchObject({ reconciles: 'one', state: 'COMPLETED' })
    })

    test('counts none as unknown while its handler still runs here', async () => {
      const [storage, bank, running] = [place(), newBank(), deferred()]
      bank.pays = false
      bank.after = () => running.promise
      const executor = await timedOut(storage, bank)
      expect(outcome(await executor.calls.reconcile('one'))).toBe('timed_out unknown E_TOOL_TIMEOUT')
      running.resolve()
      await vi.waitFor(async () => {
        expect(outcome(await executor.calls.reconcile('one'))).toBe('error none E_SEALED')
      })
      expect(text(await executor.execute(call, { ...session, invocationId: 'one' }))).toContain('did not happen')
    })

    test('and did not happen is found out by the same call made again', async () => {
      const [storage, bank] = [place(), newBank()]
      bank.pays = false
      bank.after = () => Promise.reject(new Error('cut'))
      const executor = processOn(storage, [bank.pay()])
      await executor.execute(call, { ...session, invocationId: 'one' })
      const again = await executor.execute(call, { ...session, invocationId: 'one' })
      expect(outcome(again)).toBe('error none E_SEALED')
    })

    test('counts none as unknown while its owner lives elsewhere, and completed as completed', async () => {
      const [storage, bank] = [place(), newBank()]
      bank.pays = false
      await timedOut(storage, bank)
      const other = processOn(storage, [bank.pay()])
      expect(outcome(await other.calls.reconcile('one'))).toBe('timed_out unknown E_TOOL_TIMEOUT')
      bank.paid.set('one', 5)
      expect(textOf(await other.calls.reconcile('one'))).toBe(paid)
    })

    test('is asked about by five processes at once, and one finding stands', async () => {
      const [storage, bank] = [place(), newBank()]
      await timedOut(storage, bank)
      let count = 0
      bank.says = () => ({ effect: 'completed', result: `the answer ${++count}` })
      const five = Array.from({ length: 5 }, () => processOn(storage, [bank.pay()]))
      const settled: string[] = []
      for (const each of five) each.on('call:settled', ({ invocationId }) => void settled.push(invocationId))
      const results = await Promise.all(five.map((each) => each.calls.reconcile('one')))
      expect(new Set(results.map(textOf)).size).toBe(1)
      expect(settled).toEqual(['one~reconciled'])
    })

    test('gives the handler of the question the values of the application that asks', async () => {
      const [storage, bank] = [place(), newBank()]
      const executor = await timedOut(storage, bank)
      const values = { account: 7 } as object
      await executor.execute(call, { ...session, invocationId: 'one', values })
      expect(bank.asked[0]?.context.values).toBe(values)
    })

    test('is asked about within its timeout, and a caller may give up before', async () => {
      const [storage, bank] = [place(), newBank()]
      await timedOut(storage, bank)
      bank.says = () => never
      const executor = processOn(storage, [bank.pay({ timeout: 30_000 })])
      const controller = new AbortController()
      const asking = executor.execute(call, { ...session, invocationId: 'one', signal: controller.signal })
      await vi.waitFor(() => expect(bank.asked).toHaveLength(1))
      controller.abort()
      expect(outcome(await soon(asking))).toBe('cancelled unknown E_TOOL_CANCELLED')
      const waiting = executor.calls.settled('one', { signal: AbortSignal.timeout(20) })
      await expect(soon(waiting)).rejects.toMatchObject({ code: 'E_TOOL_CANCELLED' })
      await executor.close() // ends the question
      expect(bank.asked[0]?.context.signal.aborted).toBe(true)
    })

    test('is listed and pruned with what was found out, as one call', async () => {
      const [storage, bank] = [place(), newBank()]
      await timedOut(storage, bank)
      const executor = processOn(storage, [bank.pay(), work('other', () => 1)])
      await executor.execute({ name: 'other' }, session)
      await executor.calls.reconcile('one')
      await executor.execute({ name: 'other' }, session)
      const listed = await executor.calls.list({ session: 's' })
      expect(listed.map(({ toolName, finding }) => [toolName, finding])).toEqual([
        ['other', undefined],
        ['other', undefined],
        ['pay', { status: 'ok', effect: 'completed' }],
      ])
      const pages = await executor.calls.list({ session: 's', limit: 2 })
      expect(pages.map(({ toolName }) => toolName)).toEqual(['other', 'other'])
      expect((await executor.calls.list({ before: pages[1]! })).map(({ toolName }) => toolName)).toEqual(['pay'])
      expect((await executor.calls.get('one')).finding).toEqual({ status: 'ok', effect: 'completed' })
      expect(JSON.stringify(listed)).not.toContain('"args":"{')
      expect(await executor.calls.prune({ settledBefore: Date.now() + 1 })).toBe(3)
      expect(await storage.open().journal.read('one~reconciled')).toBe(null)
    })

    test('is asked about again by recovery, if whoever had found it out died before it was written', async () => {
      const [storage, bank] = [place(), newBank()]
      await timedOut(storage, bank)
      const stuck = changed(storage.open(), { write: () => () => never })
      processOn(storage, [bank.pay()], { use: [stuck] })
        .calls.reconcile('one')
        .catch(() => {}) // its journal never answers

      await vi.waitFor(async () => expect((await recordIn(storage.open(), 'one~reconciled')).state).toBe('PENDING'))
      const next = processOn(storage, [bank.pay()])
      bank.says = () => ({ effect: 'unknown' })
      expect((await next.calls.recover({ staleAfter: 0 })).sealed).toEqual([])
      expect(await recordIn(storage.open(), 'one~reconciled')).toMatchObject({ state: 'PENDING', effect: 'unknown' })
      bank.says = (_input, { invocationId }) => bank.known(invocationId)
      await next.calls.recover({ staleAfter: 0 })
      expect(await recordIn(storage.open(), 'one~reconciled')).toMatchObject({
        state: 'COMPLETED',
        effect: 'completed',
      })
      expect((await recordIn(storage.open(), 'one')).journal?.args).toBe(undefined)
      const count = bank.asked.length
      expect(textOf(await next.execute(call, { ...session, invocationId: 'one' }))).toBe(paid)
      expect(bank.asked).toHaveLength(count)
    })

    test.each(moments(3))('is found out once though a process dies %s', async (_, moment) => {
      const [storage, bank] = [place(), newBank()]
      await timedOut(storage, bank)
      const { mounted, death } = mortal(storage.open(), moment)
      processOn(storage, [bank.pay()], { use: [mounted] })
        .calls.reconcile('one')
        .catch(() => {}) // its journal never answers

      await death
      const next = processOn(storage, [bank.pay()])
      await next.calls.recover({ staleAfter: 0 })
      expect(textOf(await next.calls.reconcile('one'))).toBe(paid)
      await requireFoundOnce(storage, bank)
    })

    test.each(moments(2))('is settled once though a process that recovers it dies %s', async (_, moment) => {
      const [storage, bank] = [place(), newBank()]
      await dying(storage, bank)
      const { mounted, death } = mortal(storage.open(), moment)
      processOn(storage, [bank.pay()], { use: [mounted] })
        .calls.recover({ staleAfter: 0 })
        .catch(() => {}) // its journal never answers

      await death
      const next = processOn(storage, [bank.pay()])
      await next.calls.recover({ staleAfter: 0 })
      expect(textOf(await next.execute(call, { ...session, invocationId: 'one' }))).toBe(paid)
      expect(await recordIn(storage.open(), 'one')).toMatchObject({ state: 'COMPLETED', effect: 'completed' })
      expect((await recordIn(storage.open(), 'one')).journal?.args).toBe(undefined)
      expect(await unfinishedIn(storage.open())).toEqual([])
      expect(bank.paid).toEqual(new Map([['one', 5]]))
    })

    test('takes over what another began to write and does not end', async () => {
      const [storage, bank] = [place(), newBank()]
      await timedOut(storage, bank)
      const stuck = changed(storage.open(), { write: () => () => never })
      processOn(storage, [bank.pay()], { use: [stuck] })
        .calls.reconcile('one')
        .catch(() => {}) // its journal never answers

      await vi.waitFor(async () => expect((await recordIn(storage.open(), 'one~reconciled')).state).toBe('PENDING'))
      expect(textOf(await processOn(storage, [bank.pay()]).calls.reconcile('one'))).toBe(paid)
    })

    test('says so if the journal fails, and stands as it was', async () => {
      const [storage, bank] = [place(), newBank()]
      await timedOut(storage, bank)
      const broken = changed(storage.open(), { claim: () => () => Promise.reject(new Error('the disk is full')) })
      const executor = processOn(storage, [bank.pay()], { use: [broken] })
      await expect(executor.calls.reconcile('one')).rejects.toMatchObject({ code: 'E_JOURNAL' })
      expect(textOf(await processOn(storage, [bank.pay()]).calls.reconcile('one'))).toBe(paid)
    })

    test('takes no finding for its own that is about an older call of its id', async () => {
      const [storage, bank] = [place(), newBank()]
      const executor = await timedOut(storage, bank)
      await executor.calls.reconcile('one')
      const { journal } = storage.open()
      const found = (await journal.read('one'))!
      const own = { ...found.record.journal!, args: '{"amount":5}' }
      const newer = {
        ...found.record,
        createdAt: found.record.createdAt + 10,
        startedAt: Date.now() + 10,
        journal: own,
      }
      expect(await journal.write(newer, found.fence)).toBe(true)
      expect(outcome(await executor.calls.reconcile('one'))).toBe('timed_out unknown E_TOOL_TIMEOUT')
    })
  })

  describe(`a call whose effect is known (${name})`, () => {
    test('is asked about by nothing, and keeps no args', async () => {
      const [storage, bank] = [place(), newBank()]
      bank.after = () => 'done'
      const log: string[] = []
      const counted = changed(storage.open(), {
        read: (journal) => (id) => (log.push('read'), journal.read(id)),
        claim: (journal) => (record, owner) => {
          log.push(`claim ${record.state} ${record.journal?.args}`)
          return journal.claim(record, owner)
        },
        write: (journal) => (record, fence) => {
          log.push(`write ${record.state} ${record.journal?.args}`)
          return journal.write(record, fence)
        },
      })
      const executor = processOn(storage, [bank.pay({ timeout: 0 })], { use: [counted] })
      await executor.execute(call, session)
      expect(log).toEqual(['claim EXECUTING {"amount":5}', 'write COMPLETED undefined'])
      log.length = 0
      const { invocationId } = await executor.execute(call, { ...session, invocationId: 'known' })
      expect(log).toEqual(['read', 'claim EXECUTING {"amount":5}', 'write COMPLETED undefined'])
      log.length = 0
      await executor.execute(call, { ...session, invocationId })
      await executor.calls.reconcile(invocationId)
      expect(log).toEqual(['read', 'read'])
      expect(bank.asked).toEqual([])
    })

    test('or that has not settled, or is unknown, is refused in words', async () => {
      const [storage, bank] = [place(), newBank()]
      const executor = await dying(storage, bank)
      await expect(executor.calls.reconcile('one')).rejects.toMatchObject({ code: 'E_UNAVAILABLE', retryable: true })
      await expect(executor.calls.reconcile('two')).rejects.toMatchObject({ code: 'E_JOURNAL' })
      await expect(executor.calls.reconcile(1 as never)).rejects.toMatchObject({ code: 'E_INVALID_CONFIGURATION' })
      const named = executor.execute(call, { ...session, invocationId: 'one~reconciled' })
      await expect(named).rejects.toMatchObject({ code: 'E_INVALID_CONFIGURATION' })
    })
  })

  if (name !== 'SQLite') return

  test(`no secret is in the file once the effect is known (${name})`, async () => {
    const [storage, bank] = [place(), newBank()]
    const executor = processOn(storage, [bank.pay({ secrets: ['/card'] })])
    const args = { amount: 5, card: 'secret-x4111-1111' }
    await executor.execute({ name: 'pay', args }, { ...session, invocationId: 'one' })
    const contents = (): string =>
      ['', '-wal'].map((suffix) => readFileSync(`${storage.file}${suffix}`, 'latin1')).join('')
    expect(contents()).toContain('secret-x4111-1111')
    await executor.calls.reconcile('one')
    await executor.close()
    const left = readFileSync(storage.file ?? '', 'latin1')
    expect(left).not.toContain('secret-x4111-1111')
  })
}
