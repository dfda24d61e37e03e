import { spawn } from 'node:child_process'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { fileURLToPath } from 'node:url'
import pg from 'pg'
import type { ToolCallRecord } from 'toolwright/extension'
import { postgresJournal } from 'toolwright/journals/postgres'
import { sqliteJournal } from 'toolwright/journals/sqlite'
import type { Journal } from 'toolwright/records'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { fixtureRecord, listedBy, settledOf } from '../conformance/journals.ts'
import { startPostgres } from '../servers/postgres.ts'
import {
  expectedLists,
  makeFormerFile,
  makeFormerTables,
  makeOlderFile,
  makeOlderTables,
  olderRecords,
} from './_older.ts'

const child = fileURLToPath(new URL('_migrate.ts', import.meta.url))
const flags = ['-C', '@toolwright/source', '--disable-warning=ExperimentalWarning']

interface Outcome {
  readonly wasKilled: boolean
  readonly output: string
}

/** Processes that migrate at the same time. */
async function migrate(tasks: readonly object[]): Promise<Outcome[]> {
  const processes = tasks.map((task) => {
    const run = spawn(process.execPath, [...flags, child, JSON.stringify(task)])
    let output = ''
    const ready = new Promise((resolve) => run.stdout.once('data', resolve))
    run.stdout.on('data', (data) => (output += String(data)))
    run.stderr.on('data', (data) => (output += String(data)))
    const ended = new Promise<Outcome>((resolve) =>
      run.on('close', (_, signal) =>
        resolve({ wasKilled: signal === 'SIGKILL', output: output.replace('ready\n', '') }),
      ),
    )
    return { run, ready, ended }
  })
  await Promise.all(processes.map(({ ready }) => ready))
  for (const { run } of processes) run.stdin.write('go\n')
  return Promise.all(processes.map(({ ended }) => ended))
}

/** Nothing is lost: each record is as it was, is listed where it belongs, and a damaged one is told. */
async function requireWhole(journal: Journal): Promise<void> {
  for (const record of olderRecords) {
    expect(await journal.read(record.id)).toEqual({ record, fence: { owner: 'mine', number: 0 } })
  }
  const reports: unknown[] = []
  for (const [query, ids] of expectedLists) {
    const listed: string[] = []
    for await (const { record } of journal.list(query, (error) => void reports.push(error))) listed.push(record.id)
    expect(listed).toEqual(ids)
  }
  // The damaged record is one that has not settled: the first two lists have it.
  expect(reports).toHaveLength(2)
  await expect(listedBy(journal, { state: 'running' })).rejects.toMatchObject({ code: 'E_JOURNAL' })
}

/** Calls that were queued before the migration run alone after it. */
async function requireTurns(journal: Journal): Promise<void> {
  const take = async (): Promise<string[]> => {
    const taken = await journal.take?.({ queue: 'default', limit: 10, except: [] }, 'worker')
    return (taken ?? []).map(({ record }) => record.id)
  }
  const settle = async (id: string, session: string): Promise<void> => {
    const found = await journal.read(id)
    expect(found && (await journal.write(settledOf(id, { session }), found.fence))).toBe(true)
  }
  expect(await take()).toEqual(['comes alone'])
  await settle('comes alone', 'two')
  expect(await take()).toEqual(['comes last'])
  await settle('has a worker', 'alone')
  expect(await take()).toEqual(['comes next'])
}

/** Kills a process at each moment of a migration, until one comes to the end. Returns how many were killed. */
async function killAtEach(
  make: () => Promise<{ readonly task: object; readonly whole: () => Promise<void> }>,
): Promise<number> {
  for (let lastMoment = 1; ; lastMoment++) {
    const { task, whole } = await make()
    const [outcome] = await migrate([{ ...task, lastMoment }])
    await whole()
    if (outcome?.wasKilled !== true) {
      expect(outcome?.output).toContain('alterations')
      return lastMoment - 1
    }
  }
}

