import type { ContentBlock, Tool, ToolLike } from '../index.ts'
import type { MarkedContent, MarkedJson } from '../extension.ts'
import type { AiSdkReply } from '../formats/ai-sdk.ts'
import type { FrameworkOptions, FrameworkResult } from './_options.ts'

/** Tools by their names. */
export type AiSdkNamedTools = Readonly<Record<string, ToolLike>>

/** Options of `aiSdkTools`. */
export interface AiSdkToolsOptions<
  Tools extends AiSdkNamedTools | undefined = AiSdkNamedTools | undefined,
  Output extends AiSdkOutputMode = AiSdkOutputMode,
  Errors extends AiSdkErrorMode = AiSdkErrorMode,
> extends FrameworkOptions {
  /** The SDK's major version. With 6, each tool has `needsApproval`. Default: 7. */
  readonly version?: 6 | 7
  /**
   * Tools of the executor whose types `tools` has, by their names, so that `InferUITools<typeof tools>` types the parts of a
   * front end. The executor's other tools are offered too. Default: none, and `tools` has no names.
   */
  readonly tools?: Tools
  /**
   * What the SDK gets as the output of a call. `'envelope'`: the JSON of its result. `'value'`: what the handler returned, for a
   * front end; `results` has the rest, and the model reads the same as before. A result above the executor's `inlineLimit` is
   * the text of its preview. Default: `'envelope'`.
   */
  readonly output?: Output
  /**
   * In which state of its part a call without success ends: it failed, was denied, timed out or was cancelled, or it waits.
   * `'output-available'`: its output is the JSON of its result. `'output-error'`: an error with the words that the model
   * reads is thrown. Default: `'output-available'`.
   */
  readonly errors?: Errors
}

/** What the SDK gets as the output of a call. */
export type AiSdkOutputMode = 'envelope' | 'value'

/** In which state of its part a call without success ends. */
export type AiSdkErrorMode = 'output-available' | 'output-error'

/** Progress of a call that runs, as a preliminary output. */
export interface AiSdkProgress<Data = unknown> {
  readonly status: 'running'
  /** `type`: `yield` for what a handler yields, else the name that it emitted it under. */
  readonly progress: { readonly type: string; readonly data: Data }
}

/** The output of a call: its progress while it runs, then the JSON of its result. */
export type AiSdkToolOutput = FrameworkResult | AiSdkProgress

/** The JSON of the result of a call without success. */
export interface AiSdkFailure extends FrameworkResult {
  readonly status: Exclude<FrameworkResult['status'], 'ok'>
}

/** What a model is told of an output. Content may also have files, in the form of the SDK's version. */
export type AiSdkModelOutput =
  | Exclude<AiSdkReply['content'][number]['output'], { type: 'content' }>
  | { type: 'content'; value: { type: 'text'; text: string }[] }

/** What the SDK tells a tool of a call. */
export interface AiSdkExecution {
  readonly toolCallId: string
  readonly messages: readonly unknown[]
  readonly abortSignal?: AbortSignal | undefined
  /** Of version 7. */
  readonly context?: unknown
  /** Of version 6. */
  readonly experimental_context?: unknown
}

/** What the SDK tells of an output that a model is about to read. */
export interface AiSdkOutputOptions {
  readonly toolCallId: string
  readonly input?: unknown
  readonly output: unknown
}

/** A tool of the SDK. */
export interface AiSdkHostTool<Input = unknown, Output = AiSdkToolOutput, ModelOutput = AiSdkModelOutput> {
  readonly description: string
  /** Of a type of the SDK. */
  readonly inputSchema: never
  readonly execute: (input: Input, options: AiSdkExecution) => AsyncGenerator<Output, void, undefined>
  readonly toModelOutput: (options: AiSdkOutputOptions) => ModelOutput
}

/** The executor's tools, with their types if they were named. */
export type AiSdkHostTools<
  Tools extends AiSdkNamedTools | undefined,
  Output extends AiSdkOutputMode,
  Errors extends AiSdkErrorMode,
> = Tools extends AiSdkNamedTools
  ? { [Name in keyof Tools]: AiSdkHostToolOf<Tools[Name], Output, Errors> }
  : { [name: string]: AiSdkHostToolOf<Tool, Output, Errors> }

type AiSdkHostToolOf<Definition, Output extends AiSdkOutputMode, Errors extends AiSdkErrorMode> = Definition extends {
  (args: infer Input, ...rest: never[]): Promise<infer Result>
  stream(...call: never[]): AsyncGenerator<infer Progress, unknown, undefined>
}
  ? AiSdkHostTool<
      InputOfModel<Input>,
      Output extends 'value' ? ValueOrOther<Result, Progress, Errors> : AiSdkToolOutput,
      Output extends 'value' ? Promise<AiSdkModelOutput> : AiSdkModelOutput
    >
  : AiSdkHostToolOf<Tool, Output, Errors>

/** What the model sends, which is an object even if a tool takes no args. */
type InputOfModel<Input> = 0 extends 1 & Input ? unknown : [Input] extends [void] ? Record<string, never> : Input

type ValueOrOther<Result, Progress, Errors extends AiSdkErrorMode> =
  | ShownValue<Result>
  | ([Progress] extends [never] ? never : AiSdkProgress<Progress>)
  | (Errors extends 'output-error' ? never : AiSdkFailure)

/** What a handler returned, without its mark. */
type ShownValue<Result> = 0 extends 1 & Result
  ? unknown
  : Result extends MarkedJson<infer Value>
    ? Value
    : Result extends MarkedContent
      ? string | readonly ContentBlock[]
      : Result

/** What the SDK tells of a call that it asks about. */
export interface AiSdkApprovalOptions {
  readonly toolCallId: string
  readonly messages: readonly unknown[]
  readonly toolContext?: unknown
}

/** Says whether a person has to approve a call of one tool. */
export type AiSdkApproval = (
  input: unknown,
  options: AiSdkApprovalOptions,
) => Promise<{ readonly type: 'user-approval'; readonly reason?: string } | undefined>
