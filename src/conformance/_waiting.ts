import { beforeEach } from 'vitest'

/**
 * Returns how long the tests of a suite wait for what they expect: less than vitest gives them, which would say that the time is
 * over, and not what was missing. Call it where the tests are described.
 *
 * @param longest The most milliseconds.
 * @param interval How long they wait between two looks, in milliseconds.
 */
export function waitOptions(
  longest: number,
  interval: number,
): { readonly timeout: number; readonly interval: number } {
  const options = { timeout: longest, interval }
  beforeEach(({ task: { timeout } }) => {
    options.timeout = timeout > 0 ? Math.min(longest, timeout * 0.8) : longest
  })
  return options
}
