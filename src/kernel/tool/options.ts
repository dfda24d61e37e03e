import type { ArtifactOption, SpooledArtifact } from '../result/artifact.ts'
import type { ContentBlock, MarkedJson } from '../result/content.ts'
import type { EmptyInput, InputOf, OutputOf, Schema, Typed } from '../schema/infer.ts'
import type { ToolExecutor } from '../executor-types.ts'
import type { CallOptions, Conflict, ToolContext } from '../call/context-types.ts'
import type { Middleware, ToolHooks } from '../ports.ts'
import type { ReconcileContext, Reconciled } from './reconciled.ts'
import type { ToolTraits } from './traits.ts'
import type { Observer } from '../call/events.ts'
import type { JsonSchema, JsonSchemaObject } from '../schema/standard.ts'

/**
 * Who runs a tool: `server` and `mcp` run the handler here; others run elsewhere. The args of an `output` tool are the model's
 * answer: nothing runs. Those of a `bridge` are `{ name, args }`: another tool, which is called in its place. Applications add types
 * by declaration merging.
 */
export interface ToolTypes {
  client: true
  provider: true
  mcp: true
  output: true
  bridge: true
}

/** Who runs a tool. */
export type ToolType = 'server' | keyof ToolTypes

/** The execution types, for those who prefer names to literals. */
export const ToolExecutionType = {
  SERVER: 'server',
  CLIENT: 'client',
  PROVIDER: 'provider',
  MCP: 'mcp',
  OUTPUT: 'output',
  BRIDGE: 'bridge',
} as const

/** The intents, for those who prefer names to literals. */
export const ToolIntent = { COMPUTE: 'compute', ACTION: 'action', RENDER: 'render' } as const

/** Options by provider; adapters add their key by declaration merging. */
export interface ProviderToolOptions {
  readonly [provider: string]: Readonly<Record<string, unknown>> | undefined
}

/** Options by library; adapters add their key by declaration merging. */
export interface LibraryToolOptions {
  readonly [library: string]: Readonly<Record<string, unknown>> | undefined
}

/** The origin of a tool of type `mcp`. */
export interface McpConfig {
  readonly [key: string]: unknown
  readonly serverName?: string
  readonly serverUrl?: string
  /** The server's name for the tool. */
  readonly toolName?: string
  /** The hash of the command line of a server that is a program. */
  readonly program?: string
  /** Whether the server chose `serverName` itself, so that another server may have the same. */
  readonly isSelfNamed?: boolean
  readonly transport?: 'stdio' | 'http' | 'sse' | 'websocket' | 'in-process'
  /** The traits that the application set, if any; never those that the server claims. */
  readonly hostTraits?: ToolTraits
}

/** The view that an application may show with the call. */
export interface ToolUi {
  readonly resourceUri?: string
  /** Who may call the tool. Default: both. */
  readonly visibility?: readonly ('model' | 'app')[]
}

/** What a person is shown with a question. */
export type ConfirmationPreview = string | readonly ContentBlock[]

/** The options of a tool that have a default, so that each definition has them. */
export interface DefaultedOptions {
  /** Default: `'compute'`. */
  readonly intent?: 'compute' | 'action' | 'render'
  /** Who sees the tool and may call it. Default: `'model'`. */
  readonly audience?: 'model' | 'user' | 'all'
  readonly traits?: ToolTraits
  /** For type `client`: whether to wait for the client's answer. Default: `false`. */
  readonly requiresResponse?: boolean
  /** For type `client` without `requiresResponse`: the result at once. Default: `[<name> rendered on client]`. */
  readonly defaultResult?: readonly ContentBlock[]
  /** Whether `ToolRegistry.pruneEphemeral` removes it from the registry that it was added to. Default: `false`. */
  readonly ephemeral?: boolean
  /** Whether its results are as trustworthy as the application's own text. Default: `false`. */
  readonly trusted?: boolean
  /** What a merge does with it if its name is taken. Default: `'throw'`. */
  readonly onCollision?: 'replace' | 'keep' | 'throw'
  /** Data of the application; models never see it. */
  readonly meta?: Readonly<Record<string, unknown>>
  readonly metadata?: {
    readonly version?: string
    readonly tags?: readonly string[]
    /** Whether `cache` keeps its results. Default: if its traits have `readonly`. */
    readonly cacheable?: boolean
    /** How long `cache` keeps them, in milliseconds. Default: that of the cache. */
    readonly cacheTTL?: number
  }
  /** Other names that calls may use. */
  readonly aliases?: readonly string[]
  readonly providerOptions?: ProviderToolOptions
  readonly libraryOptions?: LibraryToolOptions
  /** Example inputs. */
  readonly examples?: readonly unknown[]
  /**
   * JSON Pointers into args and result. All reports of a call (events, questions, records, snapshots, errors, the model's text,
   * the artifact) have `[secret]` there, and for equal values of at least three characters elsewhere.
   *
   * Masked args are made from the args as they came, even if a transform gives the handler other values. If a pointer leads into
   * a text, the whole text is masked. A validator's messages about a secret, or about a value that holds it, are left out. Of
   * what the handler throws, only a `ToolFailure` is reported. No error has a `cause`. Bytes, streams and artifacts that the
   * handler returns are kept as they are: return secrets in values.
   */
  readonly secrets?: readonly string[]
}