describe('sqliteJournal with a file of an older version', () => {
  let root: string
  let count = 0
  beforeAll(() => {
    root = mkdtempSync(join(tmpdir(), 'toolwright-migration-'))
  })
  afterAll(() => rmSync(root, { recursive: true }))

  function olderFile(version: 1 | 2): string {
    const file = join(root, `${count++}.db`)
    makeOlderFile(file, version)
    return file
  }

  async function requireWholeFile(file: string): Promise<void> {
    const { journal, close } = sqliteJournal(file)
    await requireWhole(journal)
    await close()
  }

  test.each([1, 2] as const)('finds each of its records (version %i)', async (version) => {
    await requireWholeFile(olderFile(version))
  })

  test('finds each of its records (version 3)', async () => {
    const file = join(root, `${count++}.db`)
    await makeFormerFile(file, 3)
    await requireWholeFile(file)
  })

  test.each([
    [4, 2],
    [5, 1],
    [6, 0],
  ] as const)('lets calls for workers run alone that waited for it (version %i)', async (_version, steps) => {
    const file = join(root, `${count++}.db`)
    await makeFormerFile(file, steps)
    const { journal, close } = sqliteJournal(file)
    await requireTurns(journal)
    await close()
  })

  test('loses nothing when the process is killed at any statement of the migration', async () => {
    const killed = await killAtEach(async () => {
      const file = olderFile(1)
      return { task: { file }, whole: () => requireWholeFile(file) }
    })
    expect(killed).toBeGreaterThan(40)
  }, 240_000)

  test('notes afterwards which call does a thing', async () => {
    const file = join(root, `${count++}.db`)
    await makeFormerFile(file, 0)
    const { journal, close } = sqliteJournal(file)
    expect([await journal.claimEffect?.('s', 'k', 'a'), await journal.claimEffect?.('s', 'k', 'b')]).toEqual(['a', 'a'])
    await close()
  })

  test('migrates it once when four processes start at the same time', async () => {
    const file = olderFile(2)
    const outcomes = await migrate(Array.from({ length: 4 }, () => ({ file, lastMoment: 0 })))
    const alterations = outcomes.map(({ output }) => (JSON.parse(output) as { alterations: number }).alterations)
    expect(alterations.toSorted((a, b) => a - b)).toEqual([0, 0, 0, expect.any(Number)])
    expect(Math.max(...alterations)).toBeGreaterThan(0)
    await requireWholeFile(file)
  })

  test('leaves no trace of the older tables', async () => {
    const [older, newer] = [olderFile(1), join(root, 'newer.db')]
    for (const file of [older, newer]) await sqliteJournal(file).close()
    const shapeOf = (file: string): unknown => {
      const database = new DatabaseSync(file)
      const columns = database
        .prepare(`SELECT name, type, "notnull" FROM pragma_table_info('calls') ORDER BY name`)
        .all()
      const indexes = database.prepare(`SELECT name, sql FROM sqlite_schema WHERE type = 'index' ORDER BY name`).all()
      const version = database.prepare('PRAGMA user_version').get()
      database.close()
      return { columns, indexes, version }
    }
    expect(shapeOf(older)).toEqual(shapeOf(newer))
  })
})

const server = await startPostgres()
if (typeof server === 'string') console.warn(`The migration of postgresJournal is not tested: ${server}.`)

