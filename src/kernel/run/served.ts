import type { ToolExecutor } from '../executor-types.ts'
import type { Caller } from '../call/context-types.ts'
import type { Policy } from '../ports.ts'
import type { ToolDefinition } from '../tool/definition.ts'
import { catalogueIn } from '../tool/kept-lists.ts'
import type { ToolRegistry } from '../tool/registry.ts'

// The keys are the same in all copies of the package.
const policiesKey: unique symbol = Symbol.for('toolwright.policies')
const durableKey: unique symbol = Symbol.for('toolwright.durable')
const catalogueKey: unique symbol = Symbol.for('toolwright.catalogue')

type Catalogue = (caller?: Caller, session?: string) => readonly ToolDefinition[]

/** What an executor serves beside its methods. */
interface ServedParts {
  readonly policies: readonly Policy[]
  readonly recorder: { readonly isDurable: boolean } | undefined
  readonly registryFor: (session: string) => ToolRegistry
}

export function putServed(executor: ToolExecutor, { policies, recorder, registryFor }: ServedParts): void {
  const catalogue: Catalogue = (caller, session = '') => catalogueIn(registryFor(session), caller)
  const served = { [policiesKey]: policies, [durableKey]: recorder?.isDurable === true, [catalogueKey]: catalogue }
  Object.assign(executor, served)
}

/**
 * Returns the policies of an executor, in the order in which they are asked, for what serves its tools elsewhere.
 * @example console.log(policiesOf(executor).map(({ name }) => name)) // such as ['permissions', 'budget']
 */
export function policiesOf(executor: ToolExecutor): readonly Policy[] {
  return (executor as { readonly [policiesKey]?: readonly Policy[] })[policiesKey] ?? []
}

/** Returns whether the records of an executor outlive its process, for what promises clients that a call runs once. */
export function isDurable(executor: ToolExecutor): boolean {
  return (executor as { readonly [durableKey]?: boolean })[durableKey] === true
}

/**
 * Returns all tools of an executor that a caller may call, also those that it is not shown, and those that cannot be described.
 * The array is the same until they change.
 *
 * @param caller Default: every caller.
 * @param session Default: that of no call.
 * @example
 * ```ts
 * import { createExecutor, tool } from 'toolwright'
 * import { catalogueOf } from 'toolwright/extension'
 *
 * const executor = createExecutor({ tools: [tool('now', () => '12:00')], use: [{ offers: () => false }] })
 * console.log(executor.tools().length, catalogueOf(executor).length) // 0 1
 * ```
 */
export function catalogueOf(executor: ToolExecutor, caller?: Caller, session?: string): readonly ToolDefinition[] {
  const catalogue = (executor as { readonly [catalogueKey]?: Catalogue })[catalogueKey]
  return catalogue === undefined ? executor.tools(caller, session) : catalogue(caller, session)
}
