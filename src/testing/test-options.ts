import type { Extension, ExecutorOptions } from '../index.ts'
import { partOf, requireExecutorOptions } from './_parts.ts'

/** The extension points of which an executor has one. */
const singlePoints: readonly (keyof Extension)[] = ['approver', 'store', 'records', 'elsewhere']

/**
 * Returns options of an executor with further extensions, which replace what there can be one of: the approver, the store, the
 * journal, the fleet, and the runner of a type of tools.
 *
 * @param options The options of the application's executor. They are not changed.
 * @param use The extensions, such as fakes or a tape. They come last, next to the handlers.
 * @throws `E_INVALID_CONFIGURATION` if `options` are none.
 * @example
 * ```ts
 * import { createExecutor, type ExecutorOptions, tool } from 'toolwright'
 * import { fakeTools, testOptions } from 'toolwright/testing'
 *
 * // The options of the application, with a runner of its own.
 * const options: ExecutorOptions = {
 *   tools: [tool('now', () => '12:00')],
 *   use: [{ runners: [{ type: 'server', run: () => 'on another machine' }] }],
 * }
 *
 * const executor = createExecutor(testOptions(options, fakeTools({ now: { result: '09:00' } })))
 * const { content } = await executor.execute({ name: 'now' })
 * console.log(content) // [ { type: 'text', text: '09:00' } ]
 * ```
 * @experimental
 */
export function testOptions(options: ExecutorOptions, ...use: readonly Extension[]): ExecutorOptions {
  requireExecutorOptions('testOptions', options)
  const replaced = singlePoints.filter((point) => use.some((extension) => extension[point] !== undefined))
  const types = new Set(use.flatMap(({ runners = [] }) => runners.map(({ type }) => type)))
  const extensions = (options.use ?? []).map((extension) => withoutRunners(extension, types, replaced))
  return { ...options, use: [...extensions, ...use] }
}

/** The extension itself, if nothing of it is replaced. */
function withoutRunners(extension: Extension, types: ReadonlySet<string>, replaced: readonly string[]): Extension {
  const runners = extension.runners?.filter(({ type }) => !types.has(type))
  const isWhole = runners?.length === extension.runners?.length && !replaced.some((point) => point in extension)
  if (isWhole) return extension
  return {
    ...partOf(extension, (member) => member === 'runners' || replaced.includes(member)),
    ...(runners && { runners }),
  }
}
