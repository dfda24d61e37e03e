import { join } from 'node:path'
import { createExecutor, type Extension, type ToolEvent } from 'toolwright'
import type { Policy, ToolCallRecord } from 'toolwright/extension'
import { digestOf, type Journal, records } from 'toolwright/records'
import { memoryJournal } from 'toolwright/journals/memory'
import { sqliteJournal } from 'toolwright/journals/sqlite'
import { retry } from 'toolwright/middleware/retry'
import { afterEach, describe, expect, test, vi } from 'vitest'
import { deferred, heard, names, never, outcome, pause, sink, soon, text, turn, work } from './_calls.ts'
import { changed, directory, foldOf, logged, places, publicRecordOf, recordIn, unfinishedIn } from './_journals.ts'

afterEach(() => {
  vi.useRealTimers()
})

describe.each(places)('with a journal (%s)', (_, place) => {
  test('an ordinary call is written down twice: before the handler, and before the answer', async () => {
    const log: string[] = []
    const t = work('t', () => void log.push('handler'))
    const executor = createExecutor({ tools: [t], use: [logged(place().open(), log)] })
    executor.on('call:settled', () => void log.push('told'))
    await executor.execute({ name: 't' })
    log.push('answered')
    expect(log).toEqual(['claim EXECUTING', 'kept', 'handler', 'write COMPLETED', 'kept', 'told', 'answered'])
  })

  test('a call that never starts is written down once', async () => {
    const log: string[] = []
    const executor = createExecutor({ tools: [work('t', () => 1)], use: [logged(place().open(), log)] })
    await executor.execute({ name: 't', args: '{' })
    await executor.execute({ name: 'missing' })
    expect(log).toEqual(['claim FAILED', 'kept', 'claim FAILED', 'kept'])
  })

  test('each further attempt is written down before it is made', async () => {
    const log: string[] = []
    const handler = (_input: never, { attempt }: { attempt: number }): string => {
      log.push(`attempt ${attempt}`)
      if (attempt < 3) throw Object.assign(new Error('again'), { status: 429 })
      return 'done'
    }
    const t = work('t', handler, { traits: { idempotent: true } })
    const use = [logged(place().open(), log), retry({ delay: 0 })]
    expect((await createExecutor({ tools: [t], use }).execute({ name: 't' })).status).toBe('ok')
    const attempt = (number: number): string[] => ['write EXECUTING', 'kept', `attempt ${number}`]
    expect(log).toEqual([
      'claim EXECUTING',
      'kept',
      'attempt 1',
      ...attempt(2),
      ...attempt(3),
      'write COMPLETED',
      'kept',
    ])
  })

  test('a waiting call is told of only once it is written down', async () => {
    const log: string[] = []
    const mounted = logged(place().open(), log)
    const executor = createExecutor({ tools: [work('t', () => 1, { requiresConfirmation: true })], use: [mounted] })
    executor.on('call:waiting', () => void log.push('asked'))
    await executor.execute({ name: 't' })
    expect(log).toEqual(['claim APPROVAL_REQUIRED', 'kept', 'asked'])
  })

  test.each<[string, unknown]>([
    ['no JSON at all', { a: 1n }],
    ['a circle', circle()],
    ['half a character', '"\ud800"'],
    ['half a character as a value', { a: '\ud800' }],
  ])('args that are %s fail for what they are, and the journal takes the record', async (__, args) => {
    const mounted = place().open()
    const executor = createExecutor({ tools: [work('t', () => 1)], use: [mounted] })
    const result = await executor.execute({ name: 't', args })
    expect(outcome(result)).toBe('error none E_UNCANONICAL_ARGS')
    expect((await recordIn(mounted, result.invocationId)).state).toBe('FAILED')
  })

  test.each<[string, unknown]>([
    ['half a character', 'a\ud800b'],
    ['three hundred levels', JSON.parse('['.repeat(300) + ']'.repeat(300))],
    ['keys that look like ours', { __proto__: null, journal: 1, '\u0000': '\u2028', 'a\\b': { 'c"d': -0 } }],
  ])('a result with %s is written down as it was given', async (__, value) => {
    const mounted = place().open()
    const executor = createExecutor({ tools: [work('t', () => value)], use: [mounted] })
    const { status, content, invocationId } = await executor.execute({ name: 't' })
    expect(status).toBe('ok')
    const { journal } = await recordIn(mounted, invocationId)
    expect(JSON.stringify(journal?.result)).toBe(JSON.stringify(content))
  })

  test('what a handler does after its deadline is one line in the audit trail, and changes nothing else', async () => {
    const mounted = place().open()
    const { promise, resolve } = deferred<string>()
    const executor = createExecutor({ tools: [work('t', () => promise, { timeout: 1_000 })], use: [mounted] })
    const events = heard(executor)
    const result = await executor.execute({ name: 't' })
    expect(outcome(result)).toBe('timed_out unknown E_TOOL_TIMEOUT')
    const before = await recordIn(mounted, result.invocationId)
    resolve('late')
    const after = await vi.waitFor(async () => {
      const record = await recordIn(mounted, result.invocationId)
      expect(record.auditTrail.length).toBeGreaterThan(before.auditTrail.length)
      return record
    })
    const { updatedAt, auditTrail, ...rest } = after
    expect({ ...before, updatedAt, auditTrail }).toEqual(after)
    expect(auditTrail.slice(0, -1)).toEqual(before.auditTrail)
    expect(auditTrail.at(-1)).toMatchObject({ state: 'FAILED', note: 'the handler returned late' })
    expect(rest.journal?.result).toEqual(result.content)
    expect(names(events)).toBe('call:received tool:start tool:end call:settled')
    await pause(20)
    expect((await recordIn(mounted, result.invocationId)).auditTrail).toHaveLength(auditTrail.length)
  })

  test('a handler that gives up at the signal leaves a settled record, however slow the journal is', async () => {
    const real = place().open()
    const slow = changed(real, {
      write: (journal) => async (record, fence) => {
        await pause(5)
        return journal.write(record, fence)
      },
      read: (journal) => async (id) => {
        const found = await journal.read(id)
        await pause(20)
        return found
      },
    })
    const handler = (_input: never, { signal }: { signal: AbortSignal }): Promise<never> =>
      new Promise((_resolve, reject) => signal.addEventListener('abort', () => reject(new Error('gave up'))))
    const executor = createExecutor({ tools: [work('t', handler, { timeout: 1_000 })], use: [slow] })
    const { invocationId, status } = await executor.execute({ name: 't' })
    expect(status).toBe('timed_out')
    await vi.waitFor(
      async () => {
        const record = await recordIn(real, invocationId)
        expect([record.state, record.status]).toEqual(['FAILED', 'timed_out'])
        expect(record.auditTrail.filter(({ note }) => note === 'the handler failed late')).toHaveLength(1)
      },
      { timeout: 30_000 },
    )
  })

  test('a write that was given up at the deadline does not land on the outcome', async () => {
    const real = place().open()
    let isFirst = true
    const slow = changed(real, {
      claim: (journal) => async (record, owner) => {
        // The timer of the deadline is set a turn later: this one is set after it, however slow the machine is.
        if (isFirst) await turn().then(() => pause(40))
        isFirst = false
        return journal.claim(record, owner)
      },
    })
    const handler = vi.fn<() => number>(() => 1)
    const executor = createExecutor({ tools: [work('t', handler)], use: [slow], timeout: 10 })
    const result = await executor.execute({ name: 't' })
    expect(outcome(result)).toBe('timed_out none E_TOOL_TIMEOUT')
    await pause(60)
    const record = await recordIn(real, result.invocationId)
    expect([record.state, record.status]).toEqual(['FAILED', 'timed_out'])
    expect(handler).not.toHaveBeenCalled()
  })

  test('a start that fails takes no number of an event', async () => {
    const flaky = changed(place().open(), {
      claim: (journal) => async (record, owner) => {
        if (record.state === 'EXECUTING') throw new Error('ECONNRESET')
        return journal.claim(record, owner)
      },
    })
    const executor = createExecutor({ tools: [work('t', () => 1)], use: [flaky] })
    const events = heard(executor)
    await executor.execute({ name: 't' })
    expect(events.map(({ event, seq }) => `${seq} ${event}`)).toEqual(['0 call:received', '1 call:settled'])
  })

  test('each event has a number of its own, also if something is told while the start is written down', async () => {
    let tell: ((type: string) => void) | undefined
    const slow = changed(place().open(), {
      claim: (journal) => async (record, owner) => {
        await turn()
        tell?.('early')
        return journal.claim(record, owner)
      },
    })
    const policies: Policy[] = [{ name: 'early', decide: (_call, { emit }) => void (tell = emit) }]
    const executor = createExecutor({ tools: [work('t', () => 1)], use: [slow, { policies }] })
    const events = heard(executor)
    const { invocationId } = await executor.execute({ name: 't' })
    expect(names(events)).toBe('call:received tool:progress tool:start tool:end call:settled')
    expect(events.map(({ seq }) => seq)).toEqual([0, 1, 2, 3, 4])
    expect((await recordIn(slow, invocationId)).seq).toBe(5)
  })

  test('a call that is given up just before its start is not written down as started', async () => {
    const log: string[] = []
    const leaving = new AbortController()
    const policies = [{ name: 'leaves', decide: () => leaving.abort() }]
    const handler = vi.fn<() => number>(() => 1)
    const executor = createExecutor({
      tools: [work('t', handler)],
      use: [logged(place().open(), log), { policies }],
    })
    const events = heard(executor)
    const result = await executor.execute({ name: 't' }, { signal: leaving.signal })
    expect(outcome(result)).toBe('cancelled none E_TOOL_CANCELLED')
    expect(names(events)).toBe('call:received call:settled')
    expect(log).toEqual(['claim FAILED', 'kept'])
    expect(handler).not.toHaveBeenCalled()
  })

  test('an attempt that is given up while it is written down does not run', async () => {
    let writes = 0
    let runs = 0
    const leaving = new AbortController()
    const mounted = changed(place().open(), {
      write: (journal) => async (record, fence) => {
        if (writes++ === 0) leaving.abort()
        return journal.write(record, fence)
      },
    })
    const executor = createExecutor({
      tools: [
        work('t', () => {
          runs++
          throw new Error('no')
        }),
      ],
      use: [mounted, { middleware: [(_call, _context, next) => next().catch(() => next())] }],
    })
    const result = await executor.execute({ name: 't' }, { signal: leaving.signal })
    expect(outcome(result)).toBe('cancelled unknown E_TOOL_CANCELLED')
    await executor.close({ drain: 30_000 })
    await pause(20)
    expect(runs).toBe(1)
  })

  test.each([
    ['before', false],
    ['after', true],
  ])('a claim that fails %s it landed: the record tells of no start, as the events do', async (__, lands) => {
    const real = place().open()
    let isFirst = true
    const flaky = changed(real, {
      claim: (journal) => async (record, owner) => {
        const fence = isFirst && !lands ? null : await journal.claim(record, owner)
        if (!isFirst) return fence
        isFirst = false
        throw new Error('ECONNRESET')
      },
    })
    const handler = vi.fn<() => number>(() => 1)
    const executor = createExecutor({ tools: [work('t', handler)], use: [flaky] })
    const events = heard(executor)
    const result = await executor.execute({ name: 't' })
    expect(outcome(result)).toBe('error none E_JOURNAL')
    expect(result.error?.retryable).toBe(true)
    expect(handler).not.toHaveBeenCalled()
    const record = await recordIn(real, result.invocationId)
    expect(record.auditTrail.map(({ state }) => state)).toEqual(['PENDING', 'FAILED'])
    expect(publicRecordOf(record)).toEqual(publicRecordOf(foldOf(events, result.invocationId)))
    expect(await unfinishedIn(real)).toEqual([])
  })

  test('a claim whose answer was lost is not gone on from where another executor has taken it over', async () => {
    const real = place().open()
    let isFirst = true
    const flaky = changed(real, {
      claim: (journal) => async (record, owner) => {
        const fence = await journal.claim(record, owner)
        if (!isFirst || fence === null) return fence
        isFirst = false
        await journal.takeOver(record.id, fence, 'another')
        throw new Error('ECONNRESET')
      },
    })
    const executor = createExecutor({ tools: [work('t', () => 1)], use: [flaky] })
    const result = await executor.execute({ name: 't' })
    expect(outcome(result)).toBe('error unknown E_DUPLICATE_INVOCATION')
    expect((await recordIn(real, result.invocationId)).state).toBe('EXECUTING')
  })

  test('what a handler does after its executor was closed is reported to nobody', async () => {
    const { promise, resolve } = deferred<string>()
    const { reports, report } = sink()
    const tools = [work('t', () => promise, { timeout: 10 })]
    const executor = createExecutor({ tools, use: [place().open()], report })
    expect((await executor.execute({ name: 't' })).status).toBe('timed_out')
    await executor.close()
    resolve('late')
    await pause(20)
    expect(reports).toEqual([])
  })

  test('secrets in args are in no record, snapshot or event, also of calls that fail early', async () => {
    const mounted = place().open()
    const t = work('t', () => 1, { secrets: ['/password'], requiresConfirmation: true })
    const people = work('for-people', () => 1, { secrets: ['/password'], audience: 'user' })
    const executor = createExecutor({ tools: [t, people], use: [mounted] })
    const events = heard(executor)
    const args = { user: 'ada', password: 'canary-7' }
    const first = await executor.execute({ name: 't', args })
    await executor.calls.decide(first.token ?? '', 'allow')
    const broken = await executor.execute({ name: 't', args: `${JSON.stringify(args)}}` })
    const edited = await executor.execute({ name: 't', args })
    await executor.calls.decide(edited.token ?? '', 'allow', { editedArgs: { password: 'canary-8' } })
    const aborted = await executor.execute({ name: 't', args }, { signal: AbortSignal.abort() })
    const unseen = await executor.execute({ name: 'for-people', args })
    for (const { invocationId } of [first, broken, edited, aborted, unseen]) {
      const seen = [await recordIn(mounted, invocationId), await executor.calls.get(invocationId)]
      expect(JSON.stringify(seen)).not.toMatch(/canary/)
    }
    expect(JSON.stringify(events)).not.toMatch(/canary/)
  })
})

