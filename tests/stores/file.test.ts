import { execFileSync, spawn, spawnSync, type ChildProcess } from 'node:child_process'
import fs, {
  createReadStream,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  statSync,
  symlinkSync,
  unlinkSync,
  writeFileSync,
} from 'node:fs'
import { mkdtemp, readdir, rm, utimes, type FileHandle } from 'node:fs/promises'
import { syncBuiltinESMExports } from 'node:module'
import { tmpdir } from 'node:os'
import { join, relative } from 'node:path'
import { fileURLToPath } from 'node:url'
import { createExecutor, tool } from 'toolwright'
import { ArtifactError, InvalidConfigurationError } from 'toolwright/errors'
import { describeStore } from 'toolwright/conformance/stores'
import { sqliteJournal } from 'toolwright/journals/sqlite'
import { fileStore } from 'toolwright/stores/file'
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest'
import { hosts, programOf } from '../portable/hosts.ts'
import { noSmallDisk } from '../servers/small-disk.ts'

const spooling = { session: 'one', mediaType: 'text/plain' }
const decoder = new TextDecoder()
let root: string

beforeAll(async () => {
  root = await mkdtemp(join(tmpdir(), 'toolwright-file-store-'))
})
afterAll(() => rm(root, { recursive: true, force: true }))

async function newDirectory(): Promise<string> {
  return join(await mkdtemp(join(root, 'store-')), 'artifacts')
}

/** Everything under a directory, by path. */
async function filesIn(directory: string): Promise<string[]> {
  const entries = await readdir(directory, { recursive: true, withFileTypes: true })
  return entries.filter((entry) => entry.isFile()).map((entry) => join(entry.parentPath, entry.name))
}

describeStore('fileStore', async (limits) => {
  const directory = await newDirectory()
  return { store: fileStore(directory, limits).store, count: async () => (await filesIn(directory)).length }
})

