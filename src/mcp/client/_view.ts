import { mcp } from '../../formats/mcp.ts'
import type { ToolCall, ToolResult } from '../../index.ts'
import { optionsError } from '../../extension.ts'

/** A JSON-RPC notification that an application sends to the view of an MCP app. */
export interface ViewMessage {
  readonly jsonrpc: '2.0'
  readonly method: 'ui/notifications/tool-input' | 'ui/notifications/tool-result' | 'ui/notifications/tool-cancelled'
  readonly params: Readonly<Record<string, unknown>>
}

/** The messages to one view of an MCP app. */
export interface View {
  /** The id of the view. Each call has its own view, even of the same `ui://` resource. */
  readonly view: string
  /** The messages in order. Send them after the view has said that it is initialized. */
  readonly messages: readonly ViewMessage[]
}

const viewFormat = mcp()

/**
 * Makes the messages that an application posts to the view of a tool with `ui.resourceUri`: the args as
 * `ui/notifications/tool-input`, then the result as `ui/notifications/tool-result`, or `ui/notifications/tool-cancelled` if the
 * call was denied, cancelled or timed out. A waiting call has only the first message. The second comes from the result of
 * `decide`, for the same view. The args are not masked.
 *
 * @param call The call that was given to the executor.
 * @param result The result of the call.
 * @throws `E_INVALID_CONFIGURATION` if they are something else.
 * @returns A new `view` for each call of this function, and the messages as plain JSON.
 * @example
 * ```ts
 * import { createExecutor, tool } from 'toolwright'
 * import { viewMessages } from 'toolwright/mcp/client'
 *
 * const executor = createExecutor({ tools: [tool('board', ({ month }: { month: number }) => ({ month, sales: 12 }))] })
 * const call = { name: 'board', args: { month: 5 } }
 * const { view, messages } = viewMessages(call, await executor.execute(call))
 * for (const message of messages) console.log(view, message.method) // host: frames.get(view).postMessage(message, origin)
 * ```
 * @see https://github.com/modelcontextprotocol/ext-apps/blob/main/specification/2026-01-26/apps.mdx
 * @experimental
 */
export function viewMessages(call: ToolCall, result: ToolResult): View {
  if (typeof call?.name !== 'string' || typeof result?.status !== 'string') {
    throw optionsError('viewMessages', 'takes a call and its result: viewMessages(call, await executor.execute(call))')
  }
  const args = objectArgs(call.args)
  const messages = [message('tool-input', args === undefined ? {} : { arguments: args })]
  if (['denied', 'cancelled', 'timed_out'].includes(result.status)) {
    messages.push(message('tool-cancelled', { reason: result.status }))
  } else if (result.status !== 'waiting') {
    messages.push(message('tool-result', { ...viewFormat.results([result], { method: 'tools/call' }) }))
  }
  return { view: crypto.randomUUID(), messages }
}

function message(name: 'tool-input' | 'tool-result' | 'tool-cancelled', params: ViewMessage['params']): ViewMessage {
  return { jsonrpc: '2.0', method: `ui/notifications/${name}`, params }
}

/** Copies args that are an object, given as a value or as JSON text. Returns `undefined` for others, which no call accepts. */
function objectArgs(args: unknown): unknown {
  try {
    const text = typeof args === 'string' ? args.trim() || '{}' : JSON.stringify(args ?? {})
    const value: unknown = JSON.parse(text)
    return typeof value === 'object' && value !== null && !Array.isArray(value) ? value : undefined
  } catch {
    return undefined
  }
}
