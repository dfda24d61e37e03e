import pg from 'pg'
import { createExecutor, tool } from 'toolwright'
import { InvalidConfigurationError } from 'toolwright/errors'
import { describeStore } from 'toolwright/conformance/stores'
import { postgresStore, type PostgresStoreOptions } from 'toolwright/stores/postgres'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { startListener } from '../servers/listener.ts'
import { startPostgres } from '../servers/postgres.ts'
import { startProxy, type Proxy } from '../servers/proxy.ts'

const server = await startPostgres()
if (typeof server === 'string') console.warn(`The tests of postgresStore are skipped: ${server}.`)

const url = 'postgres://localhost/artifacts'
const spooling = { session: 'one', mediaType: 'text/plain' }
const decoder = new TextDecoder()
const megabyte = new Uint8Array(1_048_576)

async function* megabytes(
  count: number,
  each: (index: number) => unknown = () => {},
): AsyncGenerator<Uint8Array, void> {
  for (let index = 0; index < count; index++) {
    await each(index)
    yield megabyte.fill(index)
  }
}

describe('postgresStore takes', () => {
  test.each<[string, () => unknown]>([
    ['no pool that cannot be asked', () => postgresStore({} as never)],
    ['no pool without connections', () => postgresStore({ query: async () => ({ rows: [] }) } as never)],
    ['no pool that is nothing', () => postgresStore(undefined as never)],
    ['no connection string that is empty', () => postgresStore('')],
    ['no address of another database', () => postgresStore('mysql://localhost/calls')],
    ['no address of a page', () => postgresStore('https://localhost/calls')],
    ['no address of Java', () => postgresStore('jdbc:postgresql://localhost/calls')],
    ['no address without its scheme', () => postgresStore('localhost:5432/calls')],
    ['no words of libpq', () => postgresStore('host=localhost dbname=calls')],
    ['no schema that would have to be escaped', () => postgresStore(url, { schema: 'a"; DROP TABLE b; --' })],
    ['no prefix in capitals', () => postgresStore(url, { prefix: 'A_' })],
    ['no timeout of 0', () => postgresStore(url, { timeout: 0 })],
    ['no maximum of 0', () => postgresStore(url, { maximumBytes: 0 })],
    ['no maximum that is no number', () => postgresStore(url, { maximumBytes: '1' as never })],
    ['no option that it does not have', () => postgresStore(url, { table: 'artifacts' } as never)],
  ])('%s', (_, make) => {
    expect(make).toThrow(InvalidConfigurationError)
  })

  test('its time: nothing is connected before the first call', async () => {
    const { port, connections, close } = await startListener()
    const store = postgresStore(`postgres://127.0.0.1:${port}/artifacts`)
    const add = tool({ name: 'add', description: 'Adds', inlineLimit: 0, handler: () => 'two' })
    const executor = createExecutor({ tools: [add], use: [store], report: () => {} })
    executor.tools()
    expect(await connections()).toBe(0)
    // What hangs up is no server: the result cannot be kept, but not before the store was asked.
    expect(await executor.execute({ name: 'add' })).toMatchObject({ error: { code: 'E_ARTIFACT' } })
    expect(await connections()).toBeGreaterThan(0)
    await executor.close()
    await close()

    const untouched = await startListener()
    await postgresStore(`postgres://127.0.0.1:${untouched.port}/artifacts`).close()
    expect(await untouched.connections()).toBe(0)
    await untouched.close()
  })
})

test('postgresStore refuses with a typed error if no server listens, and names no host', async () => {
  const { store, close } = postgresStore('postgres://somebody@127.0.0.1:1/artifacts')
  const refusal: unknown = await store.write('text', spooling).catch((error: unknown) => error)
  expect(refusal).toMatchObject({ code: 'E_ARTIFACT', retryable: true })
  expect(String(refusal)).toContain('ECONNREFUSED')
  expect(String(refusal)).not.toMatch(/127\.0\.0\.1|somebody/)
  await close()
})

test('postgresStore says what became of a connection string without its scheme, if it cannot connect', async () => {
  const { store, close } = postgresStore('artifacts?host=127.0.0.1&port=1')
  await expect(store.write('text', spooling)).rejects.toThrow(
    '(ECONNREFUSED; the connection string lacks postgres:// and was taken for the name of a database)',
  )
  await close()
})

