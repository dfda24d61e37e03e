import { canonicalize, JsonArtifact, TextArtifact, type ContentBlock, type ToolResult } from '../index.ts'
import { ToolDeniedError, ToolError } from '../errors.ts'
import { isObject } from '../formats/_read.ts'
import type { AiSdkFormat } from '../formats/ai-sdk.ts'
import type { AiSdkErrorMode, AiSdkModelOutput, AiSdkOutputMode, AiSdkOutputOptions } from './_ai-sdk-types.ts'
import type { FrameworkResult } from './_options.ts'
import { resultJson } from './_results.ts'
import type { Visit } from './_visit.ts'

/** How many results `results` keeps: more than one request has. */
const mostResults = 256

/** What becomes of the results of one conversation: outputs for the SDK and a front end, and words for the model. */
export class Outputs {
  /** The results of the calls that ran here, by the SDK's ids, if the outputs are something else. */
  readonly results: Map<string, FrameworkResult> = new Map()
  readonly #outputs = new Map<string, unknown>()
  readonly #visit: Visit
  readonly #format: AiSdkFormat
  readonly #output: AiSdkOutputMode
  readonly #errors: AiSdkErrorMode

  constructor(visit: Visit, format: AiSdkFormat, output: AiSdkOutputMode, errors: AiSdkErrorMode) {
    this.#visit = visit
    this.#format = format
    this.#output = output
    this.#errors = errors
  }

  /** Returns the output of a call. @throws the error of a call without success, if errors are for parts of their own. */
  async outputOf(toolCallId: string, result: ToolResult): Promise<unknown> {
    const envelope = resultJson(result)
    if (this.#output === 'envelope' && this.#errors === 'output-available') return envelope
    const isValue = this.#output === 'value' && result.status === 'ok'
    const output = isValue ? await this.#valueOf(result, envelope) : envelope
    this.#keep(toolCallId, envelope, output)
    if (result.status !== 'ok' && this.#errors === 'output-error') throw this.#errorOf(toolCallId, result)
    return output
  }

  /** Renders an output for the model, if it is the JSON of a result. It may come from a client, so nothing is taken for granted. */
  ofEnvelope(toolCallId: string, output: unknown): AiSdkModelOutput {
    if (isObject(output) && Array.isArray(output['content']) && typeof output['status'] === 'string') {
      const words = this.#wordsOf(toolCallId, output)
      if (words !== undefined) return words
    }
    if (typeof output === 'string') return { type: 'text', value: output }
    return { type: 'json', value: jsonCopy(output ?? null) as never }
  }

  /**
   * Renders an output that is a value for the model, in the words of its result: the one that ran here, or the one in the
   * record. Without both it is rendered as the kernel shows such a value.
   */
  async ofValue(toolName: string, { toolCallId, input, output }: AiSdkOutputOptions): Promise<AiSdkModelOutput> {
    const result = this.#ranOf(toolCallId, output) ?? (await this.#recordedOf(toolName, toolCallId, input))
    const words = result && this.#wordsOf(toolCallId, result)
    if (words !== undefined) return words
    // A call without success, or what was stored while outputs were envelopes.
    if (isObject(output) && isEnvelope(output)) return this.ofEnvelope(toolCallId, output)
    const plain = { toolName, status: 'ok', isError: false, content: shownBlocks(output) }
    return this.#wordsOf(toolCallId, plain) ?? this.ofEnvelope(toolCallId, output)
  }

  #wordsOf(toolCallId: string, result: object): AiSdkModelOutput | undefined {
    try {
      const [part] = this.#format.results([{ ...(result as ToolResult), id: toolCallId }]).content
      return part?.output as AiSdkModelOutput | undefined
    } catch {
      return undefined // it is no result of ours: it goes on as it is
    }
  }

  /** Makes the error of a call without success. The SDK gives its message to the model and to the front end. */
  #errorOf(toolCallId: string, result: ToolResult): ToolError {
    const { value } = this.ofEnvelope(toolCallId, result) as { readonly value?: unknown }
    const words = typeof value === 'string' ? value : JSON.stringify(value)
    const error = result.error ?? new ToolDeniedError(words) // without an error it waits, and has not run
    const copy = ToolError.restore({ ...error.toJSON(), message: words })
    // Version 7 of the SDK prints an error, and would put its name before its message.
    return Object.defineProperties(copy, { cause: { value: error }, toString: { value: () => words } })
  }

