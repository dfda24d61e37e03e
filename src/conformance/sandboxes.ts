/**
 * Tests what every sandbox promises. They run in vitest.
 *
 * @module
 */
import { createHash, randomUUID } from 'node:crypto'
import { describe, expect, test } from 'vitest'
import { OutsideError, type Sandbox } from '../builtins/sandbox.ts'
import { ToolFailure } from '../index.ts'
import { requireMethods } from './_methods.ts'
import { waitOptions } from './_waiting.ts'

const methodsOfSandboxes = ['readFile', 'writeFile', 'stat', 'walk', 'exec', 'execBackground', 'close']
const outputEncoder = new TextEncoder()
const outputDecoder = new TextDecoder()

/**
 * Describes what every sandbox promises, in tests of vitest.
 *
 * @param title The name of the sandbox, for the titles of the tests.
 * @param create Makes a new sandbox over an empty root, for each test anew.
 * @param searches Whether it has `search`. Default: `false`, which skips the tests of it.
 * @example
 * ```ts
 * import { mkdtemp } from 'node:fs/promises'
 * import { tmpdir } from 'node:os'
 * import { join } from 'node:path'
 * import { localSandbox } from 'toolwright/builtins/local'
 * import { describeSandbox } from 'toolwright/conformance/sandboxes'
 *
 * describeSandbox('localSandbox', async () => localSandbox({ root: await mkdtemp(join(tmpdir(), 'sandbox-')) }))
 * ```
 */
