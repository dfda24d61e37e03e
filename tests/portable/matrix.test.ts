import { execFile } from 'node:child_process'
import { cpSync, readFileSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { startPostgres } from '../servers/postgres.ts'
import { startApi } from './_api.ts'
import { cases } from './cases.ts'
import { apiVolumes } from './cases/api-volumes.ts'
import { outcomesOf } from './_hosts.ts'
import { hosts, programOf } from './hosts.ts'
import { application, unbuilt } from './_packed.ts'
import type { Case, Need } from './run.ts'

const root = join(import.meta.dirname, '..', '..')
const server = await startPostgres()
const postgres = typeof server === 'string' ? '' : server.connectionString
const { stop, ...api } = await startApi()
/** Where random values begin. `PORTABLE_SEED` repeats those of another run. */
const seed = Number(process.env['PORTABLE_SEED'] ?? Math.floor(Math.random() * 2 ** 31))
console.log(`PORTABLE_SEED=${seed}`)
let folder = ''
beforeAll(() => {
  if (unbuilt === undefined) folder = application()
})
afterAll(async () => {
  if (folder !== '') rmSync(folder, { recursive: true, force: true })
  if (typeof server !== 'string') await server.stop()
  stop()
})

/** The cases that a host skips, by their names. */
function skippedBy(lacks: readonly Need[], among: readonly Case[]): string[] {
  return among.filter(({ needs = [] }) => needs.some((need) => lacks.includes(need))).map(({ name }) => name)
}

const turns: Promise<unknown>[] = [Promise.resolve(), Promise.resolve()]

/** Two hosts run at a time: the machine may have no more processors. */
function inTurn<Value>(work: () => Promise<Value>): Promise<Value> {
  const turn = (turns.shift() ?? Promise.resolve()).then(work, work)
  turns.push(turn)
  return turn
}

describe('the packed package runs', () => {
  if (typeof server === 'string') it.skip(`with Postgres by its address: ${server}`)
  for (const host of hosts) {
    const program = programOf(host)
    const missing =
      unbuilt ??
      (program === undefined ? 'it is not installed: npm ci --prefix tests/portable/npm, or the browser' : undefined)
    if (missing !== undefined) console.warn(`${host.name} is skipped: ${missing}.`)
    it.skipIf(missing !== undefined).concurrent(
      `on ${host.name}`,
      async () => {
        const lacks: readonly Need[] = postgres === '' ? [...host.lacks, 'postgres'] : host.lacks
        const outcomes = await inTurn(async () => {
          const began = performance.now()
          const found = await outcomesOf({ ...host, lacks }, program ?? '', folder, { postgres, seed, ...api })
          console.log(`${host.name}: ${((performance.now() - began) / 1_000).toFixed(1)} s`)
          return found
        })
        for (const [part, { passed, ...rest }] of Object.entries(outcomes)) {
          const own = part === 'worker' ? [...lacks, 'realms' as const] : lacks
          const among = part === 'many requests' ? [] : part === 'all values' ? apiVolumes : cases
          const skipped = skippedBy(own, among)
          expect(rest, part).toEqual({ failed: [], skipped, unhandled: [] })
          expect(passed, part).toBeGreaterThan(0)
        }
      },
      240_000,
    )
  }

  it.skipIf(unbuilt !== undefined)('with a format that another package makes of the kit', async () => {
    const files = ['_messages.ts', 'kit/acme.ts', 'kit/acme.test.ts']
    for (const file of files) cpSync(join(root, 'tests', 'formats', file), join(folder, 'formats', file))
    const vitest = join(root, 'node_modules', 'vitest', 'vitest.mjs')
    const answer = join(folder, 'outcome.json')
    const command = [vitest, 'run', '--root', folder, '--reporter', 'json', '--outputFile', answer]
    await promisify(execFile)(process.execPath, command, { cwd: folder }).catch(() => {
      // The outcome has what failed.
    })
    const outcome = JSON.parse(readFileSync(answer, 'utf8')) as {
      testResults: { assertionResults: { fullName: string; status: string }[] }[]
    }
    const outcomes = outcome.testResults.flatMap(({ assertionResults }) => assertionResults)
    expect(outcomes.filter(({ status }) => status !== 'passed')).toEqual([])
    expect(outcomes.length).toBeGreaterThan(40)
  })
})