describe('fileStore on the disk', () => {
  test('touches nothing before the first write', async () => {
    const directory = await newDirectory()
    const { store } = fileStore(directory)
    await expect(store.open(`artifact_${'0'.repeat(40)}`, { session: 'one' })).rejects.toThrow('There is no artifact')
    await store.delete(`artifact_${'0'.repeat(40)}`)
    expect(existsSync(directory)).toBe(false)
  })

  test('outlives the process: another store on the directory opens what the first has written, in its session alone', async () => {
    const directory = await newDirectory()
    const { handle } = await fileStore(directory).store.write('durable', spooling)
    const { store } = fileStore(directory)
    const reader = await store.open(handle, { session: 'one' })
    expect(decoder.decode(await reader.read(0, reader.byteLength))).toBe('durable')
    await expect(store.open(handle, { session: 'two' })).rejects.toMatchObject({ code: 'E_ARTIFACT' })
    await store.delete(handle)
    await expect(fileStore(directory).store.open(handle, { session: 'one' })).rejects.toMatchObject({
      code: 'E_ARTIFACT',
    })
  })

  test('keeps files for the owner alone', async () => {
    const directory = await newDirectory()
    const before = process.umask(0)
    try {
      await fileStore(directory).store.write('private', spooling)
    } finally {
      process.umask(before)
    }
    const modes = (await filesIn(directory)).map((path) => statSync(path).mode & 0o777)
    expect(new Set(modes)).toEqual(new Set([0o600]))
    for (const path of [directory, join(directory, 'contents'), join(directory, 'handles')]) {
      expect(statSync(path).mode & 0o777).toBe(0o700)
    }
  })

  test('names contents by their hash, and keeps equal ones once', async () => {
    const directory = await newDirectory()
    const { store } = fileStore(directory)
    const [first, second] = [await store.write('equal', spooling), await store.write('equal', spooling)]
    expect(readdirSync(join(directory, 'contents'))).toEqual([first.sha256])
    const inode = statSync(join(directory, 'contents', first.sha256)).ino
    expect(statSync(join(directory, 'handles', second.handle)).ino).toBe(inode)
    await store.delete(first.handle)
    expect(readdirSync(join(directory, 'contents'))).toEqual([first.sha256])
    await store.delete(second.handle)
    expect(await filesIn(directory)).toEqual([])
  })

  test('leaves nothing of a write that its source broke or its caller gave up', async () => {
    const directory = await newDirectory()
    const { store } = fileStore(directory)
    async function* source(end: () => void): AsyncGenerator<Uint8Array, void, undefined> {
      yield new Uint8Array(100_000)
      end()
      yield new Uint8Array(100_000)
    }
    const broken = source(() => {
      throw new Error('source broke')
    })
    await expect(store.write(broken, spooling)).rejects.toThrow('source broke')
    const leaving = new AbortController()
    const left = source(() => leaving.abort())
    await expect(store.write(left, { ...spooling, signal: leaving.signal })).rejects.toThrow()
    await expect(store.write('late', { ...spooling, signal: leaving.signal })).rejects.toThrow()
    expect(await filesIn(directory)).toEqual([])
  })

  test('says what a stream failed with, and not that the disk did', async () => {
    const { store } = fileStore(await newDirectory())
    async function* source(): AsyncGenerator<Uint8Array, void, undefined> {
      yield* createReadStream(join(root, 'not there')) as AsyncIterable<Buffer>
    }
    await expect(store.write(source(), spooling)).rejects.toMatchObject({ code: 'ENOENT' })
  })

  const deno = programOf(hosts.find(({ name }) => name === 'Deno')!)
  const ofDeno = ['run', '--no-prompt', '--no-lock', '--no-check', '--allow-read']
  const forbidden = /^E_ARTIFACT The artifact could not be written: /
  test.each([
    [
      'Node',
      process.execPath,
      ['--permission', '--allow-fs-read=*'],
      /Use --allow-fs-write to manage permissions\.\n$/,
    ],
    ['Deno', deno, ofDeno, /Requires write access, run again with the --allow-write flag\.\n$/],
  ])('says which permission is missing on %s, and names no path', async (_, program, flags, words) => {
    if (program === undefined) return
    const directory = await newDirectory()
    const child = fileURLToPath(new URL('_write-forbidden.ts', import.meta.url))
    const env = { ...process.env, DENO_DIR: join(root, 'deno'), DENO_NO_UPDATE_CHECK: '1' }
    const all = [...flags, '--conditions=@toolwright/source', child, directory]
    const { stdout } = spawnSync(program, all, { env, encoding: 'utf8' })
    expect(stdout).toMatch(forbidden)
    expect(stdout).toMatch(words)
    expect(stdout).not.toContain(directory)
  })

  test.each([
    ['was cut short', '0123', 'has 4 bytes and not 10'],
    ['has grown', '0123456789a', 'has 11 bytes and not 10'],
    ['has other bytes', '0123x56789', 'has other bytes'],
  ])('a file that %s is an error, and no other artifact', async (_, bytes, words) => {
    const directory = await newDirectory()
    const { store } = fileStore(directory)
    const { handle } = await store.write('0123456789', spooling)
    const reader = await store.open(handle, { session: 'one' })
    writeFileSync(join(directory, 'handles', handle), bytes)
    const refusal = { code: 'E_ARTIFACT', message: expect.stringContaining(words) }
    await expect(reader.read(0, 10)).rejects.toMatchObject(refusal)
    if (bytes.length !== 10) await expect(reader.read(0, 2)).rejects.toMatchObject(refusal)
    const again = await store.write('0123456789', spooling)
    const written = await (await store.open(again.handle, { session: 'one' })).read(0, 10)
    expect(decoder.decode(written)).toBe('0123456789')
  })

  test('what is known of a handle may be damaged: that is an error that tells no path', async () => {
    const directory = await newDirectory()
    const { store } = fileStore(directory)
    const { handle } = await store.write('text', spooling)
    writeFileSync(join(directory, 'handles', `${handle}.json`), '{"sha256":')
    const refusal: unknown = await Promise.resolve(store.open(handle, { session: 'one' })).catch(
      (error: unknown) => error,
    )
    expect(refusal).toMatchObject({ code: 'E_ARTIFACT' })
    expect(String(refusal)).not.toContain(directory)
  })

  test('a reader of what was deleted meanwhile says that it is gone', async () => {
    const { store } = fileStore(await newDirectory())
    const { handle } = await store.write('gone', spooling)
    const reader = await store.open(handle, { session: 'one' })
    await store.delete(handle)
    await expect(reader.read(0, 4)).rejects.toMatchObject({ code: 'E_ARTIFACT' })
  })

  test('readers hold no files open', async () => {
    const { store } = fileStore(await newDirectory())
    const { handle } = await store.write('text', spooling)
    const before = readdirSync('/proc/self/fd').length
    for (let index = 0; index < 200; index++) {
      const reader = await store.open(handle, { session: 'one' })
      await reader.read(0, 4)
    }
    expect(readdirSync('/proc/self/fd').length).toBeLessThan(before + 20)
  })

  test.each([
    ['nothing', ''],
    ['a NUL', 'x\0y'],
    ['no string', 5 as never],
  ])('a directory that is %s is refused when the store is made', (_, directory) => {
    expect(() => fileStore(directory)).toThrow(InvalidConfigurationError)
  })

  test.each([0, -1, Number.NaN, '1'])('a maximum of %j bytes is refused when the store is made', (maximumBytes) => {
    expect(() => fileStore('artifacts', { maximumBytes: maximumBytes as number })).toThrow(InvalidConfigurationError)
  })

  test('keeps what an executor spools', async () => {
    const directory = await newDirectory()
    const lines = Array.from({ length: 20_000 }, (_, index) => `line ${index}`).join('\n')
    const executor = createExecutor({ tools: [tool('report', () => lines)], use: [fileStore(directory)] })
    const { artifact, handle } = await executor.execute({ name: 'report' }, { session: 'one' })
    expect(handle).toMatch(/^artifact_/)
    expect(await artifact?.tail(1)).toBe('line 19999')
    expect(await filesIn(directory)).toHaveLength(3)
  })
})