function circle(): object {
  const one: { self?: unknown } = {}
  one.self = one
  return one
}

/** Every way in which a journal can fail to answer. */
const faults: readonly (readonly [string, () => unknown])[] = [
  ['rejects', () => Promise.reject(new Error('disk /secret/path is full'))],
  [
    'throws at once',
    () => {
      throw new TypeError('broken /secret/path')
    },
  ],
  ['never answers', () => never],
  ['answers false', () => Promise.resolve(false)],
  ['answers nothing', () => Promise.resolve(undefined)],
  ['answers nonsense at once', () => 'yes'],
]

function failing(
  method: 'claim' | 'write',
  when: (record: ToolCallRecord) => boolean,
  fault: () => unknown,
): Extension {
  return changed(memoryJournal(), {
    [method]: (journal: Journal) => (record: ToolCallRecord, holder: never) =>
      when(record) ? fault() : journal[method](record, holder),
  })
}

describe.each(faults)('a journal that %s', (_title, fault) => {
  test('when the call is claimed: the handler does not run, and the call settles', async () => {
    vi.useFakeTimers()
    const handler = vi.fn<() => number>(() => 1)
    const { reports, report } = sink()
    const use = [failing('claim', () => true, fault)]
    const executor = createExecutor({ tools: [work('t', handler)], use, timeout: 0, report })
    const events = heard(executor)
    const running = executor.execute({ name: 't' })
    await vi.advanceTimersByTimeAsync(70_000)
    const result = await running
    expect(outcome(result)).toBe('error none E_JOURNAL')
    expect(text(result)).not.toContain('/secret/path')
    expect(handler).not.toHaveBeenCalled()
    expect(names(events)).toBe('call:received call:settled')
    expect(foldOf(events, result.invocationId)).toMatchObject({ state: 'FAILED', effect: 'none' })
    expect(reports).toEqual([])
  })

  test('when the call is claimed: a call that was never to run settles too', async () => {
    vi.useFakeTimers()
    const use = [failing('claim', () => true, fault)]
    const executor = createExecutor({ tools: [work('t', () => 1, { requiresConfirmation: true })], use })
    const events = heard(executor)
    const running = executor.execute({ name: 't' })
    await vi.advanceTimersByTimeAsync(70_000)
    const result = await running
    expect(outcome(result)).toBe('error none E_JOURNAL')
    expect('token' in result).toBe(false)
    expect(events.map(({ seq }) => seq)).toEqual(events.map((_, index) => index))
    expect(events.filter((event) => 'token' in event && event.token !== undefined)).toEqual([])
  })
})

