import { DatabaseSync } from 'node:sqlite'
import { createExecutor, memoryStore, type Extension, type ToolExecutor, type ToolResult } from 'toolwright'
import type { RecoverOptions } from 'toolwright/extension'
import { JournalError } from 'toolwright/errors'
import { digestOf, isSettled, records } from 'toolwright/records'
import { elsewhere } from 'toolwright/distributed/elsewhere'
import { memoryJournal } from 'toolwright/journals/memory'
import { afterEach, describe, expect, test, vi } from 'vitest'
import { deferred, never, outcome, pause, sink, soon, text, work } from './_calls.ts'
import { changed, places, recordIn, unfinishedIn, type Mounted, type Place } from './_journals.ts'

afterEach(() => {
  vi.useRealTimers()
})

/** Tools of every kind, which say how often they ran. */
function toolsWith(ran: string[], running: Promise<unknown> = never): ReturnType<typeof work>[] {
  return [
    work('runs', () => (ran.push('runs'), running)),
    work('asks', () => void ran.push('asks'), { requiresConfirmation: true }),
    work('form', () => void ran.push('form'), { type: 'client', requiresResponse: true, timeout: 60_000 }),
  ]
}

/** What a process leaves that dies in the middle of a call, of a question and of a wait for a client. */
async function dying(place: Place, ran: string[]): Promise<ToolExecutor> {
  const executor = createExecutor({ tools: toolsWith(ran), use: [place.open()], timeout: 0 })
  void executor.execute({ id: 'p', name: 'runs' }, { session: 's', invocationId: 'running' })
  await executor.execute({ name: 'asks' }, { session: 's', invocationId: 'asking' })
  await executor.execute({ name: 'form' }, { session: 's', invocationId: 'waiting' })
  await vi.waitFor(() => expect(ran).toEqual(['runs']))
  return executor
}

/** The same, left in a journal in memory, with an ear for reports. */
async function leftBehind() {
  const mounted = memoryJournal()
  const place: Place = { open: () => mounted }
  const ran: string[] = []
  await dying(place, ran)
  return { mounted, place, ran, ...sink() }
}

function successor(place: Place, ran: string[]): ToolExecutor {
  return createExecutor({ tools: toolsWith(ran), use: [place.open()] })
}

/** A journal whose first writes of an end fail. */
function failingWrites(mounted: Mounted, times: number, fail: () => void): Mounted {
  let left = times
  return changed(mounted, {
    write: (journal) => (record, fence) => {
      if (!isSettled(record.state) || left-- <= 0) return journal.write(record, fence)
      fail()
      throw new JournalError('The server starts.', { retryable: true })
    },
  })
}

