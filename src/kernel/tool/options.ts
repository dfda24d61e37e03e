import type { ArtifactOption } from '../result/artifact.ts'
import type { ContentBlock } from '../result/content.ts'
import type { Schema } from '../schema/infer.ts'
import type { Middleware, ToolContext, ToolHooks } from '../ports.ts'
import type { JsonSchemaObject } from '../schema/standard.ts'

/**
 * Who runs a tool: `server` and `mcp` run the handler here; others run elsewhere. The args of an `output` tool are the model's
 * answer: nothing runs. Hosts add types by declaration merging.
 */
export interface ToolTypes {
  client: true
  provider: true
  mcp: true
  output: true
}

export type ToolType = 'server' | keyof ToolTypes

/** The execution types, for those who prefer names to literals. */
export const ToolExecutionType = {
  SERVER: 'server',
  CLIENT: 'client',
  PROVIDER: 'provider',
  MCP: 'mcp',
  OUTPUT: 'output',
} as const

/** The intents, for those who prefer names to literals. */
export const ToolIntent = { COMPUTE: 'compute', ACTION: 'action', RENDER: 'render' } as const

/** The traits of a tool, used by policies, caches and retries. Default of each: `false`; of `concurrent`: `true`. */
export interface ToolTraits {
  readonly readonly?: boolean
  readonly destructive?: boolean
  readonly idempotent?: boolean
  readonly openWorld?: boolean
  /**
   * Whether other calls of the same session may run at the same time. A call that is not concurrent begins when the work of the
   * calls before it has ended, at the latest 30 s after they have settled. If the same calls run for 60 s, the waiting call is
   * `timed_out`.
   */
  readonly concurrent?: boolean
}

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
  /** The traits that the host set, if any; never those that the server claims. */
  readonly hostTraits?: ToolTraits
}

/** The view that a host may show with the call. */
export interface ToolUi {
  readonly resourceUri?: string
  /** Who may call the tool. Default: both. */
  readonly visibility?: readonly ('model' | 'app')[]
}

/** What a person is shown with a question. */
export type ConfirmationPreview = string | readonly ContentBlock[]

/** The options of a tool that have a default, so that each definition has them. `Input` is the args after validation. */
export interface DefaultedOptions<Input = never> {
  /** Default: `'compute'`. */
  readonly intent?: 'compute' | 'action' | 'render'
  /** Who sees the tool and may call it. Default: `'model'`. */
  readonly audience?: 'model' | 'user' | 'all'
  readonly traits?: ToolTraits
  readonly requiresConfirmation?: boolean | ((input: Input, context: ToolContext) => boolean | Promise<boolean>)
  /** For type `client`: whether to wait for the client's answer. Default: `false`. */
  readonly requiresResponse?: boolean
  /** For type `client` without `requiresResponse`: the result at once. Default: `[<name> rendered on client]`. */
  readonly defaultResult?: readonly ContentBlock[]
  readonly middleware?: readonly Middleware[]
  /** Whether `ToolRegistry.pruneEphemeral` removes it from the registry that it was added to. Default: `false`. */
  readonly ephemeral?: boolean
  /** Whether its results are as trustworthy as the host's own text. Default: `false`. */
  readonly trusted?: boolean
  /** What a merge does with it if its name is taken. Default: `'throw'`. */
  readonly onCollision?: 'replace' | 'keep' | 'throw'
  /** Data of the host; models never see it. */
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

/** All options of a tool except its schemas and its handler. */
export interface ToolOptions<Input = never> extends DefaultedOptions<Input> {
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
  readonly hooks?: ToolHooks
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

/** A handler without its types. */
export type ErasedHandler = (input: unknown, context: ToolContext) => unknown

/** A tool's config without its types, for `define`. */
export interface ErasedConfig extends ToolOptions<unknown> {
  readonly type?: string
  readonly inputSchema?: Schema | undefined
  readonly outputSchema?: Schema | undefined
  readonly artifact?: ArtifactOption | undefined
  readonly handler?: ErasedHandler | undefined
}
