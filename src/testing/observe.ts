import { InvalidConfigurationError } from '../errors.ts'
import { catalogueOf } from '../extension.ts'
import type { Extension, ToolExecutor } from '../index.ts'
import { keepLog, keptLog, withCallLog, type CallLog } from './_log.ts'

export type { CallLog, ObservedCall } from './_log.ts'

/**
 * Logs what an executor calls from now on. The matchers then take the executor, or the log.
 *
 * @param executor The executor. If it is observed already, that log is returned.
 * @throws `E_INVALID_CONFIGURATION` if it is no executor.
 * @example
 * ```ts
 * import { createExecutor, tool } from 'toolwright'
 * import { observe } from 'toolwright/testing'
 *
 * const executor = createExecutor({ tools: [tool('now', () => '12:00')] })
 * const { calls } = observe(executor)
 * await executor.execute({ name: 'now' })
 * // calls[0] has { tool: 'now', args: {}, status: 'ok', effect: 'completed', … }
 * ```
 * @experimental
 */
export function observe(executor: ToolExecutor): CallLog {
  const present = keptLog(executor)
  if (present?.isOpen === true) return present
  if (typeof executor !== 'object' || executor === null || typeof executor.on !== 'function') {
    throw new InvalidConfigurationError('observe takes an executor: observe(createExecutor({ tools })).')
  }
  const log = keepLog(executor)
  log.toolsOf = (session) => catalogueOf(executor, undefined, session).map(({ name }) => name)
  log.undo = executor.on('*', log.take)
  return log
}

/**
 * Makes a log that is an extension, for an executor that is made elsewhere. The matchers take the log.
 *
 * @throws `E_INVALID_CONFIGURATION` if it is given something.
 * @example
 * ```ts
 * import { createExecutor, type Extension, tool } from 'toolwright'
 * import { callLog } from 'toolwright/testing'
 *
 * // A function of the application, which takes further extensions.
 * const make = (use: Extension[]) => createExecutor({ tools: [tool('now', () => '12:00')], use })
 *
 * const log = callLog()
 * await make([log]).execute({ name: 'now' })
 * // log.calls[0] has { tool: 'now', args: {}, status: 'ok', effect: 'completed', … }
 * ```
 * @experimental
 */
export function callLog(...none: readonly never[]): Extension & CallLog {
  if (none.length > 0) {
    throw new InvalidConfigurationError(
      'callLog takes nothing, and logs the executors that have it in `use`. For an executor that is there, call observe(executor).',
    )
  }
  return withCallLog<Extension>({})
}