/** Runs a script of this folder in a process of its own. */
function start(script: string, ...parameters: readonly string[]): ChildProcess {
  const path = fileURLToPath(new URL(script, import.meta.url))
  const flags = ['--expose-gc', '--disable-warning=ExperimentalWarning', '-C', '@toolwright/source']
  return spawn(process.execPath, [...flags, path, ...parameters], { stdio: ['pipe', 'pipe', 'pipe'] })
}

/** What a process says in its last line of JSON. */
async function answerOf(run: ChildProcess): Promise<Record<string, unknown>> {
  let output = ''
  run.stdout?.on('data', (data) => (output += String(data)))
  run.stderr?.on('data', (data) => (output += String(data)))
  await new Promise((resolve) => run.on('close', resolve))
  const line = output.split('\n').findLast((text) => text.startsWith('{'))
  if (line === undefined) throw new Error(`no answer: ${output}`)
  return JSON.parse(line) as Record<string, unknown>
}

async function age(path: string, milliseconds: number): Promise<void> {
  const time = new Date(Date.now() - milliseconds)
  await utimes(path, time, time)
}

/** What may lie under a name of the store's by the hand of another. */
const intruders: readonly [string, (path: string) => void][] = [
  ['a pipe', (path) => execFileSync('mkfifo', [path])],
  ['a link to a file', (path) => symlinkSync(fileURLToPath(import.meta.url), path)],
  ['a link to a pipe', (path) => (execFileSync('mkfifo', [`${path}.pipe`]), symlinkSync(`${path}.pipe`, path))],
  ['a link to a device', (path) => symlinkSync('/dev/zero', path)],
  ['a directory', (path) => mkdirSync(path)],
]

describe.skipIf(process.platform === 'win32').each(intruders)(
  'fileStore and %s in the place of a file',
  (_, intrude) => {
    test.each(['', '.json'])('of a handle (%j): refuses it, and waits for nothing', async (ending) => {
      const directory = await newDirectory()
      const { store } = fileStore(directory)
      const { handle } = await store.write('kept', spooling)
      const reader = await store.open(handle, { session: 'one' })
      const path = join(directory, 'handles', `${handle}${ending}`)
      unlinkSync(path)
      intrude(path)
      const read = (): unknown => (ending === '' ? reader.read(0, 4) : store.open(handle, { session: 'one' }))
      // Each that waited would hold one of the four threads that the process has for its files.
      const refusals = await Promise.all(Array.from({ length: 8 }, () => Promise.resolve(read()).catch(String)))
      expect(new Set(refusals).size).toBe(1)
      expect(refusals[0]).toMatch(/^ArtifactError: /)
      expect(refusals[0]).not.toContain(directory)
      const next = await store.write('next', spooling)
      expect((await store.open(next.handle, { session: 'one' })).byteLength).toBe(4)
    })

    test('of contents: keeps equal bytes all the same', async () => {
      const directory = await newDirectory()
      const { store } = fileStore(directory)
      const { handle: first, sha256 } = await store.write('equal', spooling)
      await store.delete(first)
      const path = join(directory, 'contents', sha256)
      intrude(path)
      const written = await store.write('equal', spooling).then(
        ({ handle }) => handle,
        (error: unknown) => error,
      )
      // Only a directory cannot be replaced: that is a typed error.
      if (statSync(path, { throwIfNoEntry: false })?.isDirectory()) return expect(written).toBeInstanceOf(ArtifactError)
      const reader = await store.open(written as string, { session: 'one' })
      expect(decoder.decode(await reader.read(0, 5))).toBe('equal')
    })
  },
)

