import { rmSync } from 'node:fs'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { startPostgres } from '../servers/postgres.ts'
import { cases } from './cases.ts'
import { outcomesOf } from './_hosts.ts'
import { hosts, programOf } from './hosts.ts'
import { application, unbuilt } from './_packed.ts'
import type { Need } from './run.ts'

const server = await startPostgres()
const postgres = typeof server === 'string' ? '' : server.connectionString
let folder = ''
beforeAll(() => {
  if (unbuilt === undefined) folder = application()
})
afterAll(async () => {
  if (folder !== '') rmSync(folder, { recursive: true, force: true })
  if (typeof server !== 'string') await server.stop()
})

/** The cases that a host skips, by their names. */
function skippedBy(lacks: readonly Need[]): string[] {
  return cases.filter(({ needs = [] }) => needs.some((need) => lacks.includes(need))).map(({ name }) => name)
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
          const found = await outcomesOf({ ...host, lacks }, program ?? '', folder, postgres)
          console.log(`${host.name}: ${((performance.now() - began) / 1_000).toFixed(1)} s`)
          return found
        })
        for (const [part, { passed, ...rest }] of Object.entries(outcomes)) {
          const own = part === 'worker' ? [...lacks, 'realms' as const] : lacks
          const skipped = part === 'many requests' ? [] : skippedBy(own)
          expect(rest, part).toEqual({ failed: [], skipped, unhandled: [] })
          expect(passed, part).toBeGreaterThan(0)
        }
      },
      240_000,
    )
  }
})
