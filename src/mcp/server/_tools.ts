import { isSpecType, type ClientCapabilities, type Tool } from '@modelcontextprotocol/server'
import { mcp } from '../../formats/mcp.ts'
import type { Caller, ToolDefinition } from '../../index.ts'
import type { Settings } from './_settings.ts'

const uiExtension = 'io.modelcontextprotocol/ui'

/** Of each tool what the protocol says of it; nothing where it cannot be said. */
const listed = new WeakMap<ToolDefinition, Tool | null>()

/** Whether the client shows views of MCP Apps, and so keeps from its model what is for them alone. */
export function isUiHost({ extensions }: ClientCapabilities): boolean {
  return extensions !== undefined && Object.hasOwn(extensions, uiExtension)
}

/** The tools that a client is shown. One that cannot be shown is reported and left out; the others stand. */
export function toolsFor(session: string, isForViews: boolean, settings: Settings): Tool[] {
  const tools: Tool[] = []
  for (const definition of visible(session, isForViews, settings)) {
    const tool = shown(definition, settings.report)
    if (tool !== undefined) tools.push(tool)
  }
  return tools
}

/** In whose name a client calls a tool: that of the model, and of an app where the tool is for its views alone. */
export function callerOf(name: string, session: string, isForViews: boolean, settings: Settings): Caller {
  const { executor, caller } = settings
  if (!isForViews || caller === 'user') return caller
  const app = { app: settings.name }
  const has = (one: Caller): boolean => executor.list(one, session).some((tool) => tool.name === name)
  return !has(caller) && has(app) ? app : caller
}

/** The tool of a name, as far as the client is shown it. */
export function shownTool(name: string, session: string, isForViews: boolean, settings: Settings): Tool | undefined {
  const definition = visible(session, isForViews, settings).find((tool) => tool.name === name)
  return definition === undefined ? undefined : shown(definition, settings.report)
}

function visible(
  session: string,
  isForViews: boolean,
  { executor, caller, name }: Settings,
): readonly ToolDefinition[] {
  const tools = executor.list(caller, session)
  if (!isForViews || caller === 'user') return tools
  return [...new Set([...tools, ...executor.list({ app: name }, session)])]
}

function shown(definition: ToolDefinition, report: (error: unknown) => void): Tool | undefined {
  let tool = listed.get(definition)
  if (tool === undefined) {
    tool = convert(definition, report)
    listed.set(definition, tool)
  }
  return tool ?? undefined
}

function convert(definition: ToolDefinition, report: (error: unknown) => void): Tool | null {
  try {
    // The format leaves out what is for people alone; who may see this was decided before.
    const [tool] = mcp({ report }).definitions([
      definition.audience === 'user' ? Object.create(definition, { audience: { value: 'all' } }) : definition,
    ]) as (Tool | undefined)[]
    if (tool === undefined) return null // the provider's own, of no use over this protocol
    const { title } = definition
    if (title !== undefined) tool.annotations = { title, ...tool.annotations }
    const dialect = dialectOf(definition.jsonSchema ?? definition.inputSchema)
    if (dialect !== undefined) tool.inputSchema = { $schema: dialect, ...tool.inputSchema }
    if (isSpecType.Tool(tool)) return tool
    throw new TypeError(
      `The definition of ${definition.name} is not what the protocol takes; look at its providerOptions.mcp.`,
    )
  } catch (error) {
    report(error)
    return null
  }
}

/** The dialect that the author's own JSON Schema names: the protocol wants it said as it was written. */
function dialectOf(schema: unknown): string | undefined {
  if (typeof schema !== 'object' || schema === null || !Object.hasOwn(schema, '$schema')) return undefined
  const { $schema } = schema as { readonly $schema: unknown }
  return typeof $schema === 'string' ? $schema : undefined
}
