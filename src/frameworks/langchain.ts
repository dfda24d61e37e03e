/**
 * LangChain and LangGraph. This adapter makes an executor's tools those of agents and graphs, and LangChain's tools those of an
 * executor. LangChain's own classes are handed in: it imports nothing of it.
 *
 * @module
 */
import { JsonArtifact, type ToolCall, type ToolDefinition, type ToolResult } from '../index.ts'
import { InvalidConfigurationError, ToolFailure } from '../errors.ts'
import { booleanOption, functionOption, oneOf, required } from '../extension.ts'
import { isObject } from '../formats/_read.ts'
import { flagged, render } from '../formats/_render.ts'
import { openai } from '../formats/openai.ts'
import { answerOf, offered, questionOf, type FrameworkQuestion } from './_approvals.ts'
import { checkConversation, hasFunctions } from './_options.ts'
import { Visit, type PersonAnswer, type FrameworkOptions } from './_visit.ts'

export { fromLangchain } from './_from-langchain.ts'
export type { LangchainForeignTool } from './_from-langchain.ts'
export type { FrameworkQuestion } from './_approvals.ts'
export type { ForeignOptions, ForeignToolOptions } from './_foreign.ts'
export type { DialectName, FrameworkOptions } from './_visit.ts'

/** The classes of `@langchain/core` that tools are made of. */
export interface LangchainCore<Made> {
  /** Of `@langchain/core/tools`. */
  readonly DynamicStructuredTool: (new (fields: never) => object) & { readonly prototype: Made }
  /** Of `@langchain/core/messages`. */
  readonly ToolMessage: new (fields: never) => object
}

/** Options of `langchainTools`. */
export interface LangchainToolsOptions<Made> extends FrameworkOptions {
  /** LangChain's own classes. */
  readonly core: LangchainCore<Made>
  /**
   * LangGraph's `interrupt`. A call that needs approval interrupts its node. Resume with `{ approved: true }`; any other value denies.
   * Give it by the id of the interrupt, `new Command({ resume: { [id]: { approved: true } } })`: LangGraph takes one without an id for
   * all that wait. Default: the model reads that the call waits, and `executor.calls.decide` answers it.
   */
  readonly interrupt?: (question: FrameworkQuestion) => unknown
  /**
   * What the message of a call has as its `artifact`. `'call'`: which call it was, as `{ callId, invocationId, status, handle? }`.
   * `'value'`: what the handler returned, or kept beside its words with `shown`; nothing for a call without success. Default: `'call'`.
   */
  readonly artifact?: 'call' | 'value'
  /**
   * Whether the model gets the pictures of results, as parts `image_url` of the message. Models of Anthropic, of Google and of OpenAI's
   * Responses API read them there; OpenAI's chat completions refuse such a message. Default: `false`, and a note stands in their place.
   */
  readonly pictures?: boolean
}

/** What LangChain tells a tool of a call. */
interface Config {
  readonly toolCall?: { readonly id?: string }
  readonly configurable?: { readonly [key: string]: unknown }
  readonly context?: unknown
  readonly signal?: AbortSignal
  readonly writer?: ((chunk: unknown) => void) | null
}

/** The part of LangChain's class that is called here. */
interface StructuredTool {
  call(input: unknown, config?: Config, tags?: string[]): Promise<unknown>
}

