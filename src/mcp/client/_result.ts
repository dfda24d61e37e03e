import {
  ProtocolError,
  SdkError,
  SdkErrorCode,
  SdkHttpError,
  UnauthorizedError,
  type CallToolResult,
} from '@modelcontextprotocol/client'
import { canonicalize, content, json, shown, type ContentBlock } from '../../index.ts'
import { ToolDownstreamError, type ErrorCategory, ToolFailure } from '../../errors.ts'
import { refusedPortAdvice, type TextBlock } from '../../extension.ts'
import { quotedName, errorLine } from './_text.ts'
import { lostStream, outages } from './_watch.ts'

/**
 * Converts a server's result to a handler's result. If the structured content only wraps the result's one text, that text is
 * the result, and the wrapper is only checked.
 *
 * @throws {ToolFailure} If the server says that the tool failed.
 */
export function handlerResult(result: CallToolResult, outputSchema: unknown): unknown {
  const { structuredContent, isError } = result
  const blocks = (result.content ?? []).map(mcpBlock)
  if (isError === true)
    throw new ToolFailure(blocks.map(mcpBlockWords).join('\n') || 'The tool failed and did not say why.')
  if (structuredContent === undefined) return blocks.length === 0 ? undefined : content(blocks)
  const canonical = canonicalOf(structuredContent) // made once, since the result may have many blocks
  const sole = soleTextOf(structuredContent)
  const [only, other] = blocks
  const isWrapper = only?.type === 'text' && other === undefined && only.text === sole && isWrapperSchema(outputSchema)
  if (isWrapper) return shown(blocks, structuredContent)
  const others = blocks.filter(
    (block) => block.type !== 'text' || (block.text !== sole && !repeatsContent(block, canonical)),
  )
  if (others.length === 0) return json(structuredContent)
  return shown([...others, { type: 'json', data: structuredContent }], structuredContent)
}

/** Returns a block with only the fields that its type defines. */
function mcpBlock(block: CallToolResult['content'][number]): ContentBlock {
  switch (block.type) {
    case 'text':
      return { type: 'text', text: block.text }
    case 'image':
    case 'audio':
      return { type: block.type, data: block.data, mimeType: block.mimeType }
    case 'resource': {
      const { uri, mimeType, text, blob } = block.resource as {
        uri: string
        mimeType?: string
        text?: string
        blob?: string
      }
      return { type: 'resource', resource: presentFields({ uri, mimeType, text, blob }) }
    }
    case 'resource_link': {
      const { uri, name, title, description, mimeType, size } = block as typeof block & { readonly size?: number }
      return { type: 'resource_link', ...presentFields({ uri, name, title, description, mimeType, size }) }
    }
    default:
      return { type: 'json', data: block }
  }
}

function presentFields<Fields extends object>(
  fields: Fields,
): { [Field in keyof Fields]: Exclude<Fields[Field], undefined> } {
  return Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined)) as never
}

function mcpBlockWords(block: ContentBlock): string {
  if (block.type === 'text') return block.text
  return block.type === 'resource' && block.resource.text !== undefined ? block.resource.text : `(${block.type})`
}

/** Returns the text of structured content that has one text and nothing else, as in `{ "content": "…" }`. */
function soleTextOf(structured: unknown): string | undefined {
  const members: unknown[] = Object.values(structured ?? {})
  return members.length === 1 && typeof members[0] === 'string' ? members[0] : undefined
}

/** Returns whether a text says all that fits a schema: there is none, or it has one member. */
function isWrapperSchema(schema: unknown): boolean {
  if (schema === undefined) return true
  const { properties } = schema as { readonly properties?: unknown }
  return Object.keys(Object(properties)).length === 1
}