/** All options of a tool except its schemas and its handler. `Input` is the args after validation. */
export interface ToolOptions<Input = never> extends DefaultedOptions {
  readonly requiresConfirmation?: boolean | ((input: Input, context: ToolContext) => boolean | Promise<boolean>)
  readonly middleware?: readonly Middleware<Input>[]
  /** The name that models call: `^[a-zA-Z0-9_-]{1,64}$`. */
  readonly name: string
  /** The name that people read. */
  readonly title?: string
  /** Tells the model what the tool does and when to use it; never empty. */
  readonly description: string
  /** Replaces the converted input schema in what models are shown. */
  readonly jsonSchema?: JsonSchemaObject
  /** Milliseconds; `0` or `Infinity` for none. Default: that of the executor, or 30,000 for an answer of a client. */
  readonly timeout?: number
  /**
   * The question to the person, or a function that makes it from the input. If the tool has `secrets`, the function gets the masked
   * args as they came: without defaults, before coercions and transforms. Default: `Allow <name> to execute?`.
   */
  readonly confirmationMessage?: string | ((input: Input) => string)
  /** A line about the call for people, or a function that makes it, such as `Reads src/index.ts`. A question has it in `meta.summary`. */
  readonly displaySummary?: string | ((input: Input) => string)
  /**
   * Makes what a person is shown with the question, such as a difference: text or content blocks, of at most 16,384 bytes. It
   * stands in `meta.preview`. What throws, or takes longer than 5,000 ms, is reported and left out. The input is that of
   * `confirmationMessage`.
   */
  readonly confirmationPreview?: (
    input: Input,
    context: ToolContext,
  ) => ConfirmationPreview | Promise<ConfirmationPreview>
  /**
   * Returns what a call touches, such as `[`file:${path}`]`: calls that touch the same thing run one after the other, in the
   * order of their arrival, and others beside each other. A text is written, by calls of all sessions. At most 256; if it throws,
   * the call fails without an effect. Default: nothing.
   */
  readonly conflicts?: (input: Input, context: ToolContext) => readonly Conflict[]
  /**
   * Names what a call does in the business of the application, such as `refund:${orderId}`: calls with the same key do the same,
   * however their args are worded. The gate `once` keeps it from being done twice. At most 1,024 characters; nothing for a call
   * that may be repeated. If it throws, the call fails without an effect. Events and records have its SHA-256. Default: none.
   */
  readonly effectKey?: (input: Input, context: ToolContext) => string | undefined
  readonly hooks?: ToolHooks<Input>
  /**
   * Finds out what an earlier call did of which it is not known: it timed out, or its process has died. Look it up in the other
   * system by the `invocationId` that the handler sent, and change nothing: it may be asked often, and by several at once. Say
   * `unknown` as long as a request may still be under way there. Its record keeps the args, unmasked, until the effect is known.
   */
  readonly reconcile?: (input: Input, context: ReconcileContext) => Reconciled | Promise<Reconciled>
  readonly mcpConfig?: McpConfig
  readonly ui?: ToolUi
  /**
   * Who calls the tool: the model itself, or a program that the provider runs for it. A program gets a result of up to 1 MiB
   * whole. Told to the provider, which enforces it; a policy sees `call.program`. Default: the provider's, which is the model.
   */
  readonly allowedCallers?: readonly ('model' | 'program')[]
  /** Whether the provider loads the definition only when its tool search finds it. Default: `false`. */
  readonly deferLoading?: boolean
  /** Whether the model may read the messages of errors that the handler throws. Default: that of the executor. */
  readonly exposeErrors?: boolean
  /** Bytes of text and JSON up to which its results stay in the result object. Default: that of the executor. */
  readonly inlineLimit?: number
}

/** Runs the tool: a function, an async function, or an async generator that yields progress and returns the result. */
export type ToolHandler<Input, Result, Progress = unknown> = (
  input: Input,
  context: ToolContext,
  // oxlint-disable-next-line typescript/no-explicit-any -- a generator may take any type in `next`
) => AsyncGenerator<Progress, Result, any> | Promise<Result> | Result

/** The result of a direct call: the output of `outputSchema`, else what the handler returned. */
export type CheckedResult<Output, Result> = Output extends undefined ? Result : OutputOf<Output>

/**
 * The condition is around the whole handler: inside it TypeScript would infer the members of a returned union separately, and take
 * only the first. It is worked out often, so it names schemas and not what is derived of them.
 */
