import { defaultServerConditions } from 'vite'
import { defineConfig } from 'vitest/config'

const conditions = ['@toolwright/source', ...defaultServerConditions]

const configuration: ReturnType<typeof defineConfig> = defineConfig({
  ssr: { resolve: { conditions } },
  test: {
    include: ['tests/**/*.test.ts'],
    reporters: process.env['CI'] ? ['default', './tests/closing-line.ts'] : ['default'],
    typecheck: { enabled: true, include: ['tests/**/*.test-d.ts'] },
  },
})
export default configuration
