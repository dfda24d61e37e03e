import type { ArtifactOption } from '../result/artifact.ts'
import type { ContentBlock } from '../result/content.ts'
import type { Schema } from '../schema/infer.ts'
import type { Validated } from '../call/parcel.ts'
import type { Decision, Middleware, ToolContext } from '../ports.ts'
import type { JsonSchemaObject } from '../schema/standard.ts'

/** Who runs a tool: `server` and `mcp` run the handler, the others somebody else. Hosts add theirs by declaration merging. */
export interface ToolTypes {
  client: true
  provider: true
  mcp: true
}

export type ToolType = 'server' | keyof ToolTypes

/** The execution types, for those who prefer names to literals. */
export const ToolExecutionType: {
  readonly SERVER: 'server'
  readonly CLIENT: 'client'
  readonly PROVIDER: 'provider'
  readonly MCP: 'mcp'
} = { SERVER: 'server', CLIENT: 'client', PROVIDER: 'provider', MCP: 'mcp' }

/** The intents, for those who prefer names to literals. */
export const ToolIntent: { readonly COMPUTE: 'compute'; readonly ACTION: 'action'; readonly RENDER: 'render' } = {
  COMPUTE: 'compute',
  ACTION: 'action',
  RENDER: 'render',
}

/** What a tool is like; policies, caches and retries go by it. Default of each: `false`, of `concurrent`: `true`. */
export interface ToolTraits {
  readonly readonly?: boolean
  readonly destructive?: boolean
  readonly idempotent?: boolean
  readonly openWorld?: boolean
  /**
   * Whether other calls may run beside it in the same session. A call of a tool that is not concurrent begins when the work of the
   * calls before it has ended, at the latest 30 s after they have settled. If the same calls run for 60 s, the one that waits is
   * `timed_out`.
   */
  readonly concurrent?: boolean
}

/** Options of one provider each; adapters add their key by declaration merging. */
export interface ProviderToolOptions {
  readonly [provider: string]: Readonly<Record<string, unknown>> | undefined
}

/** Options of one library each; adapters add their key by declaration merging. */
export interface LibraryToolOptions {
  readonly [library: string]: Readonly<Record<string, unknown>> | undefined
}

/** Where a tool of type `mcp` comes from. */
export interface McpConfig {
  readonly [key: string]: unknown
  readonly serverName?: string
  readonly serverUrl?: string
  /** What the server calls the tool. */
  readonly toolName?: string
  /** The hash of the command line of a server that is a program. */
  readonly program?: string
  /** Whether the server chose `serverName` itself, so that another may have the same. */
  readonly isSelfNamed?: boolean
  readonly transport?: 'stdio' | 'http' | 'sse' | 'websocket' | 'in-process'
  /** The traits that the host gave the tool, as far as it gave any; never what the server says of it. */
  readonly hostTraits?: ToolTraits
}

/** The view that a host may show beside the call. */
export interface ToolUi {
  readonly resourceUri?: string
  /** Who may call the tool. Default: both. */
  readonly visibility?: readonly ('model' | 'app')[]
}

/** What `postToolUse` says: nothing keeps the result, `update` merges into it, `replace` stands in for it. */
export type PostDecision =
  | void
  | undefined
  | { readonly update: { readonly result: unknown } }
  | { readonly replace: { readonly content: unknown } }

/** A tool's own last policy, and its own innermost middleware. */
export interface ToolHooks {
  readonly preToolUse?: (call: Validated, context: ToolContext) => Decision | Promise<Decision>
  readonly postToolUse?: (
    call: Validated,
    result: unknown,
    context: ToolContext,
  ) => PostDecision | Promise<PostDecision>
}

/** Everything that can be said of a tool but its schemas and its handler. `Input` is the args after validation. */
export interface ToolOptions<Input = never> {
  /** How models call it: `^[a-zA-Z0-9_-]{1,64}$`. */
  readonly name: string
  /** How people read it. */
  readonly title?: string
  /** What it does and when to use it, for the model; never empty. */
  readonly description: string
  /** What a model is shown in place of the input schema's own conversion. */
  readonly jsonSchema?: JsonSchemaObject
  readonly intent?: 'compute' | 'action' | 'render'
  /** Who is shown the tool and may call it. Default: `'model'`. */
  readonly audience?: 'model' | 'user' | 'all'
  readonly traits?: ToolTraits
  /** Milliseconds; `0` or `Infinity` for none. Default: the executor's, or 30,000 for an answer of a client. */
  readonly timeout?: number
  readonly requiresConfirmation?: boolean | ((input: Input, context: ToolContext) => boolean | Promise<boolean>)
  /**
   * The question to the person, or what makes it of the input. Of a tool with `secrets` it is given the masked args, as they came:
   * without defaults, before coercions and transforms. Default: `Allow <name> to execute?`.
   */
  readonly confirmationMessage?: string | ((input: Input) => string)
  /** For type `client`: whether to wait for the client's answer. Default: `false`. */
  readonly requiresResponse?: boolean
  /** For type `client` without `requiresResponse`: the result at once. Default: `[<name> rendered on client]`. */
  readonly defaultResult?: readonly ContentBlock[]
  readonly middleware?: readonly Middleware[]
  readonly hooks?: ToolHooks
  /** Whether `ToolRegistry.pruneEphemeral` takes it out of the registry that it was added to. Default: `false`. */
  readonly ephemeral?: boolean
  /** Whether what it returns is as trustworthy as the host's own words. Default: `false`. */
  readonly trusted?: boolean
  /** What becomes of it where a merge finds its name taken. Default: `'throw'`. */
  readonly onCollision?: 'replace' | 'keep' | 'throw'
  /** Data of the host's own, for no model. */
  readonly meta?: Readonly<Record<string, unknown>>
  readonly metadata?: { readonly version?: string; readonly tags?: readonly string[] }
  /** Other names by which it may be called. */
  readonly aliases?: readonly string[]
  readonly providerOptions?: ProviderToolOptions
  readonly libraryOptions?: LibraryToolOptions
  readonly mcpConfig?: McpConfig
  readonly ui?: ToolUi
  /** Inputs that show how it is called. */
  readonly examples?: readonly unknown[]
  /**
   * JSON Pointers into args and result. All that is told of a call (events, questions, records, snapshots, errors, the model's
   * text, the artifact) has `[secret]` there, and for the same values elsewhere, unless they are shorter than three characters.
   *
   * What is told of the args is made of the args as they came, also where a transform gives the handler something else. Text at a
   * place where a pointer goes on is masked whole. A validator's words about a secret, or about what holds it, are not told. Of
   * what the handler throws nothing is told but a `ToolFailure`. No error has a cause. Bytes, streams and artifacts that the
   * handler returns are kept as they are: return secrets in values.
   */
  readonly secrets?: readonly string[]
  /** Whether the model may read the words of what the handler throws. Default: the executor's. */
  readonly exposeErrors?: boolean
  /** Bytes of text and JSON up to which its results stay in the result object. Default: the executor's. */
  readonly inlineLimit?: number
}

/** What runs the tool. */
export type ErasedHandler = (input: unknown, context: ToolContext) => unknown

/** A tool's options as `define` takes them, whatever their types were. */
export interface ErasedConfig extends ToolOptions<unknown> {
  readonly type?: string
  readonly inputSchema?: Schema | undefined
  readonly outputSchema?: Schema | undefined
  readonly artifact?: ArtifactOption | undefined
  readonly handler?: ErasedHandler | undefined
}