  #keep(toolCallId: string, envelope: FrameworkResult, output: unknown): void {
    this.results.delete(toolCallId) // so that it becomes the newest
    this.results.set(toolCallId, envelope)
    this.#outputs.set(toolCallId, output)
    const [oldest] = this.results.size > mostResults ? this.results.keys() : []
    if (oldest === undefined) return
    this.results.delete(oldest)
    this.#outputs.delete(oldest)
  }

  /** Returns the result of a call that ran here, if this is its output: models repeat ids. */
  #ranOf(toolCallId: string, output: unknown): FrameworkResult | undefined {
    const result = this.results.get(toolCallId)
    return result !== undefined && isSameJson(this.#outputs.get(toolCallId), output) ? result : undefined
  }

  /** Returns what the record of the same call shows the model. */
  async #recordedOf(toolName: string, toolCallId: string, input: unknown): Promise<object | undefined> {
    const invocationId = this.#visit.invocationOf(toolCallId, toolName)
    if (invocationId === undefined) return undefined
    try {
      const record = await this.#visit.executor.calls.get(invocationId)
      const isNamed = (record.via ?? record.toolName) === toolName && record.session === this.#visit.session
      const isSameCall = isNamed && (await this.#visit.isOf(record, this.#visit.callOf(toolCallId, toolName, input)))
      if (!isSameCall || record.status !== 'ok' || record.result === undefined) return undefined
      return { toolName, status: 'ok', isError: false, content: record.result }
    } catch (error) {
      if ((error as Partial<ToolError>).retryable === true) this.#visit.report(error) // the journal is down
      return undefined // no record of it: the output says what it can
    }
  }

  /** Returns a copy of what the handler returned, as far as it is shown. */
  async #valueOf(result: ToolResult, { content }: FrameworkResult): Promise<unknown> {
    const { artifact } = result
    const [block] = content
    if (content.length === 1 && block?.type === 'json') return block.data
    const texts = content.flatMap((each) => (each.type === 'text' ? [each.text] : []))
    const words = texts.length === content.length ? texts.join('\n') : undefined
    try {
      // A model that is told the handle sees a part: so does the front end.
      const isWhole = artifact?.handle === undefined || !texts.some((text) => text.includes(artifact.handle ?? ''))
      if (artifact instanceof JsonArtifact && isWhole) return jsonCopy(await artifact.value())
      if (artifact instanceof TextArtifact && artifact.byteLength() === 0) return ''
    } catch (error) {
      this.#visit.report(error) // the store is down: what is shown is here
    }
    if (words === undefined) return content
    const { value } = result // what is shown as text may be a number
    const isPlain = typeof value === 'number' || typeof value === 'boolean' || value === null
    return isPlain && String(value) === words ? value : words
  }
}

function jsonCopy(value: unknown): unknown {
  return JSON.parse(JSON.stringify(value))
}

/** Whether two values have the same JSON, in whatever order a store keeps the keys. */
function isSameJson(one: unknown, other: unknown): boolean {
  if (Object.is(one, other)) return true
  try {
    return canonicalize(jsonCopy(one)) === canonicalize(jsonCopy(other))
  } catch {
    return false
  }
}

/** Whether an object is the JSON of a result, and no tool's own value that looks like one. */
function isEnvelope(output: Readonly<Record<string, unknown>>): boolean {
  const { invocationId, toolName, status, isError, content } = output
  const isNamed = typeof invocationId === 'string' && typeof toolName === 'string' && 'callId' in output
  return isNamed && typeof status === 'string' && typeof isError === 'boolean' && Array.isArray(content)
}

/** Returns the blocks in which the kernel shows such a value. */
function shownBlocks(value: unknown): readonly ContentBlock[] {
  if (isContent(value)) return value
  if (typeof value === 'object' && value !== null) return [{ type: 'json', data: value }]
  return [{ type: 'text', text: typeof value === 'string' ? value : (JSON.stringify(value) ?? 'null') }]
}

/** Whether an array is content with pictures or sounds. Content that is text alone comes as one text. */
function isContent(value: unknown): value is readonly ContentBlock[] {
  if (!Array.isArray(value) || !value.every((each) => isObject(each) && typeof each['type'] === 'string')) return false
  return value.some(({ type, data, mimeType }: Readonly<Record<string, unknown>>) => {
    return (type === 'image' || type === 'audio') && typeof data === 'string' && typeof mimeType === 'string'
  })
}
