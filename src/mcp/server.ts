/**
 * Serves the tools of an executor over the Model Context Protocol, of both eras (2025-11-25 and 2026-07-28), to clients on
 * stdio and over Streamable HTTP. Every call passes through the executor; this file runs no handler, validates no input and
 * decides on no call. Two clients share nothing. Experimental.
 *
 * @module
 */
import type { Readable, Writable } from 'node:stream'
import type { Transport } from '@modelcontextprotocol/server'
import {
  checkOptions,
  integerFrom,
  numberFrom,
  optionsError,
  reporterOf,
  stringOption,
  type OptionCheck,
} from '../extension.ts'
import { connectServer, serve } from './server/_connection.ts'
import { httpChecks, httpHandler, type HttpHandler, type HttpOptions } from './server/_http.ts'
import type { Listening, ListenOptions } from './server/_listen.ts'
import { OnceCalls } from './server/_once.ts'
import { GrantedResources } from './server/_resources.ts'
import { OpenQuestions } from './server/_rounds.ts'
import { serverChecks, type McpServerOptions, type Peer, type ServerSettings } from './server/_settings.ts'

export { mcpClient, type McpClient } from './server/_call.ts'
export type { GuardOptions } from './server/_guard.ts'
export type { HttpHandler, HttpOptions } from './server/_http.ts'
export type { Listening, ListenOptions } from './server/_listen.ts'
export type { McpPeer, McpResource, McpServerOptions } from './server/_settings.ts'

/** The streams of the client that started this process. */
export interface StdioOptions {
  /** Default: the process's own. */
  readonly stdin?: Readable
  /** Default: the process's own; write nothing else there. */
  readonly stdout?: Writable
  /**
   * The executor's session for the calls. With a name that is the same in the next process, a client that was cut off by the end of
   * this one finds its calls there, if the journal has them. Default: one of its own.
   */
  readonly session?: string
  /**
   * How long calls may go on after the client has closed its end of stdin, in milliseconds. It still gets their answers. Then those
   * that run are cancelled, and answered so. `0` cancels them at once. Default: 1,500, since many clients kill a server after 2,000.
   */
  readonly endTimeout?: number
}

/** One connection to a client. */
export interface McpConnection {
  /** Resolves when the client has disconnected. */
  readonly closed: Promise<void>
  readonly close: () => Promise<void>
}

/** A server that can be mounted on several transports. */
export interface McpToolServer {
  /** Serves the client that started this process. */
  readonly stdio: (options?: StdioOptions) => Promise<McpConnection>
  /**
   * Serves one client over a transport of the application, such as one in this process.
   *
   * @param transport Not started yet. The connection closes it.
   * @param options `session`: the executor's session for the calls. Default: one of its own.
   */
  readonly connect: (
    transport: Transport,
    options?: { readonly session?: string | undefined },
  ) => Promise<McpConnection>
  /** Makes a handler that any web-standard server can mount. It checks `Host`, `Origin`, and the token if one is set. */
  readonly http: (options?: HttpOptions) => HttpHandler
  /** Listens with `node:http`. Default: on loopback only. @throws `E_INVALID_CONFIGURATION`, also if the port is taken. */
  readonly listen: (options?: ListenOptions) => Promise<Listening>
}

/**
 * Makes an MCP server of an executor's tools.
 *
 * The server lists the tools that the model may call, with their schemas, hints and views. A result has content blocks,
 * `structuredContent` if the tool has an output schema, and links to stored results, which the client of the same session
 * reads as resources. The server forwards progress, log messages, cancellation, changes of the tool list and questions to the
 * client's user. A call that waits for approval runs after the client's user has approved it. If the client cannot ask its
 * user, the call returns an error and does not run. With a durable journal, a call that the client makes again since its answer
 * was cut runs once.
 *
 * @param options The executor, and what the server tells and offers its clients.
 * @throws `E_INVALID_CONFIGURATION` if an option is invalid.
 * @example
 * ```ts
 * import { createExecutor, tool } from 'toolwright'
 * import { mcpServer } from 'toolwright/mcp/server'
 *
 * const executor = createExecutor({ tools: [tool('now', () => new Date().toISOString())] })
 * const { url, close } = await mcpServer({ executor, name: 'clock' }).listen()
 * console.log(`An MCP client finds the tools at ${url}`)
 * await close()
 * ```
 * @see https://modelcontextprotocol.io/specification/2026-07-28/server/tools
 */
