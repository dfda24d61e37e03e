/**
 * TanStack AI. This adapter makes an executor's tools those of `chat`, and TanStack's tools those of an executor. It imports nothing
 * of TanStack.
 *
 * @module
 */
import { ToolFailure, type ContentBlock, type Schema, type Tool, type ToolContext, type ToolResult } from '../index.ts'
import type { JsonSchemaObject } from '../extension.ts'
import { aiSdk } from '../formats/ai-sdk.ts'
import { offered } from './_approvals.ts'
import { contentOfParts, fileBlock } from './_content.ts'
import { checkForeign, foreignTool, type ForeignOptions } from './_foreign.ts'
import { checkConversation, type ForeignFunction } from './_options.ts'
import { toolCallIdOf } from './_results.ts'
import { Visit, type FrameworkOptions } from './_visit.ts'

export type { ForeignOptions, ForeignToolOptions } from './_foreign.ts'
export type { DialectName, FrameworkOptions } from './_visit.ts'

/** What TanStack tells a tool of a call. */
export interface TanstackExecution {
  readonly toolCallId?: string
  readonly context?: unknown
  readonly abortSignal?: AbortSignal | undefined
  readonly emitCustomEvent?: (name: string, value: { [key: string]: unknown }) => void
}

/** A tool of TanStack. */
export interface TanstackHostTool {
  name: string
  description: string
  inputSchema: { [key: string]: unknown }
  needsApproval?: boolean
  execute: (input: unknown, context?: TanstackExecution) => Promise<unknown>
}

/** A message of TanStack. */
export interface TanstackMessage {
  readonly role: string
  readonly content?: unknown
  readonly toolCallId?: string | undefined
  readonly toolCalls?: readonly { readonly id: string; readonly function: { readonly name: string } }[] | undefined
}

/** The part of TanStack's middleware that is used. */
export interface TanstackMiddleware {
  name: string
  onStart: (context: { readonly context: unknown; readonly messages: readonly TanstackMessage[] }) => Promise<void>
  onToolPhaseComplete: (
    context: { readonly context: unknown },
    phase: {
      readonly needsApproval: readonly {
        readonly toolCallId: string
        readonly toolName: string
        readonly input: unknown
      }[]
      readonly results: readonly { readonly toolCallId: string; readonly toolName: string }[]
    },
  ) => Promise<void>
}

/** An executor's tools for `chat`. */
export interface TanstackTools {
  readonly tools: TanstackHostTool[]
  /**
   * Give it to `chat({ middleware })`. It records what a person is asked, and what a person denies. An approval of what is not
   * recorded runs nothing, since the messages in which TanStack reads approvals come from the client.
   */
  readonly middleware: TanstackMiddleware
}

/**
 * Makes an executor's tools those of TanStack AI. Every call goes through the executor's pipeline, in one session. The values of a call
 * are the context of the run.
 *
 * TanStack decides whether it asks before it knows the args. It asks about tools with `requiresConfirmation: true`. A call that
 * needs approval for another reason waits, and the model reads that it does: `executor.calls.decide` answers it.
 *
 * @param options The executor and the session.
 * @throws `E_INVALID_CONFIGURATION` if an option is unknown, missing or wrong.
 * @example
 * ```ts
 * import { createExecutor, tool } from 'toolwright'
 * import { tanstackTools } from 'toolwright/frameworks/tanstack'
 *
 * const executor = createExecutor({ tools: [tool('now', () => '12:00')] })
 * const { tools, middleware } = tanstackTools({ executor, session: 'chat-1' })
 * // chat({ adapter, messages, tools, middleware: [middleware] })
 * ```
 * @see https://tanstack.com/ai/latest/docs/guides/tool-approval
 * @experimental
 */
export function tanstackTools(options: FrameworkOptions): TanstackTools {
  checkConversation('tanstackTools', options, {})
  const { report } = options
  const visit = new Visit(options, 'tanstack')
  const format = aiSdk({ ...(report && { report }) })
  const approvable = new Set<string>()
  /** The calls that TanStack has run, approved ones too. */
  const ran = new Set<string>()

  const tools = offered(visit).map((tool): TanstackHostTool => {
    const { name } = tool
    const { description } = tool.describe()
    const needsApproval = tool.requiresConfirmation === true
    if (needsApproval) approvable.add(name)
    return {
      name,
      description,
      inputSchema: visit.schemaOf(tool) as { [key: string]: unknown },
      ...(needsApproval && { needsApproval }),
      async execute(input, context = {}) {
        const { toolCallId, abortSignal: signal, emitCustomEvent } = context
        if (needsApproval && toolCallId !== undefined) ran.add(toolCallId)
        const answer = needsApproval ? ({ decision: 'allow' } as const) : undefined
        const events = visit.stream(visit.callOf(toolCallId, name, input), { answer, context: context.context, signal })
        let step = await events.next()
        for (; step.done !== true; step = await events.next()) {
          const { type, data } = step.value
          emitCustomEvent?.('tool-progress', { toolName: name, type, data })
        }
        return outputOf(step.value)
      },
    }
  })

  function outputOf(result: ToolResult): unknown {
    const [part] = format.results([{ ...result, id: result.id ?? result.toolName }]).content
    const { type, value } = part?.output ?? { type: 'text', value: '' }
    if (type === 'content') {
      return value.map((each) => {
        if (each.type === 'text') return { type: 'text', content: each.text }
        const { mediaType: mimeType, data } = each
        if (!mimeType.startsWith('image/')) return { type: 'text', content: `[${mimeType} left out]` }
        return { type: 'image', source: { type: 'data', value: data.data, mimeType } }
      })
    }
    if (!result.isError) return value
    // What is thrown is an error for TanStack, and its message is what the model reads.
    throw new ToolFailure(typeof value === 'string' ? value : JSON.stringify(value))
  }

  const answer = { decision: 'deny' } as const
  return {
    tools,
    middleware: {
      name: 'toolwright',
      // TanStack answers a call that was denied itself, and runs no tool: in the messages, or in a phase of tools.
      async onStart({ context, messages }) {
        const names = new Map<string, string>()
        for (const { toolCalls = [] } of messages)
          for (const {
            id,
            function: { name },
          } of toolCalls)
            names.set(id, name)
        const answers = messages.flatMap(({ role, toolCallId: id, content: text }) => {
          const name = id === undefined ? undefined : names.get(id)
          if (role !== 'tool' || id === undefined || name === undefined || !isDenial(text)) return []
          return [{ id, name, answer }]
        })
        await visit.answer(answers, context)
      },
      async onToolPhaseComplete({ context }, { needsApproval, results }) {
        for (const { toolCallId, toolName, input } of needsApproval) {
          if (approvable.has(toolName)) await visit.asks(visit.callOf(toolCallId, toolName, input), context)
        }
        const denied = results.filter(({ toolCallId, toolName }) => approvable.has(toolName) && !ran.has(toolCallId))
        const answers = denied.map(({ toolCallId: id, toolName: name }) => ({ id, name, answer }))
        await visit.answer(answers, context)
      },
    },
  }
}

