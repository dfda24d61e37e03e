import { spawn } from 'node:child_process'
import { existsSync, readdirSync, statSync, writeFileSync } from 'node:fs'
import { mkdtemp, readdir, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { createExecutor, InvalidConfigurationError, tool } from 'toolwright'
import { fileStore } from 'toolwright/stores/file'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { artifactStoreConformance } from '../conformance/stores.ts'

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

artifactStoreConformance('fileStore', async () => fileStore(await newDirectory()).store)

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

  test('a file that was cut short is an error, not a shorter artifact', async () => {
    const directory = await newDirectory()
    const { store } = fileStore(directory)
    const { handle } = await store.write('0123456789', spooling)
    const reader = await store.open(handle, { session: 'one' })
    writeFileSync(join(directory, 'handles', handle), '0123')
    await expect(reader.read(0, 10)).rejects.toMatchObject({ code: 'E_ARTIFACT' })
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

// One process with limits of its own stands for a full disk and for a process that is out of descriptors.
describe('fileStore where the disk refuses', () => {
  const child = fileURLToPath(new URL('_write-under-limit.ts', import.meta.url))

  async function runUnder(limit: string, directory: string, what: string): Promise<Record<string, unknown>> {
    const { execPath } = process
    const script = `${limit}; exec "$0" --disable-warning=ExperimentalWarning -C @toolwright/source "$@"`
    const run = spawn('bash', ['-c', script, execPath, child, directory, what], { stdio: ['ignore', 'pipe', 'pipe'] })
    let output = ''
    run.stdout.on('data', (data) => (output += String(data)))
    run.stderr.on('data', (data) => (output += String(data)))
    await new Promise((resolve) => run.on('close', resolve))
    const line = output.split('\n').find((text) => text.startsWith('{'))
    if (line === undefined) throw new Error(`no answer: ${output}`)
    return JSON.parse(line) as Record<string, unknown>
  }

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
