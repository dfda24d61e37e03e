/**
 * Tools as methods, for the application's own calls: `tools.get_forecast.invoke({ city: 'Oslo' })`.
 *
 * @module
 */
import {
  type CallOptions,
  type ContentBlock,
  type ToolDefinition,
  type ToolEvent,
  type ToolExecutor,
  type ToolResult,
} from '../index.ts'
import { InvalidConfigurationError } from '../errors.ts'
import { catalogueOf } from '../extension.ts'
import { maskedArgs } from './_masked-args.ts'

/** A message that tells the model of a call which the application made. */
export interface DirectMessage {
  readonly role: 'user' | 'assistant'
  readonly content: readonly (
    | { readonly text: string }
    | { readonly toolUse: { readonly toolUseId: string; readonly name: string; readonly input: unknown } }
    | {
        readonly toolResult: {
          readonly toolUseId: string
          readonly status: 'success' | 'error'
          readonly content: readonly ({ readonly text: string } | { readonly json: unknown })[]
        }
      }
  )[]
}

/** The options of one call. */
export interface DirectOptions extends CallOptions {
  /** Whether the call is told to `record`. Default: `true`. */
  readonly record?: boolean
}

/** A tool as a method. Its calls go through the pipeline as those of a model do. */
export interface DirectTool {
  /** Runs the tool. */
  invoke(args?: unknown, options?: DirectOptions): Promise<ToolResult>
  /** Runs the tool, and yields the events of the call. */
  stream(args?: unknown, options?: DirectOptions): AsyncGenerator<ToolEvent, ToolResult, undefined>
}

/** The options of `caller`: those of every call, and where calls are told. */
export interface CallerOptions extends Omit<CallOptions, 'invocationId'> {
  /**
   * Gets three messages for each call that settled, for the conversation: what was asked, the call, and its result. Secrets are
   * masked. Default: they are not made.
   */
  readonly record?: (messages: readonly [DirectMessage, DirectMessage, DirectMessage]) => void
}

/**
 * Returns an object that has the tools of an executor as its members. An underscore in a member stands for a hyphen too.
 *
 * @param executor Runs the calls.
 * @param options The session and more of all calls. The default of `caller` is `'user'`.
 * @throws `E_INVALID_CONFIGURATION` without an executor.
 * @example
 * ```ts
 * import { createExecutor, tool } from 'toolwright'
 * import { caller } from 'toolwright/client/caller'
 *
 * const executor = createExecutor({ tools: [tool('add', ({ a, b }: { a: number; b: number }) => a + b)] })
 * const tools = caller<'add'>(executor, { session: 'ada', record: (messages) => console.log(messages) })
 * const { content } = await tools.add.invoke({ a: 1, b: 2 })
 * ```
 */
export function caller<Name extends string = string>(
  executor: ToolExecutor,
  { record, ...common }: CallerOptions = {},
): Readonly<Record<Name, DirectTool>> {
  if (typeof executor?.stream !== 'function') {
    throw new InvalidConfigurationError('caller takes an executor, which createExecutor({ tools }) makes.')
  }

  function directTool(member: string): DirectTool {
    async function* stream(
      args: unknown = {},
      { record: isRecorded = true, ...own }: DirectOptions = {},
    ): AsyncGenerator<ToolEvent, ToolResult, undefined> {
      const options = { caller: 'user' as const, ...common, ...own }
      const tool = toolNamed(catalogueOf(executor, options.caller, options.session), member)
      const call = { id: `tooluse_${crypto.randomUUID()}`, name: tool?.name ?? member, args }
      const result = yield* executor.stream(call, options)
      if (isRecorded && record !== undefined && result.status !== 'waiting') {
        const ownArgs = maskedArgs(catalogueOf(executor, undefined, options.session), call.name, args)
        record(messagesOf(call, ownArgs?.value ?? {}, result))
      }
      return result
    }
    return {
      stream,
      async invoke(args, options) {
        const events = stream(args, options)
        for (;;) {
          const { done, value } = await events.next()
          if (done === true) return value
        }
      },
    }
  }

  return new Proxy({} as Record<Name, DirectTool>, {
    // Whatever asks for symbols or `then` looks whether it is something else: a promise, an iterable, a matcher of tests.
    get: (_target, member) => (typeof member === 'symbol' || member === 'then' ? undefined : directTool(member)),
  })
}

function toolNamed(tools: readonly ToolDefinition[], member: string): ToolDefinition | undefined {
  return (
    tools.find(({ name }) => name === member) ??
    tools.find(({ name, aliases }) => aliases.includes(member) || name.replaceAll('-', '_') === member)
  )
}

function messagesOf(
  { id: toolUseId, name }: { readonly id: string; readonly name: string },
  input: unknown,
  { content, isError }: ToolResult,
): readonly [DirectMessage, DirectMessage, DirectMessage] {
  const text = `The tool ${name} was called directly, with the input ${JSON.stringify(input)}.`
  const status = isError ? 'error' : 'success'
  return [
    { role: 'user', content: [{ text }] },
    { role: 'assistant', content: [{ toolUse: { toolUseId, name, input } }] },
    { role: 'user', content: [{ toolResult: { toolUseId, status, content: content.map(contentPart) } }] },
  ]
}

function contentPart(block: ContentBlock): { readonly text: string } | { readonly json: unknown } {
  if (block.type === 'text') return { text: block.text }
  return block.type === 'json' ? { json: block.data } : { text: `[${block.type}]` }
}
