import { execFileSync } from 'node:child_process'
import { cpSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { DatabaseSync, type SQLInputValue } from 'node:sqlite'
import pg from 'pg'
import { createExecutor, tool } from 'toolwright'
import { InvalidConfigurationError } from 'toolwright/errors'
import {
  sqlJournal,
  tableStatements,
  type SqlConnection,
  type SqlDatabase,
  type SqlJournalOptions,
} from 'toolwright/journals/sql'
import { digestOf } from 'toolwright/records'
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest'
import {
  held,
  journalConformance,
  listedBy,
  promising,
  fixtureRecord,
  settledOf,
  type Opened,
  openedJournal,
} from '../conformance/journals.ts'
import { installation, unbuilt } from '../portable/_packed.ts'
import { startPostgres } from '../servers/postgres.ts'
import { mysqlPool } from './sql/_mysql-pool.ts'
import { memoryBus, postgresDatabase } from './sql/_postgres.ts'
import { mysqlJournal } from './sql/mysql-journal.ts'

const server = await startPostgres()
if (typeof server === 'string') console.warn(`The tests of the kit on Postgres are skipped: ${server}.`)

let root: string
let count = 0
const closings: (() => Promise<void>)[] = []

beforeAll(() => {
  root = mkdtempSync(join(tmpdir(), 'toolwright-sql-'))
})

afterAll(async () => {
  await Promise.all(closings.map((close) => close()))
  rmSync(root, { recursive: true })
})

journalConformance(
  'a journal of MySQL, made with the kit,',
  () => {
    const file = join(root, `mysql ${count++}.db`)
    return {
      open() {
        const pool = mysqlPool(file)
        const journal = mysqlJournal(pool, { pollInterval: 50 })
        closings.push(async () => {
          await journal.close()
          await pool.end()
        })
        return journal
      },
      damage(id, text) {
        const database = new DatabaseSync(file)
        database.prepare('UPDATE toolwright_calls SET record = ? WHERE id = ?').run(text, id)
        database.close()
      },
    }
  },
  true,
)

describe('a journal of someone else, made with the kit,', () => {
  const place = join(import.meta.dirname, 'sql')
  const code = readFileSync(join(place, 'mysql-journal.ts'), 'utf8')

  test('takes at most 120 lines of code', () => {
    const lines = code.split('\n').filter((line) => !/^\s*(?:$|\/\/|\/\*\*|\*)/.test(line))
    expect(lines.length).toBeLessThanOrEqual(120)
  })

  test('imports public entries alone', () => {
    const imported = [...code.matchAll(/(?:from|import) '([^']+)'|import\('([^']+)'\)/g)].map(
      ([, from, late]) => from ?? late,
    )
    const known = ['toolwright', 'toolwright/extension', 'toolwright/records', 'toolwright/journals/sql']
    expect(imported.filter((name) => !known.includes(String(name)))).toEqual([])
  })

  test.skipIf(unbuilt !== undefined)('runs with the packed package', () => {
    const folder = installation([])
    for (const name of ['mysql-journal.ts', '_mysql-pool.ts']) cpSync(join(place, name), join(folder, name))
    const program = `import { createExecutor, tool } from 'toolwright'
      import { mysqlPool } from './_mysql-pool.ts'
      import { mysqlJournal } from './mysql-journal.ts'
      const pool = mysqlPool('calls.db')
      let runs = 0
      const executor = createExecutor({ tools: [tool('count', () => ++runs)], use: [mysqlJournal(pool)] })
      for (let index = 0; index < 2; index++) await executor.execute({ name: 'count' }, { invocationId: 'a' })
      console.log(runs, (await executor.calls.get('a')).state)
      await executor.close()
      await pool.end()`
    writeFileSync(join(folder, 'program.ts'), program)
    try {
      const flags = ['--disable-warning=ExperimentalWarning', 'program.ts']
      expect(execFileSync(process.execPath, flags, { cwd: folder, encoding: 'utf8' })).toBe('1 COMPLETED\n')
    } finally {
      rmSync(folder, { recursive: true })
    }
  })
})