describe.each(places)('recovery (%s)', (_, place) => {
  test('closes what a dead owner left running, keeps what people are still asked, and runs nothing', async () => {
    const storage = place()
    const ran: string[] = []
    await dying(storage, ran)
    const next = successor(storage, ran)
    const { sealed } = await next.calls.recover({ staleAfter: 0 })
    expect(sealed.map((result) => [result.invocationId, outcome(result)])).toEqual([
      ['running', 'error unknown E_SEALED'],
    ])
    const waiting = await next.calls.waiting()
    expect(waiting.map(({ invocationId }) => invocationId).toSorted()).toEqual(['asking', 'waiting'])
    expect(ran).toEqual(['runs'])
    const record = await recordIn(storage.open(), 'running')
    expect(record).toMatchObject({ state: 'SEALED', status: 'error', isError: true, effect: 'unknown' })
    expect(record.completedAt).toBeTypeOf('number')
    expect(record.auditTrail.map(({ state }) => state)).toEqual(['PENDING', 'EXECUTING', 'SEALED'])
  })

  test('gives results that a conversation can be completed with', async () => {
    const storage = place()
    const ran: string[] = []
    await dying(storage, ran)
    const { sealed } = await successor(storage, ran).calls.recover({ staleAfter: 0 })
    const [result] = sealed
    expect(result).toMatchObject({ id: 'p', toolName: 'runs', isError: true, invocationId: 'running' })
    expect(result === undefined ? '' : text(result)).toContain('Check for side effects')
    const replayed = await successor(storage, ran).execute({ name: 'runs' }, { session: 's', invocationId: 'running' })
    expect(outcome(replayed)).toBe('error unknown E_SEALED')
    expect(replayed.content).toEqual(result?.content)
    expect(ran).toEqual(['runs'])
  })

  test('says of each state what to do', async () => {
    const storage = place()
    const ran: string[] = []
    await dying(storage, ran)
    const { sealed } = await successor(storage, ran).calls.recover({ staleAfter: 0, approvals: 'seal' })
    const advice = Object.fromEntries(sealed.map((result) => [result.invocationId, result.error?.recommendations]))
    expect(advice).toEqual({
      running: [expect.stringMatching(/side effects/), expect.stringMatching(/Make sure/)],
      asking: [expect.stringMatching(/had not been approved/), expect.stringMatching(/approval anew/)],
      waiting: [expect.stringMatching(/side effects/), expect.stringMatching(/Make sure/)],
    })
    expect(Object.fromEntries(sealed.map(({ invocationId, effect }) => [invocationId, effect]))).toEqual({
      running: 'unknown',
      asking: 'none',
      waiting: 'unknown',
    })
  })

  test('does not say that nobody approved what somebody did approve', async () => {
    const storage = place()
    const ran: string[] = []
    const stuck = changed(storage.open(), {
      write: (journal) => (record, fence) => (record.state === 'EXECUTING' ? never : journal.write(record, fence)),
    })
    const executor = createExecutor({ tools: toolsWith(ran), use: [stuck], timeout: 0 })
    const { token = '' } = await executor.execute({ name: 'asks' }, { session: 's', invocationId: 'asking' })
    void executor.calls.decide(token, 'allow')
    await vi.waitFor(async () => expect((await recordIn(storage.open(), 'asking')).journal?.awaits).toBe(undefined))
    const { sealed } = await successor(storage, ran).calls.recover({ staleAfter: 0 })
    expect(sealed[0]?.error?.recommendations).toEqual(['The tool did not run.', 'Call it again if it is still needed.'])
    expect(ran).toEqual([])
  })

  test('closes nothing of a living owner when the wall clock is set ahead by more than owners may be silent', async () => {
    const storage = place()
    const ran: string[] = []
    await dying(storage, ran)
    vi.useFakeTimers({ toFake: ['Date'], now: Date.now() + 45_000 })
    expect((await successor(storage, ran).calls.recover()).sealed).toEqual([])
  })

  test('closes what a dead owner left although the wall clock was set a year back since', async () => {
    const storage = place()
    const ran: string[] = []
    await dying(storage, ran)
    await pause(60)
    vi.useFakeTimers({ toFake: ['Date'], now: Date.now() - 365 * 86_400_000 })
    const { sealed } = await successor(storage, ran).calls.recover({ staleAfter: 10 })
    expect(sealed.map(({ invocationId }) => invocationId)).toEqual(['running'])
  })

  test('by hand lists everything that is left, and closes nothing', async () => {
    const storage = place()
    const ran: string[] = []
    await dying(storage, ran)
    const { sealed, kept } = await successor(storage, ran).calls.recover({ strategy: 'manual', staleAfter: 0 })
    expect(sealed).toEqual([])
    expect(kept.map(({ id }) => id)).toEqual(['running'])
    expect((await unfinishedIn(storage.open())).length).toBe(3)
  })

  test('leaves alone what living executors and the executor itself are busy with', async () => {
    const storage = place()
    const ran: string[] = []
    const living = await dying(storage, ran)
    expect(await living.calls.recover({ staleAfter: 0 })).toEqual({ sealed: [], requeued: [], kept: [], expired: [] })
    expect(await successor(storage, ran).calls.recover()).toEqual({ sealed: [], requeued: [], kept: [], expired: [] })
    expect((await unfinishedIn(storage.open())).length).toBe(3)
  })

  test('closes a call whose outcome could not be written, and emits nothing of it a second time', async () => {
    const storage = place()
    let isDown = false
    const failing = changed(storage.open(), {
      write: (journal) => (record, fence) => {
        if (isDown) throw new Error('The disk is full.')
        return journal.write(record, fence)
      },
    })
    const executor = createExecutor({ tools: [work('t', () => void (isDown = true))], use: [failing] })
    const heard: string[] = []
    executor.on('*', ({ event, seq }) => void heard.push(`${seq} ${event}`))
    const result = await executor.execute({ name: 't' }, { session: 's', invocationId: 'lost' })
    expect(outcome(result)).toBe('error completed E_JOURNAL')
    isDown = false
    const { sealed } = await executor.calls.recover()
    expect(sealed.map(outcome)).toEqual(['error unknown E_SEALED'])
    expect(text(sealed[0]!)).toContain('The outcome of this call could not be written; it has been closed.')
    expect((await recordIn(storage.open(), 'lost')).state).toBe('SEALED')
    expect(heard).toEqual(['0 call:received', '1 tool:start', '2 tool:end', '3 call:settled'])
  })

  test('writes an end again whose journal says that its failure may pass, and runs and emits nothing twice', async () => {
    const storage = place()
    const ran: string[] = []
    const failing = failingWrites(storage.open(), 3, () => void ran.push('failed'))
    const executor = createExecutor({ tools: [work('t', () => void ran.push('ran'))], use: [failing] })
    const heard: string[] = []
    executor.on('*', ({ event, seq }) => void heard.push(`${seq} ${event}`))
    const result = await executor.execute({ name: 't' }, { session: 's', invocationId: 'kept' })
    if (!failing.journal.isDurable) return expect(outcome(result)).toBe('error completed E_JOURNAL')
    expect(outcome(result)).toBe('ok completed')
    expect(ran).toEqual(['ran', 'failed', 'failed', 'failed'])
    expect(heard).toEqual(['0 call:received', '1 tool:start', '2 tool:end', '3 call:settled'])
    expect((await recordIn(storage.open(), 'kept')).state).toBe('COMPLETED')
    expect((await executor.calls.recover()).sealed).toEqual([])
  })

  test('keeps no end by which the journal itself refused a call, which may be made again', async () => {
    const storage = place()
    let left = 0
    const failing = changed(storage.open(), {
      write: (journal) => (record, fence) => {
        const isOfRun = record.state === 'EXECUTING' || isSettled(record.state)
        if (!isOfRun || left-- <= 0) return journal.write(record, fence)
        throw new JournalError('The server starts.', { retryable: true })
      },
    })
    const asking = work('t', () => {}, { requiresConfirmation: true })
    const executor = createExecutor({ tools: [asking], use: [failing] })
    const { token } = await executor.execute({ name: 't' }, { session: 's', invocationId: 'refused' })
    left = 2
    expect(outcome(await executor.calls.decide(token!, 'allow'))).toBe('error none E_JOURNAL')
    expect(isSettled((await recordIn(storage.open(), 'refused')).state)).toBe(false)
  })

  test('gives an end up that could not be written for 20 seconds', async () => {
    vi.useFakeTimers({ toFake: ['setTimeout', 'performance'] })
    const failures: number[] = []
    const failing = failingWrites(place().open(), Infinity, () => void failures.push(performance.now()))
    const executor = createExecutor({ tools: [work('t', () => {})], use: [failing] })
    const results: ToolResult[] = []
    void executor.execute({ name: 't' }).then((result) => results.push(result))
    while (results.length === 0) await vi.advanceTimersByTimeAsync(100)
    expect(outcome(results[0]!)).toBe('error completed E_JOURNAL')
    const triedFor = failures.at(-1)! - failures[0]!
    expect([triedFor > 18_000, triedFor <= 20_000]).toEqual([failing.journal.isDurable, true])
  })

  test('closes an approval and a wait that have expired, whoever asked', async () => {
    const storage = place()
    const ran: string[] = []
    const executor = await dying(storage, ran)
    const day = Date.now() + 86_400_001
    vi.spyOn(Date, 'now').mockReturnValue(day)
    const { sealed, expired } = await executor.calls.recover()
    vi.restoreAllMocks()
    expect(sealed).toEqual([])
    expect(expired.map(({ id, state, error }) => `${id} ${state} ${error?.split(':')[0]}`).toSorted()).toEqual([
      'asking DENIED ApprovalExpiredError',
      'waiting FAILED ClientToolError',
    ])
  })

  test('refuses what the dead owner writes after all', async () => {
    const storage = place()
    const ran: string[] = []
    const { promise, resolve } = deferred<string>()
    const executor = createExecutor({ tools: toolsWith(ran, promise), use: [storage.open()] })
    const running = executor.execute({ name: 'runs' }, { session: 's', invocationId: 'running' })
    await vi.waitFor(() => expect(ran).toEqual(['runs']))
    await successor(storage, ran).calls.recover({ staleAfter: 0 })
    const sealed = await recordIn(storage.open(), 'running')
    resolve('done after all')
    expect(outcome(await soon(running))).toBe('error completed E_SEALED')
    expect(await recordIn(storage.open(), 'running')).toEqual(sealed)
  })

  test('refuses a line about a late handler of a sealed call', async () => {
    const storage = place()
    const { promise, resolve } = deferred<string>()
    let isLost = false
    const real = storage.open()
    const mounted = changed(real, {
      write: (journal) => (record, fence) =>
        isLost ? Promise.reject(new Error('gone')) : journal.write(record, fence),
    })
    const executor = createExecutor({
      tools: [work('t', () => ((isLost = true), promise), { timeout: 1_000 })],
      use: [mounted],
      report: () => {},
    })
    const running = executor.execute({ name: 't' }, { invocationId: 'i', session: 's' })
    expect(outcome(await running)).toBe('error unknown E_JOURNAL')
    isLost = false
    await successor(storage, []).calls.recover({ staleAfter: 0 })
    const sealed = await recordIn(real, 'i')
    resolve('late')
    await pause(20)
    expect(await recordIn(real, 'i')).toEqual(sealed)
  })

  test('closes each call once, of twenty that recover at the same time', async () => {
    const storage = place()
    const ran: string[] = []
    await dying(storage, ran)
    const all = await Promise.all(
      Array.from({ length: 20 }, () => successor(storage, ran).calls.recover({ staleAfter: 0, approvals: 'seal' })),
    )
    expect(all.flatMap(({ sealed }) => sealed.map(({ invocationId }) => invocationId)).toSorted()).toEqual([
      'asking',
      'running',
      'waiting',
    ])
  })

  test('forgets the args and the token of a wait that it closes', async () => {
    const storage = place()
    const executor = createExecutor({
      tools: [work('t', () => 1, { requiresConfirmation: true, secrets: ['/password'] })],
      use: [storage.open()],
    })
    const { token = '', invocationId } = await executor.execute({ name: 't', args: { password: 'canary' } })
    await successor(storage, []).calls.recover({ staleAfter: 0, approvals: 'seal' })
    const record = await recordIn(storage.open(), invocationId)
    expect(record.journal).not.toHaveProperty('awaits')
    expect(JSON.stringify(record)).not.toContain('canary')
    await expect(executor.calls.decide(token, 'allow')).rejects.toMatchObject({ code: 'E_APPROVAL_INVALID' })
  })
})

