import {
  InMemoryTransport,
  type AuthProvider,
  type OAuthClientProvider,
  type Transport,
} from '@modelcontextprotocol/client'
import { InvalidConfigurationError, isToolError, type ToolContext, type ToolOptions } from '../../index.ts'

/** A tool as its server lists it: nothing of it is believed. */
export interface ServerTool {
  readonly name: string
  readonly title?: string
  readonly description?: string
  readonly inputSchema: Readonly<Record<string, unknown>>
  readonly outputSchema?: Readonly<Record<string, unknown>>
  /** What the server says of the tool's nature: hints, for people who trust the server. */
  readonly annotations?: Readonly<Record<string, unknown>>
  readonly _meta?: Readonly<Record<string, unknown>>
}

/** What the host says of a server's tool; it wins over what the server says. */
export type ServerToolOptions = Partial<Omit<ToolOptions<Record<string, unknown>>, 'name' | 'mcpConfig' | 'jsonSchema'>>

/** A question of the server for a person, while one of its tools runs. */
export interface Elicitation {
  readonly message: string
  /** JSON Schema of the answer: an object of strings, numbers, booleans and choices. */
  readonly requestedSchema?: unknown
}

export interface ElicitationAnswer {
  readonly action: 'accept' | 'decline' | 'cancel'
  readonly content?: Record<string, string | number | boolean | string[]>
}

/** How to reach a server. */
export interface McpServer {
  /** By what name the host knows it: the namespace of its tools where names collide, and the `app` that may call them. Default: what the server calls itself. */
  readonly name?: string
  /** A program that speaks over its standard streams; started from this list of words, never by a shell. */
  readonly command?: string
  readonly args?: readonly string[]
  /** Beside `HOME`, `PATH` and the like (the SDK's list), the whole environment that the program gets. */
  readonly env?: Readonly<Record<string, string>>
  readonly cwd?: string
  /** The address of a server; `http:` or `https:`. */
  readonly url?: string | URL
  /** What the address speaks. Default: `'http'`, which is Streamable HTTP; `'sse'` is its obsolete predecessor. */
  readonly type?: 'stdio' | 'http' | 'sse'
  /** Sent to the server's own origin and to no other. */
  readonly headers?: Readonly<Record<string, string>>
}

/** How much of a server is taken. */
export interface McpLimits {
  /** Default: 1,000. */
  readonly tools?: number
  /** Pages of the list. Default: 64. */
  readonly pages?: number
  /** Characters of JSON that one tool's definition may have. Default: 65,536. */
  readonly definition?: number
  /** Bytes that one message may have. Default: 10,485,760. */
  readonly message?: number
  /** Progress notifications that one call may send; what comes after is not heard. Default: 1,000. */
  readonly progress?: number
}

export interface McpToolsOptions extends McpServer {
  /** A transport of one's own, used for this server alone; a function, where the connection shall be made anew after it was lost. */
  readonly transport?: Transport | (() => Transport | Promise<Transport>)
  readonly fetch?: (url: string | URL, init?: RequestInit) => Promise<Response>
  /** Bearer tokens or OAuth, as the SDK takes them. */
  readonly authProvider?: AuthProvider | OAuthClientProvider
  /** After `authProvider` sent a person to the authorization server: waits for them, and gives the query that they came back with. */
  readonly authorize?: () => Promise<URLSearchParams>
  /** Puts `<prefix>_` before every name. Default: nothing, and the server's name where a name is taken. */
  readonly prefix?: string
  /** The server's names of the tools to take. Default: all. */
  readonly include?: readonly string[] | ((tool: ServerTool) => boolean)
  /** The server's names of the tools to leave. */
  readonly exclude?: readonly string[] | ((tool: ServerTool) => boolean)
  /** What the host says of tools, by the server's names: traits, confirmation, timeouts. */
  readonly tools?: Readonly<Record<string, ServerToolOptions>> | ((tool: ServerTool) => ServerToolOptions | undefined)
  /** The protocol to speak. Default: `'auto'`, the newest that both know; of a program, one more is started to find out. */
  readonly protocol?: 'auto' | '2025-11-25' | '2026-07-28'
  /** What one call may take, in milliseconds. Default: the executor's. */
  readonly timeout?: number
  /** What connecting may take, and listing, in milliseconds each. Default: 30,000. */
  readonly connectTimeout?: number
  /** How often a lost connection is made anew until a call succeeds; `0` waits for the next call. Default: 5. */
  readonly reconnects?: number
  /** The wait before the first of them, in milliseconds; it doubles each time, up to 30,000. Default: 500. */
  readonly reconnectDelay?: number
  /** Answers the questions of the server. Default: it may not ask. */
  readonly elicit?: (question: Elicitation) => Promise<ElicitationAnswer>
  /** What goes into `_meta` of each call, such as a trace context. */
  readonly meta?: (context: ToolContext) => Readonly<Record<string, unknown>> | undefined
  readonly limits?: McpLimits
  /** Where faults go that belong to no call. Default: `console.error`, one line for each. */
  readonly report?: (error: unknown) => void
}