describe.skipIf(typeof server === 'string')('on a server,', () => {
  if (typeof server === 'string') return
  const { connectionString, address } = server
  const run = `toolwright_store_${process.pid}_${Date.now().toString(36)}`
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
    await server.stop()
  })

  async function newSchema(): Promise<string> {
    const schema = `${run}_${count++}`
    await pool.query(`CREATE SCHEMA "${schema}"`)
    return schema
  }

  function open(database: string | pg.Pool, options: PostgresStoreOptions): ReturnType<typeof postgresStore> {
    const extension = postgresStore(database, options)
    closings.push(extension.close)
    return extension
  }

  async function rowsIn(schema: string, table: string): Promise<number> {
    const { rows } = await pool.query<{ count: string }>(`SELECT count(*) FROM "${schema}".toolwright_${table}`)
    return Number(rows[0]?.count)
  }

  async function everythingIn(schema: string): Promise<number> {
    const counts = await Promise.all(['artifacts', 'contents', 'pieces'].map((table) => rowsIn(schema, table)))
    return counts.reduce((sum, number) => sum + number)
  }

  describeStore('postgresStore', async (limits) => {
    const schema = await newSchema()
    return { store: open(pool, { ...limits, schema }).store, count: () => everythingIn(schema) }
  })

  test('postgresStore keeps equal bytes once, also those of streams, and drops them with the last of their artifacts', async () => {
    const schema = await newSchema()
    const { store } = open(pool, { schema })
    const handles: string[] = []
    for (let index = 0; index < 3; index++) handles.push((await store.write(megabytes(2), spooling)).handle)
    const whole = Buffer.concat(await Array.fromAsync(megabytes(2), (piece) => Buffer.from(piece)))
    handles.push((await store.write(whole, spooling)).handle)
    expect(await rowsIn(schema, 'artifacts')).toBe(4)
    expect(await rowsIn(schema, 'contents')).toBe(1)
    expect(await rowsIn(schema, 'pieces')).toBe(8)
    await Promise.all(handles.map((handle) => store.delete(handle)))
    expect(await everythingIn(schema)).toBe(0)
  })

  test('postgresStore loses nothing when many write and delete equal bytes at once', async () => {
    const schema = await newSchema()
    const { store } = open(pool, { schema })
    const kept = await Promise.all(
      Array.from({ length: 60 }, async (_, index) => {
        const source = index % 3 === 0 ? megabytes(1) : new Uint8Array(1_048_576)
        const { handle } = await store.write(source, spooling)
        if (index % 4 !== 0) await store.delete(handle)
        return index % 4 === 0 ? handle : undefined
      }),
    )
    const handles = kept.filter((handle) => handle !== undefined)
    for (const handle of handles) {
      const reader = await store.open(handle, { session: 'one' })
      expect(Buffer.compare(await reader.read(0, reader.byteLength), new Uint8Array(1_048_576))).toBe(0)
    }
    expect(await rowsIn(schema, 'artifacts')).toBe(handles.length)
    expect(await rowsIn(schema, 'contents')).toBe(1)
    await Promise.all(handles.map((handle) => store.delete(handle)))
    expect(await everythingIn(schema)).toBe(0)
  }, 60_000)

  test('postgresStore reads a range without the rest of the artifact', async () => {
    const schema = await newSchema()
    const asked: { bytes: number }[] = []
    const watched = {
      query: async (text: string, values?: unknown[]) => {
        const answer = await pool.query<Record<string, unknown>>(text, values)
        if (text.includes('substring')) {
          asked.push({ bytes: answer.rows.reduce((sum, row) => sum + (row['bytes'] as Buffer).byteLength, 0) })
        }
        return answer
      },
      connect: () => pool.connect(),
    }
    const { store } = postgresStore(watched, { schema })
    const { handle } = await store.write(megabytes(20), spooling)
    const reader = await store.open(handle, { session: 'one' })
    expect([...(await reader.read(10_485_758, 10_485_762))]).toEqual([9, 9, 10, 10])
    expect([...(await reader.read(262_143, 262_145))]).toEqual([0, 0])
    expect(asked).toEqual([{ bytes: 4 }, { bytes: 2 }])
    asked.length = 0
    const all = await reader.read(1, 20_971_520)
    expect(all.byteLength).toBe(20_971_519)
    expect([all[0], all[1_048_575], all.at(-1)]).toEqual([0, 1, 19])
    expect(Math.max(...asked.map(({ bytes }) => bytes))).toBeLessThanOrEqual(16 * 262_144)
  })

  test('postgresStore shows nothing of a stream before its end', async () => {
    const schema = await newSchema()
    const { store } = open(pool, { schema })
    await store.write('warm', spooling)
    const before = await everythingIn(schema)
    const seen: number[] = []
    await store.write(
      megabytes(3, async () => seen.push(await everythingIn(schema))),
      spooling,
    )
    expect(seen).toEqual([before, before, before])
    expect(await everythingIn(schema)).toBeGreaterThan(before)
  })

  test('postgresStore keeps no connection after a write, whatever became of it', async () => {
    const own = new pg.Pool({ connectionString, max: 1 })
    own.on('error', () => {})
    closings.push(() => own.end())
    const { store } = open(own, { schema: await newSchema() })
    const broken = megabytes(3, (index) => index === 2 && Promise.reject(new Error('source broke')))
    await expect(store.write(broken, spooling)).rejects.toThrow('source broke')
    await store.write(megabytes(3), spooling)
    await store.write('small', spooling)
    expect([own.totalCount, own.idleCount, own.waitingCount]).toEqual([1, 1, 0])
  })

  test('postgresStore waits for a connection no longer than its timeout, and gives back one that comes too late', async () => {
    const own = new pg.Pool({ connectionString, max: 1 })
    own.on('error', () => {})
    closings.push(() => own.end())
    const { store } = open(own, { schema: await newSchema(), timeout: 300 })
    await store.write('warm', spooling)
    const taken = await own.connect()
    await expect(store.write(megabytes(3), spooling)).rejects.toMatchObject({ code: 'E_ARTIFACT', retryable: true })
    taken.release()
    await store.write(megabytes(3), spooling)
    expect([own.totalCount, own.idleCount, own.waitingCount]).toEqual([1, 1, 0])
  })

  test('postgresStore listens for the end of a connection before anything can happen to it, and no longer than it has it', async () => {
    const own = new pg.Pool({ connectionString, max: 1 })
    closings.push(() => own.end())
    const [listeners, returned]: [number[], number[]] = [[], []]
    // Before the promises of the pool are told: a server that shuts down may end the connection here.
    own.on('acquire', (client) => process.nextTick(() => listeners.push(client.listenerCount('error'))))
    own.on('release', (_error, client) => process.nextTick(() => returned.push(client.listenerCount('error'))))
    const { store } = open(own, { schema: await newSchema() })
    for (let index = 0; index < 3; index++) await store.write(megabytes(3), spooling)
    expect(listeners.length).toBeGreaterThan(2)
    expect(Math.min(...listeners)).toBeGreaterThan(0)
    expect(Math.max(...returned)).toBe(1) // that of the pool
  })

  test('postgresStore collects what is too old, and nothing else', async () => {
    const schema = await newSchema()
    const { store, collect } = open(pool, { schema })
    const old = await store.write('the same', spooling)
    const other = await store.write('old', spooling)
    const young = await store.write('the same', spooling)
    await pool.query(
      `UPDATE "${schema}".toolwright_artifacts SET created_at = created_at - interval '2 hours' WHERE handle = ANY($1)`,
      [[old.handle, other.handle]],
    )
    expect(await collect()).toEqual({ artifacts: 0 })
    expect(await collect({ olderThan: 3_600_000 })).toEqual({ artifacts: 2 })
    await expect(Promise.resolve(store.open(old.handle, { session: 'one' }))).rejects.toMatchObject({
      code: 'E_ARTIFACT',
    })
    const reader = await store.open(young.handle, { session: 'one' })
    expect(decoder.decode(await reader.read(0, 8))).toBe('the same')
    expect(await everythingIn(schema)).toBe(3)
    await expect(collect({ olderThan: Number.NaN })).rejects.toThrow(InvalidConfigurationError)
  })

  test('postgresStore with a connection string makes its own pool, and closes it', async () => {
    const schema = await newSchema()
    const { store, close } = open(connectionString, { schema })
    const { handle } = await store.write(megabytes(2), spooling)
    await close()
    await expect(store.write('late', spooling)).rejects.toMatchObject({ code: 'E_ARTIFACT' })
    expect((await open(pool, { schema }).store.open(handle, { session: 'one' })).byteLength).toBe(2_097_152)
  })

  test('postgresStore refuses tables of another version, and a schema that is not there', async () => {
    const schema = await newSchema()
    await open(pool, { schema }).store.write('text', spooling)
    await pool.query(`COMMENT ON TABLE "${schema}".toolwright_artifacts IS 'Toolwright artifacts 2'`)
    const newer = open(pool, { schema }).store.write('text', spooling)
    await expect(newer).rejects.toMatchObject({ code: 'E_ARTIFACT', message: expect.stringContaining('version 2') })
    const missing = open(pool, { schema: `${run}_missing` }).store.write('text', spooling)
    await expect(missing).rejects.toMatchObject({ code: 'E_ARTIFACT', message: expect.stringContaining('3F000') })
  })

  test('what is known of a handle may be damaged, and its pieces lost: that is a typed error', async () => {
    const schema = await newSchema()
    const { store } = open(pool, { schema })
    const { handle } = await store.write(megabytes(1), spooling)
    const reader = await store.open(handle, { session: 'one' })
    await pool.query(`DELETE FROM "${schema}".toolwright_pieces WHERE number = 2`)
    await expect(reader.read(0, 1_048_576)).rejects.toMatchObject({ code: 'E_ARTIFACT' })
    await pool.query(`UPDATE "${schema}".toolwright_artifacts SET entry = '{"session":'`)
    await expect(Promise.resolve(store.open(handle, { session: 'one' }))).rejects.toMatchObject({ code: 'E_ARTIFACT' })
  })

  describe('postgresStore fails typed, keeps nothing, and is fine with the next call,', () => {
    async function behindProxy(): Promise<{ proxy: Proxy; url: string }> {
      const proxy = await startProxy(address)
      closings.push(proxy.close)
      const throughProxy = new URL(connectionString)
      const { username, password, pathname } = throughProxy
      const secret = password === '' ? '' : `:${password}`
      return { proxy, url: `postgresql://${username}${secret}@127.0.0.1:${proxy.port}${pathname}` }
    }

    async function failing(
      extension: ReturnType<typeof postgresStore>,
      schema: string,
      each: (index: number) => unknown,
      mend: () => unknown = () => {},
    ): Promise<unknown> {
      const executor = createExecutor({
        tools: [
          tool('report', () => ReadableStream.from(megabytes(4, each))),
          tool('fine', () => ReadableStream.from(megabytes(4))),
        ],
        use: [{ store: extension.store }],
      })
      await extension.store.write('warm', spooling)
      const before = await everythingIn(schema)
      const result = await executor.execute({ name: 'report' }, { session: 'one' })
      expect(result).toMatchObject({ status: 'error', effect: 'completed', error: { code: 'E_ARTIFACT' } })
      await mend()
      await expect.poll(() => everythingIn(schema)).toBe(before)
      expect(await executor.execute({ name: 'fine' }, { session: 'one' })).toMatchObject({ status: 'ok' })
      return result.content
    }

    test('where the connection is lost between two pieces', async () => {
      const { proxy, url: through } = await behindProxy()
      const schema = await newSchema()
      const extension = open(through, { schema })
      const cut = async (index: number): Promise<void> => {
        if (index !== 3) return
        proxy.cut()
        await new Promise((resolve) => setTimeout(resolve, 50)) // the store hears of it while it waits for the stream
      }
      const content = await failing(extension, schema, cut, proxy.mend)
      expect(JSON.stringify(content)).not.toMatch(/127\.0\.0\.1|toolwright@/)
    })

    test('where the server goes silent', async () => {
      const { proxy, url: through } = await behindProxy()
      const schema = await newSchema()
      const extension = open(through, { schema, timeout: 1_000 })
      await failing(extension, schema, (index) => index === 3 && proxy.stall(), proxy.mend)
    }, 60_000)

    test('where the transaction is refused when it is committed', async () => {
      const schema = await newSchema()
      const extension = open(pool, { schema })
      await extension.store.write('warm', spooling)
      await pool.query(`
        CREATE FUNCTION "${schema}".refuse() RETURNS trigger LANGUAGE plpgsql AS
          $$ BEGIN RAISE EXCEPTION 'not today' USING ERRCODE = '23514'; END $$;
        CREATE CONSTRAINT TRIGGER refuse AFTER INSERT ON "${schema}".toolwright_artifacts
          DEFERRABLE INITIALLY DEFERRED FOR EACH ROW WHEN (NEW.entry LIKE '%octet%') EXECUTE FUNCTION "${schema}".refuse()`)
      const drop = (): unknown => pool.query(`DROP TRIGGER refuse ON "${schema}".toolwright_artifacts`)
      const content = await failing(extension, schema, () => {}, drop)
      expect(JSON.stringify(content)).toContain('23514')
      expect(JSON.stringify(content)).not.toContain('not today')
    })
  })
})
