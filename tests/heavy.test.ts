import { readFileSync } from 'node:fs'
import { globSync } from 'tinyglobby'
import { describe, expect, it } from 'vitest'
import configuration from '../vitest.config.ts'
import { heavy } from './heavy.ts'

const { scripts } = JSON.parse(readFileSync('package.json', 'utf8')) as { scripts: Readonly<Record<string, string>> }

/** The test files that a run in a mode has. */
function filesOf(mode: string): string[] {
  const { include = [], exclude = ['**/node_modules/**'] } = configuration({ mode, command: 'serve' }).test ?? {}
  return globSync(include, { ignore: exclude }).toSorted()
}

describe('the two runs of tests', () => {
  const [all, fast] = [filesOf('test'), filesOf('fast')]

  it('are `npm test`, which is fast, and `npm run test:all`, which the gate runs', () => {
    expect(scripts).toMatchObject({ test: 'vitest run --mode fast', 'test:all': 'vitest run' })
    expect(readFileSync('.ci/run', 'utf8')).toMatch(/^npm run test:all\b/m)
  })

  it('have every test file: the fast one those that are not heavy, and the other all', () => {
    expect(all).toEqual(globSync('tests/**/*.test.ts', { ignore: '**/node_modules/**' }).toSorted())
    expect([...fast, ...heavy.keys()].toSorted()).toEqual(all)
  })

  it('try fewer values of random tests in the fast one alone', () => {
    expect(configuration({ mode: 'test', command: 'serve' }).test?.env?.['FUZZ_RUNS']).toBeUndefined()
    expect(Number(configuration({ mode: 'fast', command: 'serve' }).test?.env?.['FUZZ_RUNS'])).toBeGreaterThan(0)
  })

  it.each([...heavy])('%s is left to the run of all tests for a reason: %s', (file, reason) => {
    expect(all).toContain(file)
    expect(reason).toMatch(/^[a-z][\w,’' -]{10,}$/)
  })
})
