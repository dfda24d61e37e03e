/**
 * Serves the tools of an executor over the Model Context Protocol, of both eras (2025-11-25 and 2026-07-28), to clients on
 * stdio and over Streamable HTTP. Every call walks the executor's passage; this leaf runs no handler, checks no input and
 * decides about no call. Nothing is shared between two clients. Experimental.
 *
 * @module
 */
import type { Readable, Writable } from 'node:stream'
import { InvalidConfigurationError } from '../index.ts'
import { attend, serve } from './server/_connection.ts'
import { httpHandler, type HttpHandler, type HttpOptions } from './server/_http.ts'
import { listen, requireSafe, type Listening, type ListenOptions } from './server/_listen.ts'
import { Lent } from './server/_resources.ts'
import { Rounds } from './server/_rounds.ts'
import { amount, type McpServerOptions, type Peer, type Settings } from './server/_settings.ts'

export { mcpClient, type McpClient } from './server/_call.ts'
export type { GuardOptions } from './server/_guard.ts'
export type { HttpHandler, HttpOptions } from './server/_http.ts'
export type { Listening, ListenOptions } from './server/_listen.ts'
export type { McpPeer, McpResource, McpServerOptions } from './server/_settings.ts'

/** The streams of a client that has started this process. */
export interface StdioOptions {
  /** Default: the process's own. */
  readonly stdin?: Readable
  /** Default: the process's own; nothing else may be written there. */
  readonly stdout?: Writable
}

/** One connection over stdio. */
export interface StdioConnection {
  /** Resolves when the client is gone. */
  readonly closed: Promise<void>
  readonly close: () => Promise<void>
}

/** A server, to be mounted wherever its clients are. */
export interface McpToolServer {
  /** Serves the client that has started this process. */
  readonly stdio: (options?: StdioOptions) => Promise<StdioConnection>
  /** Gives a handler that any web-standard server can mount. Host and Origin are checked, and the token where there is one. */
  readonly http: (options?: HttpOptions) => HttpHandler
  /** Listens with `node:http`, on this machine alone where nothing else is said. */
  readonly listen: (options?: ListenOptions) => Promise<Listening>
}

/**
 * Makes a server of an executor's tools.
 *
 * Tools that the model may call are listed with their schemas, hints and views; calls come back with content blocks,
 * `structuredContent` where the tool has an output schema, and links to what was stored, which the client of the same session
 * reads as resources. Progress, log messages, cancellation, changes of the tool list and questions to the client's user are
 * handed on. A call that waits for approval runs once the client's user has said yes; where the client cannot ask, it comes
 * back as an error and does not run.
 *
 * @param options The executor, and what clients are told and given.
 * @throws `E_INVALID_CONFIGURATION` where an option is wrong.
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
  const settings = settingsOf(options)
  return {
    http: (given = {}) => httpHandler(settings, given),
    async listen(given = {}) {
      requireSafe(given)
      return listen(httpHandler(settings, given), given, settings.report)
    },
    async stdio({ stdin, stdout } = {}) {
      const { serveStdio, StdioServerTransport } = await import('@modelcontextprotocol/server/stdio')
      const { promise: closed, resolve } = Promise.withResolvers<void>()
      const transport = new StdioServerTransport(stdin, stdout, { maxBufferSize: settings.messageLimit })
      const connection = serveStdio(
        ({ era }) => {
          const session = `mcp-${crypto.randomUUID()}`
          const peer: Peer = { session, principal: undefined, era, owner: session, isLone: false, party: undefined }
          return attend(serve(peer, settings), peer, settings)
        },
        { transport },
      )
      const over = transport.onclose
      // oxlint-disable-next-line unicorn/prefer-add-event-listener -- it is no event target
      transport.onclose = () => {
        over?.()
        resolve()
      }
      return { closed, close: () => connection.close() }
    },
  }
}

function settingsOf(options: McpServerOptions): Settings {
  const given: unknown = options
  const isExecutor =
    typeof given === 'object' && given !== null && typeof (given as McpServerOptions).executor?.stream === 'function'
  if (!isExecutor) {
    throw new InvalidConfigurationError('mcpServer takes { executor }, which createExecutor({ tools }) makes.')
  }
  const answerTimeout = amount(options, 'answerTimeout', 600_000)
  return {
    executor: options.executor,
    name: options.name ?? 'toolwright',
    version: options.version ?? '1.0.0',
    title: options.title,
    instructions: options.instructions,
    caller: options.caller ?? 'model',
    approvals: options.approvals ?? 'client',
    resources: options.resources ?? [],
    pageSize: amount(options, 'pageSize', 100),
    readLimit: amount(options, 'readLimit', 1_048_576),
    structuredLimit: amount(options, 'structuredLimit', 4_194_304),
    messageLimit: amount(options, 'messageLimit', 4_194_304),
    answerTimeout,
    values: options.values,
    around: options.around ?? ((_, run) => run()),
    extend: options.extend,
    // oxlint-disable-next-line eslint/no-console -- as the executor does where nobody listens
    report: options.report ?? ((error) => console.error(error)),
    rounds: new Rounds(answerTimeout),
    lent: new Lent(),
  }
}
