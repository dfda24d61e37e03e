import { isToolError } from './errors.ts'
import { escapeDeceptive } from './json/deceptive.ts'
import { isThenable, unawaited } from './json/thenable.ts'

/**
 * Returns a function that reports what belongs to no call's result. It never throws: what a reporter itself throws or rejects
 * with is dropped.
 *
 * @param report The application's reporter. Default: `console.error`. A `ToolError` is printed as one line, with deceptive
 * characters escaped; `E_INTERNAL`, `E_JOURNAL` and other values are printed whole, with stacks and causes.
 * @example
 * const report = reporterOf((error) => console.log(String(error)))
 * report(new Error('The metrics are not sent.')) // Error: The metrics are not sent.
 */
export function reporterOf<Fault = unknown>(report: (fault: Fault) => void = print): (fault: Fault) => void {
  return (fault) => {
    try {
      const done: unknown = report(fault)
      if (isThenable(done)) void unawaited(done)
    } catch {
      // a reporter that throws has nowhere to report to
    }
  }
}

function print(fault: unknown): void {
  const isLine = isToolError(fault) && fault.code !== 'E_INTERNAL' && fault.code !== 'E_JOURNAL'
  console.error(isLine ? escapeDeceptive(`${fault.code}: ${fault.message}`) : fault) // oxlint-disable-line eslint/no-console -- the documented default
}
