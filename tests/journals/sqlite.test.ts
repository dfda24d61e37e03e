import { execFileSync, spawn, spawnSync } from 'node:child_process'
import {
  copyFileSync,
  existsSync,
  mkdtempSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  symlinkSync,
  truncateSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { setTimeout as pause } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { InvalidConfigurationError, JournalError } from 'toolwright/errors'
import { sqliteJournal } from 'toolwright/journals/sqlite'
import { afterAll, beforeAll, describe, expect, onTestFinished, test, vi } from 'vitest'
import {
  held,
  journalConformance,
  listedBy,
  openedJournal,
  fixtureRecord,
  settledOf,
  unfinishedOf,
  type Opened,
} from '../conformance/journals.ts'
import { hosts, programOf } from '../portable/hosts.ts'
import { noSmallDisk } from '../servers/small-disk.ts'
import { makeOlderFile } from './_older.ts'

let root: string
let count = 0
const journals: Opened<ReturnType<typeof sqliteJournal>>[] = []

beforeAll(() => {
  root = mkdtempSync(join(tmpdir(), 'toolwright-sqlite-'))
})

afterAll(async () => {
  await Promise.all(journals.map((extension) => extension.close()))
  rmSync(root, { recursive: true })
})

function newFile(): string {
  return join(root, `calls ${count++}.db`)
}

function open(file: string, options?: Parameters<typeof sqliteJournal>[1]): Opened<ReturnType<typeof sqliteJournal>> {
  const extension = openedJournal(sqliteJournal(file, options))
  journals.push(extension)
  return extension
}

function damage(file: string, id: string, text: string): void {
  const database = new DatabaseSync(file)
  database.prepare('UPDATE calls SET record = ? WHERE id = ?').run(text, id)
  database.close()
}

journalConformance(
  'sqliteJournal',
  () => {
    const file = newFile()
    return { open: () => open(file), damage: (id, text) => damage(file, id, text) }
  },
  true,
)

describe('sqliteJournal opens', () => {
  test.each(['', ':memory:', 'a\0b', undefined, 7])('no file that is %j', (file) => {
    expect(() => sqliteJournal(file as string)).toThrow(InvalidConfigurationError)
  })

  test.each([-1, Number.NaN, '5'])('nothing with a busyTimeout of %j', (busyTimeout) => {
    expect(() => sqliteJournal(newFile(), { busyTimeout: busyTimeout as number })).toThrow(InvalidConfigurationError)
  })

  test('no file in a directory that is not there, and says which file and why', () => {
    const file = join(root, 'missing', 'calls.db')
    expect(() => sqliteJournal(file)).toThrow(JournalError)
    expect(() => sqliteJournal(file)).toThrow(
      `${file}: The journal could not be read or written (ENOENT). There is no directory ${join(root, 'missing')}: make it first, or give the path of a file in one that is there.`,
    )
    expect(existsSync(join(root, 'missing'))).toBe(false)
  })

  test('no file in what is a file itself, and no directory, and says so', () => {
    const file = newFile()
    writeFileSync(file, '')
    expect(() => sqliteJournal(join(file, 'calls.db'))).toThrow(`There is no directory ${file}: make it first`)
    expect(() => sqliteJournal(root)).toThrow(/unable to open.* It is a directory: give the path of a file in it\.$/)
  })

  test('a path of a file that it cannot open with no advice about its directory', () => {
    const file = newFile()
    writeFileSync(file, 'no database, '.repeat(1_000))
    expect(() => sqliteJournal(file)).toThrow(/\(file is not a database\)\.$/)
  })

  test('no file that it cannot make, and says which rights it needs', () => {
    const file = newFile()
    symlinkSync(join(root, 'missing', 'calls.db'), file)
    expect(() => sqliteJournal(file)).toThrow(
      /unable to open.* must be allowed to read and write the file, and to make/,
    )
  })

  describe('nothing that the process may not, and says which permission is missing:', () => {
    const deno = programOf(hosts.find(({ name }) => name === 'Deno')!)
    const ofDeno = ['run', '--conditions=@toolwright/source', '--no-prompt', '--no-lock', '--no-check', '--allow-read']
    const ofNode = ['--conditions=@toolwright/source', '--permission', '--allow-fs-read=*']

    function outputOf(program: string, flags: readonly string[], file: string): string {
      const env = { ...process.env, NO_COLOR: '1', DENO_DIR: join(root, 'deno'), DENO_NO_UPDATE_CHECK: '1' }
      const child = fileURLToPath(new URL('_open-forbidden.ts', import.meta.url))
      return spawnSync(program, [...flags, child, file], { env, encoding: 'utf8' }).stdout.trim()
    }

    test('to write, on Node', () => {
      const file = newFile()
      expect(outputOf(process.execPath, ofNode, file)).toBe(
        `${file}: The journal could not be read or written (ERR_ACCESS_DENIED). Access to this API has been restricted. Use --allow-fs-write to manage permissions.`,
      )
    })

    test.skipIf(deno === undefined).each([
      [
        'to write, on Deno',
        ['--allow-sys=osUptime'],
        /\(NotCapable\)\. Requires write access to .* --allow-write flag\.$/,
      ],
      [
        'to ask how long the machine runs, on Deno',
        ['--allow-write'],
        /\(NotCapable\)\. Requires sys access to "osUptime"/,
      ],
      ['none, if Deno gives them all', ['--allow-write', '--allow-sys=osUptime'], /^opened$/],
    ])('%s', (_, flags, words) => {
      const file = newFile()
      expect(outputOf(deno ?? '', [...ofDeno, ...flags], file)).toMatch(words)
      expect(existsSync(file)).toBe(words.source === '^opened$')
    })
  })

  test('no file that is not a database', () => {
    const file = newFile()
    writeFileSync(file, 'no database, '.repeat(1_000))
    expect(() => sqliteJournal(file)).toThrow(/not a database/)
  })

  test('no database of something else, and leaves it as it was', () => {
    const file = newFile()
    const foreign = new DatabaseSync(file)
    foreign.exec('CREATE TABLE theirs (a)')
    expect(() => sqliteJournal(file)).toThrow(InvalidConfigurationError)
    const tables = foreign.prepare('SELECT name FROM sqlite_schema').all()
    foreign.close()
    expect(tables.map(({ name }) => name)).toEqual(['theirs'])
  })

  test('no file of a newer version', async () => {
    const file = newFile()
    await open(file).close()
    const newer = new DatabaseSync(file)
    newer.exec('PRAGMA user_version = 8')
    newer.close()
    expect(() => sqliteJournal(file)).toThrow(/version 8, and this journal knows 7/)
  })

  test('a file of version 1, and knows its owners on', async () => {
    const file = newFile()
    makeOlderFile(file, 1)
    const { journal } = open(file)
    await journal.beat('mine')
    const running = await listedBy(journal, { state: 'running', session: 'one' })
    expect(running).toMatchObject([{ record: { id: 'running' }, fence: { owner: 'mine', number: 0 } }])
    expect(running[0]?.idle).toBeLessThan(60_000)
  })

  test('what looks like a URI as the path that it is', async () => {
    const file = join(root, 'file:calls.db?mode=memory')
    const { journal } = open(file)
    await journal.claim(fixtureRecord('a'), 'mine')
    expect(existsSync(file)).toBe(true)
  })

  test('its file in the mode in which every commit is flushed to the disk', async () => {
    const exec = vi.spyOn(DatabaseSync.prototype, 'exec')
    const { journal } = open(newFile())
    // The setting is of one connection: that of the journal is asked itself.
    const [connection] = exec.mock.contexts as DatabaseSync[]
    exec.mockRestore()
    await journal.claim(fixtureRecord('a'), 'mine')
    expect(connection?.prepare('PRAGMA synchronous').get()).toEqual({ synchronous: 2 }) // FULL
    expect(connection?.prepare('PRAGMA journal_mode').get()).toEqual({ journal_mode: 'wal' })
  })

  test('files that only their owner may read, in a mode that keeps what was answered', async () => {
    const file = newFile()
    const { journal } = open(file)
    await journal.claim(fixtureRecord('a'), 'mine')
    const modes = ['', '-wal', '-shm'].map((ending) => statSync(file + ending).mode & 0o777)
    expect(modes).toEqual([0o600, 0o600, 0o600])
    const seen = new DatabaseSync(file, { readOnly: true })
    expect(seen.prepare('PRAGMA journal_mode').get()?.['journal_mode']).toBe('wal')
    seen.close()
  })
})

describe('sqliteJournal tells how long an owner has been silent', () => {
  /** A record of an owner whose last sign of life was so long ago, in milliseconds, by each of the two clocks. */
  async function idleOf(byWall: number, byUptime: number): Promise<number | undefined> {
    const file = newFile()
    const { journal } = open(file)
    await journal.claim(fixtureRecord('a'), 'mine')
    await journal.beat('mine')
    const database = new DatabaseSync(file)
    database.prepare('UPDATE calls SET updated_at = updated_at - ?').run(byWall)
    database.prepare('UPDATE owners SET beat_at = beat_at - ?, beat_uptime = beat_uptime - ?').run(byWall, byUptime)
    database.close()
    const [found] = await unfinishedOf(journal)
    return found?.idle
  }
  const hour = 3_600_000

  test.each([
    ['a few seconds, if the wall clock was set ahead since', 2 * hour, 3_000, 3_000],
    ['an hour, if the wall clock was set back since', -hour, hour, hour],
    ['an hour, if the machine was started anew since', hour, -hour, hour],
    ['for ever, if the machine was started anew since, and with an earlier time', -hour, -hour, Infinity],
  ])('as %s', async (_, byWall, byUptime, expected) => {
    const idle = (await idleOf(byWall, byUptime)) ?? -1
    expect(idle).toBeGreaterThanOrEqual(expected)
    if (expected < Infinity) expect(idle).toBeLessThan(expected + hour / 2)
  })

  test.each([1, -1])('if the wall clock is set by %i h, and finds no living owner dead', async (hours) => {
    onTestFinished(() => void vi.useRealTimers())
    const { journal } = open(newFile())
    await journal.beat('mine')
    await journal.claim(fixtureRecord('a'), 'mine')
    vi.useFakeTimers({ toFake: ['Date'], now: Date.now() + hours * hour })
    expect(await listedBy(journal, { state: 'running', silentFor: 30_000 })).toEqual([])
    expect((await unfinishedOf(journal))[0]?.idle).toBeLessThan(30_000)
    await journal.beat('mine')
    expect(await listedBy(journal, { state: 'running', silentFor: 30_000 })).toEqual([])
  })

  test('by when its page was read, however long the caller takes over each record', async () => {
    const { journal } = open(newFile())
    await Promise.all(['a', 'b'].map((id) => journal.claim(fixtureRecord(id), 'mine')))
    const before = performance.now()
    await journal.beat('mine')
    const idle: number[] = []
    let read = 0
    for await (const found of journal.list({ state: 'running' })) {
      read ||= performance.now() - before
      idle.push(found.idle)
      await pause(100)
    }
    expect(Math.max(...idle)).toBeLessThanOrEqual(read + 20) // of two clocks
  })
})

describe('sqliteJournal, while another process is in the way,', () => {
  function locked(file: string): { unlock(): void } {
    const other = new DatabaseSync(file)
    other.exec('BEGIN IMMEDIATE')
    return {
      unlock() {
        other.exec('ROLLBACK')
        other.close()
      },
    }
  }

  test('reads, and waits with what it has to write, without stopping its own process', async () => {
    const file = newFile()
    const { journal } = open(file, { busyTimeout: 60_000 })
    await journal.claim(fixtureRecord('a'), 'mine')
    const lock = locked(file)
    let isWritten = false
    const writing = journal.claim(fixtureRecord('b'), 'mine').then((fence) => {
      isWritten = true
      return fence
    })
    for (let turn = 0; turn < 20; turn++) {
      await pause(1)
      expect((await journal.read('a'))?.record.id).toBe('a')
    }
    expect(isWritten).toBe(false)
    lock.unlock()
    expect(await writing).toEqual({ owner: 'mine', number: 0 })
  })

  test('gives up after its busyTimeout with an error that may be retried, and the next change is fine', async () => {
    const file = newFile()
    const { journal } = open(file, { busyTimeout: 40 })
    const fence = await held(journal.claim(fixtureRecord('a'), 'mine'))
    const lock = locked(file)
    const refusals = await Promise.all(
      [journal.claim(fixtureRecord('b'), 'mine'), journal.write(settledOf('a'), fence), journal.beat('mine')].map(
        (change) => change.catch((error: unknown) => error),
      ),
    )
    for (const refusal of refusals) {
      expect(refusal).toMatchObject({ code: 'E_JOURNAL', retryable: true, message: expect.stringContaining('locked') })
    }
    lock.unlock()
    expect(await journal.write(settledOf('a'), fence)).toBe(true)
    expect(await journal.read('b')).toBe(null)
  })
})

test.each(['deleted', 'replaced'])('sqliteJournal writes nothing once its file was %s, and says so', async (harm) => {
  const file = newFile()
  const { journal } = open(file)
  const kept = fixtureRecord('kept')
  const fence = await journal.claim(kept, 'one')
  for (const part of ['', '-wal', '-shm']) renameSync(`${file}${part}`, `${file}.away${part}`)
  if (harm === 'replaced') await open(file).journal.claim(fixtureRecord('kept'), 'two')
  const isRefused = expect.objectContaining({
    code: 'E_JOURNAL',
    message: expect.stringMatching(/deleted or replaced/),
  })
  await expect(journal.claim(fixtureRecord('new'), 'one')).rejects.toEqual(isRefused)
  await expect(journal.write(kept, fence!)).rejects.toEqual(isRefused)
  await expect(journal.beat('one')).rejects.toEqual(isRefused)
  if (harm === 'replaced') return
  for (const part of ['', '-wal', '-shm']) renameSync(`${file}.away${part}`, `${file}${part}`)
  expect(await journal.write(kept, fence!)).toBe(true)
})

test('sqliteJournal gives each record to one of four processes that open a new file and claim at the same time', async () => {
  const child = fileURLToPath(new URL('_claim-many.ts', import.meta.url))
  const file = newFile()
  const flags = ['-C', '@toolwright/source', '--disable-warning=ExperimentalWarning']
  const processes = ['a', 'b', 'c', 'd'].map((owner) => {
    const run = spawn(process.execPath, [...flags, child, file, owner])
    let output = ''
    const ready = new Promise((resolve) => run.stdout.once('data', resolve))
    run.stdout.on('data', (data) => (output += String(data)))
    run.stderr.on('data', (data) => (output += String(data)))
    return { run, ready, ended: new Promise((resolve) => run.on('close', resolve)), said: () => output }
  })
  await Promise.all(processes.map(({ ready }) => ready))
  for (const { run } of processes) run.stdin.write('go\n')
  await Promise.all(processes.map(({ ended }) => ended))
  const shares = processes.map(({ said }) => JSON.parse(said().replace('ready\n', '')) as number[])
  expect(shares.flat().toSorted((a, b) => a - b)).toEqual(Array.from({ length: 300 }, (_, index) => index))
  const { journal } = open(file)
  const owners = (await unfinishedOf(journal)).map(({ fence }) => fence.owner)
  expect(['a', 'b', 'c', 'd'].map((owner) => owners.filter((each) => each === owner).length)).toEqual(
    shares.map((share) => share.length),
  )
}, 120_000)

test('sqliteJournal keeps the others where one of those that it writes together cannot be written', async () => {
  const { journal } = open(newFile())
  const impossible = {} as string
  const claims = Array.from({ length: 9 }, (_, index) =>
    journal.claim(fixtureRecord(`call ${index}`), index === 4 ? impossible : 'mine').catch((error: unknown) => error),
  )
  const outcomes = await Promise.all(claims)
  expect(outcomes[4]).toMatchObject({ code: 'E_JOURNAL' })
  expect(outcomes.filter((outcome) => !(outcome instanceof Error))).toHaveLength(8)
  const listed = (await unfinishedOf(journal)).map(({ record }) => record.id)
  expect(listed.toSorted()).toEqual([0, 1, 2, 3, 5, 6, 7, 8].map((index) => `call ${index}`))
})

test('sqliteJournal leaves no args of a settled or deleted call readable in its file, once it is closed', async () => {
  const file = newFile()
  const args = (index: number): string => `canary-${String(index).padStart(4, '0')} ${'x'.repeat(index * 7)}`
  const readable = (): number => new Set(readFileSync(file, 'latin1').match(/canary-\d{4}/g)).size
  const before = open(file)
  const fences = await Promise.all(
    Array.from({ length: 1_000 }, (_, index) =>
      before.journal.claim(fixtureRecord(`call ${index}`, { state: 'APPROVAL_REQUIRED', input: args(index) }), 'mine'),
    ),
  )
  const settling = fences.map((fence, index) => before.journal.write(settledOf(`call ${index}`), fence!))
  expect(await Promise.all(settling)).not.toContain(false)
  await before.close()
  expect(readable()).toBe(0)
  const after = open(file)
  expect(await after.journal.delete!({ settledBefore: Number.MAX_SAFE_INTEGER, limit: 2_000 })).toHaveLength(1_000)
  await after.close()
  expect(readFileSync(file, 'latin1')).not.toMatch(/canary|call \d/)
})

test('sqliteJournal loses at most what was never answered where the end of its log is torn', async () => {
  const file = newFile()
  const { journal } = open(file)
  const answeredAt: number[] = []
  for (let index = 0; index < 30; index++) {
    await journal.claim(fixtureRecord(`call ${index}`, { input: 'x'.repeat(index * 211) }), 'mine')
    answeredAt.push(statSync(`${file}-wal`).size)
  }
  const whole = answeredAt.at(-1) ?? 0
  for (let round = 0; round < 40; round++) {
    const torn = newFile()
    copyFileSync(file, torn)
    copyFileSync(`${file}-wal`, `${torn}-wal`)
    const length = Math.floor((whole * round) / 40) + (round % 7)
    truncateSync(`${torn}-wal`, length)
    const copy = open(torn)
    const kept = (await unfinishedOf(copy.journal)).map(({ record }) => Number(record.id.slice(5)))
    const answered = answeredAt.filter((size) => size <= length).length
    expect(kept.toSorted((a, b) => a - b)).toEqual(Array.from({ length: answered }, (_, index) => index))
    expect(await copy.journal.claim(fixtureRecord('next'), 'mine')).not.toBe(null)
    await copy.close()
  }
})

test('sqliteJournal, where a disk has no more room, refuses with a typed error, loses nothing, and goes on', async () => {
  const child = fileURLToPath(new URL('_write-under-limit.ts', import.meta.url))
  const command = `ulimit -f 1024; exec "$0" -C @toolwright/source --disable-warning=ExperimentalWarning "$1" "$2"`
  const run = spawn('sh', ['-c', command, process.execPath, child, newFile()], { stdio: ['ignore', 'pipe', 'pipe'] })
  let output = ''
  run.stdout.on('data', (data) => (output += String(data)))
  run.stderr.on('data', (data) => (output += String(data)))
  await new Promise((resolve) => run.on('close', resolve))
  const line = output.split('\n').find((text) => text.startsWith('{'))
  expect(line, output).toBeDefined()
  const { refusal, answered, kept, small } = JSON.parse(line ?? '') as Record<string, unknown>
  expect(refusal).toMatchObject({ code: 'E_JOURNAL' })
  expect(kept).toEqual(answered)
  expect(small).toBe(true)
}, 60_000)

const noDisk = noSmallDisk()
if (noDisk !== undefined) console.warn(`The test of sqliteJournal on a full disk is skipped: ${noDisk}.`)

test.skipIf(noDisk !== undefined)('sqliteJournal on a full disk says so, and goes on once there is room', async () => {
  const disk = mkdtempSync(join(root, 'disk-'))
  execFileSync('mount', ['-t', 'tmpfs', '-o', 'size=2m', 'tmpfs', disk])
  onTestFinished(() => void execFileSync('umount', [disk]))
  const [file, ballast] = [join(disk, 'calls.db'), join(disk, 'ballast')]
  const fill = (): void => expect(() => writeFileSync(ballast, new Uint8Array(4_000_000))).toThrow('ENOSPC')
  const journal = sqliteJournal(file)
  await journal.journal.claim(fixtureRecord('a'), 'mine')
  fill()
  const refused = (async () => journal.journal.claim({ ...fixtureRecord('b'), input: 'x'.repeat(10_000) }, 'mine'))()
  await expect(refused).rejects.toMatchObject({ code: 'E_JOURNAL', message: expect.stringContaining('disk is full') })
  rmSync(ballast)
  expect(await journal.journal.claim(fixtureRecord('b'), 'mine')).not.toBe(null)
  await journal.close()
  fill()
  expect(() => sqliteJournal(file)).toThrow(/disk I\/O error.* The disk may be full/)
  rmSync(ballast)
  const reopened = sqliteJournal(file)
  expect(await reopened.journal.read('b')).not.toBe(null)
  await reopened.close()
})
