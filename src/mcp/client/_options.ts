import {
  InMemoryTransport,
  type AuthProvider,
  type OAuthClientProvider,
  type Transport,
} from '@modelcontextprotocol/client'
import type { ToolContext, ToolOptions } from '../../index.ts'
import {
  checkOptions,
  functionOption,
  numberFrom,
  oneOf,
  optionsError,
  reporterOf,
  stringOption,
  timerLength,
  type OptionCheck,
  type OptionChecks,
} from '../../extension.ts'

/** A tool as its server lists it: nothing of it is trusted. */
export interface ServerTool {
  readonly name: string
  readonly title?: string
  readonly description?: string
  readonly inputSchema: Readonly<Record<string, unknown>>
  readonly outputSchema?: Readonly<Record<string, unknown>>
  /** The server's hints about the tool, for people who trust the server. */
  readonly annotations?: Readonly<Record<string, unknown>>
  readonly _meta?: Readonly<Record<string, unknown>>
}

/** The application's options for a server's tool; they override what the server says. */
export type ServerToolOptions = Partial<Omit<ToolOptions<Record<string, unknown>>, 'name' | 'mcpConfig' | 'jsonSchema'>>

/** A server's question to a person, while one of its tools runs. */
export interface Elicitation {
  readonly message: string
  /** JSON Schema of the answer: an object of strings, numbers, booleans and choices. */
  readonly requestedSchema?: unknown
}

/** The answer of a person to a question of a server. */
export interface ElicitationAnswer {
  readonly action: 'accept' | 'decline' | 'cancel'
  readonly content?: Record<string, string | number | boolean | string[]>
}

/** How to reach a server. */
export interface McpServer {
  /** The application's name for the server: the prefix of its tools if names collide, and the `app` that may call them. Default: the server's own name. */
  readonly name?: string
  /** A program that speaks over its standard streams; started directly with `args`, never by a shell. */
  readonly command?: string
  readonly args?: readonly string[]
  /** The environment of the program, in addition to `HOME`, `PATH` and the like (the SDK's list). */
  readonly env?: Readonly<Record<string, string>>
  readonly cwd?: string
  /** The URL of a server; `http:` or `https:`. */
  readonly url?: string | URL
  /** The transport. Default: `'stdio'` with `command`; `'http'` with `url`, which is Streamable HTTP. `'sse'` is its obsolete predecessor. */
  readonly type?: 'stdio' | 'http' | 'sse'
  /** Sent only to the server's own origin. */
  readonly headers?: Readonly<Record<string, string>>
}

/** Limits on what is accepted from a server. */
export interface McpLimits {
  /** Default: 1,000. */
  readonly tools?: number
  /** Pages of the list. Default: 64. */
  readonly pages?: number
  /** How many characters of JSON one tool's definition may have. Default: 65,536. */
  readonly definition?: number
  /** How many bytes one message may have. Default: 10,485,760. */
  readonly message?: number
  /** How many progress notifications of one call are emitted; later ones are dropped. Default: 1,000. */
  readonly progress?: number
}

