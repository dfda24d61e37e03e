// The tests of the tools of APIs run as they are in other runtimes: the files, their server and what they attack it with.
import { spawn } from 'node:child_process'
import { existsSync, globSync, mkdirSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { hosts, programOf } from './hosts.ts'

const root = join(import.meta.dirname, '..', '..')
const folder = join(tmpdir(), `toolwright-runtimes-${process.pid}`)
beforeAll(() => mkdirSync(folder))
afterAll(() => rmSync(folder, { recursive: true }))

const files = globSync('tests/imports/*.test.ts', { cwd: root }).toSorted()
/** At least so many tests there are. They only grow. */
const leastTests = 400

/** What a runtime has made of the tests. */
interface Ran {
  readonly passed: number
  readonly failed: number
  readonly skipped: number
  readonly files: number
}

interface Runtime {
  readonly parameters: readonly string[]
  /** The tests that do not apply there, and why. */
  readonly without: Readonly<Record<string, string>>
  readonly read: (output: string) => Ran
}

const report = join(folder, 'deno.json')
const runtimes: Readonly<Record<string, Runtime>> = {
  // It takes what files import of `vitest` for its own runner.
  Bun: {
    parameters: [
      'test',
      '--timeout',
      '600000',
      '--conditions',
      '@toolwright/source',
      ...files.map((file) => `./${file}`),
    ],
    without: {
      'a port that `fetch` refuses is said so, with what to do': 'its `fetch` refuses no port',
      'with patterns, without the package for them, gives the operations that have none': 'it forgets no module',
    },
    read: (output) => {
      const numberOf = (pattern: RegExp): number => Number(pattern.exec(output)?.[1] ?? 0)
      return {
        passed: numberOf(/^ *(\d+) pass$/m),
        failed: numberOf(/^ *(\d+) fail$/m) + numberOf(/^ *(\d+) errors?$/m),
        skipped: numberOf(/^ *(\d+) skip$/m),
        files: numberOf(/^Ran \d+ tests across (\d+) files?\./m),
      }
    },
  },
  // It runs the whole runner.
  Deno: {
    parameters: [
      'run',
      '-A',
      join(root, 'node_modules', 'vitest', 'vitest.mjs'),
      'run',
      '--typecheck.enabled=false',
      '--maxWorkers=1',
      '--reporter=json',
      `--outputFile=${report}`,
      ...files,
    ],
    without: {},
    read: () => {
      const { numPassedTests, numFailedTests, numPendingTests, testResults } = JSON.parse(
        readFileSync(report, 'utf8'),
      ) as {
        readonly numPassedTests: number
        readonly numFailedTests: number
        readonly numPendingTests: number
        readonly testResults: readonly unknown[]
      }
      return { passed: numPassedTests, failed: numFailedTests, skipped: numPendingTests, files: testResults.length }
    },
  },
}

/** Runs the tests in a runtime. Returns what it wrote, and its code. */
function outputOf(program: string, parameters: readonly string[]): Promise<readonly [output: string, code: unknown]> {
  const own = Object.entries(process.env).filter(([name]) => !/^(?:VITEST|NODE_|TEST$)/.test(name))
  const env = { ...Object.fromEntries(own), NO_COLOR: '1', DENO_DIR: join(folder, 'deno'), DENO_NO_UPDATE_CHECK: '1' }
  const child = spawn(program, parameters, { cwd: root, env, stdio: ['ignore', 'pipe', 'pipe'] })
  let output = ''
  for (const stream of [child.stdout, child.stderr]) stream.on('data', (piece: Buffer) => (output += piece.toString()))
  return new Promise((resolve, reject) => {
    child.on('error', reject)
    child.on('close', (code) => resolve([output, code]))
  })
}

describe('the tests of the tools of APIs run', () => {
  for (const [name, { parameters, without, read }] of Object.entries(runtimes)) {
    const host = hosts.find((each) => each.name === name)!
    const program = programOf(host)
    if (program === undefined)
      console.warn(`${name} is skipped: it is not installed: npm ci --prefix tests/portable/npm`)
    it.skipIf(program === undefined).concurrent(
      `on ${name}, all of them`,
      async () => {
        const [output, code] = await outputOf(program ?? '', parameters)
        const isComplete = name !== 'Deno' || existsSync(report)
        expect([code, isComplete], output.slice(-6_000)).toEqual([0, true])
        const ran = read(output)
        console.log(`${name} ${host.version}: ${ran.passed} tests of ${ran.files} files passed`)
        expect(ran).toMatchObject({ failed: 0, skipped: Object.keys(without).length, files: files.length })
        expect(ran.passed).toBeGreaterThanOrEqual(leastTests)
      },
      600_000,
    )
  }
})
