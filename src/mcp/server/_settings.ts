import type { McpServer } from '@modelcontextprotocol/server'
import type { ToolExecutor, ToolValues } from '../../index.ts'
import {
  functionOption,
  integerFrom,
  numberFrom,
  oneOf,
  stringOption,
  type OptionCheck,
  type OptionChecks,
} from '../../extension.ts'
import type { OnceCalls } from './_once.ts'
import type { GrantedResources } from './_resources.ts'
import type { OpenQuestions } from './_rounds.ts'

/** A resource that clients may read by its URI, such as the view of an MCP App. */
export interface McpResource {
  /** Such as `ui://weather/view`. With names in braces (`docs://{page}`), it is a template: a name matches any text without a slash. */
  readonly uri: string
  readonly name: string
  readonly title?: string
  readonly description?: string
  readonly mimeType?: string
  /** Sent as it is, in the list and with the contents: `{ ui: { csp: … } }`. */
  readonly meta?: Readonly<Record<string, unknown>>
  /** Returns the contents as text or bytes. Throw if there is no resource of this URI. */
  read(uri: string, names: Readonly<Record<string, string>>): string | Uint8Array | Promise<string | Uint8Array>
}

/** A client that is served. */
export interface McpPeer {
  /** The executor's session: one per connection; without connections, one per known principal, else one per request. */
  readonly session: string
  /** The principal of the bearer token, if there is one. */
  readonly principal: string | undefined
}

/** The options of `mcpServer`. */
export interface McpServerOptions {
  /** Runs every call. */
  readonly executor: ToolExecutor
  /** The server's name. Default: `toolwright`. */
  readonly name?: string
  /** The server's version, such as that of the package that has the tools. Default: `0.0.0`, which says that it has none. */
  readonly version?: string
  /** The server's name for people. */
  readonly title?: string
  /** What models should know of these tools as a whole. */
  readonly instructions?: string
  /** As which caller the clients list and call tools. Default: `model`. */
  readonly caller?: 'model' | 'user'
  /**
   * Who approves a call that needs approval. `client`: the server asks the client, if the client can ask its user. `application`: the
   * server does not ask, and the application redeems the token. A client can approve without asking its user, but it cannot answer
   * for an `approver` of the executor. Default: `client`.
   */
  readonly approvals?: 'client' | 'application'
  /** What clients may read in addition to the artifacts of their session. */
  readonly resources?: readonly McpResource[]
  /** How many tools or resources one page of a list has. Default: 100. */
  readonly pageSize?: number
  /** How many bytes of an artifact one read returns. Default: 1,048,576. */
  readonly readLimit?: number
  /** How many bytes `structuredContent` may have; it cannot be sent in parts. Default: 4,194,304. */
  readonly structuredLimit?: number
  /** How many bytes a message of a client may have. Default: 4,194,304. */
  readonly messageLimit?: number
  /** How long a client may take to answer a question, in milliseconds. Default: 600,000. */
  readonly answerTimeout?: number
  /**
   * How long a call with `_meta['toolwright/once']` goes on after its client was cut off, so that the client finds it again, in
   * milliseconds. Over HTTP of 2026-07-28, a client that cancels cannot be told from one that was cut off. `0` cancels at once.
   * Default: 10,000.
   */
  readonly reissueTimeout?: number
  /** Returns the application's `values` for the calls of a client. Each call gets a shallow copy. */
  readonly values?: (peer: McpPeer) => ToolValues
  /**
   * Returns the provider's id of a call, and the identity of its occurrence, for at-most-once execution. `meta` is the request's
   * `_meta`, which the client chooses: an `invocationId` of it alone could be that of another client. Default: no id, and an
   * `invocationId` of the client and `_meta['toolwright/once']`, if the client has that.
   */
  readonly identify?: (
    meta: Readonly<Record<string, unknown>> | undefined,
    peer: McpPeer,
  ) => { readonly id?: string | number; readonly invocationId?: string }
  /** Wraps each call; `meta` is the request's `_meta`, unchanged. */
  readonly around?: <Result>(
    meta: Readonly<Record<string, unknown>> | undefined,
    run: () => Promise<Result>,
  ) => Promise<Result>
  /** Adds other features, such as prompts, to the server of each connection. */
  readonly extend?: (server: McpServer) => void
  /** Receives errors that belong to no call. Default: `console.error`. */
  readonly report?: (error: unknown) => void
}

/** The options with their defaults. */
export interface ServerSettings extends Required<
  Pick<
    McpServerOptions,
    | 'executor'
    | 'name'
    | 'version'
    | 'caller'
    | 'approvals'
    | 'resources'
    | 'pageSize'
    | 'readLimit'
    | 'structuredLimit'
    | 'messageLimit'
    | 'answerTimeout'
    | 'reissueTimeout'
    | 'around'
    | 'report'
  >
> {
  readonly title: string | undefined
  readonly instructions: string | undefined
  readonly values: McpServerOptions['values']
  readonly identify: McpServerOptions['identify']
  readonly extend: McpServerOptions['extend']
  /** The calls of all clients that wait for an answer. */
  readonly openQuestions: OpenQuestions
  readonly onceCalls: OnceCalls
  readonly granted: GrantedResources
}

/** A client, as one server instance of the SDK serves it. */
export interface Peer extends McpPeer {
  readonly era: 'legacy' | 'modern'
  /** Who may answer a call's questions: the same connection, or the same principal. */
  readonly owner: string
  /** Whether each request of the client is a session of its own. */
  readonly isLone: boolean
  /** Who shares the client's quotas and call limits: its principal, or all clients of one address. */
  readonly party: string | undefined
  /** Aborts if the client is to get its answers now, since its connection ends. */
  readonly leaving?: AbortSignal | undefined
}

/** Takes how many there may be, or how much of something. */
export const wholeNumber: OptionCheck = integerFrom(1, 2 ** 31 - 1)

/** What the options of a server take. */
export const serverChecks: OptionChecks<McpServerOptions> = {
  executor: {
    expected: 'an executor of createExecutor({ tools })',
    accepts: (value) => typeof (value as ToolExecutor | null)?.stream === 'function',
    isRequired: true,
  },
  name: stringOption,
  version: stringOption,
  title: stringOption,
  instructions: stringOption,
  caller: oneOf('model', 'user'),
  approvals: oneOf('client', 'application'),
  resources: { expected: 'a list of resources', accepts: Array.isArray },
  pageSize: wholeNumber,
  readLimit: wholeNumber,
  structuredLimit: wholeNumber,
  messageLimit: wholeNumber,
  answerTimeout: wholeNumber,
  reissueTimeout: numberFrom(0),
  values: functionOption,
  identify: functionOption,
  around: functionOption,
  extend: functionOption,
  report: functionOption,
}
