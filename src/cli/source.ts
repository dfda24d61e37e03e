import type { ToolDefinition } from '../index.ts'
import { UsageError, type CommandLine } from './arguments.ts'
import { note, thrownMessage, type Host } from './host.ts'
import { describable, loadModule, type Loaded } from './module.ts'
import { openDocument, type OpenedDocument } from './openapi.ts'

/** The tools of a source, which is open until it is closed. */
export interface ToolSource {
  readonly tools: readonly ToolDefinition[]
  /** The module. Missing for an MCP server and for an OpenAPI document. */
  readonly loaded?: Loaded
  readonly document?: OpenedDocument
  close(): Promise<void>
}

/**
 * Returns the tools of the module, of the MCP server or of the OpenAPI document that the command line names.
 *
 * @throws {UsageError} if it names none or several, or what it names cannot be read.
 */
export async function sourceTools(command: string, options: CommandLine, host: Host): Promise<ToolSource> {
  const [path] = options.positionals
  const server = options.text('mcp')
  const named = [path, server, options.text('openapi')].filter((each) => each !== undefined)
  if (named.length !== 1) {
    throw new UsageError(`Give a module, --mcp or --openapi, and one of them alone. See toolwright ${command} --help.`)
  }
  const document = await openDocument(options, host, false)
  if (document !== undefined) return { tools: describable(document.tools(), host), document, close: async () => {} }
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

/** Returns the words of a command. Quotes keep words together; nothing else has a meaning. */
function wordsIn(command: string): string[] {
  return [...command.matchAll(/"([^"]*)"|'([^']*)'|\S+/g)].map(([word, double, single]) => double ?? single ?? word)
}
