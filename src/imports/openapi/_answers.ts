import { bytes, json, shown, ToolFailure, type ContentBlock } from '../../index.ts'
import { beforeAbort } from '../_minted.ts'
import { isJsonType } from './_bodies.ts'
import { documentLine, documentText, isNode, memberOf, textMember } from './_document.ts'
import {
  connectionFailure,
  effectDetail,
  refusesByStatus,
  statusFailure,
  type FailedOperation,
  type KnownEffect,
} from './_failures.ts'
import type { CredentialMask } from './_mask.ts'
import { BodyReader, dropBody } from './_network.ts'
import { isSafe, type FoundOperation } from './_operations.ts'
import type { ApiSource } from './_source.ts'

/** What is done with the answers of an operation. */
export interface AnswerPlan {
  readonly found: FoundOperation
  readonly source: ApiSource
  readonly operation: FailedOperation
  /** Returns the names of the headers that a model is told with a status. */
  readonly shownHeaders: (status: number) => readonly string[]
  /** Compares a value with the schema of its answer, and reports what does not fit. Missing if nothing is compared. */
  readonly compare: ((status: number, value: unknown) => Promise<void>) | undefined
}

/** The body that a call is reading. */
export interface OpenBody {
  reader: BodyReader | undefined
}

/** An answer, and what it is read with. */
export interface ReceivedAnswer {
  readonly response: Response
  readonly plan: AnswerPlan
  readonly mask: CredentialMask
  readonly signal: AbortSignal
  /** The body that is being read, which the abort of the call ends. */
  readonly open: OpenBody
  /** What is known of the effect, whatever comes: a redirect after a POST says that it was done. */
  readonly effect: KnownEffect
}

const longestHeader = 1_000
const longestHeaders = 4_096
/** Up to this length the model reads a value beside its headers as it is. */
const longestBeside = 8_192
const textMediaType =
  /^(?:text\/|application\/(?:x-)?(?:ndjson|jsonl|xml|yaml|javascript|x-www-form-urlencoded)\b|[\w./-]+\+(?:xml|yaml)\b)/i

/** Returns the result of an answer. @throws `ToolFailure` if the status is not one of success. */
export async function resultOfAnswer(answer: ReceivedAnswer): Promise<unknown> {
  const { response, plan, mask, effect } = answer
  const { status } = response
  if (status === 304) {
    dropBody(response)
    return withHeaders('304 Not Modified', answer)
  }
  if (!response.ok) throw await answerFailure(answer)
  const mediaType = contentTypeOf(response)
  if (status === 204 || status === 205 || plan.operation.method === 'HEAD' || response.body === null) {
    dropBody(response)
    return withHeaders(emptyWords(answer), answer)
  }
  if (!isReadAsText(mediaType)) {
    const pieces = mask.stream(wholePieces(answer, response.body))
    return bytes(pieces, { mediaType: documentText(mask.text(mediaType).slice(0, 200)) })
  }
  const text = await answerText(answer, mediaType)
  if (text === '') return withHeaders(emptyWords(answer), answer)
  const { settings, note } = plan.source
  const isJson = isJsonType(mediaType)
  const value = isJson || mediaType === '' ? parsedJson(text, mask) : undefined
  if (value === undefined && isJson) note(plan.found.operation.key, `answered ${status} with text that is not JSON`)
  const body = value === undefined ? text : value.value
  const why = settings.failed?.({ status, headers: response.headers, body })
  if (why !== undefined) {
    const details = effectDetail(refuses(answer) ? 'none' : effect)
    throw new ToolFailure(mask.text(String(why)), { category: 'application', ...details })
  }
  if (value === undefined) return withHeaders(text, answer)
  await plan.compare?.(status, value.value)
  return withHeaders(json(value.value), answer, value)
}

function refuses({ response: { status }, plan: { found, source } }: ReceivedAnswer): boolean {
  return source.settings.refuses?.(status, found.operation) ?? refusesByStatus(status)
}

function emptyWords(answer: ReceivedAnswer): string {
  return answer.response.status === 204 ? '204 No Content' : `${statusWords(answer)} (no content)`
}

/** Returns the status in the words of the server, which may say anything. */
function statusWords({ response: { status, statusText }, mask }: ReceivedAnswer): string {
  return `${status} ${documentLine(mask.text(textOfHeader(statusText)), 100)}`.trim()
}

/** Reads an answer of text without credentials. A stream of events ends with the limit, and is what came until then. */
async function answerText(answer: ReceivedAnswer, mediaType: string): Promise<string> {
  const { plan, mask } = answer
  const { text, thrown } = await startOfAnswer(answer, mediaType, plan.source.settings.limits.response)
  if (thrown === undefined) return mask.text(text)
  if (thrown === tooLong && /^text\/event-stream\b/i.test(mediaType)) return mask.cutText(text)
  throw partialFailure(thrown, plan, 'response')
}

/** Reads an answer of bytes. What is thrown has our words: those of `fetch` may have the address. */
async function* wholePieces(
  { plan, signal }: ReceivedAnswer,
  body: ReadableStream<Uint8Array>,
): AsyncGenerator<Uint8Array, void, undefined> {
  const reader = new BodyReader(body, plan.source.settings.limits.binary, tooLong)
  let isWhole = false
  try {
    for (let piece; (piece = reader.piece(await beforeAbort(reader.read(), signal))) !== undefined;) yield piece
    isWhole = true
  } catch (thrown) {
    if (signal.aborted) throw signal.reason
    throw partialFailure(thrown, plan, 'binary')
  } finally {
    if (!isWhole) reader.drop()
  }
}

