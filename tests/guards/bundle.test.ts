import { describe, expect, it } from 'vitest'
import { bundle } from '../../bench/_bundles.ts'

// Minified and compressed, as `npm run bench bundle` prints it. The limits are a little above what there is; lower them with it.
describe('a bundle', () => {
  it.each([
    ['node', 42.4],
    ['browser', 43],
  ] as const)('for %s holds the whole front door in %d kB', async (platform, limit) => {
    const { eager } = await bundle("export * from './src/index.ts'", platform)
    expect(eager.gzip / 1e3).toBeLessThanOrEqual(limit)
  })

  it('loads the engine for raw JSON Schema on demand, in 8.4 kB', async () => {
    const { lazy } = await bundle("export * from './src/index.ts'", 'node')
    const engine = [...lazy].find(([name]) => name.startsWith('_engine'))?.[1]
    expect(engine?.gzip).toBeLessThanOrEqual(8_400)
  })
})