/** The options of `mcpTools`: a server, and how its tools are taken. */
export interface McpToolsOptions extends McpServer {
  /** Your own transport, used only for this server. Give a function that makes one, if a lost connection shall be reopened. */
  readonly transport?: Transport | (() => Transport | Promise<Transport>)
  readonly fetch?: (url: string | URL, init?: RequestInit) => Promise<Response>
  /** Bearer tokens or OAuth, as the SDK takes them. */
  readonly authProvider?: AuthProvider | OAuthClientProvider
  /** Called after `authProvider` sent a person to the authorization server. Returns the query that the person came back with. */
  readonly authorize?: () => Promise<URLSearchParams>
  /** Puts `<prefix>_` before every name. Default: no prefix, except the server's name if a name is taken. */
  readonly prefix?: string
  /** The tools to take, by the server's names. Default: all. */
  readonly include?: readonly string[] | ((tool: ServerTool) => boolean)
  /** The tools to leave out, by the server's names. Default: none. */
  readonly exclude?: readonly string[] | ((tool: ServerTool) => boolean)
  /** The application's options for tools, by the server's names: traits, confirmation, timeouts. */
  readonly tools?: Readonly<Record<string, ServerToolOptions>> | ((tool: ServerTool) => ServerToolOptions | undefined)
  /** The protocol version. Default: `'auto'`, the newest that both support; this starts a program once more to find out. */
  readonly protocol?: 'auto' | '2025-11-25' | '2026-07-28'
  /** The timeout of one call, in milliseconds. Default: the executor's. */
  readonly timeout?: number
  /** The timeout of connecting, and of listing, in milliseconds each. Default: 30,000. */
  readonly connectTimeout?: number
  /** How often a lost connection is reopened until a call succeeds; `0` waits for the next call. Default: 5. */
  readonly reconnects?: number
  /** The wait before the first reconnect, in milliseconds; it doubles each time, up to 30,000. Default: 500. */
  readonly reconnectDelay?: number
  /** Answers the server's questions. Default: the server may not ask. */
  readonly elicit?: (question: Elicitation) => Promise<ElicitationAnswer>
  /** Returns the `_meta` of a call, such as a trace context. */
  readonly meta?: (context: ToolContext) => Readonly<Record<string, unknown>> | undefined
  readonly limits?: McpLimits
  /** Receives errors that belong to no call. Default: `console.error`. */
  readonly report?: (error: unknown) => void
}

/** The validated options, with their defaults. */
export interface Target extends McpToolsOptions {
  readonly kind: 'stdio' | 'http' | 'sse' | 'in-process' | 'other'
  readonly address: URL | undefined
  readonly connectTimeout: number
  readonly reconnects: number
  readonly reconnectDelay: number
  readonly limits: Required<McpLimits>
  readonly report: (error: unknown) => void
}

const isWord = (value: unknown): boolean => typeof value === 'string' && !value.includes('\0')

function wordOption(expected: string): OptionCheck {
  return { expected, accepts: (value) => value !== '' && isWord(value) }
}

/** Takes strings by their names, which may be secrets. */
function stringsOption(expected: string, isRight: (values: Readonly<Record<string, string>>) => boolean): OptionCheck {
  return {
    expected,
    accepts: (value) =>
      typeof value === 'object' &&
      value !== null &&
      Object.values(value).every(isWord) &&
      isRight(value as Readonly<Record<string, string>>),
    isSecret: true,
  }
}

const choiceOfTools: OptionCheck = {
  expected: 'an array of names, or a function,',
  accepts: (value) => typeof value === 'function' || (Array.isArray(value) && value.every(isWord)),
}

/** Takes an object or a function. What it has is seen when it is used. */
function madeOption(expected: string): OptionCheck {
  return { expected, accepts: (value) => value !== null && ['object', 'function'].includes(typeof value) }
}

const mcpChecks: OptionChecks<McpToolsOptions> = {
  name: wordOption('a string that is not empty'),
  command: wordOption('the name of a program'),
  args: { expected: 'an array of strings', accepts: (value) => Array.isArray(value) && value.every(isWord) },
  env: stringsOption('an object of strings', () => true),
  cwd: wordOption('the path of a folder'),
  url: { expected: 'an address', accepts: () => true, isSecret: true }, // `addressOf` says what is wrong with it
  type: stringOption,
  headers: stringsOption('names and values that HTTP can send', areHeaders),
  transport: madeOption('a transport, or a function that gives one,'),
  fetch: functionOption,
  authProvider: madeOption('a provider of tokens'),
  authorize: functionOption,
  prefix: {
    expected: '1 to 32 letters, digits, "_" or "-"',
    accepts: (value) => typeof value === 'string' && /^[a-zA-Z0-9_-]{1,32}$/.test(value),
  },
  include: choiceOfTools,
  exclude: choiceOfTools,
  tools: madeOption('options by the names of tools, or a function,'),
  protocol: oneOf('auto', '2025-11-25', '2026-07-28'),
  timeout: numberFrom(0),
  connectTimeout: numberFrom(1),
  reconnects: numberFrom(0),
  reconnectDelay: numberFrom(1),
  elicit: functionOption,
  meta: functionOption,
  limits: madeOption('an object of limits'),
  report: functionOption,
}