/**
 * Makes an executor's tools those of LangChain. Every call goes through the executor's pipeline, in one session. The values of a call
 * are `configurable.toolwright`, or else what the run has in `configurable` and `context`, without LangGraph's own keys. The session of a
 * graph is its thread. `libraryOptions.langchain` of a tool has its `returnDirect` and `extras`.
 *
 * LangGraph runs an interrupted node again from its beginning. With a journal, calls beside the interrupted one that had
 * settled run once all the same. Without one they run twice, as all tools of LangGraph do.
 *
 * @param options The executor, the session, LangChain's classes, LangGraph's `interrupt`, what messages have as their artifact, and whether they
 *   have pictures.
 * @throws `E_INVALID_CONFIGURATION` if an option is unknown, missing or wrong.
 * @example
 * ```ts
 * import { createExecutor, tool } from 'toolwright'
 * import { langchainTools } from 'toolwright/frameworks/langchain'
 *
 * // import { DynamicStructuredTool } from '@langchain/core/tools', and ToolMessage from '@langchain/core/messages'
 * class DynamicStructuredTool {}
 * class ToolMessage {}
 * const executor = createExecutor({ tools: [tool('now', () => '12:00')] })
 * const tools = langchainTools({ executor, session: 'thread-1', core: { DynamicStructuredTool, ToolMessage } })
 * // new ToolNode(tools), model.bindTools(tools)
 * ```
 * @see https://docs.langchain.com/oss/javascript/langgraph/interrupts
 * @experimental
 */
export function langchainTools<Made>(options: LangchainToolsOptions<Made>): Made[] {
  checkConversation('langchainTools', options, {
    core: required({
      expected: '{ DynamicStructuredTool, ToolMessage } of `@langchain/core/tools` and `@langchain/core/messages`',
      accepts: (value) => hasFunctions(value, ['DynamicStructuredTool', 'ToolMessage']),
    }),
    interrupt: functionOption,
    artifact: oneOf('call', 'value'),
    pictures: booleanOption,
  })
  const { core, interrupt, report, artifact: artifactMode = 'call', pictures = false } = options
  const visit = new Visit(options, 'langchain')
  const format = openai({ ...(report && { report }) })
  const Structured = core.DynamicStructuredTool as unknown as new (fields: object) => StructuredTool
  const Message = core.ToolMessage as unknown as new (fields: object) => object
  const questions = new Questions(visit, interrupt)

  function structuredTool(tool: ToolDefinition): StructuredTool {
    const { name } = tool
    class Hosted extends Structured {
      // LangChain's own `call` tells the callbacks of the run. A schema that takes everything leaves validation to the executor.
      override call(input: unknown, config?: Config, tags?: string[]): Promise<unknown> {
        const slot = questions.slot() // now, because LangGraph pairs answers with questions by their order
        const run = (args: unknown, _manager: unknown, runConfig: Config = {}): Promise<unknown> =>
          answered(visit.callOf(runConfig.toolCall?.id, name, args), runConfig, slot)
        const unchecked = Object.create(this, { schema: { value: {} }, _call: { value: run } }) as this
        return super.call.call(unchecked, input ?? {}, config, tags).finally(slot.over)
      }
    }
    const { returnDirect, extras } = tool.libraryOptions['langchain'] ?? {}
    const own = { ...(returnDirect === true && { returnDirect }), ...(isObject(extras) && { extras }) }
    const { description } = tool.describe()
    return new Hosted({ ...own, name, description, schema: visit.schemaOf(tool), func: () => '' })
  }

  async function answered(call: ToolCall, config: Config, slot: AskingSlot): Promise<unknown> {
    const { configurable, signal, writer } = config
    const context = configurable?.['toolwright'] ?? valuesOf(configurable, config.context)
    const answer = await questions.ask(call, context, slot)
    const events = visit.stream(call, { answer, context, signal })
    return outputWithProgress(events, writer ?? undefined, call)
  }

  /** What is yielded goes to the callbacks of the run. */
  async function* outputWithProgress(
    events: ReturnType<Visit['stream']>,
    writer: ((chunk: unknown) => void) | undefined,
    call: ToolCall,
  ): AsyncGenerator<unknown, unknown, undefined> {
    let step = await events.next()
    for (; step.done !== true; step = await events.next()) {
      const { type, data } = step.value
      const progress = { type: 'tool-progress', toolCallId: call.id, toolName: call.name, progress: { type, data } }
      writer?.(progress)
      yield progress
    }
    return messageOf(step.value, call)
  }

  async function artifactOf(result: ToolResult): Promise<unknown> {
    const { callId, invocationId, status, handle } = result
    if (artifactMode === 'call') return { callId, invocationId, status, ...(handle !== undefined && { handle }) }
    if (status !== 'ok' || result.value !== undefined) return result.value
    try {
      return result.artifact instanceof JsonArtifact ? await result.artifact.value() : undefined
    } catch (error) {
      visit.report(error) // the store is down: the model's words are there
      return undefined
    }
  }

  async function messageOf(result: ToolResult, { id, name }: ToolCall): Promise<unknown> {
    const { isError } = result
    const [reply] = format.results([{ ...result, id: id ?? name }])
    const text = reply?.content ?? ''
    if (id === undefined) {
      if (isError) throw result.error ?? new ToolFailure(text)
      return text
    }
    const artifact = await artifactOf(result)
    const parts = pictures ? withPictures(result) : undefined
    return new Message({
      content: parts ?? text,
      tool_call_id: id,
      name,
      status: isError ? 'error' : 'success',
      artifact,
    })
  }

  return offered(visit).map(structuredTool) as Made[]
}

