// What stands in for handlers, and what leaves that to others.
import { ToolNoHandlerError } from '../errors.ts'
import type { Confirmed } from '../extension.ts'
import type { ToolContext, ToolDefinition } from '../index.ts'
import { internals } from '../kernel/tool/definition.ts'

/** The types of tools whose handlers run in the executor: a stand-in brings a runner for each. */
export const handlerTypes: readonly string[] = ['server', 'mcp']

/** Whether an extension of the application runs the tools of this type. A stand-in then answers as a middleware. */
export function isOwnType({ type }: ToolDefinition): boolean {
  return !handlerTypes.includes(type) && type !== 'client' && type !== 'output' && type !== 'provider'
}

/** Whether the application says that the tool changes nothing. What a server says of its own tools does not count. */
export function isHarmless({ type, traits, mcpConfig }: ToolDefinition): boolean {
  return traits.readonly && (type === 'server' || mcpConfig?.hostTraits?.readonly === true)
}

/** Runs the tool's own handler. @throws `E_TOOL_NO_HANDLER` if it has none. */
export function runOwnHandler(call: Confirmed, context: ToolContext): unknown {
  const { handler } = internals(call.tool)
  if (handler === undefined) throw new ToolNoHandlerError(`Tool "${call.tool.name}" has no handler.`)
  return handler(call.input, context)
}