describe.skipIf(typeof server === 'string')('on a server,', () => {
  if (typeof server === 'string') return
  let pool: pg.Pool

  beforeAll(() => {
    pool = new pg.Pool({ connectionString: server.connectionString, max: 30 })
    pool.on('error', () => {})
  })

  afterAll(async () => {
    await Promise.all(closings.splice(0).map((close) => close()))
    await pool.end()
    await server.stop()
  })

  journalConformance(
    'a journal of Postgres, made with the kit,',
    () => {
      const prefix = `kit_${process.pid}_${count++}_`
      const bus = memoryBus()
      return {
        open() {
          const journal = sqlJournal(postgresDatabase(pool, bus), { prefix, pollInterval: 600_000 })
          closings.push(journal.close)
          return journal
        },
        damage: (id, text) => pool.query(`UPDATE ${prefix}calls SET record = $1 WHERE id = $2`, [text, id]),
      }
    },
    true,
  )
})

/** A database in memory. Its author may change how it does things. */
function memoryDatabase(changes: (own: SqlDatabase) => Partial<SqlDatabase> = () => ({})): SqlDatabase {
  const file = new DatabaseSync(':memory:')
  const connection: SqlConnection = {
    read: (text, values) => file.prepare(text).all(...(values as SQLInputValue[])),
    change: (text, values) => Number(file.prepare(text).run(...(values as SQLInputValue[])).changes),
  }
  const own: SqlDatabase = {
    ...connection,
    async transaction(run) {
      file.exec('BEGIN IMMEDIATE')
      try {
        const value = await run(connection)
        file.exec('COMMIT')
        return value
      } catch (error) {
        file.exec('ROLLBACK')
        throw error
      }
    },
    dialect: { types: { key: 'TEXT', text: 'TEXT', number: 'REAL' }, now: `(1000 * unixepoch('subsec'))` },
    close: () => file.close(),
  }
  return { ...own, ...changes(own) }
}

function open(
  changes?: (own: SqlDatabase) => Partial<SqlDatabase>,
  options?: SqlJournalOptions,
): Opened<ReturnType<typeof sqlJournal>> {
  return openedJournal(sqlJournal(memoryDatabase(changes), options))
}

describe('sqlJournal takes', () => {
  const whole = memoryDatabase()
  const { dialect } = whole

  test.each<[string, () => unknown, RegExp]>([
    ['no database that is nothing', () => sqlJournal(undefined as never), /lacks `read`/],
    [
      'no database without transactions',
      () => sqlJournal({ ...whole, transaction: 1 } as never),
      /lacks `transaction`/,
    ],
    [
      'no database without a dialect',
      () => sqlJournal({ ...whole, dialect: undefined } as never),
      /dialect\.types\.key/,
    ],
    ['no dialect without the time', () => sqlJournal({ ...whole, dialect: { ...dialect, now: '' } }), /dialect\.now/],
    ['no prefix that would have to be escaped', () => sqlJournal(whole, { prefix: 'a; DROP TABLE b' }), /prefix/],
    ['no timeout of 0', () => sqlJournal(whole, { timeout: 0 }), /timeout/],
    ['no interval that is no number', () => sqlJournal(whole, { pollInterval: Number.NaN }), /pollInterval/],
    ['no option that it does not have', () => sqlJournal(whole, { interval: 5 } as never), /no option "interval"/],
    ['no dialect without types, for the tables', () => tableStatements({ now: 'x' } as never), /dialect\.types\.key/],
  ])('%s', (_, make, message) => {
    expect(make).toThrow(InvalidConfigurationError)
    expect(make).toThrow(message)
  })
})