interface CheckedHandler<Input, Output, Result, Progress> {
  readonly handler?: Output extends undefined
    ? // oxlint-disable-next-line typescript/no-explicit-any -- as in `ToolHandler`
      (input: OutputOf<Input>, context: ToolContext) => AsyncGenerator<Progress, Result, any> | Promise<Result> | Result
    : ToolHandler<OutputOf<Input>, InputOf<Output> | MarkedJson<InputOf<Output>>, Progress>
}

/** A mapped type, since TypeScript works out a conditional one for each field of a config. */
type RequiredHandler<Type> = { [Field in Type extends 'server' | 'mcp' ? 'handler' : never]: NonNullable<unknown> }

/** The handler of a tool, required for types that run here: it returns the input of `outputSchema`, if any, as it is or marked. */
export type CheckedHandlerField<Type, Input, Output, Result, Progress> = RequiredHandler<Type> &
  CheckedHandler<Input, Output, Result, Progress>

/** What `reconcile` returns: a result that the handler could have returned. */
type FoundBy<Output> = Reconciled<Output extends undefined ? unknown : InputOf<Output> | MarkedJson<InputOf<Output>>>

/** The config of a tool, as its author writes it. */
export interface ToolConfig<Input, Parsed, Output, Artifact extends SpooledArtifact, Type> extends ToolOptions<Parsed> {
  readonly type?: Type
  /** Any Standard Schema, or a raw JSON Schema. Default: no arguments. */
  readonly inputSchema?: Input
  /** Checks what the handler returns. */
  readonly outputSchema?: Output
  /** The class that reads the result. Default: chosen by the result. */
  readonly artifact?: ArtifactOption<Artifact>
  readonly reconcile?: (input: Parsed, context: ReconcileContext) => FoundBy<Output> | Promise<FoundBy<Output>>
  /** Named here too, since TypeScript infers nothing from a config with a missing and a surplus field. */
  readonly handler?: unknown
}

/** What validation returns, if not named: the input, or no members. All fit `any` of a `Tool`. */
export type ParsedOf<Input> = unknown extends Input ? Input : [Input] extends [void] ? EmptyInput : Input

/** A schema whose types fit those of a class. A raw JSON Schema fits all. */
type SchemaOf<Input, Parsed> =
  Typed<{ readonly input: Input; readonly output: Parsed }> | (JsonSchema & { readonly '~standard'?: never })

/** The options of a tool whose types stand in its class. */
interface ClassOptions<Input, Result, Artifact extends SpooledArtifact, Parsed> extends ToolOptions<
  unknown extends Parsed ? Input : Parsed
> {
  readonly inputSchema?: SchemaOf<Input, Parsed> | undefined
  readonly outputSchema?: SchemaOf<Result, unknown> | undefined
  readonly artifact?: ArtifactOption<Artifact> | undefined
}

/** A handler is required where no `type` says that the tool runs elsewhere. */
type ClassHandler<Handler> =
  | { readonly type?: string; readonly handler: Handler | undefined }
  | { readonly type: string; readonly handler?: Handler | undefined }

/** The config of a tool whose types stand in its class, as in `class Forecast extends Tool<{ city: string }, string>`. */
export type ClassConfig<Input, Result, Progress, Artifact extends SpooledArtifact, Parsed> = ClassOptions<
  Input,
  Result,
  Artifact,
  Parsed
> &
  ClassHandler<ToolHandler<unknown extends Parsed ? Input : Parsed, Result | MarkedJson<Result>, Progress>>

/** The options of a direct call. */
export type DirectContext = Pick<CallOptions, 'session' | 'values' | 'signal' | 'invocationId'>

/** The options of `Tool.executor`. */
export interface BoundOptions extends Omit<CallOptions, 'invocationId'> {
  /** Default: an executor with this tool alone. The default of `caller` is `'user'`. */
  readonly executor?: Pick<ToolExecutor, 'stream'>
  /** Receives the events of the calls. */
  readonly on?: Observer
}

/** A client's description of its own tool, in plain JSON. */
export interface ClientToolDescription extends Pick<
  ToolOptions,
  'name' | 'description' | 'title' | 'intent' | 'requiresResponse' | 'timeout' | 'defaultResult'
> {
  /** Default: any object. */
  readonly inputSchema?: Schema
}

/** A handler without its types. */
export type ErasedHandler = (input: unknown, context: ToolContext) => unknown

/** A tool's config without its types. */
export interface ErasedConfig extends ToolOptions<unknown> {
  readonly type?: string
  readonly inputSchema?: Schema | undefined
  readonly outputSchema?: Schema | undefined
  readonly artifact?: ArtifactOption | undefined
  /** `undefined` if the tool runs elsewhere. */
  readonly handler: ErasedHandler | undefined
}
