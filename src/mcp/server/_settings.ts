import type { McpServer } from '@modelcontextprotocol/server'
import { InvalidConfigurationError, type ToolExecutor, type ToolValues } from '../../index.ts'
import type { Lent } from './_resources.ts'
import type { Rounds } from './_rounds.ts'

/** Something that clients may read by its address, such as the view of an MCP App. */
export interface McpResource {
  /** Such as `ui://weather/view`. With names in braces (`docs://{page}`), it is a template: a name is any text without a slash. */
  readonly uri: string
  readonly name: string
  readonly title?: string
  readonly description?: string
  readonly mimeType?: string
  /** As it goes out, in the list and with the contents: `{ ui: { csp: … } }`. */
  readonly meta?: Readonly<Record<string, unknown>>
  /** Gives the contents: text, or bytes. Throw where there is nothing under this address. */
  read(uri: string, names: Readonly<Record<string, string>>): string | Uint8Array | Promise<string | Uint8Array>
}

/** Who is served. */
export interface McpPeer {
  /** The executor's session: one for each connection; without connections, for each client that is known, else for each request. */
  readonly session: string
  /** Who the bearer token belongs to, where there is one. */
  readonly principal: string | undefined
}

export interface McpServerOptions {
  /** The passage that every call walks. */
  readonly executor: ToolExecutor
  /** How the server calls itself. Default: `toolwright`. */
  readonly name?: string
  /** Its version. Default: `1.0.0`. */
  readonly version?: string
  /** Its name, for people. */
  readonly title?: string
  /** What models should know of these tools as a whole. */
  readonly instructions?: string
  /** Whose tools are listed and called. Default: `model`. */
  readonly caller?: 'model' | 'user'
  /**
   * Who is asked where a call needs approval: the client, as far as it can ask its user, or nobody here, because the host
   * redeems the token itself. A client can say yes without asking anybody; an `approver` of the executor cannot be
   * answered by it. Default: `client`.
   */
  readonly approvals?: 'client' | 'host'
  /** What clients may read beside the artifacts of their session. */
  readonly resources?: readonly McpResource[]
  /** How many tools or resources a page of a list has. Default: 100. */
  readonly pageSize?: number
  /** Bytes of a resource that are given at once. Default: 1,048,576. */
  readonly readLimit?: number
  /** Bytes of `structuredContent`, which has to be whole. Default: 4,194,304. */
  readonly structuredLimit?: number
  /** Bytes that a message of a client may have. Default: 4,194,304. */
  readonly messageLimit?: number
  /** How long a client may take to answer a question, in milliseconds. Default: 600,000. */
  readonly answerTimeout?: number
  /** The host's own data, for the handlers of a client's calls: each call gets a copy of its fields. */
  readonly values?: (peer: McpPeer) => ToolValues
  /** Runs around each call; `meta` is the request's `_meta`, as it came. */
  readonly around?: <Result>(
    meta: Readonly<Record<string, unknown>> | undefined,
    run: () => Promise<Result>,
  ) => Promise<Result>
  /** Adds what is not about tools, such as prompts, to the server of each connection. */
  readonly extend?: (server: McpServer) => void
  /** Where faults go that belong to no call. Default: `console.error`. */
  readonly report?: (error: unknown) => void
}

/** The options, complete. */
export interface Settings extends Required<
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
    | 'around'
    | 'report'
  >
> {
  readonly title: string | undefined
  readonly instructions: string | undefined
  readonly values: McpServerOptions['values']
  readonly extend: McpServerOptions['extend']
  /** The calls of all clients that wait for an answer. */
  readonly rounds: Rounds
  readonly lent: Lent
}

/** One client, as one instance of the protocol serves it. */
export interface Peer extends McpPeer {
  readonly era: 'legacy' | 'modern'
  /** Who may answer what was asked in the course of a call: the same connection, or the same principal. */
  readonly owner: string
  /** Whether there is nothing that ties its requests together. */
  readonly isLone: boolean
  /** Who shares its quotas, and the limits of its calls: its principal, or all who come from one address. */
  readonly party: string | undefined
}

/**
 * An option that is a whole number of at least 1.
 *
 * @throws `E_INVALID_CONFIGURATION` if it is none.
 */
export function amount<Options extends object>(
  options: Options,
  name: keyof Options & string,
  otherwise: number,
): number {
  const value: unknown = options[name] ?? otherwise
  if (typeof value === 'number' && Number.isInteger(value) && value >= 1 && value <= 2 ** 31 - 1) return value
  throw new InvalidConfigurationError(`\`${name}\` has to be a whole number of at least 1.`)
}