test('what is sealed hangs on the chain of the executor that sealed it', async () => {
  const mounted = memoryJournal()
  const place: Place = { open: () => ({ ...mounted, ...records({ ...mounted.journal, isDurable: true }) }) }
  const ran: string[] = []
  await dying(place, ran)
  const executor = successor(place, ran)
  const first = await executor.execute({ name: 'missing' })
  await executor.calls.recover({ staleAfter: 0 })
  const { journal, ...record } = await recordIn(place.open(), 'running')
  const before = (await recordIn(place.open(), first.invocationId)).journal?.digest
  expect(journal?.previous).toBe(before)
  expect(digestOf(before ?? '', journal === undefined ? record : { ...record, journal })).toBe(journal?.digest)
})

describe.each(places.filter(([title]) => title === 'SQLite'))('of records in a file (%s)', (_, place) => {
  test.each([
    ['cut off', (record: string) => record.slice(0, 150)],
    ['null', () => 'null'],
    ['an id alone', () => '{"id":"call 2"}'],
    ['over, and is listed all the same', (record: string) => record.replace('"state":"EXECUTING"', '"state":"FAILED"')],
  ])('one that is %s is reported, and keeps no other from being closed', async (__, damage) => {
    const storage = place()
    const executor = createExecutor({ tools: [work('runs', () => never)], use: [storage.open()], timeout: 0 })
    for (let index = 0; index < 5; index++) void executor.execute({ name: 'runs' }, { invocationId: `call ${index}` })
    await vi.waitFor(async () => expect(await unfinishedIn(storage.open())).toHaveLength(5))
    const database = new DatabaseSync(storage.file ?? '')
    const row = database.prepare('SELECT record FROM calls WHERE id = ?').get('call 2')
    database.prepare('UPDATE calls SET record = ? WHERE id = ?').run(damage(String(row?.['record'])), 'call 2')
    database.close()
    const { reports, report } = sink()
    const { sealed } = await createExecutor({ use: [storage.open()], report }).calls.recover({ staleAfter: 0 })
    expect(sealed.map(({ invocationId }) => invocationId)).toEqual(['call 4', 'call 3', 'call 1', 'call 0'])
    expect(reports).toHaveLength(1)
  })

  test.each(['null', '{"id":"i"}', '{'])('one that is %s is E_JOURNAL to whoever asks for it', async (damage) => {
    const storage = place()
    const executor = createExecutor({ tools: [work('t', () => 1)], use: [storage.open()] })
    await executor.execute({ name: 't' }, { invocationId: 'i' })
    const database = new DatabaseSync(storage.file ?? '')
    database.prepare('UPDATE calls SET record = ?').run(damage)
    database.close()
    await expect(executor.calls.get('i')).rejects.toMatchObject({ code: 'E_JOURNAL' })
    expect(outcome(await executor.execute({ name: 't' }, { invocationId: 'i' }))).toBe('error none E_JOURNAL')
  })
})

