import type { ContentBlock, SpooledArtifact, ToolDefinition, ToolResult } from '../index.ts'
import type { CallingProgram } from '../extension.ts'
import { read, text, type Fields } from './_read.ts'

/**
 * Returns the program that a message names as the caller of a call, if it is not the model itself: for `toolCall`.
 *
 * @param caller What the message says of the caller: an object with a `type`, or nothing.
 * @param idName The field of it that has the program's id.
 * @example
 * ```ts
 * import { programOf } from 'toolwright/formats/kit'
 *
 * const program = programOf({ type: 'script', script_id: 'run_1' }, 'script_id') // { type: 'script', id: 'run_1' }
 * ```
 * @experimental
 */
export function programOf(caller: unknown, idName: string): CallingProgram | undefined {
  const type = text(read(caller, 'type'))
  if (type === '' || type === 'direct') return undefined
  const id = read(caller, idName)
  return { type, ...(typeof id === 'string' ? { id } : undefined) }
}

/**
 * Returns the callers of a tool in the words of an API, or nothing if the tool does not name them: for `reach` of `definer`.
 *
 * @param model The API's word for the model.
 * @param program The API's word for a program that the provider runs.
 * @example
 * ```ts
 * import type { ToolDefinition } from 'toolwright'
 * import { callersOf } from 'toolwright/formats/kit'
 *
 * const reach = (tool: ToolDefinition): object => ({ callable_by: callersOf(tool, 'model', 'script') })
 * ```
 * @experimental
 */
export function callersOf({ allowedCallers }: ToolDefinition, model: string, program: string): string[] | undefined {
  return allowedCallers?.map((caller) => (caller === 'model' ? model : program))
}

/** Returns the names of the options that an API without programs and tool search cannot take. */
export function reachOf({ allowedCallers, deferLoading }: ToolDefinition): string[] {
  const isForPrograms = allowedCallers !== undefined && allowedCallers.join() !== 'model'
  return [...(isForPrograms ? ['allowedCallers'] : []), ...(deferLoading === true ? ['deferLoading'] : [])]
}

/** Returns the fields that are not `undefined`. */
export function definedFields(fields: Fields): Fields | undefined {
  const entries = Object.entries(fields).filter(([, value]) => value !== undefined)
  return entries.length === 0 ? undefined : Object.fromEntries(entries)
}

/**
 * Returns a result for the program that made the call: the whole value as JSON text, or an error as JSON text. A program
 * would take a preview or a note for the value.
 *
 * @param words Returns a block as text: `wordsOf`.
 * @param limit Bytes of JSON text. Default: 1,048,576.
 * @example
 * ```ts
 * import type { ToolCall, ToolResult } from 'toolwright'
 * import { answers, programText, renderText } from 'toolwright/formats/kit'
 *
 * const textsOf = (results: readonly ToolResult[], calls: readonly ToolCall[]): string[] =>
 *   answers(results, {}, calls, undefined, programText).map(({ result, whole }) => whole ?? renderText(result, {}))
 * ```
 * @experimental
 */
export function programText(result: ToolResult, words: (block: ContentBlock) => string, limit = 1_048_576): string {
  const { status, content, error, handle, toolName } = result
  if (status !== 'ok') {
    const { code, retryable, recommendations } = error ?? {}
    const message = content.map(words).join('\n')
    return JSON.stringify({ error: { status, code, message, retryable, recommendations } })
  }
  const json = wholeJson(result, words)
  if (json !== undefined && jsonBytes(json) <= limit) return json
  const message = `The tool ran, but its result${sizeOf(result)} is too large, or not JSON, so ${toolName} gave a program nothing. Ask for less.`
  return JSON.stringify({
    error: { status: 'error', code: 'E_INVALID_TOOL_RESULT', message, retryable: false, handle },
  })
}

/** Returns the whole value as JSON text, or `undefined` if the content may be a preview or a note. */
function wholeJson(result: ToolResult, words: (block: ContentBlock) => string): string | undefined {
  const { content, handle, artifact } = result
  if (content.length === 1 && content[0]?.type === 'json') return words(content[0])
  if (!content.every(({ type }) => type === 'text')) return undefined
  // The executor was not told of the program, or the application made the result.
  const contentText = content.map(words).join('\n')
  const isWhole = artifact === undefined ? handle === undefined : artifactLength(artifact) === jsonBytes(contentText)
  return isWhole ? JSON.stringify(contentText) : undefined
}

function sizeOf({ artifact }: ToolResult): string {
  const length = artifact && artifactLength(artifact)
  return length === undefined ? '' : ` of ${length.toLocaleString('en')} bytes of ${artifact?.mediaType}`
}

function artifactLength(artifact: SpooledArtifact): number | undefined {
  try {
    return artifact.byteLength()
  } catch {
    return undefined // a handler's own class may throw
  }
}

function jsonBytes(json: string): number {
  return new TextEncoder().encode(json).byteLength
}
