import { join } from 'node:path'
import { defaultServerConditions } from 'vite'
import { configDefaults, defineConfig, type ViteUserConfigFnObject } from 'vitest/config'
import { fewRuns, heavy } from './tests/heavy.ts'

// Node, which loads the packages, cannot read what `module` is for: files for bundlers.
const server = defaultServerConditions.filter((name) => name !== 'module')
const conditions = ['@toolwright/source', ...server]

// `npm test` runs in the mode `fast`. All else, as `npx vitest run` of a file, runs every test at its full size.
const configuration: ViteUserConfigFnObject = defineConfig(({ mode }) => ({
  ssr: { resolve: { conditions } },
  // React for production has no `jsxDEV`.
  oxc: { jsx: { runtime: 'automatic', development: false } },
  test: {
    include: ['tests/**/*.test.ts'],
    reporters: ['default', ['./tests/closing-line.ts', mode === 'fast' ? { leftOut: heavy } : {}]],
    // Tests wait for what happens, not for a time: a slow machine makes them slower, and only what hangs fails.
    testTimeout: 60_000,
    hookTimeout: 60_000,
    // By itself, the runner leaves one processor to itself, which waits most of the time.
    maxWorkers: '100%',
    env: {
      // Workers, and the hundreds of processes that tests start, compile what they import once for all.
      NODE_COMPILE_CACHE: join(import.meta.dirname, 'node_modules/.cache/compiled'),
      ...(mode === 'fast' && { FUZZ_RUNS: process.env['FUZZ_RUNS'] ?? String(fewRuns) }),
    },
    ...(mode === 'fast' && { exclude: [...configDefaults.exclude, ...heavy.keys()] }),
    // The types of the providers' own libraries are checked by tests/examples/agent-loop.test.ts, if they are installed.
    typecheck: {
      enabled: true,
      checker: './node_modules/typescript7/bin/tsc',
      include: ['tests/**/*.test-d.ts'],
      exclude: ['tests/examples/agent-loop/**', 'tests/frameworks/**', '**/node_modules/**'],
    },
  },
}))
export default configuration