test('fileStore writes equal bytes again where what is there was cut short', async () => {
  const directory = await newDirectory()
  const { store } = fileStore(directory)
  const { sha256 } = await store.write('0123456789', spooling)
  writeFileSync(join(directory, 'contents', sha256), '0123')
  const { handle } = await store.write('0123456789', spooling)
  const reader = await store.open(handle, { session: 'one' })
  expect(decoder.decode(await reader.read(0, 10))).toBe('0123456789')
  expect(readFileSync(join(directory, 'contents', sha256), 'utf8')).toBe('0123456789')
})

describe('fileStore waits for the disk', () => {
  /** Writes down what is asked of the file system, in the order in which it is done. */
  async function watched(work: () => Promise<unknown>, shownAs: (path: string) => string): Promise<string[]> {
    const done: string[] = []
    const files = fs.promises as unknown as Record<string, (...parameters: unknown[]) => Promise<unknown>>
    const original = { open: files['open']!, rename: files['rename']! }
    files['open'] = async (path, ...parameters) => {
      const file = (await original.open(path, ...parameters)) as FileHandle
      for (const sync of ['sync', 'datasync'] as const) {
        const waits = file[sync].bind(file)
        file[sync] = () => waits().then(() => void done.push(`sync ${shownAs(String(path))}`))
      }
      return file
    }
    files['rename'] = (from, to) => original.rename(from, to).then(() => void done.push(`name ${shownAs(String(to))}`))
    syncBuiltinESMExports()
    try {
      await work()
      done.push('answered')
    } finally {
      Object.assign(files, original)
      syncBuiltinESMExports()
    }
    return done
  }

  test.each<[string, () => string | AsyncIterable<Uint8Array>]>([
    ['text', () => 'durable'],
    ['a stream', () => ReadableStream.from([new Uint8Array(10), new Uint8Array(20)])],
  ])(
    'with %s: bytes and entry are on it before the handle has its name, and the name before the answer',
    async (_, source) => {
      const directory = await newDirectory()
      const { store } = fileStore(directory)
      await store.write('warm', spooling)
      const shownAs = (path: string): string =>
        relative(directory, path)
          .replace(/artifact_[0-9a-f]{40}/, '<handle>')
          .replace(/[0-9a-f]{64}/, '<hash>')
      const done = await watched(() => store.write(source(), spooling), shownAs)
      expect(done.slice(0, 2).toSorted()).toEqual(['sync contents/<handle>.part', 'sync handles/<handle>.json.part'])
      expect(done.slice(2)).toEqual(['name contents/<hash>', 'name handles/<handle>.json', 'sync handles', 'answered'])
    },
  )
})