describe.each(faults.filter(([title]) => !title.includes('nonsense')))('a journal that %s', (title, fault) => {
  test('when a resumed call starts: the handler does not run', async () => {
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'setInterval', 'clearInterval'] })
    const handler = vi.fn<() => number>(() => 1)
    const use = [failing('write', ({ state }) => state === 'EXECUTING', fault)]
    const t = work('t', handler, { requiresConfirmation: true })
    const executor = createExecutor({ tools: [t], use, timeout: 0 })
    const { token = '' } = await executor.execute({ name: 't' })
    const running = executor.calls.decide(token, 'allow')
    await vi.advanceTimersByTimeAsync(70_000)
    const result = await running
    expect(outcome(result)).toBe(title.startsWith('answers') ? 'error none E_SEALED' : 'error none E_JOURNAL')
    expect(handler).not.toHaveBeenCalled()
  })

  test('when the outcome is written: what has been done is said, with all that the tool gave', async () => {
    vi.useFakeTimers()
    const use = [failing('write', ({ state }) => state === 'COMPLETED', fault)]
    const executor = createExecutor({ tools: [work('t', () => 'x'.repeat(50_000))], use, timeout: 0 })
    const events = heard(executor)
    const observed: unknown[] = []
    executor.on('call:settled', (_event, _tool, final) => void observed.push(final))
    const running = executor.execute({ name: 't' })
    await vi.advanceTimersByTimeAsync(70_000)
    const result = await running
    expect(outcome(result)).toBe(title.startsWith('answers') ? 'error completed E_SEALED' : 'error completed E_JOURNAL')
    expect(observed).toEqual([result])
    expect(result.error?.retryable).toBe(false)
    expect(text(result)).not.toContain('/secret/path')
    expect(result.artifact?.byteLength()).toBe(50_000)
    expect(result.handle).toBeTypeOf('string')
    const settled = events.filter(({ event }) => event === 'call:settled')
    expect(settled).toMatchObject([{ status: 'error', effect: 'completed' }])
    expect(settled[0]).not.toHaveProperty('digest')
  })
})

