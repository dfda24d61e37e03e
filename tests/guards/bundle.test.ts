import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { bundle } from '../../bench/_bundles.ts'

// The built package, minified and compressed, as `npm run bench bundle` prints it: `npm ci` and `npm run build` build it.
// The limits are a little above what there is; lower them with it.
describe.runIf(existsSync(join(import.meta.dirname, '..', '..', 'dist', 'index.js')))('a bundle', () => {
  it.each([
    ['{ tool }', 7.7],
    ['{ createExecutor, tool }', 37.7],
    ['*', 38.6],
    ['{ computeCallId }', 4.2],
    ['{ isToolError }', 0.3],
  ])('of `%s` from the front door has at most %d kB', async (names, limit) => {
    for (const platform of ['node', 'browser'] as const) {
      const { eager } = await bundle(`export ${names} from './dist/index.js'`, platform)
      expect(eager.gzip / 1e3, platform).toBeLessThanOrEqual(limit)
    }
  })

  it.each([
    ['mcp', 4.5],
    ...['anthropic', 'openai', 'openai-responses', 'gemini', 'ai-sdk'].map((name) => [name, 17.5] as const),
  ] as const)('of the format %s alone has at most %d kB', async (name, limit) => {
    const { eager } = await bundle(`export * from './dist/formats/${name}.js'`, 'node', true)
    expect(eager.gzip / 1e3).toBeLessThanOrEqual(limit)
  })

  it('loads the engine for raw JSON Schema on demand, in 8.4 kB', async () => {
    const { lazy } = await bundle("export * from './dist/index.js'", 'node')
    const engine = [...lazy].find(([name]) => name.startsWith('_engine'))?.[1]
    expect(engine?.gzip).toBeLessThanOrEqual(8_400)
  })
})