test('what a journal lists is taken one by one: nonsense is reported, and the others are closed', async () => {
  const { mounted, reports, report } = await leftBehind()
  const use = [
    changed(mounted, {
      list: (journal) =>
        async function* (query, ...parameters) {
          if (query.silentFor !== undefined) {
            yield null as never
            yield { record: {} } as never
          }
          yield* journal.list(query, ...parameters)
        },
    }),
  ]
  const { sealed } = await createExecutor({ use, report }).calls.recover({ staleAfter: 0 })
  expect(sealed.map(({ invocationId }) => invocationId)).toEqual(['running'])
  expect(reports).toHaveLength(2)
})

test('a journal that fails in the middle is no damage of a record: recovery says so, and may be tried again', async () => {
  const { mounted, place, ran, reports, report } = await leftBehind()
  const use = [changed(mounted, { takeOver: () => () => Promise.reject(new Error('ECONNRESET')) })]
  const recovering = createExecutor({ use, report }).calls.recover({ staleAfter: 0 })
  await expect(recovering).rejects.toMatchObject({ code: 'E_JOURNAL', retryable: true })
  expect(reports).toEqual([])
  expect((await successor(place, ran).calls.recover({ staleAfter: 0 })).sealed).toHaveLength(1)
})

test('a journal that never goes on with its list is given up, and asked to close it', async () => {
  vi.useFakeTimers()
  const asked: string[] = []
  const list: AsyncIterator<never> = {
    next: () => (asked.push('next'), never),
    return: () => (asked.push('return'), never),
  }
  const use = [changed(memoryJournal(), { list: () => () => ({ [Symbol.asyncIterator]: () => list }) })]
  const recovering = createExecutor({ use }).calls.recover()
  const refused = expect(recovering).rejects.toMatchObject({ code: 'E_JOURNAL', retryable: true })
  await vi.advanceTimersByTimeAsync(40_000)
  await refused
  expect(asked).toEqual(['next', 'return'])
})

