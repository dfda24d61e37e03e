/**
 * Strands Agents. This adapter makes an executor's tools those of agents, and the tools of Strands those of an executor. The SDK is
 * handed in: it imports nothing of it.
 *
 * @module
 */
import {
  content,
  ToolFailure,
  type ContentBlock,
  type Tool,
  type ToolContext,
  type ToolDefinition,
  type ToolResult,
} from '../index.ts'
import { functionOption, required, type JsonSchemaObject } from '../extension.ts'
import { aiSdk, type AiSdkFile } from '../formats/ai-sdk.ts'
import { answerOf, offered, questionOf } from './_approvals.ts'
import { bytesBase64 } from './_base64.ts'
import { fileBlock } from './_content.ts'
import { checkForeign, foreignTool, type ForeignOptions } from './_foreign.ts'
import { checkConversation, hasFunctions } from './_options.ts'
import { toolCallIdOf } from './_results.ts'
import { Visit, type FrameworkOptions } from './_visit.ts'

export type { FrameworkQuestion } from './_approvals.ts'
export type { ForeignOptions, ForeignToolOptions } from './_foreign.ts'
export type { DialectName, FrameworkOptions } from './_visit.ts'

/** The classes of `@strands-agents/sdk` that tools and their results are made of. */
export interface StrandsSdk<Made> {
  readonly Tool: abstract new () => Made
  readonly ToolStreamEvent: new (event: { data?: unknown }) => object
  readonly ToolResultBlock: new (block: never) => object
  readonly TextBlock: new (text: string) => object
  readonly JsonBlock: new (block: never) => object
  readonly ImageBlock: new (block: never) => object
  /** Missing: documents are left out. */
  readonly DocumentBlock?: new (block: never) => object
}

/** Options of `strandsTools`. */
export interface StrandsToolsOptions<Made> extends FrameworkOptions {
  /** The SDK's own classes: `import * as sdk from '@strands-agents/sdk'`. */
  readonly sdk: StrandsSdk<Made>
}

/** What Strands tells a tool of a call. */
export interface StrandsToolContext {
  readonly toolUse: { readonly toolUseId: string; readonly name: string; readonly input: unknown }
  readonly invocationState: object
  readonly cancelSignal: AbortSignal
  interrupt(params: { name: string; reason?: never }): unknown
}

const imageFormats = new Set(['png', 'jpeg', 'gif', 'webp'])
const documentTypes: ReadonlyMap<string, string> = new Map([
  ['application/pdf', 'pdf'],
  ['text/csv', 'csv'],
  ['text/html', 'html'],
  ['text/markdown', 'md'],
  ['text/plain', 'txt'],
])

/**
 * Makes an executor's tools those of Strands agents. Every call goes through the executor's pipeline, in one session. The values of a
 * call are the agent's `invocationState`, the same object.
 *
 * A call that needs approval interrupts the agent, and waits in the journal. It goes on when the agent is invoked with the response
 * `{ approved: true }`, also in another process that has loaded the agent's snapshot. Any other response denies.
 *
 * @param options The executor, the session, and the SDK.
 * @throws `E_INVALID_CONFIGURATION` if an option is unknown, missing or wrong.
 * @example
 * ```ts
 * import { createExecutor, tool } from 'toolwright'
 * import { strandsTools, type StrandsSdk } from 'toolwright/frameworks/strands'
 *
 * async function agentTools(sdk: StrandsSdk<object>) { // import * as sdk from '@strands-agents/sdk'
 *   const executor = createExecutor({ tools: [tool('now', () => '12:00')] })
 *   return strandsTools({ executor, session: 'run-1', sdk }) // new Agent({ model, tools })
 * }
 * ```
 * @see https://strandsagents.com/latest/documentation/docs/user-guide/concepts/interrupts/
 * @experimental
 */
