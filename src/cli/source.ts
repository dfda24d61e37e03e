import type { ToolDefinition } from '../index.ts'
import { UsageError, type CommandLine } from './arguments.ts'
import { note, thrownMessage, type Host } from './host.ts'
import { loadModule, type Loaded } from './module.ts'

/** The tools of a source, which is open until it is closed. */
export interface ToolSource {
  readonly tools: readonly ToolDefinition[]
  /** The module. Missing for an MCP server. */
  readonly loaded?: Loaded
  close(): Promise<void>
}

/**
 * Returns the tools of the module or of the MCP server that the command line names.
 *
 * @throws {UsageError} if it names none or both, or the module cannot be loaded.
 */
export async function sourceTools(command: string, options: CommandLine, host: Host): Promise<ToolSource> {
  const [path] = options.positionals
  const server = options.text('mcp')
  if ((path === undefined) === (server === undefined)) {
    throw new UsageError(`Give a module or --mcp, and not both. See toolwright ${command} --help.`)
  }
  if (path !== undefined) {
    const loaded = await loadModule(path, host)
    return { tools: describable(loaded.tools, host), loaded, close: async () => loaded.executor?.close() }
  }
  const [program = '', ...args] = wordsIn(server ?? '')
  const { mcpTools } = await import('../mcp/client.ts').catch((error: unknown) => {
    if ((error as { readonly code?: unknown } | null)?.code !== 'ERR_MODULE_NOT_FOUND') throw error
    throw new UsageError('--mcp needs a package that is not installed: npm install @modelcontextprotocol/client')
  })
  const report = (error: unknown): void => note(host, thrownMessage(error))
  const isUrl = /^https?:/.test(program)
  const served = await mcpTools({ name: 'server', report, ...(isUrl ? { url: program } : { command: program, args }) })
  return { tools: describable(served.tools(), host), close: () => served.close() }
}

/** Returns the tools whose schemas can be shown. The others are set aside, and told on stderr. */
function describable(tools: readonly ToolDefinition[], host: Host): ToolDefinition[] {
  return tools.filter((tool) => {
    try {
      return tool.describe() !== undefined
    } catch (error) {
      note(host, `a tool is set aside: ${thrownMessage(error)}`)
      return false
    }
  })
}

/** Returns the words of a command. Quotes keep words together; nothing else has a meaning. */
function wordsIn(command: string): string[] {
  return [...command.matchAll(/"([^"]*)"|'([^']*)'|\S+/g)].map(([word, double, single]) => double ?? single ?? word)
}