test('a call that goes on after an answer is alive before its first write, however long a policy thinks', async () => {
  vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval', 'performance'] })
  const mounted = memoryJournal()
  const { promise, resolve } = deferred()
  let thinks = false
  const policy = { name: 'slow', decide: () => (thinks ? promise : undefined) }
  const tools = [work('asks', () => 'done', { requiresConfirmation: true })]
  const { token = '' } = await createExecutor({ tools, use: [mounted] }).execute({ name: 'asks' })
  thinks = true
  const other = createExecutor({ tools, use: [mounted, { policies: [policy] }], timeout: 0 })
  const deciding = other.calls.decide(token, 'allow')
  await vi.advanceTimersByTimeAsync(36_000)
  expect((await createExecutor({ use: [mounted] }).calls.recover()).sealed).toEqual([])
  resolve()
  expect(outcome(await deciding)).toBe('ok completed')
})

test.each<[string, RecoverOptions]>([
  ['a strategy in other letters', { strategy: 'Manual' as never }],
  ['a strategy that is nothing', { strategy: null as never }],
  ['approvals in other letters', { approvals: 'Keep' as never }],
  ['a silence that is no number', { staleAfter: Number.NaN }],
  ['a silence in words', { staleAfter: '30s' as never }],
  ['a silence below 0', { staleAfter: -1 }],
])('%s is E_INVALID_CONFIGURATION, and nothing is closed', async (_, options) => {
  const mounted = memoryJournal()
  const place: Place = { open: () => mounted }
  const ran: string[] = []
  await dying(place, ran)
  const [option = ''] = Object.keys(options)
  await expect(successor(place, ran).calls.recover({ staleAfter: 0, ...options })).rejects.toMatchObject({
    code: 'E_INVALID_CONFIGURATION',
    message: expect.stringContaining(option) as string,
  })
  expect(await unfinishedIn(mounted)).toHaveLength(3)
})