export function strandsTools<Made>(options: StrandsToolsOptions<Made>): Made[] {
  checkConversation('strandsTools', options, {
    sdk: required({
      expected: 'the SDK: import * as sdk from "@strands-agents/sdk"',
      accepts: (value) => hasFunctions(value, ['Tool', 'ToolStreamEvent', 'ToolResultBlock', 'TextBlock']),
    }),
  })
  const { sdk, report } = options
  const visit = new Visit(options, 'strands')
  const format = aiSdk({ ...(report && { report }) })
  const Base = sdk.Tool as unknown as new () => object

  function strandsTool(tool: ToolDefinition): object {
    const { name } = tool
    const { description } = tool.describe()
    const inputSchema = visit.schemaOf(tool)
    return new (class Hosted extends Base {
      readonly name = name
      readonly description = description
      readonly toolSpec = { name, description, inputSchema }

      async *stream(context: StrandsToolContext): AsyncGenerator<object, object, undefined> {
        const { toolUse, invocationState, cancelSignal: signal } = context
        const { toolUseId } = toolUse
        const call = visit.callOf(toolUseId, name, toolUse.input)
        const question = await visit.asks(call, invocationState)
        // It throws the first time. The agent runs the tool again when there is an answer.
        const answer =
          question &&
          answerOf(
            context.interrupt({ name: `approve:${name}`, reason: questionOf(toolUseId, name, question) as never }),
          )
        const events = visit.stream(call, { answer, context: invocationState, signal })
        let step = await events.next()
        for (; step.done !== true; step = await events.next()) {
          const { type, data } = step.value
          yield new sdk.ToolStreamEvent({ data: { type, data } })
        }
        return blockOf(step.value, toolUseId)
      }
    })()
  }

  function blockOf(result: ToolResult, toolUseId: string): object {
    const [part] = format.results([{ ...result, id: toolUseId }]).content
    const { type, value } = part?.output ?? { type: 'text', value: '' }
    const parts: object[] =
      type === 'content'
        ? value.map((each) => (each.type === 'text' ? new sdk.TextBlock(each.text) : fileOf(each)))
        : [type === 'text' || type === 'error-text' ? new sdk.TextBlock(value) : dataOf(value)]
    return new sdk.ToolResultBlock({ toolUseId, status: result.isError ? 'error' : 'success', content: parts } as never)
  }

  // Bedrock takes only objects as JSON.
  function dataOf(value: unknown): object {
    const isObject = typeof value === 'object' && value !== null && !Array.isArray(value)
    return isObject ? new sdk.JsonBlock({ json: value } as never) : new sdk.TextBlock(JSON.stringify(value))
  }

  function fileOf({ mediaType, data: { data }, filename = 'file' }: AiSdkFile): object {
    const source = { bytes: Uint8Array.from(atob(data), (one) => one.charCodeAt(0)) }
    const [kind, subtype = ''] = mediaType.split('/')
    if (kind === 'image' && imageFormats.has(subtype)) return new sdk.ImageBlock({ format: subtype, source } as never)
    const documentFormat = documentTypes.get(mediaType)
    if (documentFormat === undefined || sdk.DocumentBlock === undefined)
      return new sdk.TextBlock(`[${mediaType} left out]`)
    const name = filename.replaceAll(/(?:%[\da-f]{2}|[^a-z\d\s()[\]-])+/gi, '-') // Bedrock takes no other characters
    return new sdk.DocumentBlock({ name, format: documentFormat, source } as never)
  }

  return offered(visit).map(strandsTool) as Made[]
}

/** A tool of Strands. */
export interface StrandsForeignTool {
  readonly name: string
  readonly description: string
  readonly toolSpec: { readonly inputSchema?: unknown }
  readonly stream: (context: never) => AsyncGenerator<{ readonly data?: unknown }, StrandsResult, undefined>
}

interface StrandsResult {
  readonly status: string
  readonly content: readonly object[]
  readonly error?: unknown
}

/** Options of `fromStrands`. */
export interface FromStrandsOptions extends ForeignOptions {
  /**
   * Answers a tool that interrupts its agent, since there is none here. Default: the call fails, and its message says what the
   * tool asked.
   */
  readonly onInterrupt?: (
    question: { readonly name: string; readonly reason?: unknown },
    context: ToolContext,
  ) => unknown
}

