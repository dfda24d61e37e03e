import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { bundle } from '../../bench/_bundles.ts'

// The built package, minified and compressed, as `npm run bench bundle` prints it: `npm ci` and `npm run build` build it.
// The limits are a little above what there is; lower them with it.
describe.runIf(existsSync(join(import.meta.dirname, '..', '..', 'dist', 'index.js')))('a bundle', () => {
  it.each([
    ['{ tool }', 7.25],
    ['{ createExecutor, tool }', 47.53],
    ['*', 48.13],
    ['{ computeCallId }', 4.05],
    ['{ isToolError }', 0.3],
  ])('of `%s` from the front door has at most %d kB', async (names, limit) => {
    for (const platform of ['node', 'browser'] as const) {
      const { eager } = await bundle(`export ${names} from './dist/bundled/index.js'`, platform)
      expect(eager.gzip / 1e3, platform).toBeLessThanOrEqual(limit)
    }
  })

  it.each([
    ['mcp', 4.9],
    ['anthropic', 14.95],
    ['openai', 14.95],
    ['openai-responses', 15.25],
    ['gemini', 14.6],
    ['ai-sdk', 16.8],
    ['kit/index', 16.35],
  ] as const)('of the format %s alone has at most %d kB', async (name, limit) => {
    const { eager } = await bundle(`export * from './dist/formats/${name}.js'`, 'node', true)
    expect(eager.gzip / 1e3).toBeLessThanOrEqual(limit)
  })

  it.each([
    ['anthropicProvider', 8.7],
    ['openaiProvider', 9],
    ['openaiLike', 9.05],
    ['geminiLike', 8.7],
    ['providerOf', 11.55],
  ])('of the rules for schemas in `%s`, with the compiler that reads them, has at most %d kB', async (rules, limit) => {
    const code = `export { ${rules} } from './src/formats/_dialects.ts'
      export { translate } from './src/formats/_lower/translate.ts'`
    const { eager } = await bundle(code, 'node', true)
    expect(eager.gzip / 1e3).toBeLessThanOrEqual(limit)
  })

  it('of the client for pages has at most 4.8 kB, all of it', async () => {
    const { eager, lazy } = await bundle("export * from './dist/client/browser.js'", 'browser')
    expect(eager.gzip).toBeLessThanOrEqual(4_800)
    expect(lazy.size).toBe(0)
  })

  it('of the HTTP API alone has at most 11.8 kB', async () => {
    const { eager } = await bundle("export * from './dist/client/http.js'", 'node', true)
    expect(eager.gzip).toBeLessThanOrEqual(11_800)
  })

  it.each([
    ['react/hooks', 1.25],
    ['react/root', 3.2],
    ['client/ag-ui', 8.1],
    ['client/caller', 0.98],
  ] as const)('of the leaf %s alone has at most %d kB', async (name, limit) => {
    const { eager } = await bundle(`export * from './dist/${name}.js'`, 'browser', true)
    expect(eager.gzip / 1e3).toBeLessThanOrEqual(limit)
  })

  it('of the search for tools alone has at most 24.6 kB, half of it words', async () => {
    const { eager } = await bundle("export * from './dist/discovery/search.js'", 'node', true)
    expect(eager.gzip).toBeLessThanOrEqual(24_600)
  })

  it('of the tools of an API alone has at most 23.86 kB, and what their calls need comes with the first, in 10.2 kB', async () => {
    const { eager, lazy } = await bundle("export * from './dist/imports/openapi.js'", 'node', true)
    expect(eager.gzip).toBeLessThanOrEqual(23_860)
    const calls = [...lazy].find(([name]) => name.startsWith('_calls'))?.[1]
    expect(calls?.gzip).toBeLessThanOrEqual(10_200)
  })

  it('loads the engine for raw JSON Schema on demand, in 8.4 kB', async () => {
    const { lazy } = await bundle("export * from './dist/bundled/index.js'", 'node')
    const engine = [...lazy].find(([name]) => name.startsWith('_engine'))?.[1]
    expect(engine?.gzip).toBeLessThanOrEqual(8_400)
  })
})