const mcpLimitChecks: OptionChecks<McpLimits> = {
  tools: numberFrom(1),
  pages: numberFrom(1),
  definition: numberFrom(1),
  message: numberFrom(1),
  progress: numberFrom(0),
}

/**
 * Validates options.
 *
 * @throws `E_INVALID_CONFIGURATION` if an option is invalid or unknown, or if not exactly one of `command`, `url` and
 * `transport` is given.
 */
export function targetOf(options: McpToolsOptions): Target {
  checkOptions('mcpTools', options, mcpChecks)
  const ways = (['command', 'url', 'transport'] as const).filter((way) => options[way] !== undefined)
  if (ways.length !== 1) throw optionsError('mcpTools', 'takes one of `command`, `url` and `transport`')
  const { limits = {} } = options
  checkOptions('mcpTools.limits', limits, mcpLimitChecks)
  return {
    ...options,
    kind: targetKind(options),
    address: options.url === undefined ? undefined : addressOf(options.url),
    connectTimeout: timerLength(options.connectTimeout ?? 30_000),
    reconnects: options.reconnects ?? 5,
    reconnectDelay: options.reconnectDelay ?? 500,
    limits: {
      tools: limits.tools ?? 1_000,
      pages: limits.pages ?? 64,
      definition: limits.definition ?? 65_536,
      message: limits.message ?? 10_485_760,
      progress: limits.progress ?? 1_000,
    },
    report: reporterOf(options.report),
  }
}

function areHeaders(headers: Readonly<Record<string, string>>): boolean {
  try {
    for (const [name, value] of Object.entries(headers)) new Headers().set(name, value)
    return true
  } catch {
    return false
  }
}

function targetKind({ command, url, type, transport }: McpToolsOptions): Target['kind'] {
  if (transport !== undefined) return transport instanceof InMemoryTransport ? 'in-process' : 'other'
  const types: readonly unknown[] = command === undefined ? ['http', 'sse', undefined] : ['stdio', undefined]
  if (!types.includes(type)) {
    const way = command === undefined ? '`url`' : '`command`'
    throw optionsError(
      'mcpTools',
      `does not take \`type\` ${JSON.stringify(type)} with ${way}${transportAdvice.get(String(type)) ?? ''}`,
    )
  }
  if (command !== undefined) return 'stdio'
  return url !== undefined && type === 'sse' ? 'sse' : 'http'
}

const obsolete = ': no version of the protocol has had a websocket transport; use Streamable HTTP, `type` "http"'
const transportAdvice = new Map([
  ['websocket', obsolete],
  ['ws', obsolete],
])

function addressOf(url: string | URL): URL {
  const address = URL.parse(String(url))
  if (address?.protocol !== 'http:' && address?.protocol !== 'https:') {
    throw optionsError('mcpTools', 'takes an address that begins with http:// or https:// as `url`')
  }
  if (address.username !== '' || address.password !== '') {
    throw optionsError('mcpTools', 'takes no user and password in `url`: give them in `headers` or by `authProvider`')
  }
  return address
}

/** Returns whether the lists of names in `include` and `exclude` allow a name. */
export function wantsName({ include, exclude }: McpToolsOptions, name: unknown): boolean {
  const isNamed = (choice: McpToolsOptions['include']): boolean | undefined =>
    typeof choice === 'object' ? choice.some((each) => each === name) : undefined
  return isNamed(include) !== false && isNamed(exclude) !== true
}

/** Returns whether the functions `include` and `exclude` allow a tool. */
export function wants({ include, exclude }: McpToolsOptions, tool: ServerTool): boolean {
  if (typeof include === 'function' && !include(tool)) return false
  return typeof exclude !== 'function' || !exclude(tool)
}

/** Returns the application's options for a tool. */
export function hostsWord(tools: McpToolsOptions['tools'], tool: ServerTool): ServerToolOptions {
  if (typeof tools === 'function') return tools(tool) ?? {}
  return (tools !== undefined && Object.hasOwn(tools, tool.name) ? tools[tool.name] : undefined) ?? {}
}
