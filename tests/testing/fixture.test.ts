import { execFile } from 'node:child_process'
import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'

// Within the package, so that its names resolve.
const folder = join(import.meta.dirname, `.fixture-${process.pid}`)
const runner = join(dirname(fileURLToPath(import.meta.resolve('vitest/package.json'))), 'vitest.mjs')

// Node loads the sources itself: five runs of two files would else transform all of them ten times.
const config = `
const conditions = ['@toolwright/source', 'node', 'import', 'default']
export default {
  ssr: { resolve: { conditions, externalConditions: conditions } },
  test: { root: ${JSON.stringify(folder)}, include: ['*.test.ts'], pool: 'threads', server: { deps: { external: [/\\/src\\//] } } },
}
`
const tests = (file: string): string => `
import { appendFileSync } from 'node:fs'
import { createExecutor, tool } from 'toolwright'
import { withCassettes } from 'toolwright/testing/vitest'
import { describe, expect } from 'vitest'

const test = withCassettes({ folder: 'tapes' })
let ticket = 0
const ran = (name) => appendFileSync(${JSON.stringify(join(folder, 'ran.txt'))}, name + '\\n')
const pay = tool('pay', (args) => { ran(JSON.stringify(args)); return \`\${JSON.stringify(args)} \${process.pid} \${ticket++}\` })
const say = async (tape, args) => {
  const { content } = await createExecutor({ tools: [pay], use: [tape] }).execute({ name: 'pay', args })
  return content[0].text
}

test.each([1, 2])('has an equal name', async (n) => expect(n).toBeGreaterThan(0))
for (const n of [1, 2]) test('pays', async ({ tape }) => { expect(await say(tape, { file: '${file}', n })).toMatch('"n":' + n) })
describe('a group', () => {
  test('pays', async ({ tape }) => {
    expect(tape.calls).toEqual([])
    expect(await say(tape, { file: '${file}', n: process.env.DRIFT ? 4 : 3 })).toMatch('${file}')
    expect(tape.calls).toHaveLength(1)
  })
})
let attempts = 0
test('comes right in the end', { retry: 2 }, async ({ tape }) => {
  await say(tape, { retried: '${file}' })
  if (attempts++ === 0 && !process.env.CALM) await say(tape, { wrong: true })
  expect(attempts).toBeGreaterThan(process.env.CALM ? 0 : 1)
})
test('may fail', async ({ tape }) => {
  await say(tape, { failing: '${file}' })
  expect(process.env.FAILS).toBe(undefined)
})
`

interface RunOfTests {
  readonly code: number
  readonly output: string
  /** The args of the calls whose handlers ran. */
  readonly ran: readonly string[]
}

function run(env: Readonly<Record<string, string>>): Promise<RunOfTests> {
  const log = join(folder, 'ran.txt')
  rmSync(log, { force: true })
  const { VITEST: _vitest, CI: _ci, TOOLWRIGHT_CASSETTES: _mode, ...inherited } = process.env
  const sources = ['-C', '@toolwright/source', '--disable-warning=ExperimentalWarning']
  const flags = ['run', '--config', join(folder, 'config.mjs'), '--root', folder, '--reporter', 'tree', '--no-color']
  return new Promise((resolve) => {
    const options = { env: { ...inherited, ...env }, cwd: folder }
    execFile(process.execPath, [...sources, runner, ...flags], options, (error, stdout, stderr) => {
      const lines = existsSync(log) ? readFileSync(log, 'utf8').trimEnd().split('\n') : []
      resolve({
        code: typeof error?.code === 'number' ? error.code : 0,
        output: stdout + stderr,
        ran: lines.toSorted(),
      })
    })
  })
}

const tapesOf = (file: string): string[] =>
  readdirSync(join(folder, 'tapes', file))
    .map((name) => name.replace(/-[0-9a-f]{8}/, ''))
    .toSorted()
const all = ['a-group-pays.jsonl', 'comes-right-in-the-end.jsonl', 'pays-2.jsonl', 'pays.jsonl']

beforeAll(() => {
  mkdirSync(folder, { recursive: true })
  writeFileSync(join(folder, 'config.mjs'), config)
  for (const file of ['a', 'b']) writeFileSync(join(folder, `${file}.test.ts`), tests(file))
})
afterAll(() => rmSync(folder, { recursive: true, force: true }))

describe('tests with a tape each', { timeout: 120_000 }, () => {
  it('fail in CI without tapes, and call nothing', async () => {
    const { code, output, ran } = await run({ CI: 'true', CALM: '1' })
    expect(code).toBe(1)
    expect(output).toMatch(/was not recorded/)
    expect(ran).toEqual([])
    expect(existsSync(join(folder, 'tapes'))).toBe(false)
  })

  it('are recorded in a file each, but for one that fails, and for the attempt that failed', async () => {
    const { code, output, ran } = await run({ FAILS: '1' })
    expect(code, output).toBe(1)
    expect(output).toMatch(/2 failed \| 12 passed/)
    expect(ran.filter((args) => args.includes('wrong'))).toHaveLength(2)
    for (const file of ['a.test.ts', 'b.test.ts']) expect(tapesOf(file)).toEqual(all)
  })

  it('run without handlers once they are recorded, in CI too', async () => {
    const { code, output, ran } = await run({ CALM: '1' })
    expect(code, output).toBe(0)
    expect(ran).toEqual(['{"failing":"a"}', '{"failing":"b"}'])
    const again = await run({ CI: 'true', CALM: '1' })
    expect(again.code, again.output).toBe(0)
    expect(again.ran).toEqual([])
  })

  it('fail with the nearest call if one has changed', async () => {
    const { code, output, ran } = await run({ CI: 'true', CALM: '1', DRIFT: '1' })
    expect(code).toBe(1)
    expect(output).toMatch(/pay\(\{"file":"a","n":4\}\) was not recorded\. The nearest recorded call:/)
    expect(ran).toEqual([])
  })
})
