/** The error of a check of a test, as runners of tests show it. */
export class CheckError extends Error {
  readonly code = 'ERR_ASSERTION'
  readonly expected: unknown
  readonly actual: unknown

  constructor(message: string, values: { readonly expected?: unknown; readonly actual?: unknown } = {}) {
    super(message)
    Object.defineProperty(this, 'name', { value: 'AssertionError', configurable: true, writable: true })
    this.expected = values.expected
    this.actual = values.actual
  }
}

/** Throws all that a test has not met, at once. Does nothing if that is nothing. */
export function requireNone(heading: string, faults: readonly string[]): void {
  if (faults.length === 0) return
  throw new CheckError(`${heading}\n${faults.map((fault) => `- ${fault.replaceAll('\n', '\n  ')}`).join('\n')}`, {
    expected: [],
    actual: faults,
  })
}