/** Returns whether a text repeats the structured content, which servers do for older clients. */
function repeatsContent({ text }: TextBlock, canonical: string | undefined): boolean {
  if (canonical === undefined || !/^\s*[[{"\d\-tfn]/.test(text)) return false
  try {
    return canonicalOf(JSON.parse(text)) === canonical
  } catch {
    return false
  }
}

function canonicalOf(value: unknown): string | undefined {
  try {
    return canonicalize(value)
  } catch {
    return undefined
  }
}

/** What a failed request has lost. */
export type Loss = 'connection' | 'stream' | undefined

/** Returns whether a request failed because the connection is lost, or only its own stream. */
export function connectionLoss(error: unknown): Loss {
  if (error instanceof ProtocolError) return error.data === lostStream ? 'stream' : undefined
  if (error instanceof SdkHttpError) return error.status === 404 ? 'connection' : undefined
  if (error instanceof SdkError) return lostCodes.has(error.code) ? 'connection' : undefined
  if (isOutage(error)) return 'connection'
  return error instanceof Error && error.message === 'Not connected' ? 'connection' : undefined
}

/** Returns whether it is what `fetch` throws if the server cannot be reached, or its answer breaks off. */
export function isOutage(error: unknown): boolean {
  if (!(error instanceof TypeError)) return false
  return outages.has(error) || typeof (error.cause as { readonly code?: unknown } | undefined)?.code === 'string'
}

const lostCodes = new Set<SdkErrorCode>([
  SdkErrorCode.ConnectionClosed,
  SdkErrorCode.NotConnected,
  SdkErrorCode.SendFailed,
])

/** Makes the error of a failed request. The server's own words are shortened. */
export function requestFailure(error: unknown, server: string, doing: string): ToolDownstreamError {
  const loss = connectionLoss(error)
  const which = `The MCP server ${quotedName(server)}`
  const words =
    loss === undefined
      ? `${which} failed while ${doing}: ${errorLine(error)}.`
      : `The connection to ${which.slice(4)} was lost while ${doing}, and it is unknown whether the call had an effect.`
  return downstreamError(error, words)
}

/** What is known of the program of a server. */
export interface ProgramState {
  /** The end of its standard error. */
  readonly wrote: string
  /** How it ended, such as `with exit code 3`, if it did. */
  readonly ended?: string | undefined
}

/** Makes the error of a failed connection. */
export function unreachable(error: unknown, server: string, { wrote, ended }: ProgramState): ToolDownstreamError {
  const last = wrote === '' ? '' : ` It wrote ${quotedName(wrote)}.`
  const why =
    ended === undefined
      ? `${errorLine(error)}${causeWords(error)}.${last}`
      : `its program ended ${ended} before it answered.${last} Run \`command\` with \`args\` and \`env\` in a terminal: a server goes on and waits for input.`
  const words = `The MCP server ${quotedName(server)} cannot be reached: ${why}`
  return downstreamError(error, words, ended === undefined ? undefined : 'connection')
}

/** Returns what is behind an error, in brackets: `fetch` and the SDK say that they failed, and only the last cause says why. */
function causeWords(error: unknown): string {
  let last = error
  for (let depth = 0; depth < 8 && last instanceof Error && last.cause instanceof Error; depth++) last = last.cause
  const missing = programAdvice(last)
  if (missing !== undefined) return ` (${missing})`
  if (last === error || !(last instanceof Error)) return ''
  const { code } = last as { readonly code?: unknown }
  const advice = refusedPortAdvice(last)
  if (advice !== undefined) return ` (${advice})`
  return ` (${errorLine(last.message === '' && typeof code === 'string' ? code : last)})` // several addresses have no message
}

/** Says what to do about a program that is not there. A name with a space is mostly a whole command line. */
function programAdvice(error: unknown): string | undefined {
  if (!(error instanceof Error)) return undefined
  const { code, syscall, path } = error as {
    readonly code?: unknown
    readonly syscall?: unknown
    readonly path?: unknown
  }
  if (code !== 'ENOENT' || typeof path !== 'string' || !String(syscall).startsWith('spawn')) return undefined
  return /\s/.test(path)
    ? '`command` is the name of a program alone: its arguments go into `args`'
    : 'there is no such program, or no such `cwd`'
}

function downstreamError(cause: unknown, message: string, known?: Loss): ToolDownstreamError {
  const loss = known ?? connectionLoss(cause) ?? connectionLoss((cause as { readonly cause?: unknown } | null)?.cause)
  const isBusy = cause instanceof SdkHttpError && (cause.status === 429 || cause.status >= 500)
  return new ToolDownstreamError(message, {
    cause,
    category: lossCategory(cause, loss),
    retryable: loss !== undefined || isBusy,
  })
}

function lossCategory(error: unknown, loss: Loss): ErrorCategory {
  if (loss !== undefined) return 'network'
  if (error instanceof UnauthorizedError) return 'auth'
  if (error instanceof SdkHttpError) {
    if (error.status === 401 || error.status === 403) return 'auth'
    if (error.status === 429) return 'rate_limit'
    return error.status >= 500 ? 'network' : 'application'
  }
  return error instanceof SdkError && error.code === SdkErrorCode.RequestTimeout ? 'timeout' : 'application'
}