/**
 * Makes tools of Strands those of an executor. Their schemas validate, and their functions run. What a tool yields is progress. The
 * values of a call are its `invocationState`.
 *
 * @param tools What Strands' `tool` made, or any `Tool`.
 * @param options `tools` adds by each name what only the application knows; `onInterrupt`.
 * @throws `E_INVALID_CONFIGURATION` if an option is wrong, or names a tool that is not there; `E_INVALID_INITIAL_TOOL_VALUE` if a name
 * or a schema cannot be used.
 * @example
 * ```ts
 * import { createExecutor } from 'toolwright'
 * import { fromStrands } from 'toolwright/frameworks/strands'
 * import { z } from 'zod'
 *
 * const inputSchema = z.toJSONSchema(z.object({ city: z.string() }))
 * const weather = {
 *   name: 'weather',
 *   description: 'Returns the weather of a city',
 *   toolSpec: { inputSchema },
 *   async *stream({ toolUse }: { toolUse: { input: { city: string } } }) {
 *     return { status: 'success', content: [{ type: 'textBlock', text: `21 degrees in ${toolUse.input.city}` }] }
 *   },
 * } // what `tool` of @strands-agents/sdk makes
 * const tools = fromStrands([weather], { tools: { weather: { traits: { readonly: true } } } })
 * const executor = createExecutor({ tools })
 * const { content } = await executor.execute({ name: 'weather', args: { city: 'Oslo' } })
 * console.log(content) // [ { type: 'text', text: '21 degrees in Oslo' } ]
 * ```
 * @experimental
 */
export function fromStrands(tools: readonly StrandsForeignTool[], options: FromStrandsOptions = {}): Tool[] {
  checkForeign('fromStrands', tools, options, { onInterrupt: functionOption })
  return tools.map((theirs) => {
    const { name, description, toolSpec } = theirs
    async function* handler(input: unknown, context: ToolContext): AsyncGenerator<unknown, unknown, undefined> {
      const { values: invocationState, signal: cancelSignal } = context
      const events = theirs.stream({
        toolUse: { name, toolUseId: toolCallIdOf(context), input },
        invocationState,
        cancelSignal,
        agent: undefined,
        interrupt: (question: { readonly name: string; readonly reason?: unknown }) => {
          if (options.onInterrupt !== undefined) return options.onInterrupt(question, context)
          throw new ToolFailure(`The tool interrupts its agent (${question.name}), and no agent runs it.`)
        },
      } as never)
      let step = await events.next()
      for (; step.done !== true; step = await events.next()) yield step.value.data
      return strandsOutput(step.value)
    }
    const inputSchema = (toolSpec.inputSchema ?? { type: 'object' }) as JsonSchemaObject
    return foreignTool({ name, description, inputSchema, handler }, options)
  })
}

function strandsOutput({ status, content: parts, error }: StrandsResult): unknown {
  const blocks = parts.map((part) => strandsBlock(part as Readonly<Record<string, unknown>>))
  if (status === 'error') {
    if (error instanceof Error) throw error
    throw new ToolFailure(
      blocks.map((block) => (block.type === 'text' ? block.text : JSON.stringify(block))).join('\n'),
    )
  }
  const [only] = blocks
  if (blocks.length !== 1 || only?.type !== 'json') return content(blocks)
  // Strands wraps arrays.
  const { $value, ...rest } = only.data as { readonly $value?: unknown }
  return $value !== undefined && Object.keys(rest).length === 0 ? $value : only.data
}

function strandsBlock(part: Readonly<Record<string, unknown>>): ContentBlock {
  const { type, text, json: data, format, name, source } = part
  if (type === 'textBlock') return { type: 'text', text: String(text) }
  if (type === 'jsonBlock') return { type: 'json', data }
  const { bytes } = Object(source) as { readonly bytes?: unknown }
  if (bytes instanceof Uint8Array && type === 'imageBlock') {
    return { type: 'image', data: bytesBase64(bytes), mimeType: `image/${String(format)}` }
  }
  const [mimeType] = [...documentTypes].find(([, each]) => each === format) ?? []
  if (bytes instanceof Uint8Array && type === 'documentBlock' && mimeType !== undefined) {
    return fileBlock(name, mimeType, bytesBase64(bytes))
  }
  return { type: 'json', data: JSON.parse(JSON.stringify(part)) }
}