export function describeSandbox(title: string, create: () => Promise<Sandbox>, searches = false): void {
  async function newSandbox(): Promise<Sandbox> {
    const sandbox = await create()
    requireMethods(sandbox, methodsOfSandboxes, 'The function resolves to a sandbox')
    return sandbox
  }
  async function read(sandbox: Sandbox, path: string): Promise<string> {
    return outputDecoder.decode((await sandbox.readFile(path)).bytes)
  }
  async function refused(work: Promise<unknown>): Promise<void> {
    await expect(work).rejects.toBeInstanceOf(ToolFailure)
  }
  async function walked(sandbox: Sandbox, path = '.', options = {}): Promise<string[]> {
    const paths: string[] = []
    for await (const file of sandbox.walk(path, options)) paths.push(file.path)
    return paths
  }

  describe(`${title} as a sandbox`, () => {
    const soon = waitOptions(20_000, 50)

    test('reads what it wrote, whole and in parts, with the size of the whole', async () => {
      const sandbox = await newSandbox()
      const { created } = await sandbox.writeFile('a/b.bin', new Uint8Array([0, 1, 254, 255]))
      expect(created).toBe(true)
      expect([...(await sandbox.readFile('a/b.bin')).bytes]).toEqual([0, 1, 254, 255])
      expect(await sandbox.readFile('a/b.bin', { start: 1, end: 3 })).toMatchObject({
        bytes: new Uint8Array([1, 254]),
        size: 4,
      })
      expect((await sandbox.readFile('a/b.bin', { start: 9 })).bytes).toHaveLength(0)
      expect(await sandbox.stat('a/b.bin')).toMatchObject({ kind: 'file', size: 4 })
      expect(await sandbox.stat('a')).toMatchObject({ kind: 'directory' })
      expect(await sandbox.stat('nothing')).toBeNull()
    })

    test('gives a version that changes with the file, and writes only over the version that was expected', async () => {
      const sandbox = await newSandbox()
      const { version } = await sandbox.writeFile('f', outputEncoder.encode('one'))
      expect((await sandbox.readFile('f')).version).toBe(version)
      expect((await sandbox.stat('f'))?.version).toBe(version)
      await refused(sandbox.writeFile('f', outputEncoder.encode('two'), { expect: null }))
      const second = await sandbox.writeFile('f', outputEncoder.encode('two'), { expect: version })
      expect(second).toMatchObject({ created: false })
      await refused(sandbox.writeFile('f', outputEncoder.encode('six'), { expect: version }))
      expect(await read(sandbox, 'f')).toBe('two')
      expect(second.version).not.toBe(version)
    })

    test('gives the version of a new file that it has from then on', async () => {
      const sandbox = await newSandbox()
      const { version, created } = await sandbox.writeFile('f', outputEncoder.encode('one'), { expect: null })
      expect(created).toBe(true)
      expect((await sandbox.stat('f'))?.version).toBe(version)
      expect((await sandbox.writeFile('f', outputEncoder.encode('two'), { expect: version })).created).toBe(false)
    })

    test('of those who write at once with the same expectation, one writes and the others are refused', async () => {
      const sandbox = await newSandbox()
      let expected: string | null = null
      for (let round = 0; round < 20; round++) {
        const texts = ['a', 'b', 'c', 'd'].map((writer) => `${writer}${round}`)
        const writes = texts.map((text) => sandbox.writeFile('f', outputEncoder.encode(text), { expect: expected }))
        const outcomes = await Promise.allSettled(writes)
        const winners = texts.filter((_, index) => outcomes[index]?.status === 'fulfilled')
        expect(winners).toEqual([await read(sandbox, 'f')])
        for (const each of outcomes) if (each.status === 'rejected') expect(each.reason).toBeInstanceOf(ToolFailure)
        expected = (await sandbox.readFile('f')).version
      }
    })

    test('refuses what leads out, what is no file and what is no path', async () => {
      const sandbox = await newSandbox()
      await sandbox.writeFile('d/f', outputEncoder.encode('x'))
      for (const path of ['../x', '/etc/passwd', `${sandbox.root}/../x`]) {
        await expect(sandbox.readFile(path)).rejects.toBeInstanceOf(OutsideError)
        await expect(sandbox.writeFile(path, new Uint8Array())).rejects.toBeInstanceOf(OutsideError)
      }
      for (const path of ['', 'a\0b', 'd', 'd/f/x', 'nothing', 'x'.repeat(5_000)]) await refused(sandbox.readFile(path))
      await refused(sandbox.writeFile('d', new Uint8Array()))
    })

    test('walks in order, and leaves out what is ignored unless all is wanted', async () => {
      const sandbox = await newSandbox()
      for (const path of ['b/2', 'a', 'b/1', 'node_modules/x/i.js', 'out/o', 'b/keep.log', 'c.log']) {
        await sandbox.writeFile(path, outputEncoder.encode(path))
      }
      await sandbox.writeFile('.gitignore', outputEncoder.encode('*.log\n!keep.log\nout/\n'))
      expect(await walked(sandbox)).toEqual(['.gitignore', 'a', 'b/1', 'b/2', 'b/keep.log'])
      expect(await walked(sandbox, '.', { hidden: true })).toHaveLength(8)
      expect(await walked(sandbox, 'b')).toEqual(['b/1', 'b/2', 'b/keep.log'])
      expect(await walked(sandbox, 'a')).toEqual(['a'])
      let isCut = false
      expect(await walked(sandbox, '.', { limit: 3, onLimit: () => (isCut = true) })).not.toHaveLength(5)
      expect(isCut).toBe(true)
    })

    test('runs a command in the root, with both streams and the exit code', async () => {
      const sandbox = await newSandbox()
      await sandbox.writeFile('f', outputEncoder.encode('from a tool'))
      const result = await sandbox.exec('cat f; echo problem >&2; printf made > g; exit 7')
      expect(result).toMatchObject({ exitCode: 7, signal: null, timedOut: false })
      expect(result.stdout).toEqual({ text: 'from a tool', totalBytes: 11, omittedBytes: 0 })
      expect(result.stderr.text).toBe('problem\n')
      expect(await read(sandbox, 'g')).toBe('made')
    })

    test('runs in a directory of the root, with the variables that are given and no terminal or input', async () => {
      const sandbox = await newSandbox()
      await sandbox.writeFile('sub/f', outputEncoder.encode('x'))
      const { stdout } = await sandbox.exec(
        'ls; echo "$GIVEN $TERM"; read -r line; echo "got <$line>"; [ -t 1 ] || echo no terminal',
        {
          cwd: 'sub',
          env: { GIVEN: 'a b' },
        },
      )
      expect(stdout.text).toBe('f\na b dumb\ngot <>\nno terminal\n')
      await refused(sandbox.exec('true', { cwd: '..' }))
      await refused(sandbox.exec('true', { cwd: 'sub/f' }))
      await refused(sandbox.exec(''))
      await refused(sandbox.exec('echo a\0b'))
      await refused(sandbox.exec(`: ${'x'.repeat(110_000)}`))
    })

    test('keeps beginning and end of long output, counts the rest, and hands on every byte', async () => {
      const sandbox = await newSandbox()
      const hash = createHash('sha256')
      let length = 0
      const { stdout } = await sandbox.exec('seq 1 200000', {
        onOutput: async (stream, bytes) => {
          expect(stream).toBe('stdout')
          hash.update(bytes)
          length += bytes.length
          await new Promise((resolve) => {
            setImmediate(resolve)
          })
        },
      })
      const allLines = Array.from({ length: 200_000 }, (_, index) => `${index + 1}\n`).join('')
      expect(length).toBe(allLines.length)
      expect(hash.digest('hex')).toBe(createHash('sha256').update(allLines).digest('hex'))
      expect(stdout.totalBytes).toBe(allLines.length)
      expect(stdout.text.startsWith('1\n2\n3\n')).toBe(true)
      expect(stdout.text.endsWith('199999\n200000\n')).toBe(true)
      expect(stdout.omittedBytes).toBe(allLines.length - 32_768)
    })

    test('shows control characters, bytes that are no text, and characters that come in two pieces', async () => {
      const sandbox = await newSandbox()
      const { stdout } = await sandbox.exec(`printf 'a\\033[31mb\\000\\r\\nc\\rd\\xff\\xc3'; sleep 0.1; printf '\\xa5'`)
      expect(stdout.text).toBe('a\u241b[31mb\u2400\nc\u240d\nd\ufffdå')
    })

    test('ends a command at its timeout and at an abort, with all that it started', async () => {
      const sandbox = await newSandbox()
      const slow = await sandbox.exec('echo begun; sleep 300 & sleep 300', { timeout: 1_000 })
      expect(slow).toMatchObject({ timedOut: true, exitCode: null, stdout: { text: 'begun\n' } })
      const stop = new AbortController()
      const aborted = sandbox.exec('trap "" TERM; echo begun; while :; do sleep 0.1; done', {
        signal: stop.signal,
        onOutput: () => stop.abort(),
      })
      expect(await aborted).toMatchObject({ timedOut: false, exitCode: null })
      await expect(sandbox.exec('true', { signal: AbortSignal.abort() })).rejects.toThrow()
    })

    test('leaves nothing running after the shell has ended, and does not wait for what holds its output', async () => {
      const sandbox = await newSandbox()
      const { stdout, exitCode } = await sandbox.exec(
        '(while :; do date +%N > new; mv new beat; sleep 0.05; done) & until [ -e beat ]; do sleep 0.05; done; echo done',
      )
      expect([stdout.text, exitCode]).toEqual(['done\n', 0])
      const beat = await sandbox.exec('cat beat; sleep 0.5; cat beat')
      const [before, after] = beat.stdout.text.trim().split('\n')
      expect(before).toMatch(/^\d+$/)
      expect(after).toBe(before)
    })

    test('ends a shell that stops itself', async () => {
      const result = await (await newSandbox()).exec('kill -STOP $$; echo woken', { timeout: 500 })
      expect(result).toMatchObject({ timedOut: true })
    })

    test('runs 50 commands at once without mixing them up', async () => {
      const sandbox = await newSandbox()
      const marks = Array.from({ length: 50 }, () => randomUUID())
      const results = await Promise.all(
        marks.map((mark) => sandbox.exec(`printf %s ${mark}; exit $((RANDOM % 2 + 1))`)),
      )
      const outcomes = results.map(({ stdout, stderr, signal }) => [stdout.text, stderr.text, signal])
      expect(outcomes).toEqual(marks.map((mark) => [mark, '', null]))
    })

    test('runs commands in the background, whose logs are read on from where they were', async () => {
      const sandbox = await newSandbox()
      const job = await sandbox.execBackground('echo å; while [ ! -e stop ]; do sleep 0.05; done; echo two; exit 3')
      await expect.poll(() => job.logs().text, soon).toBe('å\n')
      const first = job.logs()
      expect(first).toMatchObject({ next: 3, state: 'running', exitCode: null })
      await sandbox.writeFile('stop', new Uint8Array())
      expect(await job.done).toMatchObject({ exitCode: 3 })
      expect(job.logs(first.next)).toMatchObject({ text: 'two\n', next: 7, state: 'exited', exitCode: 3 })
      expect(job.logs(7).text).toBe('')
      expect(job.logs(999).next).toBe(7)
    })

    test('keeps the last mebibyte of a job, and says how much is lost', async () => {
      const job = await (await newSandbox()).execBackground('head -c 3000000 /dev/zero | tr "\\0" x; echo; echo end')
      await job.done
      const logs = job.logs(0, 2_000_000)
      expect(logs.next).toBe(3_000_005)
      expect(logs.text).toMatch(/^\[… 1,951,429 bytes are no longer kept …\]\nx+\nend\n$/)
      expect(job.logs().text.length).toBeLessThan(33_000)
    })

    test('ends a job with all that it started, once and again, and every job when it closes', async () => {
      const sandbox = await newSandbox()
      const job = await sandbox.execBackground('sleep 300 & sleep 300')
      const other = await sandbox.execBackground('sleep 300')
      await job.kill()
      await job.kill()
      expect(job.logs()).toMatchObject({ state: 'exited', exitCode: null })
      await sandbox.close()
      expect(await other.done).toMatchObject({ exitCode: null })
    })

    if (!searches) return

    test('searches, and says what it found with lines around', async () => {
      const sandbox = await newSandbox()
      await sandbox.writeFile('a.txt', outputEncoder.encode('one\nTwo needle\nthree\n'))
      await sandbox.writeFile('b/c.md', outputEncoder.encode('needle\n'))
      const query = { pattern: 'n[e]+dle', ignoreCase: false, path: '.', hidden: false, context: 1 }
      const found = []
      for await (const match of sandbox.search?.(query) ?? []) found.push(match)
      expect(found).toEqual([
        { path: 'a.txt', line: 1, text: 'one', isContext: true },
        { path: 'a.txt', line: 2, text: 'Two needle', isContext: false },
        { path: 'a.txt', line: 3, text: 'three', isContext: true },
        { path: 'b/c.md', line: 1, text: 'needle', isContext: false },
      ])
    })

    test('searches nothing that leads out, and nothing that would be waited for', async () => {
      const sandbox = await newSandbox()
      await sandbox.writeFile('in/a.txt', outputEncoder.encode('needle\n'))
      await sandbox.exec('ln -s /usr/share out; ln -s / all; ln -s in within; mkfifo pipe')
      const searched = async (path: string, pattern = 'needle', glob?: string): Promise<string[]> => {
        const found: string[] = []
        const query = { pattern, ignoreCase: false, path, glob, hidden: false, context: 0 }
        for await (const match of sandbox.search?.(query) ?? []) found.push(`${match.path}:${match.text}`)
        return found
      }
      const outside = ['..', '/', '/usr', '/usr/share', 'out', 'all/usr', 'in/../..', `${sandbox.root}/..`]
      for (const path of outside) await expect(searched(path), path).rejects.toBeInstanceOf(OutsideError)
      for (const path of ['pipe', 'nothing', 'in/a.txt/', '', 'a\0b', '-e']) await refused(searched(path))
      expect(await searched('within')).toEqual(['in/a.txt:needle'])
      expect(await searched(`${sandbox.root}/in/a.txt`)).toEqual(['in/a.txt:needle'])
      expect(await searched('in', 'need\0le')).toEqual([])
      expect(await searched('in', '--pre=id')).toEqual([])
      expect(await searched('in', 'needle', '!b*')).toEqual([])
    })
  })
}