describe('fileStore collects', () => {
  const hour = 3_600_000

  /** A stream that gives one piece, and ends when it is told to. */
  function held(): { source: AsyncIterable<Uint8Array>; end: () => void } {
    let end = (): void => {}
    const ended = new Promise<void>((resolve) => (end = resolve))
    async function* source(): AsyncGenerator<Uint8Array, void, undefined> {
      yield new Uint8Array(2_000_000)
      await ended
    }
    return { source: source(), end }
  }

  test('nothing where there is nothing', async () => {
    const directory = await newDirectory()
    expect(await fileStore(directory).collect({ olderThan: 0 })).toEqual({ artifacts: 0, leftovers: 0 })
    expect(existsSync(directory)).toBe(false)
  })

  test('artifacts that are too old, and no other of equal bytes', async () => {
    const directory = await newDirectory()
    const { store, collect } = fileStore(directory)
    const old = await store.write('the same', spooling)
    const other = await store.write('old', spooling)
    const young = await store.write('the same', spooling)
    for (const { handle } of [old, other]) await age(join(directory, 'handles', `${handle}.json`), 2 * hour)
    expect(await collect()).toEqual({ artifacts: 0, leftovers: 0 })
    expect(await collect({ olderThan: hour })).toEqual({ artifacts: 2, leftovers: 0 })
    await expect(store.open(old.handle, { session: 'one' })).rejects.toMatchObject({ code: 'E_ARTIFACT' })
    expect((await store.open(young.handle, { session: 'one' })).byteLength).toBe(8)
    expect(await filesIn(directory)).toHaveLength(3)
  })

  test.each([-1, Number.NaN, '1'])('with no age of %j', async (olderThan) => {
    await expect(fileStore('artifacts').collect({ olderThan: olderThan as number })).rejects.toThrow(
      InvalidConfigurationError,
    )
  })

  test('contents and names that no artifact has, and damaged entries when they are old', async () => {
    const directory = await newDirectory()
    const { store, collect } = fileStore(directory)
    const { handle } = await store.write('kept', spooling)
    const damaged = await store.write('damaged', spooling)
    const lost = await store.write('lost', spooling)
    writeFileSync(join(directory, 'handles', `${damaged.handle}.json`), '{')
    await age(join(directory, 'handles', `${damaged.handle}.json`), 2 * hour)
    unlinkSync(join(directory, 'handles', `${lost.handle}.json`))
    writeFileSync(join(directory, 'contents', 'a'.repeat(64)), 'nobody')
    expect(await collect({ olderThan: hour })).toEqual({ artifacts: 1, leftovers: 4 })
    expect(await filesIn(directory)).toHaveLength(3)
    expect((await store.open(handle, { session: 'one' })).byteLength).toBe(4)
  })

  test('no file that is not its own', async () => {
    const directory = await newDirectory()
    const { store, collect } = fileStore(directory)
    await store.write('kept', spooling)
    for (const folder of ['contents', 'handles']) {
      for (const name of ['notes.txt', 'notes.part', 'artifact_x.json', '.gitignore']) {
        writeFileSync(join(directory, folder, name), 'mine')
        await age(join(directory, folder, name), 2 * hour)
      }
    }
    expect(await collect({ olderThan: hour })).toEqual({ artifacts: 0, leftovers: 0 })
    expect(await filesIn(directory)).toHaveLength(11)
  })

  test('what a process that was killed left, once it has been silent for long', async () => {
    const directory = await newDirectory()
    const { collect } = fileStore(directory)
    const run = start('_write-slowly.ts', directory)
    await expect.poll(() => existsSync(directory) && filesIn(directory), { timeout: 20_000 }).toHaveLength(1)
    const ended = new Promise((resolve) => run.on('close', resolve))
    run.kill('SIGKILL')
    await ended
    expect(await collect()).toEqual({ artifacts: 0, leftovers: 0 })
    for (const path of await filesIn(directory)) await age(path, hour)
    expect(await collect()).toEqual({ artifacts: 0, leftovers: 1 })
    expect(await filesIn(directory)).toEqual([])
  }, 30_000)

  test('nothing of a writer that lives, however slow its source is', async () => {
    vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval'] })
    try {
      const directory = await newDirectory()
      const { store, collect } = fileStore(directory)
      const { source, end } = held()
      const writing = store.write(source, spooling)
      await vi.waitFor(async () => expect(await filesIn(directory)).toHaveLength(1))
      const [part = ''] = await filesIn(directory)
      await age(part, hour)
      vi.advanceTimersByTime(60_000)
      await vi.waitFor(() => expect(statSync(part).mtimeMs).toBeGreaterThan(Date.now() - hour / 2))
      expect(await collect()).toEqual({ artifacts: 0, leftovers: 0 })
      end()
      expect((await store.open((await writing).handle, { session: 'one' })).byteLength).toBe(2_000_000)
      expect(vi.getTimerCount()).toBe(0)
    } finally {
      vi.useRealTimers()
    }
  })

  test('what was written by one that was taken for dead: its write fails, and the next is fine', async () => {
    const directory = await newDirectory()
    const { store, collect } = fileStore(directory)
    const { source, end } = held()
    const writing = store.write(source, spooling)
    await expect.poll(() => existsSync(directory) && filesIn(directory)).toHaveLength(1)
    for (const path of await filesIn(directory)) await age(path, hour)
    expect(await collect()).toEqual({ artifacts: 0, leftovers: 1 })
    end()
    await expect(writing).rejects.toMatchObject({ code: 'E_ARTIFACT' })
    expect(await filesIn(directory)).toEqual([])
    await store.write('next', spooling)
  })

  test('while other processes write and delete equal contents: no artifact is lost', async () => {
    const directory = await newDirectory()
    const { store, collect } = fileStore(directory)
    const collecting = start('_hammer.ts', directory, 'collect')
    const collected = answerOf(collecting)
    const answers = await Promise.all(
      Array.from({ length: 3 }, () => answerOf(start('_hammer.ts', directory, 'write', '160'))),
    )
    collecting.stdin?.end('end\n')
    expect((await collected)['rounds']).toBeGreaterThan(0)
    expect(answers.flatMap(({ lost }) => lost)).toEqual([])
    const kept = answers.flatMap((answer) => answer['kept'] as [string, string][])
    expect(kept).toHaveLength(60)
    for (const [handle, text] of kept) {
      const reader = await store.open(handle, { session: 'one' })
      expect(decoder.decode(await reader.read(0, reader.byteLength))).toBe(text)
    }
    await collect()
    await Promise.all(kept.map(([handle]) => store.delete(handle)))
    await collect()
    expect(await filesIn(directory)).toEqual([])
  }, 120_000)
})