describe.skipIf(typeof server === 'string')('postgresJournal with tables of an older version', () => {
  if (typeof server === 'string') return
  const { connectionString } = server
  const run = `toolwright_migration_${process.pid}_${Date.now().toString(36)}`
  const schemas: string[] = []
  let pool: pg.Pool

  beforeAll(() => {
    pool = new pg.Pool({ connectionString })
  })
  afterAll(async () => {
    for (const schema of schemas) await pool.query(`DROP SCHEMA "${schema}" CASCADE`)
    await pool.end()
    await server.stop()
  })

  async function olderSchema(): Promise<string> {
    const schema = `${run}_${schemas.length}`
    schemas.push(schema)
    await pool.query(`CREATE SCHEMA "${schema}"`)
    await makeOlderTables((text, values) => pool.query(text, values), schema)
    return schema
  }

  const requireWholeSchema = (schema: string): Promise<void> => requireWhole(postgresJournal(pool, { schema }).journal)

  test('finds each of its records', async () => {
    await requireWholeSchema(await olderSchema())
  })

  test('loses nothing when the process is killed at any statement of the migration', async () => {
    const killed = await killAtEach(async () => {
      const schema = await olderSchema()
      return { task: { connectionString, schema }, whole: () => requireWholeSchema(schema) }
    })
    expect(killed).toBeGreaterThan(15)
  }, 240_000)

  async function formerSchema(version: 2 | 3 | 4 | 5 | 6 | 7 | 8): Promise<string> {
    const schema = `${run}_${schemas.length}`
    schemas.push(schema)
    await pool.query(`CREATE SCHEMA "${schema}"`)
    const { journal } = postgresJournal(pool, { schema })
    await makeFormerTables((text, values) => pool.query(text, values), journal, schema, version)
    return schema
  }

  test('finds each of its records (version 2)', async () => {
    await requireWholeSchema(await formerSchema(2))
  })

  test.each([3, 4, 5, 6, 7, 8] as const)(
    'lets calls for workers run alone that waited for it (version %i)',
    async (version) => {
      await requireTurns(postgresJournal(pool, { schema: await formerSchema(version) }).journal)
    },
  )

  test('migrates them once when four processes start at the same time', async () => {
    const schema = await olderSchema()
    const outcomes = await migrate(Array.from({ length: 4 }, () => ({ connectionString, schema, lastMoment: 0 })))
    for (const { output } of outcomes) expect(output).toContain('alterations')
    await requireWholeSchema(schema)
  })

  test('leaves no trace of the older tables', async () => {
    const older = await olderSchema()
    const newer = `${run}_${schemas.length}`
    schemas.push(newer)
    await pool.query(`CREATE SCHEMA "${newer}"`)
    for (const schema of [older, newer]) await postgresJournal(pool, { schema }).journal.read('a')
    const shapeOf = async (schema: string): Promise<unknown> => {
      const columns = await pool.query(
        `SELECT table_name, column_name, data_type, is_nullable FROM information_schema.columns
        WHERE table_schema = $1 ORDER BY 1, 2`,
        [schema],
      )
      const compression = await compressionOf(schema)
      const indexes = await pool.query<{ indexdef: string }>(
        'SELECT indexdef FROM pg_indexes WHERE schemaname = $1 ORDER BY indexname',
        [schema],
      )
      const functions = await pool.query<{ prosrc: string }>(
        'SELECT prosrc FROM pg_proc WHERE pronamespace = $1::regnamespace ORDER BY proname',
        [schema],
      )
      const definitions = indexes.rows.map(({ indexdef }) => indexdef)
      const texts = [...definitions, ...functions.rows.map(({ prosrc }) => prosrc)]
      return [columns.rows, compression, texts.map((text) => text.replaceAll(schema, ''))]
    }
    expect(await shapeOf(older)).toEqual(await shapeOf(newer))
  })

  /** Returns how the server compresses new records. Nothing: by its default. */
  async function compressionOf(schema: string): Promise<unknown> {
    const { rows } = await pool.query<{ compression: unknown }>(
      // The column is missing before Postgres 14.
      `SELECT nullif(to_jsonb(pg_attribute) ->> 'attcompression', '') AS compression FROM pg_attribute
      WHERE attrelid = $1::regclass AND attname = 'record'`,
      [`"${schema}".toolwright_calls`],
    )
    return rows[0]?.compression
  }

  test('compresses new records by lz4 if the server can, and reads those from before', async () => {
    const { rows } = await pool.query<{ known: string }>(
      `SELECT coalesce(array_to_string(enumvals, ' '), '') AS known FROM pg_settings WHERE name = 'default_toast_compression'`,
    )
    const schema = await formerSchema(7)
    expect(await compressionOf(schema)).toBe(null)
    const large = (id: string): ToolCallRecord => fixtureRecord(id, { input: { text: 'a long text '.repeat(5_000) } })
    const insert = `INSERT INTO "${schema}".toolwright_calls (id, owner, held_since, version, record, session, state, created_at)
      VALUES ($1, 'mine', 0, 0, $2, 's', 'running', 1)`
    await pool.query(insert, ['before', JSON.stringify(large('before'))])
    const { journal } = postgresJournal(pool, { schema })
    await journal.claim(large('after'), 'mine')
    expect(await compressionOf(schema)).toBe(rows[0]?.known.includes('lz4') === true ? 'l' : null)
    for (const id of ['before', 'after']) expect((await journal.read(id))?.record).toEqual(large(id))
  })

  test.each([
    ['does not know the statement', 'SET SQUEEZING lz4'],
    ['does not know lz4', 'SET COMPRESSION lz3'],
  ])('keeps the compression of a server that %s', async (_, words) => {
    const unknowing = {
      query: (text: string, values?: unknown[]) =>
        pool.query<Record<string, unknown>>(text.replace('SET COMPRESSION lz4', words), values),
    }
    const former = await formerSchema(7)
    const newer = `${run}_${schemas.length}`
    schemas.push(newer)
    await pool.query(`CREATE SCHEMA "${newer}"`)
    for (const schema of [former, newer]) {
      const { journal } = postgresJournal(unknowing, { schema })
      await journal.claim(fixtureRecord('new'), 'mine')
      expect((await journal.read('new'))?.record).toEqual(fixtureRecord('new'))
      expect(await compressionOf(schema)).toBe(null)
    }
  })

  test('stops processes of the older version, which would leave the columns empty', async () => {
    const schema = await olderSchema()
    await postgresJournal(pool, { schema }).journal.read('a')
    const olderWrite = pool.query(
      `UPDATE "${schema}".toolwright_calls SET version = version + 1, settled = $1 WHERE id = $2`,
      [true, 'running'],
    )
    await expect(olderWrite).rejects.toMatchObject({ code: '42703' })
  })
})
