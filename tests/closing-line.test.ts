import { afterEach, expect, test, vi } from 'vitest'
import type { TestModule } from 'vitest/node'
import ClosingLine, { type LeftOut } from './closing-line.ts'

afterEach(() => {
  vi.restoreAllMocks()
})

/** What a run prints at its end whose tests came to these states, each with the note. */
function printed(
  states: readonly string[],
  note?: string,
  options: LeftOut = {},
  faults: readonly Error[] = [],
): string {
  let output = ''
  vi.spyOn(process.stdout, 'write').mockImplementation((text) => ((output += String(text)), true))
  const tests = states.map((state, index) => ({ fullName: `suite > test ${index}`, result: () => ({ state, note }) }))
  const children = { allTests: () => tests, allSuites: () => [{ errors: () => faults }] }
  const module = { relativeModuleId: 'tests/a.test.ts', children, errors: () => [] }
  new ClosingLine(options).onTestRunEnd([module as unknown as TestModule], [])
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

test('the closing line counts a suite as failed whose tests could not begin', () => {
  expect(printed(['passed', 'skipped'], undefined, {}, [new Error('no server')])).toBe(
    '\nskipped: tests/a.test.ts > suite > test 1\n1 passed, 1 failed, 1 skipped\n',
  )
})

test('the closing line counts no test that a suite leaves out', () => {
  expect(printed(['passed', 'skipped'], 'left out: the journal has no watch')).toBe('\n1 passed, 0 failed\n')
})

test('the closing line names the file alone if many of its tests were skipped', () => {
  expect(printed(['passed', 'skipped', 'skipped', 'skipped', 'skipped'])).toBe(
    '\nskipped: tests/a.test.ts > 4 of its 5 tests\n1 passed, 0 failed, 4 skipped\n',
  )
})

test('the closing line says how many files are left to the run of all tests, and the lines before it why', () => {
  const leftOut = new Map([
    ['tests/b.test.ts', 'real browsers'],
    ['tests/c.test.ts', 'real browsers'],
    ['tests/d.test.ts', 'large files'],
  ])
  expect(printed(['passed'], undefined, { leftOut })).toBe(
    '\nleft to `npm run test:all`: real browsers (2 files)\nleft to `npm run test:all`: large files (1 file)\n1 passed, 0 failed, 3 files left out\n',
  )
})