test.each([65_536, 1_048_576])(
  'fileStore takes a result of 1 GB in fresh pieces of %i bytes with little memory',
  async (pieceLength) => {
    const answer = await answerOf(start('_write-gigabyte.ts', await newDirectory(), '1000000000', String(pieceLength)))
    expect(answer).toMatchObject({ status: 'ok', byteLength: 1_000_000_000 })
    expect(answer['growth']).toBeLessThan(67_108_864)
  },
  120_000,
)

const reason = noSmallDisk()
if (reason !== undefined) console.warn(`The tests of fileStore on a full disk are skipped: ${reason}.`)

describe.skipIf(reason !== undefined)('fileStore on a full disk', () => {
  let disk: string

  beforeAll(async () => {
    disk = await mkdtemp(join(root, 'disk-'))
    execFileSync('mount', ['-t', 'tmpfs', '-o', 'size=4m', 'tmpfs', disk])
  })
  afterAll(() => execFileSync('umount', [disk]))

  test.each<[string, () => unknown]>([
    ['a text', () => 'line\n'.repeat(2_000_000)],
    ['bytes', () => new Uint8Array(10_000_000)],
    ['a stream', () => ReadableStream.from(Array.from({ length: 10 }, () => new Uint8Array(1_000_000)))],
  ])('fails typed for %s, leaves nothing of it, and takes the next', async (_, result) => {
    const directory = join(disk, 'artifacts')
    const executor = createExecutor({
      tools: [tool('large', result), tool('small', () => 'line\n'.repeat(10_000))],
      use: [fileStore(directory)],
    })
    expect(await executor.execute({ name: 'small' }, { session: 'one' })).toMatchObject({ status: 'ok' })
    const before = await filesIn(disk)
    const failed = await executor.execute({ name: 'large' }, { session: 'one' })
    expect(failed).toMatchObject({ status: 'error', effect: 'completed', error: { code: 'E_ARTIFACT' } })
    expect(JSON.stringify(failed.content)).toContain('ENOSPC: the disk is full')
    expect(JSON.stringify(failed.content)).not.toContain(disk)
    expect(await filesIn(disk)).toEqual(before)
    const { status, artifact } = await executor.execute({ name: 'small' }, { session: 'one' })
    expect([status, await artifact?.lineCount()]).toEqual(['ok', 10_000])
  })
})

