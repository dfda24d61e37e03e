/**
 * The tools of servers that speak the Model Context Protocol, as ours: validated by us, under our policies, recorded and
 * spooled. This leaf believes nothing that a server says of itself, sends no call twice by itself, and starts programs from
 * a list of words alone.
 *
 * @module
 */
import { ToolAlreadyRegisteredError, type Extension, type Shelf, type Tool } from '../index.ts'
import { Connection } from './client/_connection.ts'
import { namespaced } from './client/_names.ts'
import { targetOf, type McpToolsOptions } from './client/_options.ts'
import { quoted } from './client/_text.ts'
import type { Taken } from './client/_tools.ts'

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
  /** By what name the server is known. */
  readonly serverName: string
  /**
   * The tools as the server offers them now: the same array until they change.
   *
   * @param session Of no meaning: all sessions share the connection.
   * @param isTaken Says which names belong to others: tools that have them are called `<server>_<name>`, which is reported.
   */
  tools(session?: string, shelf?: Shelf, isTaken?: (name: string) => boolean): readonly Tool[]
  /** Hears that `tools` gives others than before; gives the undo. */
  onToolsChange(listener: () => void): () => void
  /** Asks the server for its tools anew, as its notification does. */
  refresh(): Promise<void>
  /** Closes the connection, ends the server's session, and the program where there is one. */
  close(): Promise<void>
  [Symbol.asyncDispose](): Promise<void>
}

/**
 * Connects to an MCP server, and gives its tools as an extension of an executor.
 *
 * Tools are of type `mcp`. Args and `structuredContent` are checked by the server's JSON Schemas on our side, patterns in
 * linear time; a tool whose definition cannot be used is set aside and reported. The list is renewed when the server says
 * that it changed; a definition that is not what was listed voids approvals, and calls that were on their way to it do not
 * run. What a server says of its tools' nature is kept in `meta.annotations` and moves no policy; `tools` is where the host
 * says it.
 *
 * A connection that is lost is made anew, after growing pauses. The calls that ran on it fail with an unknown effect; they
 * are sent once more only where the host itself calls the tool `idempotent` or `readonly`.
 *
 * @param options One of `command`, `url` and `transport`, and what to take of the server.
 * @throws `E_INVALID_CONFIGURATION` where an option is wrong; `E_TOOL_DOWNSTREAM_ERROR` where the server cannot be reached.
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
    tools: (_session, _shelf, isTaken) => namespace.tools(isTaken),
    onToolsChange: (listener) => connection.onChange(listener),
    refresh: () => connection.refresh(),
    close: () => connection.close(),
    [Symbol.asyncDispose]: () => connection.close(),
  }
}

/** The tools under the names that are free for them. */
class Namespace {
  readonly #connection: Connection
  readonly #renamed = new WeakMap<Taken, Tool>()
  readonly #report: (error: unknown) => void
  #former: { readonly list: readonly Taken[]; readonly names: string; readonly tools: readonly Tool[] } | undefined

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

  #inNamespace(taken: Taken, server: string): Tool {
    const known = this.#renamed.get(taken)
    if (known !== undefined) return known
    const renamed = taken.renamed(namespaced(server, taken.tool.name))
    this.#renamed.set(taken, renamed)
    const which = `The tool ${quoted(taken.tool.name)} of the MCP server ${quoted(server)}`
    const words = `${which} is called ${quoted(renamed.name)}: its name belongs to a tool of another source.`
    this.#report(new ToolAlreadyRegisteredError(words))
    return renamed
  }
}
