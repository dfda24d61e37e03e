import { createHash } from 'node:crypto'
import pg from 'pg'
import { memoryStore, tool, type Extension, type Tool, type ToolEvent } from 'toolwright'
import { bullmq } from 'toolwright/distributed/bullmq'
import type { Dispatcher } from 'toolwright/distributed/fleet'
import { postgresJournal } from 'toolwright/journals/postgres'
import { records, type Journal } from 'toolwright/records'
import { afterAll, describe, expect, onTestFinished, test } from 'vitest'
import { changed } from '../kernel/_journals.ts'
import { startPostgres } from '../servers/postgres.ts'
import { callerOn, cancellable, cancelOn, sqliteGround, workerOn, type Ground } from './_fleet.ts'

const server = await startPostgres()
if (typeof server === 'string') console.warn(`The bus of a journal in Postgres is not tested: ${server}.`)

/** A journal whose signs of life cancel calls only once its watch has told of a cancellation. */
function deafUntilTold(mounted: Extension & { readonly journal: Journal }): Extension {
  let isTold = false
  return changed(mounted, {
    watch: (journal) => (listener) =>
      journal.watch?.((id, session, change) => {
        isTold ||= change === 'cancelled'
        listener(id, session, change)
      }) ?? (() => {}),
    beat: (journal) => async (owner) => {
      const asked = await journal.beat(owner)
      return isTold ? asked : []
    },
  })
}

async function eventsOf(
  stream: AsyncGenerator<ToolEvent, unknown>,
  heard: (event: ToolEvent) => void = () => {},
): Promise<ToolEvent[]> {
  const events: ToolEvent[] = []
  for await (const event of stream) {
    events.push(event)
    heard(event)
  }
  return events
}

/** Requires that events are told once, in their order, with their start and their end. */
function expectInOrder(events: readonly ToolEvent[]): void {
  const numbers = events.map(({ seq }) => seq)
  expect(numbers).toEqual([...new Set(numbers)].toSorted((a, b) => a - b))
  const names = events.map(({ event }) => event).filter((name) => name !== 'tool:progress')
  expect(names.filter((name) => name !== 'call:resumed')).toEqual([
    'call:received',
    'call:waiting',
    'tool:start',
    'tool:end',
    'call:settled',
  ])
}

test('cancels a call on a worker over SQLite once the watch tells of it', async () => {
  const { tools, started, aborted } = cancellable()
  const ground = sqliteGround(tools, undefined)
  const caller = callerOn(ground)
  workerOn({
    ...ground,
    use: () => ground.use().map((each) => ('journal' in each ? deafUntilTold(each as never) : each)),
  })
  await cancelOn(caller, started, aborted)
})