/** Returns whether the result of a tool is TanStack's own, for a call that was denied. */
function isDenial(text: unknown): boolean {
  try {
    return typeof text === 'string' && (JSON.parse(text) as { readonly approved?: unknown }).approved === false
  } catch {
    return false
  }
}

/** A tool of TanStack that may have no function here. */
export interface TanstackForeignTool {
  readonly name: string
  readonly description: string
  readonly inputSchema?: unknown
  readonly outputSchema?: unknown
  readonly needsApproval?: boolean | undefined
  readonly execute?: unknown
}

/**
 * Makes TanStack's tools those of an executor. Their schemas validate, and their functions run. `needsApproval` becomes
 * `requiresConfirmation`, custom events are progress, and a tool without a function is of type `client`.
 *
 * @param tools What `toolDefinition(…).server(…)` made.
 * @param options `tools` adds by each name what only the application knows, such as `traits` and `secrets`.
 * @throws `E_INVALID_CONFIGURATION` if an option is wrong, or names a tool that is not there; `E_INVALID_INITIAL_TOOL_VALUE` if a name
 * or a schema cannot be used.
 * @example
 * ```ts
 * import { createExecutor } from 'toolwright'
 * import { fromTanstack } from 'toolwright/frameworks/tanstack'
 * import { z } from 'zod'
 *
 * const weather = {
 *   name: 'weather',
 *   description: 'Returns the weather of a city',
 *   inputSchema: z.object({ city: z.string() }),
 *   execute: ({ city }: { city: string }) => `21 degrees in ${city}`,
 * } // what `toolDefinition(…).server(…)` of @tanstack/ai makes
 * const tools = fromTanstack([weather], { tools: { weather: { traits: { readonly: true } } } })
 * const executor = createExecutor({ tools })
 * const { content } = await executor.execute({ name: 'weather', args: { city: 'Oslo' } })
 * console.log(content) // [ { type: 'text', text: '21 degrees in Oslo' } ]
 * ```
 * @experimental
 */
export function fromTanstack(tools: readonly TanstackForeignTool[], options: ForeignOptions = {}): Tool[] {
  checkForeign('fromTanstack', tools, options, {})
  return tools.map((theirs) => {
    const { name, description, execute, needsApproval: requiresConfirmation = false } = theirs
    const inputSchema = (theirs.inputSchema ?? ({ type: 'object' } satisfies JsonSchemaObject)) as Schema
    const shared = { name, description, inputSchema, requiresConfirmation }
    if (typeof execute !== 'function')
      return foreignTool({ ...shared, type: 'client', requiresResponse: true }, options)
    // TanStack validates results only with schemas that have a validator.
    const { outputSchema } = theirs
    const checked = Object(outputSchema) as object
    const handler = async (input: unknown, context: ToolContext): Promise<unknown> => {
      const { signal, values, emit } = context
      const toolCallId = toolCallIdOf(context)
      const execution = { toolCallId, context: values, abortSignal: signal, emitCustomEvent: emit }
      return tanstackResult(await (execute as ForeignFunction).call(theirs, input, execution))
    }
    return foreignTool(
      { ...shared, ...('~standard' in checked && { outputSchema: checked as Schema }), handler },
      options,
    )
  })
}

/** Returns the parts that TanStack gives a model as they are. Everything else is a plain result. */
function tanstackResult(returned: unknown): unknown {
  return Array.isArray(returned) ? (contentOfParts(returned, tanstackBlock) ?? returned) : returned
}

function tanstackBlock(part: unknown): ContentBlock | undefined {
  const { type, content: text, source } = Object(part) as Readonly<Record<string, unknown>>
  if (type === 'text') return typeof text === 'string' ? { type, text } : undefined
  const { type: sourceType, value, mimeType } = Object(source) as Readonly<Record<string, unknown>>
  if (sourceType !== 'data' || typeof value !== 'string' || typeof mimeType !== 'string') return undefined
  if (type === 'image' || type === 'audio') return { type, data: value, mimeType }
  return type === 'document' ? fileBlock(undefined, mimeType, value) : undefined
}