test('a wait that could not be written settles the call with the error alone, and its token is never emitted', async () => {
  const use = [
    failing(
      'claim',
      () => true,
      () => Promise.reject(new Error('full')),
    ),
  ]
  const executor = createExecutor({ tools: [work('t', () => 1, { requiresConfirmation: true })], use })
  const events: ToolEvent[] = []
  executor.on('*', (event) => void events.push(event))
  expect(await executor.execute({ name: 't' })).toMatchObject({ status: 'error', error: { code: 'E_JOURNAL' } })
  expect(events.map(({ event, seq }) => `${seq} ${event}`)).toEqual(['0 call:received', '1 call:settled'])
  expect(JSON.stringify(events)).not.toContain('token')
})

test('signs of life that fail are reported, and disturb nothing', async () => {
  vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval'] })
  const { reports, report } = sink()
  const use = [
    changed(memoryJournal(), {
      beat: () => () => {
        throw new Error('no pulse')
      },
    }),
  ]
  const executor = createExecutor({ tools: [work('t', () => 1)], use, report })
  expect((await executor.execute({ name: 't' })).status).toBe('ok')
  await vi.advanceTimersByTimeAsync(12_000)
  expect(reports).toHaveLength(3)
})

test('an executor beats from its first write until it is closed', async () => {
  vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval'] })
  const beats: string[] = []
  const use = [changed(memoryJournal(), { beat: () => async (owner) => void beats.push(owner) })]
  const executor = createExecutor({ tools: [work('t', () => 1)], use })
  await vi.advanceTimersByTimeAsync(60_000)
  expect(beats).toEqual([])
  await executor.execute({ name: 't' })
  await executor.execute({ name: 't' })
  await vi.advanceTimersByTimeAsync(15_000)
  expect(beats).toHaveLength(4)
  expect(new Set(beats).size).toBe(1)
  await executor.close()
  expect((await executor.execute({ name: 't' })).status).toBe('cancelled')
  await vi.advanceTimersByTimeAsync(60_000)
  expect(beats).toHaveLength(4)
})