/** Makes the failure of an answer of success that was not read to its end. */
function partialFailure(thrown: unknown, { operation, source }: AnswerPlan, limit: 'response' | 'binary'): ToolFailure {
  const effect = isSafe(operation.method) ? 'none' : 'completed'
  const most = source.settings.limits[limit].toLocaleString('en')
  if (thrown === tooLong)
    return new ToolFailure(`The answer has more than ${most} bytes, and was not read to its end.`, { effect })
  const { message, retryable } = connectionFailure(thrown, operation)
  return new ToolFailure(message, { category: 'network', retryable, effect })
}

/** Stands for an answer that is longer than what is read of it. */
const tooLong = new Error()

/** Returns the text of an answer until its end, the limit or a break, and what was thrown then. */
async function startOfAnswer(
  { response, signal, open }: ReceivedAnswer,
  mediaType: string,
  most: number,
): Promise<{ readonly text: string; readonly thrown?: unknown }> {
  if (response.body === null) return { text: '' }
  const reader = new BodyReader(response.body, most, tooLong)
  open.reader = reader
  const decoder = decoderOf(mediaType)
  let text = ''
  let last: Uint8Array | undefined
  let thrown: unknown
  try {
    for (let piece; (piece = reader.piece(await reader.read())) !== undefined; last = piece) {
      if (last !== undefined) text += decoder.decode(last, { stream: true })
    }
  } catch (error) {
    reader.drop()
    thrown = error
  }
  if (signal.aborted) throw signal.reason
  // Most bodies are one piece, which is decoded at once.
  return { text: text + decoder.decode(last, { stream: thrown !== undefined }), thrown }
}

function contentTypeOf({ headers }: Response): string {
  return headers.get('content-type') ?? ''
}

function isReadAsText(mediaType: string): boolean {
  return mediaType === '' || isJsonType(mediaType) || textMediaType.test(mediaType)
}

function decoderOf(mediaType: string): InstanceType<typeof TextDecoder> {
  const [, charset = 'utf-8'] = /;\s*charset="?([\w-]{1,40})"?/i.exec(mediaType) ?? []
  try {
    return new TextDecoder(charset)
  } catch {
    return new TextDecoder()
  }
}

/** Parses JSON without credentials. Those that the text has in escapes show only in the value. */
function parsedJson(text: string, mask: CredentialMask): { readonly value: unknown } | undefined {
  try {
    const value: unknown = JSON.parse(text)
    return { value: text.includes('\\') ? mask.value(value) : value }
  } catch {
    return undefined
  }
}

/** Returns a result with the headers of the answer that a model may need, such as the address of the next page. */
function withHeaders(
  result: unknown,
  { response: { status, headers }, plan, mask }: ReceivedAnswer,
  parsed?: { readonly value: unknown },
): unknown {
  const lines: string[] = []
  for (const name of plan.shownHeaders(status)) {
    const value = headers.get(name)
    if (value !== null) lines.push(`${name}: ${documentLine(mask.text(textOfHeader(value)), longestHeader)}`)
  }
  if (lines.length === 0) return result
  const headerBlock: ContentBlock = { type: 'text', text: lines.join('\n').slice(0, longestHeaders) }
  if (typeof result === 'string')
    return shown([{ type: 'text', text: result.slice(0, longestBeside) }, headerBlock], result)
  const value = parsed?.value
  let text
  try {
    text = JSON.stringify(value)
  } catch {
    return result // too deep, as the executor says
  }
  const isLong = text.length > longestBeside
  const start: ContentBlock = isLong
    ? { type: 'text', text: `${text.slice(0, longestBeside / 4)}\n…` }
    : { type: 'json', data: value }
  return shown([start, headerBlock], value)
}

/** Returns the text of a header or of a status, which comes with one character for each byte, or in workerd as the text that it is. */
function textOfHeader(value: string): string {
  if (/^[\x20-\x7e\t]*$|[^\0-\xff]/.test(value)) return value
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(Uint8Array.from(value, (each) => each.charCodeAt(0)))
  } catch {
    return value
  }
}

/** Makes the failure of an answer whose status is not one of success. */
async function answerFailure(answer: ReceivedAnswer): Promise<ToolFailure> {
  const { response, plan, mask, effect } = answer
  const body = mask.text(await wordsOfFailure(answer))
  const words = statusWords(answer) + (body === '' ? '' : `: ${body}`)
  const failure = statusFailure(response, words, plan.operation, refuses(answer))
  if (effect === undefined) return failure
  const { message, category = 'application', retryable, recommendations } = failure
  return new ToolFailure(message, { category, retryable, recommendations, effect })
}

/** Reads the beginning of the body of a failure. */
async function wordsOfFailure(answer: ReceivedAnswer): Promise<string> {
  const { response, plan, mask } = answer
  const longest = plan.source.settings.limits.error
  const mediaType = contentTypeOf(response)
  if (!isReadAsText(mediaType)) {
    dropBody(response)
    return ''
  }
  // More than is shown, so that a credential at the end is recognised before it is cut.
  const { text, thrown } = await startOfAnswer(answer, mediaType, longest * 8)
  const clean = thrown === undefined ? mask.text(text) : `${mask.cutText(text)} …`
  const problem = isJsonType(mediaType) ? parsedJson(clean, mask)?.value : undefined
  const titles = [textMember(problem, 'title'), textMember(problem, 'detail')].filter((part) => part !== undefined)
  const errors = memberOf(problem, 'errors')
  if (titles.length > 0 && errors !== undefined) titles.push(JSON.stringify(errors))
  const body = isNode(problem) ? JSON.stringify(problem) : clean
  const words = documentText(titles.length > 0 ? titles.join('. ') : body).trim()
  return words.length > longest ? `${words.slice(0, longest).replace(/[\ud800-\udbff]$/, '')}…` : words
}