describe('sqlJournal', () => {
  test('makes a journal for an executor, whose settlements are chained', async () => {
    const extension = open()
    const executor = createExecutor({ tools: [tool('now', () => '12:00')], use: [extension] })
    const digests: (string | undefined)[] = []
    executor.on('call:settled', ({ digest }) => void digests.push(digest))
    for (const invocationId of ['a', 'b']) await executor.execute({ name: 'now' }, { invocationId })
    const [last, first] = (await listedBy(extension.journal)).map(({ record }) => record)
    expect([first, last].map((record) => record && digestOf(record.journal?.previous ?? '', record))).toEqual(digests)
    expect(last?.journal?.previous).toBe(digests[0])
    await executor.close()
  })

  test('keeps the others if one of those that it writes together cannot be written', async () => {
    const { journal, close } = open()
    const claims = Array.from({ length: 9 }, (_, index) =>
      journal
        .claim(fixtureRecord(`call ${index}`), index === 4 ? ({} as string) : 'mine')
        .catch((error: unknown) => error),
    )
    const outcomes = await Promise.all(claims)
    expect(outcomes[4]).toMatchObject({ code: 'E_JOURNAL' })
    expect(outcomes.filter((outcome) => !(outcome instanceof Error))).toHaveLength(8)
    expect(await listedBy(journal)).toHaveLength(8)
    await close()
  })

  test('makes simultaneous changes in one transaction', async () => {
    let transactions = 0
    const { journal, close } = open((own) => ({
      transaction: (run) => (transactions++, own.transaction(run)),
    }))
    await journal.claim(fixtureRecord('first'), 'mine')
    transactions = 0
    await Promise.all(Array.from({ length: 150 }, (_, index) => journal.claim(fixtureRecord(`call ${index}`), 'mine')))
    expect(transactions).toBe(1)
    await close()
  })

  test('tries again if the database says that it may, and only then', async () => {
    let failures = 0
    const failing = (own: SqlDatabase): Partial<SqlDatabase> => ({
      transaction: (run) =>
        own.transaction((connection) =>
          run({
            ...connection,
            change(text, values) {
              const isBusy = text.startsWith('INSERT INTO toolwright_calls') && failures-- > 0
              if (isBusy) throw Object.assign(new Error('busy'), { code: 'BUSY' })
              return connection.change(text, values)
            },
          }),
        ),
    })
    failures = 3
    const patient = open((own) => ({
      ...failing(own),
      isRetryable: (error) => (error as { code?: string }).code === 'BUSY',
    }))
    expect(await patient.journal.claim(fixtureRecord('a'), 'mine')).not.toBe(null)
    failures = 3
    const strict = open(failing)
    await expect(strict.journal.claim(fixtureRecord('a'), 'mine')).rejects.toMatchObject({
      code: 'E_JOURNAL',
      retryable: false,
      message: expect.stringContaining('BUSY') as string,
    })
    await patient.close()
    await strict.close()
  })

  test('does not write again what may be committed, and says that it failed', async () => {
    let isBroken = false
    let transactions = 0
    const { journal, close } = open((own) => ({
      isRetryable: () => true,
      async transaction(run) {
        transactions++
        const value = await own.transaction(run)
        if (isBroken) throw new Error('the connection was lost while it committed')
        return value
      },
    }))
    await journal.claim(fixtureRecord('first'), 'mine')
    isBroken = true
    transactions = 0
    const claims = await Promise.allSettled(['a', 'b', 'c'].map((id) => journal.claim(fixtureRecord(id), 'mine')))
    expect(claims.map(({ status }) => status)).toEqual(['rejected', 'rejected', 'rejected'])
    expect(transactions).toBe(1)
    isBroken = false
    expect((await journal.read('b'))?.fence).toEqual({ owner: 'mine', number: 0 })
    await close()
  })

  test('gives up what hangs after its timeout, does not commit it later, and goes on', async () => {
    const hanging: (() => void)[] = []
    let hangs = false
    const ends: Promise<unknown>[] = []
    const { journal, close } = open(
      (own) => ({
        transaction(run) {
          const isHanging = hangs
          const ended = isHanging
            ? run({
                read: async () => {
                  await new Promise<void>((resolve) => hanging.push(resolve))
                  return [{ value: 400 }]
                },
                change: async () => 1,
              })
            : own.transaction(run)
          ends.push(ended.catch((error: unknown) => error))
          return ended
        },
      }),
      { timeout: 200 },
    )
    await journal.claim(fixtureRecord('first'), 'mine')
    hangs = true
    const refusal = await journal.claim(fixtureRecord('a'), 'mine').catch((error: unknown) => error)
    expect(refusal).toMatchObject({
      code: 'E_JOURNAL',
      retryable: true,
      message: expect.stringContaining('within') as string,
    })
    hangs = false
    expect(await journal.claim(fixtureRecord('b'), 'mine')).not.toBe(null)
    for (const go of hanging) go()
    expect(await Promise.all(ends)).toContainEqual(
      expect.objectContaining({ message: 'The transaction was given up.' }),
    )
    expect(await journal.read('a')).toBe(null)
    await close()
  })

  test('brings tables of version 1 on, which could not note what is done', async () => {
    const database = memoryDatabase()
    const shared = { ...database, close: () => {} }
    const first = sqlJournal(shared)
    await first.journal.claim(fixtureRecord('a'), 'mine')
    await first.close()
    await database.change('DROP TABLE toolwright_effects', [])
    await database.change(`UPDATE toolwright_state SET value = 1 WHERE name = 'version'`, [])
    const { journal, close } = sqlJournal(shared)
    expect(await journal.read('a')).not.toBe(null)
    expect([await journal.claimEffect?.('s', 'k', 'a'), await journal.claimEffect?.('s', 'k', 'b')]).toEqual(['a', 'a'])
    await close()
    await database.close?.()
  })

  test('refuses tables of a newer version, and makes none if they are there', async () => {
    const database = memoryDatabase()
    const texts: string[] = []
    const shared = { ...database, close: () => {} }
    const first = sqlJournal(shared)
    await first.journal.claim(fixtureRecord('a'), 'mine')
    await first.close()
    const watched = promising(
      sqlJournal({ ...shared, change: (text, values) => (texts.push(text), database.change(text, values)) }).journal,
    )
    expect(await watched.read('a')).not.toBe(null)
    expect(texts.filter((text) => /CREATE|ALTER|DROP/.test(text))).toEqual([])
    await database.change(`UPDATE toolwright_state SET value = 3 WHERE name = 'version'`, [])
    await expect(promising(sqlJournal(shared).journal).read('a')).rejects.toMatchObject({
      code: 'E_JOURNAL',
      message: expect.stringContaining('version 3 of this journal, which knows 2') as string,
    })
    await database.close?.()
  })

  test('finds its tables if they were made by hand', async () => {
    const { journal, close } = open(
      (own) => {
        for (const statement of tableStatements(own.dialect, { prefix: 'agents_' })) void own.change(statement, [])
        return {}
      },
      { prefix: 'agents_' },
    )
    expect(await journal.claim(fixtureRecord('a'), 'mine')).not.toBe(null)
    await close()
  })

  test('takes no living owner for dead after the clock of the server was set ahead', async () => {
    let hours = 0
    const ahead = (text: string): string =>
      text.replaceAll(`unixepoch('subsec')`, `(unixepoch('subsec') + ${hours * 3_600})`)
    const { journal, close } = open((own) => ({
      read: (text, values) => own.read(ahead(text), values),
      change: (text, values) => own.change(ahead(text), values),
      transaction: (run) =>
        own.transaction((connection) =>
          run({
            read: (text, values) => connection.read(ahead(text), values),
            change: (text, values) => connection.change(ahead(text), values),
          }),
        ),
    }))
    await journal.claim(fixtureRecord('a'), 'other')
    for (const owner of ['other', 'mine']) await journal.beat(owner)
    hours = 1
    expect((await listedBy(journal))[0]?.idle).toBeLessThan(60_000)
    expect(await listedBy(journal, { silentFor: 60_000 })).toEqual([])
    await close()
  })

  test('tells of the changes of others at once, if the database has a bus', async () => {
    const database = memoryDatabase()
    const bus = memoryBus()
    const [one, other] = [1, 2].map(() => sqlJournal({ ...database, bus, close: () => {} }, { pollInterval: 600_000 }))
    const heard: string[] = []
    const end = other?.journal.watch?.((id, _session, change) => void heard.push(`${id}: ${change}`))
    await vi.waitFor(async () => {
      const id = `beginning ${heard.length}${Math.random()}`
      await one?.journal.claim(settledOf(id), 'mine')
      expect(heard.length).toBeGreaterThan(0)
    })
    await held(Promise.resolve(one!.journal.claim(settledOf('a'), 'mine')))
    await vi.waitFor(() => expect(heard).toContain('a: settled'))
    end?.()
    await Promise.all([one?.close(), other?.close()])
    await database.close?.()
  })
})