/** Options, looked through. */
export interface Target extends McpToolsOptions {
  readonly kind: 'stdio' | 'http' | 'sse' | 'in-process' | 'other'
  readonly address: URL | undefined
  readonly connectTimeout: number
  readonly reconnects: number
  readonly reconnectDelay: number
  readonly limits: Required<McpLimits>
  readonly report: (error: unknown) => void
}

const known = new Set<string>(
  (
    'name command args env cwd url type headers transport fetch authProvider authorize prefix include exclude tools ' +
    'protocol timeout connectTimeout reconnects reconnectDelay elicit meta limits report'
  ).split(' '),
)

/**
 * Looks options through: exactly one way to the server, and nothing that nobody reads.
 *
 * @throws `E_INVALID_CONFIGURATION`.
 */
export function targetOf(options: McpToolsOptions): Target {
  if (typeof options !== 'object' || options === null) throw wrong('takes an object of options')
  const stranger = Object.keys(options).find((option) => !known.has(option))
  if (stranger !== undefined) throw wrong(`has no option ${JSON.stringify(stranger)}`)
  const ways = (['command', 'url', 'transport'] as const).filter((way) => options[way] !== undefined)
  if (ways.length !== 1) throw wrong('takes one of `command`, `url` and `transport`')
  requireWords(options)
  if (options.prefix !== undefined && !/^[a-zA-Z0-9_-]{1,32}$/.test(options.prefix)) {
    throw wrong('takes 1 to 32 letters, digits, "_" or "-" as `prefix`')
  }
  for (const option of ['include', 'exclude'] as const) {
    const choice: unknown = options[option] ?? []
    const isList = Array.isArray(choice) && choice.every((name) => typeof name === 'string')
    if (!isList && typeof choice !== 'function') throw wrong(`takes an array of names, or a function, as \`${option}\``)
  }
  if (!['auto', '2025-11-25', '2026-07-28', undefined].includes(options.protocol)) {
    throw wrong('takes "auto", "2025-11-25" or "2026-07-28" as `protocol`')
  }
  return {
    ...options,
    kind: kindOf(options),
    address: options.url === undefined ? undefined : addressOf(options.url),
    connectTimeout: amount('connectTimeout', options.connectTimeout, 30_000, 1),
    reconnects: amount('reconnects', options.reconnects, 5, 0),
    reconnectDelay: amount('reconnectDelay', options.reconnectDelay, 500, 1),
    limits: {
      tools: amount('limits.tools', options.limits?.tools, 1_000, 1),
      pages: amount('limits.pages', options.limits?.pages, 64, 1),
      definition: amount('limits.definition', options.limits?.definition, 65_536, 1),
      message: amount('limits.message', options.limits?.message, 10_485_760, 1),
      progress: amount('limits.progress', options.limits?.progress, 1_000, 0),
    },
    report: guarded(options.report),
  }
}