describe('digests', () => {
  const durable = (): ReturnType<typeof changed> => {
    const mounted = memoryJournal()
    const journal = { ...mounted.journal, isDurable: true }
    return { journal, ...records(journal) }
  }

  /** The records of the calls that settled, in the order in which they were told. */
  async function chainOf(use: ReturnType<typeof changed>, events: readonly ToolEvent[]): Promise<ToolCallRecord[]> {
    const settled = events.filter((event) => event.event === 'call:settled')
    return Promise.all(settled.map(({ invocationId }) => recordIn(use, invocationId)))
  }

  test('chain the records of an executor, and the head travels with the events', async () => {
    const use = durable()
    const handlers = [
      work('ok', () => ({ a: 1 })),
      work('large', () => 'x'.repeat(50_000)),
      work('fails', () => Promise.reject(new Error('no'))),
      work('asks', () => 1, { requiresConfirmation: true }),
      work('slow', () => pause(5)),
    ]
    const executor = createExecutor({ tools: handlers, use: [use] })
    const events = heard(executor)
    const calls = Array.from({ length: 30 }, (_, index) => ({ name: handlers[index % 5]?.name ?? '', args: { index } }))
    const results = await Promise.all(calls.map((call) => executor.execute(call)))
    for (const { token } of results) if (token !== undefined) await executor.calls.decide(token, 'allow')
    const heads = new Map(
      events.flatMap((event) => (event.event === 'call:settled' ? [[event.invocationId, event.digest] as const] : [])),
    )
    const links = await chainOf(use, events)
    expect(links).toHaveLength(30)
    const byPrevious = new Map(links.map((record) => [record.journal?.previous, record]))
    expect(byPrevious.size).toBe(30)
    let previous = ''
    for (let link = 0; link < 30; link++) {
      const record = byPrevious.get(previous)
      if (record === undefined) throw new Error('the chain is broken')
      const read = publicRecordOf({ ...record, journal: undefined } as never) as ToolCallRecord
      expect(digestOf(previous, { ...read, journal: record.journal as never })).toBe(record.journal?.digest)
      expect(heads.get(record.id)).toBe(record.journal?.digest)
      previous = record.journal?.digest ?? ''
    }
  })

  test.each<[string, (record: ToolCallRecord) => ToolCallRecord]>([
    ['its input', (record) => ({ ...record, input: { to: 'eve' } })],
    ['its status', (record) => ({ ...record, status: 'denied' })],
    ['its effect', (record) => ({ ...record, effect: 'none' })],
    ['who decided', (record) => ({ ...record, approval: { ...record.approval, decidedBy: 'eve' } })],
    ['its audit trail', (record) => ({ ...record, auditTrail: record.auditTrail.slice(1) })],
    ['its result', (record) => ({ ...record, journal: { ...record.journal!, result: [] } })],
    ['its handle', (record) => ({ ...record, journal: { ...record.journal!, handle: 'other' } })],
    ['its artifact', (record) => ({ ...record, journal: { ...record.journal!, artifact: undefined as never } })],
    ['its caller', (record) => ({ ...record, journal: { ...record.journal!, caller: 'user' } })],
    ['what it failed of', (record) => ({ ...record, journal: { ...record.journal!, failure: { code: 'E_SEALED' } } })],
    ['that it was skipped', (record) => ({ ...record, journal: { ...record.journal!, skipped: true } })],
  ])('find out that somebody edited %s', async (_, edit) => {
    const use = durable()
    const executor = createExecutor({ tools: [work('t', () => 'x'.repeat(50_000))], use: [use] })
    const { invocationId } = await executor.execute({ name: 't', args: { to: 'ada' } })
    const record = await recordIn(use, invocationId)
    const { previous = '', digest } = record.journal ?? {}
    expect(digestOf(previous, record)).toBe(digest)
    expect(digestOf(previous, edit(record))).not.toBe(digest)
    expect(digestOf('other', record)).not.toBe(digest)
  })

  test('are of the settlement, whatever the order of members and whatever a handler did late', async () => {
    const use = durable()
    const { promise, resolve } = deferred()
    const executor = createExecutor({ tools: [work('t', () => promise, { timeout: 1_000 })], use: [use] })
    const { invocationId } = await executor.execute({ name: 't' })
    resolve()
    const record = await vi.waitFor(async () => {
      const late = await recordIn(use, invocationId)
      expect(late.auditTrail.at(-1)?.note).toBe('the handler returned late')
      return late
    })
    const turned = Object.fromEntries(Object.entries(record).toReversed()) as unknown as ToolCallRecord
    expect(digestOf(record.journal?.previous ?? '', turned)).toBe(record.journal?.digest)
  })

  test('leave out an outcome that could not be written down', async () => {
    let isFull = false
    const use = changed(durable(), {
      write: (journal) => (record, fence) => (isFull ? Promise.reject(new Error()) : journal.write(record, fence)),
    })
    const executor = createExecutor({ tools: [work('t', () => 1)], use: [use] })
    const first = await executor.execute({ name: 't' })
    isFull = true
    expect((await executor.execute({ name: 't' })).error?.code).toBe('E_JOURNAL')
    isFull = false
    const last = await executor.execute({ name: 't' })
    const { journal } = await recordIn(use, last.invocationId)
    expect(journal?.previous).toBe((await recordIn(use, first.invocationId)).journal?.digest)
  })

  test('leave a gap where one of several that settle together is lost, and what is missing was told to nobody', async () => {
    const use = sqliteJournal(join(directory(), 'calls.db'))
    const { promise, resolve } = deferred<string>()
    const { reports, report } = sink()
    const executor = createExecutor({ tools: [work('t', () => promise)], use: [use], report })
    const events = heard(executor)
    const ids = ['a', 'b', 'c']
    const running = ids.map((invocationId) => executor.execute({ name: 't' }, { invocationId }))
    await vi.waitFor(async () => expect(await unfinishedIn(use)).toHaveLength(3))
    const found = await use.journal.read('b')
    await use.journal.takeOver('b', found?.fence ?? { owner: '', number: 0 }, 'another')
    resolve('done')
    expect((await Promise.all(running)).map(outcome)).toEqual([
      'ok completed',
      'error completed E_SEALED',
      'ok completed',
    ])
    const [a, b, c] = await Promise.all(ids.map(async (id) => (await recordIn(use, id)).journal))
    const missing = c?.previous ?? ''
    expect(b).not.toHaveProperty('digest')
    expect([a?.digest, c?.digest]).not.toContain(missing)
    const heads = events.flatMap((event) => (event.event === 'call:settled' ? [event.digest] : []))
    expect(new Set(heads)).toEqual(new Set([a?.digest, undefined, c?.digest]))
    expect(reports).toMatchObject([{ code: 'E_JOURNAL', message: expect.stringContaining(missing) as string }])
    await executor.close()
  })

  test('have no gap where two executors settle the same invocations at once, and no false alarm is reported', async () => {
    const file = join(directory(), 'calls.db')
    const { reports, report } = sink()
    const journals = [sqliteJournal(file), sqliteJournal(file)]
    const executors = journals.map((journal) => createExecutor({ use: [journal], report }))
    const turns = Array.from({ length: 25 }, (_, round) => [`a${round}`, `b${round}`, `c${round}`])
    for (const ids of turns) {
      const asked = executors.flatMap((executor) =>
        ids.map((invocationId) => executor.execute({ name: 'missing' }, { invocationId })),
      )
      for (const result of await Promise.all(asked)) {
        expect(['E_TOOL_NOT_FOUND', 'E_DUPLICATE_INVOCATION']).toContain(result.error?.code)
      }
    }
    const [use] = journals
    const kept = await Promise.all(turns.flat().map(async (id) => (await recordIn(use!, id)).journal))
    const digests = new Set(['', ...kept.map((journal) => journal?.digest)])
    expect(kept.filter((journal) => !digests.has(journal?.previous))).toEqual([])
    expect(reports).toEqual([])
    for (const executor of executors) await executor.close()
  })

  test('are made by journals that outlive the process alone', async () => {
    const use = memoryJournal()
    const executor = createExecutor({ tools: [work('t', () => 1)], use: [use] })
    const events = heard(executor)
    const { invocationId } = await executor.execute({ name: 't' })
    expect((await recordIn(use, invocationId)).journal).not.toHaveProperty('digest')
    expect(events.at(-1)).not.toHaveProperty('digest')
  })
})

test('a call whose record was taken over says that it lost it, and what it has done', async () => {
  const use = memoryJournal()
  const { promise, resolve } = deferred<string>()
  const executor = createExecutor({ tools: [work('t', () => promise)], use: [use] })
  const running = executor.execute({ name: 't' }, { invocationId: 'i' })
  await vi.waitFor(() => recordIn(use, 'i'))
  await turn()
  const found = await use.journal.read('i')
  if (found === null) throw new Error('not there')
  await use.journal.takeOver('i', found.fence, 'another')
  resolve('done')
  const result = await soon(running)
  expect(outcome(result)).toBe('error completed E_SEALED')
  expect((await recordIn(use, 'i')).state).toBe('EXECUTING')
})
