import { words } from 'toolwright/discovery/search'
import { describe, expect, it } from 'vitest'
import { missing, querySets, realCatalogue, recallOf } from './_catalogue.ts'
import { namesFound } from './_tools.ts'

/** What words() finds among its first five, a little below what was measured. The figures are the same on every machine. */
const least = { own: 0.97, read: 0.92, unread: 0.875, models: 0.98 }

describe.skipIf(missing !== undefined)(`the tools of GitHub and of four servers (${missing ?? 'installed'})`, () => {
  it('are found by queries, as often as measured', { timeout: 60_000 }, async () => {
    await using catalogue = await realCatalogue()
    expect(catalogue.tools.length).toBeGreaterThan(1_290)
    expect(catalogue.labels.size).toBe(catalogue.tools.length)
    const ranker = words()
    for (const set of querySets) {
      const { recall, queries } = await recallOf(set, catalogue, (query) => namesFound(ranker, query, catalogue.tools))
      expect(queries, set.name).toBeGreaterThanOrEqual(230)
      expect(recall, set.name).toBeGreaterThan(least[set.name])
    }
  })
})

describe('the queries', () => {
  it('are more than 500, half of them by another author, and each is one', () => {
    const all = querySets.flatMap(({ queries }) => queries)
    expect(all.length).toBeGreaterThan(500)
    const byOthers = querySets
      .filter(({ name }) => name === 'read' || name === 'unread')
      .flatMap(({ queries }) => queries)
    expect(byOthers.length).toBeGreaterThanOrEqual(250)
    expect(new Set(byOthers.map(({ query }) => query)).size).toBe(byOthers.length)
    expect(all.every(({ query, tools }) => query.trim() !== '' && tools.length > 0)).toBe(true)
  })
})