/** What reaches a process or the wire is text, and nothing in it ends text early. */
function requireWords({ command, args = [], env = {}, cwd, headers = {}, name }: McpToolsOptions): void {
  const isWord = (value: unknown): boolean => typeof value === 'string' && !value.includes('\0')
  if (command !== undefined && (!isWord(command) || command === ''))
    throw wrong('takes the name of a program as `command`')
  if (!Array.isArray(args) || !args.every(isWord)) throw wrong('takes an array of strings as `args`')
  if (!Object.values(env).every(isWord)) throw wrong('takes strings as values of `env`')
  if (!Object.values(headers).every(isWord) || !areHeaders(headers))
    throw wrong('takes words that HTTP can send as `headers`')
  if (cwd !== undefined && !isWord(cwd)) throw wrong('takes the path of a folder as `cwd`')
  if (name !== undefined && (!isWord(name) || name === '')) throw wrong('takes a string as `name`')
}

function areHeaders(headers: Readonly<Record<string, string>>): boolean {
  try {
    for (const [name, value] of Object.entries(headers)) new Headers().set(name, value)
    return true
  } catch {
    return false
  }
}

function kindOf({ command, url, type, transport }: McpToolsOptions): Target['kind'] {
  if (transport !== undefined) return transport instanceof InMemoryTransport ? 'in-process' : 'other'
  const types: readonly unknown[] = command === undefined ? ['http', 'sse', undefined] : ['stdio', undefined]
  if (!types.includes(type)) {
    const way = command === undefined ? '`url`' : '`command`'
    throw wrong(`does not take \`type\` ${JSON.stringify(type)} with ${way}${advice.get(String(type)) ?? ''}`)
  }
  if (command !== undefined) return 'stdio'
  return url !== undefined && type === 'sse' ? 'sse' : 'http'
}

const obsolete = ': no version of the protocol has had a websocket transport; use Streamable HTTP, `type` "http"'
const advice = new Map([
  ['websocket', obsolete],
  ['ws', obsolete],
])

function addressOf(url: string | URL): URL {
  const address = URL.parse(String(url))
  if (address?.protocol !== 'http:' && address?.protocol !== 'https:') {
    throw wrong('takes an address that begins with http:// or https:// as `url`')
  }
  if (address.username !== '' || address.password !== '') {
    throw wrong('takes no user and password in `url`: give them in `headers` or by `authProvider`')
  }
  return address
}

function amount(option: string, value: unknown, otherwise: number, least: number): number {
  const given = value ?? otherwise
  if (typeof given === 'number' && given >= least) return given
  throw wrong(`takes a number of at least ${least} as \`${option}\``)
}

/** A report that cannot fail: it has nobody left to be told of that. */
function guarded(report: (error: unknown) => void = printed): (error: unknown) => void {
  return (error) => {
    try {
      report(error)
    } catch {
      // as said
    }
  }
}

/** Prints a fault: our own errors say what is wrong and with which server, so that their stacks would only bury it. */
function printed(error: unknown): void {
  console.error(isToolError(error) ? `${error.code}: ${error.message}` : error) // oxlint-disable-line eslint/no-console -- the documented default
}

/** The error of options that cannot be used. */
export function wrong(message: string): InvalidConfigurationError {
  return new InvalidConfigurationError(`\`mcpTools\` ${message}.`)
}

/** Whether the host wants a tool of this name, as far as a name tells. */
export function wantsName({ include, exclude }: McpToolsOptions, name: unknown): boolean {
  const isNamed = (choice: McpToolsOptions['include']): boolean | undefined =>
    typeof choice === 'object' ? choice.some((each) => each === name) : undefined
  return isNamed(include) !== false && isNamed(exclude) !== true
}

/** Whether the host wants a tool, by what it is. */
export function wants({ include, exclude }: McpToolsOptions, tool: ServerTool): boolean {
  if (typeof include === 'function' && !include(tool)) return false
  return typeof exclude !== 'function' || !exclude(tool)
}

/** What the host says of a tool. */
export function hostsWord(tools: McpToolsOptions['tools'], tool: ServerTool): ServerToolOptions {
  if (typeof tools === 'function') return tools(tool) ?? {}
  return (tools !== undefined && Object.hasOwn(tools, tool.name) ? tools[tool.name] : undefined) ?? {}
}
