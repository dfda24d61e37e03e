import type { ToolDefinition } from '../../index.ts'
import { catalogueOf } from '../../kernel/run/served.ts'
import { areSameItems } from '../_lists.ts'
import type { ServerSettings } from './_settings.ts'

/**
 * Calls a listener when the tools of a session change, once for several changes at once. A change of tools that can be called,
 * and are not listed, is none for a client.
 *
 * @param session Default: that of no call.
 * @returns An unsubscribe function.
 */
export function onListChange(listener: () => void, settings: ServerSettings, session?: string): () => void {
  const { executor, caller, name } = settings
  const listed = (): readonly ToolDefinition[] => [
    ...executor.tools(caller, session),
    ...executor.tools({ app: name }, session),
  ]
  const callable = (): readonly ToolDefinition[] => catalogueOf(executor, caller, session)
  let last = { listed: listed(), callable: callable() }
  let isAwaited = false
  return executor.on('tools:changed', () => {
    if (isAwaited) return
    isAwaited = true
    queueMicrotask(() => {
      isAwaited = false
      const before = last
      last = { listed: listed(), callable: callable() }
      const isOfOthers = areSameItems(before.listed, last.listed) && !areSameItems(before.callable, last.callable)
      if (!isOfOthers) listener()
    })
  })
}
