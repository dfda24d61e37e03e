// The page that compares is what the packages do: it is measured again here.
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { beforeAll, describe, expect, test } from 'vitest'
import { missing } from './_installed.ts'
import type { Row } from './comparison/_run.ts'

let rows: readonly Row[] = []

beforeAll(async () => {
  if (missing !== undefined) return
  const { compare } = await import('./comparison/_run.ts')
  rows = await compare()
}, 300_000)

describe.skipIf(missing !== undefined)('the comparison', () => {
  test('is what the packages do: `npm run comparison` writes it', async () => {
    const { pageOf } = await import('./comparison/_page.ts')
    const page = readFileSync(join(import.meta.dirname, '..', '..', 'src', 'COMPARISON.md'), 'utf8')
    expect(page).toBe(await pageOf(rows))
  })

  test('has a row for each package, in which the tool could be called', () => {
    expect(rows.length).toBe(8)
    expect(rows.filter(({ approval }) => approval.before > 0 || approval.first.runs !== 1)).toEqual([])
  })

  test('shows that Toolwright runs a handler once, or says why it does not', () => {
    const { wrongArgs, large, repeated, timeout, approval, isStored, killed } = rows.at(-1) ?? ({} as Partial<Row>)
    expect(wrongArgs).toMatchObject({ runs: 0, ending: { is: 'told' } })
    expect(large?.bytes).toBeLessThan(4_000)
    expect(Object.values(repeated ?? {}).map(({ runs }) => runs)).toEqual([1, 1, 1])
    expect(timeout).toMatchObject({ runs: 1, ending: { is: 'told' }, isHandlerTold: true })
    expect(approval).toMatchObject({ first: { runs: 1 }, second: { runs: 1 } })
    expect([isStored, killed?.runs]).toEqual([true, 1])
  })
})
