import pg from 'pg'
import { createExecutor, tool } from 'toolwright'
import { InvalidConfigurationError } from 'toolwright/errors'
import type { ToolCallRecord } from 'toolwright/extension'
import { postgresJournal, type PostgresPool } from 'toolwright/journals/postgres'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, onTestFinished, test, vi } from 'vitest'
import {
  held,
  journalConformance,
  listedBy,
  openedJournal,
  promising,
  fixtureRecord,
  settledOf,
  unfinishedOf,
  waitingOf,
  type Opened,
} from '../conformance/journals.ts'
import { startListener } from '../servers/listener.ts'
import { startPgbouncer } from '../servers/pgbouncer.ts'
import { startPostgres } from '../servers/postgres.ts'
import { startProxy, type Proxy } from '../servers/proxy.ts'

const server = await startPostgres()
if (typeof server === 'string') console.warn(`The tests of postgresJournal are skipped: ${server}.`)

const pooler = typeof server === 'string' ? server : await startPgbouncer(server)
if (pooler !== server && typeof pooler === 'string') console.warn(`A test of postgresJournal is skipped: ${pooler}.`)

const url = 'postgres://localhost/calls'

describe('postgresJournal takes', () => {
  test.each<[string, () => unknown]>([
    ['no pool that cannot be asked', () => postgresJournal({} as never)],
    ['no pool that is nothing', () => postgresJournal(undefined as never)],
    ['no connection string that is empty', () => postgresJournal('')],
    ['no address of another database', () => postgresJournal('mysql://localhost/calls')],
    ['no address of a page', () => postgresJournal('https://localhost/calls')],
    ['no address of Java', () => postgresJournal('jdbc:postgresql://localhost/calls')],
    ['no address without its scheme', () => postgresJournal('localhost:5432/calls')],
    ['no words of libpq', () => postgresJournal('host=localhost dbname=calls')],
    ['no schema that would have to be escaped', () => postgresJournal(url, { schema: 'a"; DROP TABLE b; --' })],
    ['no schema in capitals', () => postgresJournal(url, { schema: 'Public' })],
    ['no prefix that would have to be escaped', () => postgresJournal(url, { prefix: "a'b" })],
    ['no prefix that is too long', () => postgresJournal(url, { prefix: 'a'.repeat(41) })],
    ['no prefix with a line break at its end', () => postgresJournal(url, { prefix: 'a\n' })],
    ['no timeout of 0', () => postgresJournal(url, { timeout: 0 })],
    ['no timeout that is no number', () => postgresJournal(url, { timeout: Number.NaN })],
    ['no yes or no that is a word', () => postgresJournal(url, { notify: 'no' as never })],
    ['no preparation that is a number', () => postgresJournal(url, { prepare: 1 as never })],
    ['no option that it does not have', () => postgresJournal(url, { table: 'calls' } as never)],
  ])('%s', (_, make) => {
    expect(make).toThrow(InvalidConfigurationError)
  })

  test('its time: nothing is connected before the first call', async () => {
    const { port, connections, close } = await startListener()
    const journal = postgresJournal(`postgres://127.0.0.1:${port}/calls`)
    const add = tool('add', () => 2)
    const executor = createExecutor({ tools: [add], use: [journal], report: () => {} })
    executor.tools()
    expect(await connections()).toBe(0)
    // What hangs up is no server: the call fails, but not before it was asked.
    expect(await executor.execute({ name: 'add' })).toMatchObject({ error: { code: 'E_JOURNAL' } })
    expect(await connections()).toBeGreaterThan(0)
    await executor.close()
    await close()

    const untouched = await startListener()
    await postgresJournal(`postgres://127.0.0.1:${untouched.port}/calls`).close()
    expect(await untouched.connections()).toBe(0)
    await untouched.close()
  })
})

test('postgresJournal refuses with a typed error if no server listens, and names no host', async () => {
  const { journal, close } = postgresJournal('postgres://somebody@127.0.0.1:1/calls')
  const refusal: unknown = await promising(journal)
    .claim(fixtureRecord('a'), 'mine')
    .catch((error: unknown) => error)
  expect(refusal).toMatchObject({ code: 'E_JOURNAL', retryable: true })
  expect(String(refusal)).toContain('ECONNREFUSED')
  expect(String(refusal)).not.toMatch(/127\.0\.0\.1|somebody/)
  await close()
})