describe.skipIf(typeof server === 'string').each([
  ['the journal alone', false],
  ['bullmq on Postgres', true],
] as const)('a fleet over %s, with a journal in Postgres,', (_, isCarried) => {
  if (typeof server === 'string') return
  const { connectionString } = server
  const own = new pg.Pool({ connectionString, max: 12 })
  own.on('error', () => {})
  let count = 0
  afterAll(async () => {
    await own.end()
  })

  async function place(tools: readonly Tool[], options: { readonly notify?: boolean } = {}) {
    const schema = `bus_${process.pid}_${isCarried ? 'carried' : 'pulled'}_${count++}`
    await own.query(`CREATE SCHEMA ${schema}`)
    const store = memoryStore()
    const dispatcher: Dispatcher | undefined = isCarried
      ? bullmq({ postgres: { connectionString, max: 4 }, prefix: `${schema}_jobs` })
      : undefined
    onTestFinished(() => dispatcher?.close?.())
    const ground = {
      tools,
      dispatcher,
      use: () => [postgresJournal(own, { schema, ...options }), { store }],
    } satisfies Ground
    const channel = `toolwright_${createHash('sha256').update(`"${schema}"."toolwright_calls"`).digest('hex').slice(0, 32)}`
    const notify = (topic: string, payload: string) => own.query('SELECT pg_notify($1, $2)', [channel + topic, payload])
    return { ...ground, notify }
  }

  test('cancels a call once the watch tells of it, before the next sign of life', async () => {
    const { tools, started, aborted } = cancellable()
    const ground = await place(tools)
    const caller = callerOn(ground)
    const [journal, ...others] = ground.use()
    workerOn({ ...ground, use: () => [deafUntilTold(journal as never), ...others] })
    await cancelOn(caller, started, aborted)
  })

  test('tells progress while the handler runs', async () => {
    const heard = Promise.withResolvers<void>()
    const count_ = tool('count', async function* () {
      yield 1
      await heard.promise // it would wait for ever if nothing were told before the end
      yield 2
      return 3
    })
    const ground = await place([count_])
    workerOn(ground)
    const events = await eventsOf(callerOn(ground).stream({ name: 'count' }, { session: 's' }), ({ event }) => {
      if (event === 'tool:progress') heard.resolve()
    })
    expectInOrder(events)
    const progress = events.flatMap((event) => (event.event === 'tool:progress' ? [event.data] : []))
    expect(progress[0]).toBe(1)
  })

  test('tells much progress in order and none twice, leaves out what is too long, and goes on', async () => {
    const heard = Promise.withResolvers<void>()
    const much = tool('much', async function* () {
      yield 'first'
      await heard.promise
      for (let index = 0; index < 200; index++) yield index % 20 === 7 ? 'x'.repeat(20_000) : index
      return 'done'
    })
    const ground = await place([much])
    workerOn(ground)
    const events = await eventsOf(callerOn(ground).stream({ name: 'much' }, { session: 's' }), ({ event }) => {
      if (event === 'tool:progress') heard.resolve()
    })
    expectInOrder(events)
    const progress = events.flatMap((event) => (event.event === 'tool:progress' ? [event.data] : []))
    expect(progress.every((data) => data === 'first' || typeof data === 'number')).toBe(true)
  })

  test('takes no word of those who only may send notifications', async () => {
    const { promise: held, resolve: end } = Promise.withResolvers<void>()
    const started = Promise.withResolvers<void>()
    const hold = tool('hold', async () => {
      started.resolve()
      await held
      return 'kept'
    })
    const ground = await place([hold])
    workerOn(ground)
    const caller = callerOn(ground)
    const streaming = eventsOf(caller.stream({ name: 'hold' }, { session: 's', invocationId: 'a' }))
    await started.promise
    const settled = { event: 'call:settled', invocationId: 'a', seq: 90, status: 'ok', effect: 'completed' }
    const forged = [
      '',
      '{',
      'null',
      '5',
      '[]',
      '[1,2]',
      '[{},{}]',
      '["a","s","cancelled"]',
      '["a","s","settled"]',
      '["a","s",{}]',
    ]
    for (const payload of [...forged, JSON.stringify(['a', 'x'.repeat(7_000)])]) await ground.notify('', payload)
    for (const [kind, topic] of [
      ['_events', 'events:a'],
      ['_cancel', 'cancel'],
      ['_follow', 'follow'],
    ] as const) {
      const messages = [
        '',
        'a',
        '{"seq":null}',
        'null',
        JSON.stringify(settled),
        JSON.stringify({ ...settled, event: '__proto__' }),
      ]
      for (const payload of [...forged, ...messages.map((message) => JSON.stringify([topic, message]))]) {
        await ground.notify(kind, payload)
      }
    }
    // What is forged was heard by now: this call is told of on the same connections.
    end()
    const events = await streaming
    expectInOrder(events)
    expect(events.at(-1)).toMatchObject({ event: 'call:settled', status: 'ok' })
    expect(await caller.execute({ name: 'hold' }, { session: 's', invocationId: 'a' })).toMatchObject({
      status: 'ok',
      content: [{ text: 'kept' }],
    })
  })

  test('runs, tells and cancels without NOTIFY too', async () => {
    const { tools, started, aborted } = cancellable()
    const ground = await place([...tools, tool('now', () => 'now')], { notify: false })
    const caller = callerOn(ground)
    workerOn(ground)
    const events = await eventsOf(caller.stream({ name: 'now' }, { session: 's' }))
    expectInOrder(events)
    await cancelOn(caller, started, aborted)
  })
})

test.skipIf(typeof server === 'string')(
  'listens on one connection of a pool, however many executors wait',
  async () => {
    if (typeof server === 'string') return
    const pool = new pg.Pool({ connectionString: server.connectionString, max: 3 })
    const schema = `bus_${process.pid}_shared`
    await pool.query(`CREATE SCHEMA ${schema}`)
    const store = memoryStore()
    const ground: Ground = {
      tools: [tool('now', () => 'now')],
      dispatcher: undefined,
      use: () => [postgresJournal(pool, { schema }), { store }],
    }
    const worker = workerOn(ground)
    const callers = Array.from({ length: 5 }, () => callerOn(ground))
    const results = await Promise.all(callers.map((caller) => caller.execute({ name: 'now' }, { session: 's' })))
    expect(results.map(({ status }) => status)).toEqual(Array.from({ length: 5 }, () => 'ok'))
    const { rows } = await pool.query(`SELECT 1 FROM pg_stat_activity WHERE query LIKE 'LISTEN%'`)
    expect(rows.length).toBeLessThanOrEqual(1)
    for (const executor of callers) await executor.close()
    await worker.close()
    await pool.end()
  },
)

test('a journal of another make may tell only that something has changed', async () => {
  const { tools, started, aborted } = cancellable()
  const ground = sqliteGround(tools, undefined)
  const plain = (mounted: Extension & { readonly journal: Journal }): Extension => {
    const journal: Journal = {
      ...mounted.journal,
      watch: (listener) => mounted.journal.watch!((id, s) => listener(id, s)),
    }
    return { ...records(journal), close: () => mounted.close?.() }
  }
  const others = { ...ground, use: () => ground.use().map((each) => ('journal' in each ? plain(each as never) : each)) }
  const caller = callerOn(others)
  workerOn(others)
  const leaving = new AbortController()
  const asked = caller.execute({ name: 'wait' }, { session: 's', invocationId: 'a', signal: leaving.signal })
  await started
  leaving.abort()
  await asked
  await aborted
})

afterAll(async () => {
  if (typeof server !== 'string') await server.stop()
})
