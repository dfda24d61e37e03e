import { defaultServerConditions } from 'vite'
import { defineConfig } from 'vitest/config'

// Node, which loads the packages, cannot read what `module` is for: files for bundlers.
const server = defaultServerConditions.filter((name) => name !== 'module')
const conditions = ['@toolwright/source', ...server]

const configuration: ReturnType<typeof defineConfig> = defineConfig({
  ssr: { resolve: { conditions } },
  // React for production has no `jsxDEV`.
  oxc: { jsx: { runtime: 'automatic', development: false } },
  test: {
    include: ['tests/**/*.test.ts'],
    reporters: process.env['CI'] ? ['default', './tests/closing-line.ts'] : ['default'],
    // Tests wait for what happens, not for a time: a slow machine makes them slower, and only what hangs fails.
    testTimeout: 60_000,
    hookTimeout: 60_000,
    // The types of the providers' own libraries are checked by tests/stories/loops.test.ts, if they are installed.
    typecheck: {
      enabled: true,
      include: ['tests/**/*.test-d.ts'],
      exclude: ['tests/stories/loops/**', 'tests/frameworks/**', '**/node_modules/**'],
    },
  },
})
export default configuration
