import type { ToolExecutor } from '../executor-types.ts'
import type { Policy } from '../ports.ts'

/** The key of an executor's policies, the same in all copies of the package. */
export const policiesKey: unique symbol = Symbol.for('toolwright.policies')

/** Returns the policies of an executor, in the order in which they are asked, for what serves its tools elsewhere. */
export function policiesOf(executor: ToolExecutor): readonly Policy[] {
  return (executor as { readonly [policiesKey]?: readonly Policy[] })[policiesKey] ?? []
}

/** The key under which an executor says whether its records outlive the process. */
export const durableKey: unique symbol = Symbol.for('toolwright.durable')

/** Returns whether the records of an executor outlive its process, for what promises clients that a call runs once. */
export function isDurable(executor: ToolExecutor): boolean {
  return (executor as { readonly [durableKey]?: boolean })[durableKey] === true
}