test('there is nothing to recover without a journal', async () => {
  await expect(createExecutor().calls.recover()).rejects.toMatchObject({ code: 'E_INVALID_CONFIGURATION' })
})

test('a journal that cannot be listed is E_JOURNAL', async () => {
  const use: Extension[] = [
    changed(memoryJournal(), {
      list: () => () => {
        throw new Error('broken')
      },
    }),
  ]
  await expect(createExecutor({ use }).calls.recover()).rejects.toMatchObject({ code: 'E_JOURNAL' })
})

describe.each(places)('recovery of calls that workers had taken (%s)', (_, place) => {
  const workers = elsewhere({ queueOf: () => 'q', expiry: 60_000, isLocal: true, send: async () => {} })

  /** A worker that died while it ran two calls, of which one may run again. */
  async function halfDone(): Promise<() => ToolExecutor> {
    const [storage, store, ran] = [place(), memoryStore(), [] as string[]]
    const tools = [
      work('charge', () => (ran.push('charge'), never)),
      work('lookup', () => (ran.push('lookup'), never), { traits: { idempotent: true } }),
    ]
    const open = (): ToolExecutor => createExecutor({ tools, use: [storage.open(), { store }], timeout: 0 })
    const caller = createExecutor({ tools, use: [storage.open(), { store }, workers], timeout: 0 })
    const worker = open()
    for (const name of ['charge', 'lookup', 'queued']) {
      const tool = name === 'queued' ? 'lookup' : name
      void caller.execute({ name: tool }, { session: 's', invocationId: name })
      await vi.waitFor(async () => expect((await caller.calls.get(name)).status).toBe('waiting'))
      if (name !== 'queued') void worker.queue.run(name)
    }
    await vi.waitFor(() => expect(ran.toSorted()).toEqual(['charge', 'lookup']))
    return open
  }

  test('lets those wait again that may run again, closes the others, and leaves alone what waits', async () => {
    const next = (await halfDone())()
    const { requeued, sealed, kept } = await next.calls.recover({ rerun: true, attempts: 3, staleAfter: 0 })
    expect(requeued).toEqual([{ invocationId: 'lookup', queue: 'q', attempts: 1 }])
    expect(sealed.map((result) => [result.invocationId, outcome(result)])).toEqual([
      ['charge', 'error unknown E_SEALED'],
    ])
    expect(kept).toEqual([])
    const again = await next.calls.recover({ rerun: true, attempts: 3, staleAfter: 0 })
    expect([again.requeued, again.sealed]).toEqual([[], []])
  })

  test('closes what as many workers have taken as may', async () => {
    const next = (await halfDone())()
    const { requeued, sealed } = await next.calls.recover({ rerun: true, attempts: 1, staleAfter: 0 })
    expect(requeued).toEqual([])
    expect(sealed.map(({ invocationId }) => invocationId).toSorted()).toEqual(['charge', 'lookup'])
  })

  test('closes all of them unless it is asked to let them wait', async () => {
    const next = (await halfDone())()
    const { requeued, sealed } = await next.calls.recover({ staleAfter: 0 })
    expect(requeued).toEqual([])
    expect(sealed.map(({ invocationId }) => invocationId).toSorted()).toEqual(['charge', 'lookup'])
  })
})