export function mcpServer(options: McpServerOptions): McpToolServer {
  const settings = serverSettings(options)
  const connectTo = async (
    transport: Transport,
    session = `mcp-${crypto.randomUUID()}`,
    leaving?: AbortSignal,
  ): Promise<McpConnection> => {
    const { serveStdio } = await import('@modelcontextprotocol/server/stdio')
    const { promise: closed, resolve } = Promise.withResolvers<void>()
    const connection = serveStdio(
      ({ era }) => {
        const owner = `mcp-${crypto.randomUUID()}`
        const peer: Peer = { session, principal: undefined, era, owner, isLone: false, party: undefined, leaving }
        return connectServer(serve(peer, settings), peer, settings)
      },
      { transport },
    )
    const over = transport.onclose
    // oxlint-disable-next-line unicorn/prefer-add-event-listener -- it is no event target
    transport.onclose = () => {
      over?.()
      resolve()
    }
    const close = (): Promise<void> => {
      settings.onceCalls.end(session)
      return connection.close()
    }
    return { closed, close }
  }
  return {
    http(httpOptions = {}) {
      checkOptions('http', httpOptions, httpChecks)
      return httpHandler(settings, httpOptions)
    },
    async listen(listenOptions = {}) {
      checkOptions('listen', listenOptions, {
        ...httpChecks,
        port: integerFrom(0, 65_535),
        host: stringOption,
        path: stringOption,
      })
      const { listen } = await import('#listen')
      return listen(httpHandler(settings, listenOptions), listenOptions, settings.report)
    },
    async stdio(stdioOptions = {}) {
      checkOptions('stdio', stdioOptions, {
        stdin: streamOption('read'),
        stdout: streamOption('write'),
        session: stringOption,
        endTimeout: numberFrom(0),
      })
      const { stdin, stdout, session, endTimeout = 1_500 } = stdioOptions
      const { messageLimit } = settings
      const { ClientStreams } = await import('./server/_stdio.ts')
      const leaving = new AbortController()
      const giveUp = (): void => leaving.abort(new Error('The client has closed its end of the connection.'))
      return connectTo(new ClientStreams(stdin, stdout, { messageLimit, endTimeout, giveUp }), session, leaving.signal)
    },
    async connect(transport, { session } = {}) {
      if (typeof transport?.start === 'function') return connectTo(transport, session)
      throw optionsError(
        'connect',
        'takes a transport of `@modelcontextprotocol/server`; `listen` and `stdio` make their own',
      )
    },
  }
}

function streamOption(method: 'read' | 'write'): OptionCheck {
  return {
    expected: `a stream to ${method}`,
    accepts: (value) => typeof (value as Partial<Readable & Writable> | null)?.[method] === 'function',
  }
}

function serverSettings(options: McpServerOptions): ServerSettings {
  checkOptions('mcpServer', options, serverChecks)
  const { answerTimeout = 600_000 } = options
  return {
    executor: options.executor,
    name: options.name ?? 'toolwright',
    version: options.version ?? '0.0.0',
    title: options.title,
    instructions: options.instructions,
    caller: options.caller ?? 'model',
    approvals: options.approvals ?? 'client',
    resources: options.resources ?? [],
    pageSize: options.pageSize ?? 100,
    readLimit: options.readLimit ?? 1_048_576,
    structuredLimit: options.structuredLimit ?? 4_194_304,
    messageLimit: options.messageLimit ?? 4_194_304,
    answerTimeout,
    reissueTimeout: options.reissueTimeout ?? 10_000,
    values: options.values,
    identify: options.identify,
    around: options.around ?? ((_, run) => run()),
    extend: options.extend,
    report: reporterOf(options.report),
    openQuestions: new OpenQuestions(answerTimeout),
    onceCalls: new OnceCalls(),
    granted: new GrantedResources(),
  }
}
