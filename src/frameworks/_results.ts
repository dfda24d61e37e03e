import { computeCallId, parseJson, type ToolCall, type ToolContext, type ToolResult } from '../index.ts'
import { ApprovalInvalidError, isToolError, type ToolError } from '../errors.ts'
import type { PersonAnswer, FrameworkResult } from './_options.ts'

/** Returns the JSON of a result without its duration, which is another each time. */
export function resultJson(result: ToolResult): FrameworkResult {
  const { durationMs: _durationMs, ...rest } = result
  return JSON.parse(JSON.stringify(rest)) as FrameworkResult
}

/** Returns the `callId` of a call. `undefined` if the args have no canonical form. */
export function callIdFor(name: string, args: unknown): string | undefined {
  try {
    return computeCallId(name, typeof args === 'string' ? textArgs(args) : (args ?? {}))
  } catch {
    return undefined // it has no canonical form, so it is another call
  }
}

/** Returns the id of a handler's call: the provider's own, else ours. */
export function toolCallIdOf(context: ToolContext): string {
  const { toolUse } = context as ToolContext & { readonly toolUse: { readonly toolUseId: string | number | undefined } }
  return String(toolUse.toolUseId ?? context.invocationId)
}

/** Reads args as the executor does: no text is no args. */
function textArgs(text: string): unknown {
  return text.trim() === '' ? {} : parseJson(text)
}

/** Makes the error of an answer to a question that was not asked. */
export function notAsked({ name }: ToolCall): ApprovalInvalidError {
  return new ApprovalInvalidError(
    `No person was asked about this call of ${JSON.stringify(name.slice(0, 256))}, so it was not run. Make the call anew, and ask.`,
  )
}

/** Returns the words of a denial, for the model. */
export function deniedWords({ note }: PersonAnswer): string {
  return `Permission denied by user${note === undefined ? '' : `: ${note}`}`
}

/** Makes the result of a call that could not be begun or gone on with. */
export function failedCall(call: ToolCall, invocationId: string | undefined, thrown: unknown): ToolResult {
  const error: ToolError | undefined = isToolError(thrown) ? thrown : undefined
  const status = error?.code === 'E_TOOL_DENIED' || error?.code === 'E_APPROVAL_EXPIRED' ? 'denied' : 'error'
  return {
    ...(call.id !== undefined && { id: call.id }),
    invocationId: invocationId ?? '',
    callId: callIdFor(call.name, call.args) ?? null,
    toolName: call.name,
    status,
    effect: 'none',
    isError: true,
    content: [{ type: 'text', text: error?.message ?? 'The call could not be run.' }],
    ...(error && { error }),
    durationMs: 0,
  }
}
