/**
 * Makes tools of the tools of MCP servers: the executor validates, records and spools their calls, under the application's policies.
 * This file believes nothing that a server says of itself. It repeats no call unless the application allows it. It starts programs
 * only from a list of words, never by a shell.
 *
 * @module
 */
import type { Extension, SessionTools } from '../kernel/ports.ts'
import type { Tool } from '../index.ts'
import { ToolAlreadyRegisteredError } from '../errors.ts'
import { callableNames } from '../extension.ts'
import { asyncDispose } from '../kernel/run/stream.ts'
import { Connection } from './client/_connection.ts'
import { targetOf, type McpToolsOptions } from './client/_options.ts'
import { quotedName } from './client/_text.ts'
import type { AcceptedTool } from './client/_tools.ts'

export { normalizeMCPConfig } from './client/_config.ts'
export type { NormalizeMCPConfigOptions } from './client/_config.ts'
export type {
  Elicitation,
  ElicitationAnswer,
  McpLimits,
  McpServer,
  McpToolsOptions,
  ServerTool,
  ServerToolOptions,
} from './client/_options.ts'
export { viewMessages } from './client/_view.ts'
export type { View, ViewMessage } from './client/_view.ts'

/** The tools of one server, for `use`. */
export interface McpTools extends Extension {
  /** The server's name: the application's `name`, else the server's own. */
  readonly serverName: string
  /**
   * Returns the tools that the server offers now: the same array until they change.
   *
   * All sessions share the connection, and have the same tools.
   *
   * @param request Only `isTaken` is read. A tool whose name is taken becomes `<server>_<name>`, which is reported.
   */
  tools(request?: Pick<SessionTools, 'isTaken'>): readonly Tool[]
  /** Subscribes to changes of the tool list. Returns an unsubscribe function. */
  onToolsChange(listener: () => void): () => void
  /** Lists the server's tools again. */
  refresh(): Promise<void>
  /** Closes the connection, and ends the server's session and its program. */
  close(): Promise<void>
  [Symbol.asyncDispose](): Promise<void>
}

/**
 * Connects to an MCP server, and returns its tools as an extension of an executor.
 *
 * The tools are of type `mcp`. The executor checks args and `structuredContent` against the server's JSON Schemas, patterns in
 * linear time. A tool whose definition cannot be used is left out and reported. The list is renewed when the server says that
 * it changed. A changed definition voids approvals, and calls that were validated against the old one do not run. The
 * server's hints about a tool are kept in `meta.annotations` and affect no policy; the application sets traits in `tools`.
 *
 * A lost connection is reopened, after growing waits. The calls that ran on it fail with an unknown effect. They are sent
 * once more only if the application itself calls the tool `idempotent` or `readonly`.
 *
 * @param options One of `command`, `url` and `transport`, and which tools to take and how.
 * @throws `E_INVALID_CONFIGURATION` if an option is invalid; `E_TOOL_DOWNSTREAM_ERROR` if the server cannot be reached.
 * @example
 * ```ts
 * import { createExecutor } from 'toolwright'
 * import { mcpTools } from 'toolwright/mcp/client'
 *
 * const files = await mcpTools({ name: 'files', command: 'mcp-server-filesystem', args: ['/srv/data'] })
 * const executor = createExecutor({ use: [files] })
 * ```
 * @see https://modelcontextprotocol.io/specification/2026-07-28
 * @experimental
 */
export async function mcpTools(options: McpToolsOptions): Promise<McpTools> {
  const target = targetOf(options)
  const connection = new Connection(target)
  const namespace = new Namespace(connection, target.report)
  await connection.live()
  return {
    get serverName() {
      return connection.name
    },
    tools: (request) => namespace.tools(request?.isTaken),
    onToolsChange: (listener) => connection.onChange(listener),
    refresh: () => connection.refresh(),
    close: () => connection.close(),
    [asyncDispose]: () => connection.close(),
  }
}

/** Gives tools whose names are taken a name with the server's prefix. */
class Namespace {
  readonly #connection: Connection
  readonly #renamed = new WeakMap<AcceptedTool, Tool>()
  readonly #report: (error: unknown) => void
  #former:
    { readonly list: readonly AcceptedTool[]; readonly names: string; readonly tools: readonly Tool[] } | undefined

  constructor(connection: Connection, report: (error: unknown) => void) {
    this.#connection = connection
    this.#report = report
  }

  tools(isTaken: (name: string) => boolean = () => false): readonly Tool[] {
    const { list, name: server } = this.#connection
    const colliding = new Set(list.filter(({ tool }) => isTaken(tool.name)))
    const names = [...colliding].map(({ tool }) => tool.name).join()
    if (this.#former?.list === list && this.#former.names === names) return this.#former.tools
    const tools = list.map((each) => (colliding.has(each) ? this.#inNamespace(each, server) : each.tool))
    this.#former = { list, names, tools }
    return tools
  }

  #inNamespace(acceptedTool: AcceptedTool, server: string): Tool {
    const renamedTool = this.#renamed.get(acceptedTool)
    if (renamedTool !== undefined) return renamedTool
    const { name } = acceptedTool.tool
    const renamed = acceptedTool.renamed(callableNames([{ key: name, name: `${server}_${name}` }]).get(name) ?? name)
    this.#renamed.set(acceptedTool, renamed)
    const which = `The tool ${quotedName(acceptedTool.tool.name)} of the MCP server ${quotedName(server)}`
    const words = `${which} is called ${quotedName(renamed.name)}: its name belongs to a tool of another source.`
    this.#report(new ToolAlreadyRegisteredError(words))
    return renamed
  }
}
