import { afterEach, expect, test, vi } from 'vitest'
import type { TestModule } from 'vitest/node'
import ClosingLine from './closing-line.ts'

afterEach(() => {
  vi.restoreAllMocks()
})

/** What a run prints at its end whose tests came to these states, each with the note. */
function printed(states: readonly string[], note?: string): string {
  let output = ''
  vi.spyOn(process.stdout, 'write').mockImplementation((text) => ((output += String(text)), true))
  const tests = states.map((state, index) => ({ fullName: `suite > test ${index}`, result: () => ({ state, note }) }))
  const module = { relativeModuleId: 'tests/a.test.ts', children: { allTests: () => tests }, errors: () => [] }
  new ClosingLine().onTestRunEnd([module as unknown as TestModule], [])
  vi.restoreAllMocks()
  return output
}

test('the closing line says how many tests passed and failed, alone', () => {
  expect(printed(['passed', 'failed', 'passed'])).toBe('\n2 passed, 1 failed\n')
})

test('the closing line says how many tests were skipped, and the lines before it which', () => {
  expect(printed(['passed', 'skipped', 'pending'])).toBe(
    '\nskipped: tests/a.test.ts > suite > test 1\nskipped: tests/a.test.ts > suite > test 2\n1 passed, 0 failed, 2 skipped\n',
  )
})

test('the closing line counts no test that a suite leaves out', () => {
  expect(printed(['passed', 'skipped'], 'left out: the journal has no watch')).toBe('\n1 passed, 0 failed\n')
})