test('postgresJournal says what became of a connection string without its scheme, if it cannot connect', async () => {
  const { journal, close } = postgresJournal('calls?host=127.0.0.1&port=1')
  await expect(promising(journal).claim(fixtureRecord('a'), 'mine')).rejects.toThrow(
    '(ECONNREFUSED; the connection string lacks postgres:// and was taken for the name of a database)',
  )
  await close()
})

test('postgresJournal asks again where the server undid a statement because of others', async () => {
  const asked: string[] = []
  const { journal } = postgresJournal({
    query: async (text) => {
      asked.push(text)
      if (text.includes('obj_description')) return { rows: [{ version: 'Toolwright journal 9' }] }
      if (asked.length < 6) throw Object.assign(new Error('could not serialize access'), { code: '40001' })
      return { rows: [{ fence: 0 }] }
    },
  })
  expect(await journal.claim(fixtureRecord('a'), 'mine')).toEqual({ owner: 'mine', number: 0 })
  expect(asked.length).toBeGreaterThan(6)
})

test('postgresJournal refuses tables that stay of an older version, and does not try for ever', async () => {
  const { journal } = postgresJournal({
    query: async (text) => ({ rows: text.includes('obj_description') ? [{ version: 'Toolwright journal 2' }] : [] }),
  })
  const refusal = promising(journal).claim(fixtureRecord('a'), 'mine')
  await expect(refusal).rejects.toMatchObject({ code: 'E_JOURNAL', message: expect.stringContaining('version 2') })
})

