import { jsonSchema } from '../../validators/json-schema.ts'
import { clientTool, type Extension, type Tool } from '../index.ts'
import { InvalidConfigurationError } from '../errors.ts'
import type { ClientToolDescription, JsonSchemaObject } from '../extension.ts'

/** Limits of what pages declare. */
export interface PageToolsOptions {
  /** The most tools of one page. Default: 64. */
  readonly mostTools?: number
  /** The most pages of one session that declare tools at a time. Default: 32. */
  readonly mostPages?: number
  /** The most sessions. If there are more, the one unused longest loses its tools. Default: 10,000. */
  readonly mostSessions?: number
}

/** The tools that pages declare. Each session has those of its own pages. */
export interface PageTools extends Extension {
  /**
   * Replaces the tools of one page. No tools forget the page. Of two pages that declare one name, the first has it.
   *
   * @param holder The page.
   * @param tools The tools. Their answers are awaited; their schemas are not trusted.
   * @param milliseconds How long they stay unless they are declared again. Default: 150,000.
   * @throws `E_INVALID_CONFIGURATION` if there are too many; `E_INVALID_INITIAL_TOOL_VALUE` and `E_SCHEMA_CONVERSION` if one is wrong.
   */
  declare(session: string, holder: string, tools: readonly ClientToolDescription[], milliseconds?: number): void
}

interface DeclaredPage {
  readonly text: string
  readonly tools: readonly Tool[]
  readonly until: number
}

interface DeclaringSession {
  readonly pages: Map<string, DeclaredPage>
  /** The tools that were returned last. The same array means the same tools. */
  last: readonly Tool[]
}

/** How long the model waits for a page, unless the page says, in milliseconds. */
const answerTimeout = 600_000

/**
 * Lets pages declare client tools for their own session. Give it to the executor, and to `httpClients` or `agUi`. A page
 * never has the name of a tool of the application or of an MCP server: its tool is set aside, which the executor reports.
 *
 * @param options How many tools a page, pages a session and sessions the server may have.
 * @example
 * ```ts
 * import { createExecutor } from 'toolwright'
 * import { pageTools } from 'toolwright/client/page-tools'
 *
 * const pages = pageTools()
 * const executor = createExecutor({ use: [pages] })
 * pages.declare('ada', 'page-1', [{ name: 'read_selection', description: 'Reads what the user has selected' }])
 * console.log(executor.tools('model', 'ada').map(({ name }) => name)) // ['read_selection']
 * ```
 */
export function pageTools(options: PageToolsOptions = {}): PageTools {
  const { mostTools = 64, mostPages = 32, mostSessions = 10_000 } = options
  /** Those unused longest first. */
  const sessions = new Map<string, DeclaringSession>()
  const listeners = new Set<() => void>()

  function changed(): void {
    for (const listener of listeners) listener()
  }

  /** Forgets the pages that have not declared their tools again. */
  function expire(session: string, { pages }: DeclaringSession): void {
    const now = Date.now()
    for (const [holder, { until }] of pages) if (until <= now) pages.delete(holder)
    if (pages.size === 0) sessions.delete(session)
  }

  /** Keeps a session as the one used last. */
  function use(session: string, declaring: DeclaringSession): void {
    sessions.delete(session)
    sessions.set(session, declaring)
  }

  return {
    declare(session, holder, tools, milliseconds = 150_000) {
      if (tools.length > mostTools) throw invalidPageTools(`A page declares at most ${mostTools} tools.`)
      const until = Date.now() + milliseconds
      const text = JSON.stringify(tools)
      const declaring = sessions.get(session) ?? { pages: new Map<string, DeclaredPage>(), last: [] }
      const before = declaring.pages.get(holder)
      if (before?.text === text) {
        declaring.pages.set(holder, { ...before, until })
        return use(session, declaring)
      }
      const newTools = tools.map(pageTool) // all of them, or none
      if (before === undefined && tools.length > 0) {
        expire(session, declaring)
        if (declaring.pages.size >= mostPages)
          throw invalidPageTools(`At most ${mostPages} pages of a session declare tools.`)
        const [unused] = sessions.keys()
        if (unused !== undefined && !sessions.has(session) && sessions.size >= mostSessions) sessions.delete(unused)
      }
      if (tools.length === 0) declaring.pages.delete(holder)
      else declaring.pages.set(holder, { text, tools: newTools, until })
      if (declaring.pages.size === 0) sessions.delete(session)
      else use(session, declaring)
      changed()
    },
    isGuest: true,
    tools({ session }) {
      const declaring = sessions.get(session)
      if (declaring === undefined) return noTools
      expire(session, declaring)
      if (declaring.pages.size === 0) return noTools
      use(session, declaring)
      const tools = new Map<string, Tool>()
      for (const page of declaring.pages.values()) {
        for (const tool of page.tools) if (!tools.has(tool.name)) tools.set(tool.name, tool)
      }
      const now = [...tools.values()]
      const isSame = now.length === declaring.last.length && now.every((tool, index) => tool === declaring.last[index])
      return isSame ? declaring.last : (declaring.last = now)
    },
    onToolsChange(listener) {
      listeners.add(listener)
      return () => void listeners.delete(listener)
    },
  }
}

const noTools: readonly Tool[] = []

/** Makes a tool of a page's description, which is plain JSON of any kind. Takes the fields that it knows. */
function pageTool(declared: ClientToolDescription): Tool {
  const { name, description, title, intent, timeout = answerTimeout, defaultResult, inputSchema } = declared ?? {}
  return clientTool({
    name,
    description,
    ...(title !== undefined && { title }),
    ...(intent !== undefined && { intent }),
    ...(defaultResult !== undefined && { defaultResult }),
    ...(inputSchema !== undefined && {
      inputSchema: jsonSchema(inputSchema as JsonSchemaObject, { origin: 'wire' }),
    }),
    timeout,
    requiresResponse: true,
  })
}

function invalidPageTools(words: string): InvalidConfigurationError {
  return new InvalidConfigurationError(words)
}
