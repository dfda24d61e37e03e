import { describe, expect, it } from 'vitest'
import { turnTokens } from '../../bench/_turns.ts'
import { missing, realCatalogue } from './_catalogue.ts'

describe.skipIf(missing !== undefined)(
  `a model with the tools of GitHub and of four servers (${missing ?? 'installed'})`,
  () => {
    it('reads about as much in 40 turns as one with the five tools that it needs', { timeout: 60_000 }, async () => {
      await using catalogue = await realCatalogue()
      const { needed, atOnce, asNeeded } = await turnTokens(catalogue.tools)
      expect(needed).toBeGreaterThan(100_000)
      expect(atOnce / needed).toBeLessThanOrEqual(1.05)
      expect(asNeeded / needed).toBeLessThanOrEqual(1.05)
    })
  },
)