describe.skipIf(typeof server === 'string')('on a server,', () => {
  if (typeof server === 'string') return
  const { connectionString, address } = server
  const run = `toolwright_test_${process.pid}_${Date.now().toString(36)}`
  const closings: (() => unknown)[] = []
  let pool: pg.Pool
  let count = 0

  beforeAll(() => {
    pool = new pg.Pool({ connectionString })
    pool.on('error', () => {})
  })

  afterAll(async () => {
    await Promise.all(closings.map((close) => close()))
    for (let index = 0; index < count; index++) await pool.query(`DROP SCHEMA IF EXISTS "${run}_${index}" CASCADE`)
    await pool.end()
    if (typeof pooler !== 'string') await pooler.stop()
    await server.stop()
  })

  async function newSchema(): Promise<string> {
    const schema = `${run}_${count++}`
    await pool.query(`CREATE SCHEMA "${schema}"`)
    return schema
  }

  function open(
    database: string | pg.Pool,
    schema: string,
    timeout = 10_000,
  ): Opened<ReturnType<typeof postgresJournal>> {
    const extension = postgresJournal(database, { schema, timeout })
    closings.push(extension.close)
    return openedJournal(extension)
  }

  journalConformance(
    'postgresJournal',
    async () => {
      const schema = await newSchema()
      return {
        open: () => open(pool, schema),
        damage: (id, text) =>
          pool.query(`UPDATE "${schema}".toolwright_calls SET record = $1 WHERE id = $2`, [text, id]),
      }
    },
    true,
  )

  test('postgresJournal makes changes that come together by few statements, which tell of each', async () => {
    const schema = await newSchema()
    const asked: string[] = []
    const counting = {
      query: (text: string, values?: unknown[]) => {
        asked.push(text)
        return pool.query<Record<string, unknown>>(text, values)
      },
    }
    const { journal } = openedJournal(postgresJournal(counting, { schema }))
    await journal.read('a')
    const ids = Array.from({ length: 80 }, (_, index) => `call ${index}`)
    const settled = new Set<string>()
    const listening = open(pool, schema).journal
    const unwatch = listening.watch?.((id, _session, change) => change === 'settled' && settled.add(id))
    await listening.read('a')
    asked.length = 0
    const fences = await Promise.all(ids.map((id) => held(journal.claim(fixtureRecord(id), 'mine'))))
    const written = await Promise.all(ids.map((id, index) => journal.write(settledOf(id), fences[index]!)))
    expect(written).toEqual(ids.map(() => true))
    expect(asked.length).toBeLessThan(8)
    await vi.waitFor(() => expect(settled.size).toBe(80), 20_000)
    unwatch?.()
  })

  test('postgresJournal leaves the same rows by changes that come alone and by those that come together', async () => {
    /** Makes calls of each kind, settles them, and returns the rows before and after. */
    async function rowsBy(each: <Item>(work: (() => Promise<Item>)[]) => Promise<Item[]>): Promise<unknown[]> {
      const schema = await newSchema()
      const { journal } = open(pool, schema)
      const rows = async (): Promise<unknown[]> => {
        const columns = `id, owner, held_since, version, record, session, state, waits, created_at, expires_at, settled_at, cancel,
          queue, alone, fingerprint, changed IS NOT NULL AS is_told`
        const found = await pool.query(`SELECT ${columns} FROM "${schema}".toolwright_calls ORDER BY id`)
        return found.rows
      }
      const work = { queue: 'gpu', attempts: 0, isAlone: true } as const
      const forWorker = (id: string): ToolCallRecord =>
        waitingOf(id, { state: 'PENDING', session: id }, { reason: 'worker', expiresAt: 8e12, work })
      const records = [fixtureRecord('runs'), waitingOf('asks'), forWorker('is queued'), forWorker('has a worker')]
      const fences = await each(records.map((record) => () => held(journal.claim(record, 'mine'))))
      const [taken] = (await journal.take?.({ invocationId: 'has a worker', limit: 1 }, 'worker')) ?? []
      expect(taken?.fence).toEqual({ owner: 'worker', number: 1 })
      const before = await rows()
      const settlements = records.map(({ id, session }, index) => {
        const fence = id === 'has a worker' ? taken!.fence : fences[index]!
        return () => Promise.resolve(journal.write(settledOf(id, { session }), fence))
      })
      expect(await each(settlements)).toEqual([true, true, true, true])
      return [before, await rows()]
    }
    const alone = await rowsBy(async (work) => {
      const items = []
      for (const next of work) items.push(await next())
      return items
    })
    expect(alone).toEqual(await rowsBy((work) => Promise.all(work.map((next) => next()))))
    const settledRow = { state: 'settled', waits: null, expires_at: null, queue: null, alone: null, is_told: true }
    expect(alone[1]).toMatchObject([settledRow, settledRow, settledRow, settledRow])
  })

  test('postgresJournal takes a call without reading the others that wait in its session and its queue', async () => {
    const schema = await newSchema()
    const { journal } = open(pool, schema)
    const work = { queue: 'default', attempts: 0 }
    const claimed = async (name: string, total: number): Promise<string[]> => {
      const ids = Array.from({ length: total }, (_, index) => `${name} ${index}`)
      const wait = { reason: 'worker', expiresAt: 8e12, work } as const
      const records = ids.map((id) => waitingOf(id, { state: 'PENDING', session: 'one' }, wait))
      await Promise.all(records.map((record) => held(journal.claim(record, 'caller'))))
      return ids
    }
    /** Takes calls by their ids as a new connection does, and returns how many rows the server has read. */
    async function rowsRead(ids: readonly string[]): Promise<number> {
      const own = new pg.Client(pool.options)
      await own.connect()
      await own.query('BEGIN')
      const taken = await own.query(`SELECT id FROM "${schema}".toolwright_take_each('worker', 0, $1::text[])`, [ids])
      const { rows } = await own.query<{ read: string }>(
        'SELECT seq_tup_read + idx_tup_fetch AS read FROM pg_stat_xact_user_tables WHERE relid = $1::regclass',
        [`"${schema}".toolwright_calls`],
      )
      await own.query('COMMIT')
      await own.end()
      expect(taken.rows).toHaveLength(ids.length)
      return Number(rows[0]?.read)
    }
    // The server plans by what it counted: while none waits, while few do, and while many do.
    const settled = await claimed('settled', 200)
    for (const id of settled) {
      const [taken] = (await journal.take?.({ invocationId: id, limit: 1 }, 'worker')) ?? []
      await journal.write(settledOf(id, { session: 'one' }), taken!.fence)
    }
    const analyze = (): Promise<unknown> => pool.query(`ANALYZE "${schema}".toolwright_calls`)
    await analyze()
    const reads = [await rowsRead(await claimed('few', 50))]
    await claimed('more', 1_000)
    const [counted, uncounted] = [await claimed('counted', 50), await claimed('uncounted', 50)]
    reads.push(await rowsRead(uncounted))
    await analyze()
    reads.push(await rowsRead(counted))
    for (const read of reads) expect(read).toBeLessThan(50 * 5)
  })

  test('postgresJournal sends few parameters for a call that does not wait', async () => {
    const parameters: number[] = []
    const counting = {
      query: (text: string, values?: unknown[]) => {
        parameters.push(values?.length ?? 0)
        return pool.query<Record<string, unknown>>(text, values)
      },
    }
    const { journal } = openedJournal(postgresJournal(counting, { schema: await newSchema() }))
    await journal.read('a')
    parameters.length = 0
    const fence = await held(journal.claim(fixtureRecord('a'), 'mine'))
    expect(await journal.claim(fixtureRecord('a'), 'other')).toBe(null)
    expect(await journal.write(settledOf('a'), { ...fence, owner: 'other' })).toBe(false)
    expect(await journal.write(settledOf('a'), fence)).toBe(true)
    expect(parameters).toEqual([5, 5, 6, 6])
  })

  test('postgresJournal makes the other changes if the server refuses one of those that come together', async () => {
    const { journal } = open(pool, await newSchema())
    const claims = ['a', 'b', 'c', 'd', 'e'].map((id) =>
      Promise.resolve(journal.claim(fixtureRecord(id), id === 'c' ? 'no\0text' : 'mine')).then(
        (fence) => fence?.owner,
        ({ code }: { code: string }) => code,
      ),
    )
    expect(await Promise.all(claims)).toEqual(['mine', 'mine', 'E_JOURNAL', 'mine', 'mine'])
  })

  test('postgresJournal keeps apart what comes together, whatever characters the records have', async () => {
    const { journal } = open(pool, await newSchema())
    const texts = ['\u001e', '","', '\\u001e', '{NULL}', '\u001e\u001e"\\', '']
    const records = texts.map((text, index) => fixtureRecord(`call ${index}`, { input: { [`${text}key`]: text } }))
    const fences = await Promise.all(records.map((record) => held(journal.claim(record, 'mine'))))
    const inputs = async (): Promise<unknown[]> =>
      Promise.all(records.map(async ({ id }) => (await journal.read(id))?.record.input))
    expect(await inputs()).toEqual(records.map(({ input }) => input))
    const changed = records.map((record, index) => ({ ...record, input: { text: `${texts[index]}\u001e` } }))
    await Promise.all(changed.map((record, index) => journal.write(record, fences[index]!)))
    expect(await inputs()).toEqual(changed.map(({ input }) => input))
  })

  test('postgresJournal puts records of megabytes into statements of their own', async () => {
    const schema = await newSchema()
    let longest = 0
    const measuring = {
      query: (text: string, values?: unknown[]) => {
        longest = Math.max(longest, JSON.stringify(values ?? []).length)
        return pool.query<Record<string, unknown>>(text, values)
      },
    }
    const { journal } = openedJournal(postgresJournal(measuring, { schema }))
    const records = Array.from({ length: 12 }, (_, index) =>
      fixtureRecord(`call ${index}`, { input: { text: 'x'.repeat(1_000_000) } }),
    )
    await Promise.all(records.map((record) => held(journal.claim(record, 'mine'))))
    expect(longest).toBeLessThan(3_000_000)
    expect((await journal.read('call 11'))?.record).toEqual(records[11])
  })

  test('postgresJournal lists many records in few pages, and large ones a hundred at a time', async () => {
    const schema = await newSchema()
    const pages: number[] = []
    const counting = {
      query: async (text: string, values?: unknown[]) => {
        const answer = await pool.query<Record<string, unknown>>(text, values)
        if (text.includes('AS idle')) pages.push(answer.rows.length)
        return answer
      },
    }
    const { journal } = openedJournal(postgresJournal(counting, { schema }))
    const claim = (length: number, session: string, text: string): Promise<unknown> =>
      Promise.all(
        Array.from({ length }, (_, index) =>
          journal.claim(fixtureRecord(`${session} ${index}`, { session, input: { text } }), 'mine'),
        ),
      )
    await claim(650, 'small', 'x')
    await claim(250, 'large', 'x'.repeat(50_000))
    expect(await listedBy(journal, { session: 'small' })).toHaveLength(650)
    expect(pages).toEqual([100, 200, 350])
    pages.length = 0
    expect(await listedBy(journal, { session: 'large' })).toHaveLength(250)
    expect(pages).toEqual([100, 100, 50])
  })

  test('postgresJournal writes what it was given before it is closed, and nothing that it is given later', async () => {
    const schema = await newSchema()
    const { journal, close } = openedJournal(postgresJournal(connectionString, { schema }))
    const fence = await held(journal.claim(fixtureRecord('a'), 'mine'))
    const writing = journal.write(settledOf('a'), fence)
    const closing = close()
    const late = journal.claim(fixtureRecord('b'), 'mine')
    await expect(late).rejects.toMatchObject({ code: 'E_JOURNAL', message: expect.stringContaining('closed') })
    expect(await writing).toBe(true)
    await closing
    const { journal: other } = open(pool, schema)
    expect([(await other.read('a'))?.record.state, await other.read('b')]).toEqual(['COMPLETED', null])
  })

  test('postgresJournal with a connection string makes its own pool, and closes it', async () => {
    const schema = await newSchema()
    const { journal, close } = open(connectionString, schema)
    const fence = await held(journal.claim(fixtureRecord('a'), 'mine'))
    await close()
    await expect(journal.read('a')).rejects.toMatchObject({ code: 'E_JOURNAL' })
    expect(await open(pool, schema).journal.read('a')).toEqual({ record: fixtureRecord('a'), fence })
  })

  test('postgresJournal leaves a pool open that it was given', async () => {
    const { journal, close } = open(pool, await newSchema())
    await journal.claim(fixtureRecord('a'), 'mine')
    await close()
    expect((await pool.query('SELECT 1 AS one')).rows).toEqual([{ one: 1 }])
  })

  test('postgresJournal keeps apart what has different prefixes in one schema', async () => {
    const schema = await newSchema()
    const one = postgresJournal(pool, { schema, prefix: 'one_' }).journal
    const other = postgresJournal(pool, { schema, prefix: 'other_' }).journal
    await one.claim(fixtureRecord('a'), 'mine')
    expect(await other.read('a')).toBe(null)
    expect(await other.claim(fixtureRecord('a'), 'mine')).not.toBe(null)
  })

  describe('postgresJournal has the server prepare what each call needs:', () => {
    /** Runs calls over one connection, and returns how many statements the server has prepared on it. */
    async function preparedBy(
      options: { readonly prepare?: boolean },
      wrap = (own: pg.Pool): PostgresPool => own,
    ): Promise<number> {
      const own = new pg.Pool({ connectionString, max: 1 })
      const journal = postgresJournal(wrap(own), { schema: await newSchema(), ...options })
      const executor = createExecutor({ tools: [tool('add', () => 2)], use: [journal] })
      for (let call = 0; call < 3; call++) expect((await executor.execute({ name: 'add' })).status).toBe('ok')
      const { rows } = await own.query(`SELECT name FROM pg_prepared_statements WHERE name LIKE 'toolwright%'`)
      await executor.close()
      await own.end()
      return rows.length
    }

    test('a claim, a write and a sign of life, over a pool of pg', async () => {
      expect(await preparedBy({})).toBe(3)
    })

    test('nothing if it is told so', async () => {
      expect(await preparedBy({ prepare: false })).toBe(0)
    })

    test('nothing over a pool that may not know names', async () => {
      expect(await preparedBy({}, (own) => ({ query: (text, values) => own.query(text, values) }))).toBe(0)
    })

    test.skipIf(typeof pooler === 'string')(
      'nothing more once a pooler has lost a name, and no call notices',
      async () => {
        if (typeof pooler === 'string') return
        const own = new pg.Pool({ connectionString: pooler.connectionString, max: 8 })
        const asked: string[] = []
        const watched = new Proxy(own, {
          get: (target, key) =>
            key === 'query'
              ? (statement: unknown, values?: unknown[]) => {
                  asked.push(typeof statement === 'string' ? 'text' : 'name')
                  return target.query(statement as string, values)
                }
              : Reflect.get(target, key),
        })
        const journal = postgresJournal(watched, { schema: await newSchema(), notify: false })
        const reports: unknown[] = []
        const executor = createExecutor({
          tools: [tool('add', () => 2)],
          use: [journal],
          report: (error) => reports.push(error),
        })
        const statuses: string[] = []
        // Few at a time, since more would share statements, which have no names.
        const lanes = Array.from({ length: 3 }, async () => {
          while (statuses.length < 198)
            statuses.push((await executor.execute({ name: 'add', args: { index: statuses.length } })).status)
        })
        await Promise.all(lanes)
        expect(new Set(statuses)).toEqual(new Set(['ok']))
        expect(asked).toContain('name')
        asked.length = 0
        expect((await executor.execute({ name: 'add' })).status).toBe('ok')
        expect(new Set(asked)).toEqual(new Set(['text']))
        expect(await executor.calls.list({ limit: 500 })).toHaveLength(statuses.length + 1)
        await executor.close()
        await own.end()
        expect(reports).toEqual([])
      },
    )
  })

  test('postgresJournal makes nothing where its tables are, so that it may run without the right to', async () => {
    const schema = await newSchema()
    await open(pool, schema).journal.claim(fixtureRecord('a'), 'mine')
    const asked: string[] = []
    const watched = postgresJournal(
      { query: async (text, values) => (asked.push(text), pool.query<Record<string, unknown>>(text, values)) },
      { schema },
    )
    expect(await watched.journal.read('a')).not.toBe(null)
    expect(asked.filter((text) => /CREATE|COMMENT|DROP|ALTER/.test(text))).toEqual([])
  })

  test('postgresJournal refuses tables of another version, and a schema that is not there', async () => {
    const schema = await newSchema()
    await open(pool, schema).journal.claim(fixtureRecord('a'), 'mine')
    await pool.query(`COMMENT ON TABLE "${schema}".toolwright_calls IS 'Toolwright journal 99'`)
    const newer = open(pool, schema).journal.read('a')
    await expect(newer).rejects.toMatchObject({ code: 'E_JOURNAL', message: expect.stringContaining('version 99') })
    const missing = open(pool, `${run}_missing`).journal.read('a')
    await expect(missing).rejects.toMatchObject({
      code: 'E_JOURNAL',
      message: expect.stringContaining('3F000: there is no such schema'),
    })
  })

  test.each([
    ['its comments', `COMMENT ON TABLE toolwright_calls IS NULL`, 'Some tables of the journal are there'],
    ['one of them', 'DROP TABLE toolwright_calls', 'Some tables of the journal are there'],
    ['another one', 'DROP TABLE toolwright_owners', '42P01: a table is missing: restore it'],
  ])('postgresJournal says what to do about tables that were restored without %s', async (_, loss, words) => {
    const schema = await newSchema()
    await open(pool, schema).journal.claim(fixtureRecord('a'), 'mine')
    await pool.query(`SET search_path = "${schema}"; ${loss}; RESET search_path`)
    const refused = open(pool, schema).journal.claim(fixtureRecord('b'), 'mine')
    const error = { code: 'E_JOURNAL', retryable: false, message: expect.stringContaining(words) }
    await expect(refused).rejects.toMatchObject(error)
  })

  test('postgresJournal listens for the end of a connection before anything can happen to it', async () => {
    const own = new pg.Pool({ connectionString, max: 2 })
    const listeners: number[] = []
    // Before the promises of the pool are told: a server that shuts down may end the connection here.
    own.on('acquire', (client) => process.nextTick(() => listeners.push(client.listenerCount('error'))))
    const { journal, close } = open(own, await newSchema())
    journal.watch?.(() => {}) // listens on a connection
    await journal.claim(fixtureRecord('a'), 'mine')
    await vi.waitFor(() => expect(listeners.length).toBeGreaterThan(1))
    await close()
    await own.end()
    expect(Math.min(...listeners)).toBeGreaterThan(0)
  })

  test('postgresJournal says what the server refuses, for those who run it', async () => {
    const [schema, role] = [await newSchema(), `${run}_reader`]
    await open(pool, schema).journal.claim(fixtureRecord('a'), 'mine')
    await pool.query(`CREATE ROLE "${role}"; GRANT USAGE ON SCHEMA "${schema}" TO "${role}"`)
    onTestFinished(async () => {
      await pool.query(`DROP OWNED BY "${role}"; DROP ROLE "${role}"`)
    })
    const refusals: [setting: string, words: string][] = [
      [`ROLE "${role}"`, '42501: the role lacks a right'],
      ['default_transaction_read_only = on', '25006: the server, or this role, may only read'],
    ]
    for (const [setting, words] of refusals) {
      const own = new pg.Pool({ connectionString, max: 1 })
      await own.query(`SET ${setting}`)
      const refused = open(own, schema).journal.claim(fixtureRecord('b'), 'mine')
      await expect(refused).rejects.toMatchObject({ code: 'E_JOURNAL', message: expect.stringContaining(words) })
      await own.end()
    }
  })

  test('postgresJournal takes no living owner for dead after the clock of the server was set ahead', async () => {
    const schema = await newSchema()
    let hours = 0
    const stepping = {
      query: async (text: string, values?: unknown[]) =>
        pool.query<Record<string, unknown>>(
          text.replaceAll('clock_timestamp()', `(clock_timestamp() + interval '${hours} hours')`),
          values,
        ),
    }
    const journal = promising(postgresJournal(stepping, { schema }).journal)
    await journal.claim(fixtureRecord('a'), 'other')
    for (const owner of ['other', 'mine']) await journal.beat(owner)
    hours = 1
    expect((await unfinishedOf(journal))[0]?.idle).toBeLessThan(60_000)
    // The other owner has not beaten since, although this one has.
    await journal.beat('mine')
    expect((await unfinishedOf(journal))[0]?.idle).toBeLessThan(60_000)
  })

  describe('postgresJournal lets calls wait by the clock of the server, so that', () => {
    const day = 86_400_000
    let ahead = 0
    beforeEach(() => {
      ahead = 0
      const now = Date.now.bind(Date)
      vi.spyOn(Date, 'now').mockImplementation(() => now() + ahead)
    })
    afterEach(() => void vi.restoreAllMocks())

    const queued = (expiresAt: number): ToolCallRecord =>
      waitingOf('a', { state: 'PENDING' }, { reason: 'worker', expiresAt, work: { queue: 'default', attempts: 0 } })
    /** Returns for how long the call of a record still waits, in whole minutes. */
    const minutesOf = (found: { readonly record: ToolCallRecord } | null | undefined): number => {
      const { awaits, work } = found?.record.journal ?? {}
      return Math.round(((awaits ?? work)!.expiresAt - Date.now()) / 60_000)
    }

    test.each([
      ['a day ahead of', 0, day],
      ['a day behind', day, 0],
      ['decades ahead of', -20_000 * day, 0],
      ['decades behind', 0, -20_000 * day],
    ])('a process whose clock is %s that of another expires no call of that', async (_name, before, then) => {
      const schema = await newSchema()
      const [first, second] = [open(pool, schema), open(pool, schema)]
      ahead = before
      const fence = await held(first.journal.claim(queued(Date.now() + 3_600_000), 'caller'))
      await first.journal.write(queued(Date.now() + 1_800_000), fence)
      ahead = then // also the clock of the first is set now
      for (const { journal } of [first, second]) {
        expect(minutesOf(await journal.read('a'))).toBe(30)
        expect((await listedBy(journal, { state: 'waiting' })).map(minutesOf)).toEqual([30])
        expect(await listedBy(journal, { state: 'waiting', expiresBefore: Date.now() + 1_500_000 })).toEqual([])
        expect(await listedBy(journal, { state: 'waiting', expiresBefore: Date.now() + 2_100_000 })).toHaveLength(1)
        expect(await journal.free?.(['a'])).toEqual(['a'])
      }
      const [taken] = (await second.journal.take?.({ queue: 'default', limit: 9, except: [] }, 'worker')) ?? []
      expect(minutesOf(taken)).toBe(30)
    })

    test('an executor expires no approval that another asked for, and answers it', async () => {
      const schema = await newSchema()
      const send = tool({ name: 'send', description: 'Sends', requiresConfirmation: true, handler: () => 'sent' })
      const [asking, answering] = [1, 2].map(() => {
        const executor = createExecutor({ tools: [send], use: [postgresJournal(pool, { schema })] })
        onTestFinished(() => executor.close())
        return executor
      })
      await asking?.execute({ name: 'send' }, { invocationId: 'a' })
      ahead = 30 * day
      expect((await answering?.calls.recover())?.expired).toEqual([])
      const [waiting] = (await answering?.calls.waiting()) ?? []
      expect((await answering?.calls.decide(waiting!, 'allow'))?.status).toBe('ok')
    })

    test('times are kept as they are if clocks differ by a few seconds', async () => {
      const { journal } = open(pool, await newSchema())
      ahead = 5_000
      const record = queued(Date.now() + 3_600_000)
      await journal.claim(record, 'caller')
      expect((await journal.read('a'))?.record).toEqual(record)
    })
  })

  describe('postgresJournal, when the connection', () => {
    async function behindProxy(): Promise<{ proxy: Proxy; url: string }> {
      const proxy = await startProxy(address)
      closings.push(proxy.close)
      const throughProxy = new URL(connectionString)
      const { username, password, pathname } = throughProxy
      const secret = password === '' ? '' : `:${password}`
      return { proxy, url: `postgresql://${username}${secret}@127.0.0.1:${proxy.port}${pathname}` }
    }

    test('is cut, refuses; and the next call is fine once there is one again', async () => {
      const { proxy, url: through } = await behindProxy()
      const { journal } = open(through, await newSchema())
      const fence = await held(journal.claim(fixtureRecord('a'), 'mine'))
      proxy.cut()
      const refusal = { code: 'E_JOURNAL', retryable: true }
      await expect(journal.write(settledOf('a'), fence)).rejects.toMatchObject(refusal)
      await expect(journal.claim(fixtureRecord('b'), 'mine')).rejects.toMatchObject(refusal)
      await expect(unfinishedOf(journal)).rejects.toMatchObject(refusal)
      proxy.mend()
      expect(await journal.write(settledOf('a'), fence)).toBe(true)
      expect((await journal.read('a'))?.record).toEqual(settledOf('a'))
    })

    test('goes silent, refuses after its timeout; and the next call is fine once it speaks again', async () => {
      const { proxy, url: through } = await behindProxy()
      const { journal } = open(through, await newSchema(), 2_000)
      const fence = await held(journal.claim(fixtureRecord('a'), 'mine'))
      proxy.stall()
      const writes = [journal.write(settledOf('a'), fence), journal.beat('mine'), journal.read('a')]
      for (const outcome of await Promise.allSettled(writes)) {
        expect(outcome).toMatchObject({ status: 'rejected', reason: { code: 'E_JOURNAL', retryable: true } })
      }
      proxy.mend()
      expect(await journal.write(settledOf('a'), fence)).toBe(true)
    }, 60_000)

    test('was never there, tries the tables again with the next call', async () => {
      const { proxy, url: through } = await behindProxy()
      proxy.cut()
      const { journal } = open(through, await newSchema())
      await expect(journal.claim(fixtureRecord('a'), 'mine')).rejects.toMatchObject({ code: 'E_JOURNAL' })
      proxy.mend()
      expect(await journal.claim(fixtureRecord('a'), 'mine')).not.toBe(null)
    })
  })

  test.skipIf(server.crash === undefined)(
    'postgresJournal keeps what it answered when the server crashes (skipped where the server is not ours to crash)',
    async () => {
      const { journal } = open(pool, await newSchema())
      const claimed = new Set<string>()
      const over = new AbortController()
      const claiming = Array.from({ length: 4 }, async (_, worker) => {
        for (let index = 0; !over.signal.aborted; index++) {
          const id = `call ${worker} ${index}`
          await journal.claim(fixtureRecord(id), 'mine').then(
            () => claimed.add(id),
            () => over.abort(),
          )
        }
      })
      await vi.waitUntil(() => claimed.size >= 20, { timeout: 30_000 })
      await server.crash?.()
      over.abort()
      await Promise.all(claiming)
      const kept = new Set((await unfinishedOf(journal)).map(({ record }) => record.id))
      expect([...claimed].filter((id) => !kept.has(id))).toEqual([])
    },
    60_000,
  )
})
