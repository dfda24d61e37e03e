import { expect, test } from 'vitest'
import { timerLength } from 'toolwright/extension'

test.each([
  [Infinity, 2_147_483_647],
  [2_147_483_648, 2_147_483_647],
  [2_147_483_647, 2_147_483_647],
  [1.5, 1.5],
  [-1, 0],
])('a wait of %d ms takes a timer of %d ms', (wait, length) => {
  expect(timerLength(wait)).toBe(length)
})

test('the longest wait is one that a timer can take', () => {
  const warnings: unknown[] = []
  const hear = (warning: Error): void => void warnings.push(warning.name)
  process.on('warning', hear)
  clearTimeout(setTimeout(() => {}, timerLength(Infinity)))
  return new Promise<void>((resolve) => setImmediate(resolve)).then(() => {
    process.off('warning', hear)
    expect(warnings).not.toContain('TimeoutOverflowWarning')
  })
})
