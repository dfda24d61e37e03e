import { isSpecType, type ClientCapabilities, type Tool } from '@modelcontextprotocol/server'
import { mcp } from '../../formats/mcp.ts'
import type { Caller, ToolDefinition } from '../../index.ts'
import { catalogueOf } from '../../kernel/run/served.ts'
import type { ServerSettings } from './_settings.ts'

const uiExtension = 'io.modelcontextprotocol/ui'

/** The protocol's definition of each tool, or `null` if the tool cannot be described. */
const protocolTools = new WeakMap<ToolDefinition, Tool | null>()

/** Returns whether the client shows views of MCP Apps, and so hides from its model the tools that only views may call. */
export function isUiHost({ extensions }: ClientCapabilities): boolean {
  return extensions !== undefined && Object.hasOwn(extensions, uiExtension)
}

/** Returns the tools that a client sees. A tool that cannot be described is reported and left out. */
export function toolsFor(session: string, isForViews: boolean, settings: ServerSettings): Tool[] {
  const tools: Tool[] = []
  for (const definition of visibleTools(session, isForViews, settings)) {
    const tool = listedTool(definition, settings.report)
    if (tool !== undefined) tools.push(tool)
  }
  return tools
}

/** Returns the caller of a client's call: the app if only its views may call the tool, else the configured caller. */
export function callerOf(name: string, session: string, isForViews: boolean, settings: ServerSettings): Caller {
  const { executor, caller } = settings
  if (!isForViews || caller === 'user') return caller
  const app = { app: settings.name }
  // What a client is not shown may be called all the same.
  const has = (one: Caller): boolean => catalogueOf(executor, one, session).some((tool) => tool.name === name)
  return !has(caller) && has(app) ? app : caller
}

/** Returns the tool of a name, if the client sees it. */
export function shownTool(
  name: string,
  session: string,
  isForViews: boolean,
  settings: ServerSettings,
): Tool | undefined {
  const definition = visibleTools(session, isForViews, settings).find((tool) => tool.name === name)
  return definition === undefined ? undefined : listedTool(definition, settings.report)
}

function visibleTools(
  session: string,
  isForViews: boolean,
  { executor, caller, name }: ServerSettings,
): readonly ToolDefinition[] {
  const tools = executor.tools(caller, session)
  if (!isForViews || caller === 'user') return tools
  return [...new Set([...tools, ...executor.tools({ app: name }, session)])]
}

function listedTool(definition: ToolDefinition, report: (error: unknown) => void): Tool | undefined {
  let tool = protocolTools.get(definition)
  if (tool === undefined) {
    tool = convert(definition, report)
    protocolTools.set(definition, tool)
  }
  return tool ?? undefined
}

function convert(definition: ToolDefinition, report: (error: unknown) => void): Tool | null {
  try {
    // The format omits tools for users only, but `visibleTools` has decided already who sees the tool.
    const [tool] = mcp({ report }).definitions([
      definition.audience === 'user' ? Object.create(definition, { audience: { value: 'all' } }) : definition,
    ]) as (Tool | undefined)[]
    if (tool === undefined) return null // a provider's built-in tool cannot be served over this protocol
    const { title } = definition
    if (title !== undefined) tool.annotations = { title, ...tool.annotations }
    const dialect = schemaDialect(definition.jsonSchema ?? definition.inputSchema)
    if (dialect !== undefined) tool.inputSchema = { $schema: dialect, ...tool.inputSchema }
    if (isSpecType.Tool(tool)) return tool
    throw new TypeError(
      `The definition of ${definition.name} does not fit the protocol: check its \`providerOptions.mcp\`.`,
    )
  } catch (error) {
    report(error)
    return null
  }
}

/** Returns the dialect that the author's JSON Schema declares; the protocol requires to keep it. */
function schemaDialect(schema: unknown): string | undefined {
  if (typeof schema !== 'object' || schema === null || !Object.hasOwn(schema, '$schema')) return undefined
  const { $schema } = schema as { readonly $schema: unknown }
  return typeof $schema === 'string' ? $schema : undefined
}