describe.skipIf(reason !== undefined)('on a file system that may only be read', () => {
  let disk: string

  beforeAll(async () => {
    disk = await mkdtemp(join(root, 'read-only-'))
    execFileSync('mount', ['-t', 'tmpfs', '-o', 'ro,size=1m', 'tmpfs', disk])
  })
  afterAll(() => execFileSync('umount', [disk]))

  test('fileStore says so, also of a directory that is not there', async () => {
    const large = tool('large', () => 'line\n'.repeat(10_000))
    for (const directory of [disk, join(disk, 'artifacts'), join(disk, 'of', 'many')]) {
      const { error } = await createExecutor({ tools: [large], use: [fileStore(directory)] }).execute({ name: 'large' })
      expect(error?.message).toContain('EROFS: the file system may only be read')
    }
  })

  test('sqliteJournal says what it needs', () => {
    expect(() => sqliteJournal(join(disk, 'calls.db'))).toThrow(
      /\(EROFS\)\. This process must be allowed to read and write the file/,
    )
  })
})

test('fileStore fails typed where it cannot commit, keeps nothing, and takes the next', async () => {
  const directory = await newDirectory()
  const handles = join(directory, 'handles')
  const executor = createExecutor({
    tools: [tool('report', () => 'line\n'.repeat(10_000))],
    use: [fileStore(directory)],
  })
  expect(await executor.execute({ name: 'report' }, { session: 'one' })).toMatchObject({ status: 'ok' })
  await rm(handles, { recursive: true })
  writeFileSync(handles, 'no directory')
  const before = await filesIn(directory)
  const failed = await executor.execute({ name: 'report' }, { session: 'one' })
  expect(failed).toMatchObject({ status: 'error', effect: 'completed', error: { code: 'E_ARTIFACT' } })
  expect(JSON.stringify(failed.content)).not.toContain(directory)
  expect(await filesIn(directory)).toEqual(before)
  unlinkSync(handles)
  const { status, artifact } = await executor.execute({ name: 'report' }, { session: 'one' })
  expect([status, await artifact?.tail(1)]).toEqual(['ok', 'line'])
})

// One process with limits of its own stands for a full disk and for a process that is out of descriptors.
describe('fileStore where the disk refuses', () => {
  const child = fileURLToPath(new URL('_write-under-limit.ts', import.meta.url))

  async function runUnder(
    limit: string,
    directory: string,
    what: string,
    script = child,
  ): Promise<Record<string, unknown>> {
    const { execPath } = process
    const command = `${limit}; exec "$0" --disable-warning=ExperimentalWarning -C @toolwright/source "$@"`
    return answerOf(
      spawn('bash', ['-c', command, execPath, script, directory, what], { stdio: ['ignore', 'pipe', 'pipe'] }),
    )
  }

  test('to open 2,000 files at once: all results wait for their turn, and none is lost', async () => {
    const many = fileURLToPath(new URL('_write-many.ts', import.meta.url))
    const { answers } = await runUnder('ulimit -n 512', await newDirectory(), '2000', many)
    expect(answers).toEqual({ kept: 2_000 })
  }, 120_000)

  test('to open more files than half of those that it writes: none waits for another that waits for it', async () => {
    const many = fileURLToPath(new URL('_write-many.ts', import.meta.url))
    const { answers } = await runUnder('ulimit -n 64', await newDirectory(), '64 text', many)
    expect(answers).toEqual({ kept: 64 })
  }, 120_000)

  test('to let a file grow: a typed error, nothing half-written, and the next call is fine', async () => {
    const directory = await newDirectory()
    const answer = await runUnder('ulimit -f 512', directory, 'size')
    expect(answer).toMatchObject({ status: 'error', effect: 'completed', code: 'E_ARTIFACT', next: 'ok' })
    expect(JSON.stringify(answer['content'])).toContain('EFBIG')
    expect(JSON.stringify(answer['content'])).not.toContain(directory)
    expect(await filesIn(directory)).toHaveLength(3) // those of the write before
  }, 60_000)

  test('another descriptor: a typed error, nothing half-written, and the next call is fine', async () => {
    const directory = await newDirectory()
    const answer = await runUnder('ulimit -n 256', directory, 'descriptors')
    expect(answer).toMatchObject({ status: 'error', effect: 'completed', code: 'E_ARTIFACT', next: 'ok' })
    expect(JSON.stringify(answer['content'])).toContain('EMFILE')
    expect(JSON.stringify(answer['content'])).not.toContain(directory)
    expect(await filesIn(directory)).toHaveLength(3)
  }, 60_000)
})