/** Returns the parts of a result that has pictures. */
function withPictures(result: ToolResult): object[] | undefined {
  const pieces = render(result, {}, ({ mimeType, data }) => {
    if (!mimeType.startsWith('image/')) return undefined
    return { type: 'image_url', image_url: { url: `data:${mimeType};base64,${data}` } }
  })
  if (pieces.every((piece) => typeof piece === 'string')) return undefined
  return flagged(pieces, result).map((piece) => (typeof piece === 'string' ? { type: 'text', text: piece } : piece))
}

/** Returns what a run has for its tools, without the keys by which LangGraph runs its nodes. */
function valuesOf(configurable: Config['configurable'], context: unknown): unknown {
  const own = Object.entries(configurable ?? {}).filter(([key]) => !/^(?:__|checkpoint_)/.test(key))
  if (own.length === 0) return context
  if (context === undefined || context === null) return Object.fromEntries(own)
  return isObject(context) ? { ...Object.fromEntries(own), ...context } : context
}

/** The place of a call among those that may ask. */
interface AskingSlot {
  /** Resolves once no call that came before can ask any more. */
  readonly before: Promise<void>
  readonly over: () => void
}

/**
 * The questions to LangGraph. It gives the n-th answer of a node to the n-th question, so calls that run at once ask in the
 * order in which they came, and a call that has its answer asks again each time its node runs.
 */
class Questions {
  readonly #visit: Visit
  readonly #interrupt: LangchainToolsOptions<unknown>['interrupt']
  #last: Promise<void> = Promise.resolve()
  #hasWarned = false

  constructor(visit: Visit, interrupt: LangchainToolsOptions<unknown>['interrupt']) {
    this.#visit = visit
    this.#interrupt = interrupt
  }

  slot(): AskingSlot {
    const before = this.#last
    let over = (): void => {}
    const own = new Promise<void>((resolve) => (over = resolve))
    this.#last = before.then(() => own)
    return { before, over }
  }

  /** Returns the person's answer, or `undefined` if none is needed. Throws what `interrupt` throws. */
  async ask(call: ToolCall, context: unknown, { before, over }: AskingSlot): Promise<PersonAnswer | undefined> {
    try {
      const invocationId = this.#visit.invocationOf(call.id, call.name)
      if (this.#interrupt === undefined || invocationId === undefined) return undefined
      const approvalQuestion = await this.#visit.asks(call, context)
      const record = await this.#visit.executor.calls.get(invocationId).catch(() => undefined)
      if (approvalQuestion === undefined && record?.approval.required !== true) return undefined
      if (record === undefined) this.#warn()
      const question = questionOf(
        String(call.id),
        call.name,
        approvalQuestion ?? { prompt: record?.approval.prompt ?? '' },
      )
      await before
      return answerOf(await this.#interrupt(question))
    } finally {
      over()
    }
  }

  #warn(): void {
    if (this.#hasWarned) return
    this.#hasWarned = true
    this.#visit.report(
      new InvalidConfigurationError(
        'LangGraph runs an interrupted node again, and without a journal the calls beside the interrupted one run twice. Give the executor a journal.',
      ),
    )
  }
}
