import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, describe, expect, it } from 'vitest'
import { startApi } from './_api.ts'
import { cases } from './cases.ts'
import { programOf } from './hosts.ts'
import { page, withTable } from './_table.ts'
import { run, type Need } from './run.ts'

const folder = mkdtempSync(join(tmpdir(), 'toolwright-portable-'))
const { stop, ...api } = await startApi()
afterAll(() => {
  stop()
  rmSync(folder, { recursive: true, force: true })
})

// The sources, in the runtime of these tests. `matrix.test.ts` runs the packed package everywhere.
const lacks: readonly Need[] = ['processes', 'postgres', 'serve']
const here = cases.filter(({ needs = [] }) => !needs.some((need) => lacks.includes(need)))

describe('the sources pass what every platform has to pass', () => {
  it.each(here.map((each) => [each.name, each] as const))('%s', async (_, each) => {
    expect(await run([each], [], { folder, postgres: '', ...api })).toEqual({
      passed: 1,
      failed: [],
      skipped: [],
      unhandled: [],
    })
  })
})

it('a host is skipped if a package that it loads is not installed', () => {
  const host = { name: 'here', version: '', kind: 'process', program: process.execPath, lacks: [] } as const
  expect([programOf(host), programOf({ ...host, loads: 'no-such-package' })]).toEqual([process.execPath, undefined])
})

it('is said by the page of the platforms, as the hosts of the matrix have it', async () => {
  const text = readFileSync(page, 'utf8')
  expect(text).toBe(await withTable(text))
})
