import { sha256 } from '#sha256'
import { canonicalize, Tool, type ToolContext } from '../../index.ts'
import { SchemaConversionError } from '../../errors.ts'
import { callableNames } from '../../extension.ts'
import type { ErasedConfig, JsonSchemaObject, McpConfig, ToolUi } from '../../extension.ts'
import { jsonSchema } from '../../../validators/json-schema.ts'
import { headerFault } from './_headers.ts'
import { hostsWord, wants, wantsName, type ServerTool, type Target } from './_options.ts'
import { quotedName, errorLine, safeText } from './_text.ts'

/** An accepted tool of a server. */
export interface AcceptedTool {
  readonly tool: Tool
  /** Returns the same tool under another name. */
  renamed(name: string): Tool
  readonly digest: string
}

/** The tool of a call, as its handler knows it. */
export interface CalledTool {
  readonly listed: ServerTool
  readonly digest: string
  /** Whether the application itself allows to repeat a call. */
  readonly isRepeatable: boolean
}

/** The server whose tools are accepted, and what runs them. */
export interface AcceptedServer {
  readonly server: string
  /** Whether args are repeated in headers, as in Streamable HTTP of 2026-07-28. */
  readonly hasHeaders: boolean
  run(calledTool: CalledTool, input: unknown, context: ToolContext): Promise<unknown>
}

/** The outcome of a listing. */
export interface AcceptedTools {
  readonly tools: ReadonlyMap<string, AcceptedTool>
  /** The reported messages of the tools that were set aside. */
  readonly aside: ReadonlySet<string>
}

/** Accepts the tools that a server lists, each by itself: one bad definition does not affect the others. */
export function takeIn(
  listed: readonly unknown[],
  former: AcceptedTools,
  target: Target,
  source: AcceptedServer,
): AcceptedTools {
  const tools = new Map<string, AcceptedTool>()
  const aside = new Set<string>()
  const wanted = new Map<string, ServerTool>()
  for (const entry of listed) {
    const name: unknown = (entry as { readonly name?: unknown } | null)?.name
    if (!wantsName(target, name)) continue
    attempt(name, () => {
      const tool = serverTool(entry, target.limits.definition)
      if (!wants(target, tool)) return
      if (fieldOf(fieldOf(tool, 'execution'), 'taskSupport') === 'required')
        throw new TypeError('it runs only as a task')
      if (wanted.has(tool.name)) throw new TypeError('it is listed twice')
      wanted.set(tool.name, tool)
    })
  }
  const prefix = target.prefix === undefined ? '' : `${target.prefix}_`
  const names = callableNames([...wanted.keys()].map((key) => ({ key, name: prefix + key })))
  for (const tool of wanted.values()) {
    attempt(tool.name, () => {
      const digest = toolDigest(tool)
      const before = former.tools.get(tool.name)
      const name = names.get(tool.name) ?? tool.name
      const isSame = before?.digest === digest && before.tool.name === name
      tools.set(tool.name, isSame ? before : make(tool, digest, name, target, source))
    })
  }
  return { tools, aside }

  function attempt(name: unknown, work: () => void): void {
    try {
      work()
    } catch (cause) {
      const called = typeof name === 'string' ? quotedName(name.slice(0, 80)) : 'without a name'
      const which = `The tool ${called} of the MCP server ${quotedName(source.server)}`
      const words = `${which} is set aside: ${errorLine(cause)}`
      if (!former.aside.has(words)) target.report(new SchemaConversionError(words, { cause }))
      aside.add(words)
    }
  }
}

/** Returns a digest of the fields of a definition that matter, to detect changes. */
function toolDigest({ name, title, description, inputSchema, outputSchema, annotations, _meta }: ServerTool): string {
  return sha256(canonicalize({ name, title, description, inputSchema, outputSchema, annotations, ui: uiOf(_meta) }))
}

/** Reads one entry of a list. */
function serverTool(entry: unknown, longest: number): ServerTool {
  const size = JSON.stringify(entry)?.length ?? 0
  if (size > longest) throw new RangeError(`its definition has ${size} characters, and at most ${longest} are accepted`)
  const { name, description, title, inputSchema, outputSchema } = objectIn(entry, 'its definition')
  if (typeof name !== 'string' || name === '') throw new TypeError('its name is not a non-empty string')
  for (const text of [description, title]) {
    if (text !== undefined && typeof text !== 'string') throw new TypeError('its title or description is not a string')
  }
  if (objectIn(inputSchema, '`inputSchema`')['type'] !== 'object')
    throw new TypeError('`inputSchema` is not of type "object"')
  if (outputSchema !== undefined) objectIn(outputSchema, '`outputSchema`')
  return entry as ServerTool
}

function objectIn(value: unknown, what: string): Readonly<Record<string, unknown>> {
  if (typeof value === 'object' && value !== null && !Array.isArray(value)) return value as Record<string, unknown>
  throw new TypeError(`${what} is not an object`)
}

function fieldOf(value: unknown, name: string): unknown {
  return typeof value === 'object' && value !== null ? (value as Record<string, unknown>)[name] : undefined
}

function make(listed: ServerTool, digest: string, name: string, target: Target, source: AcceptedServer): AcceptedTool {
  const fault = source.hasHeaders ? headerFault(listed.inputSchema) : undefined
  if (fault !== undefined) throw new TypeError(fault)
  const { annotations, outputSchema } = listed
  const title = listed.title ?? fieldOf(annotations, 'title')
  const ui = uiOf(listed._meta)
  const { traits, ...hosts } = hostsWord(target.tools, listed)
  const calledTool: CalledTool = {
    listed,
    digest,
    isRepeatable: traits?.idempotent === true || traits?.readonly === true,
  }
  const config: ErasedConfig = {
    name,
    description: safeText(listed.description ?? '').trim() || safeText(`The tool ${listed.name} of ${source.server}`),
    ...(typeof title === 'string' ? { title: safeText(title) } : undefined),
    ...(ui === undefined ? undefined : { ui }),
    ...(target.timeout === undefined ? undefined : { timeout: target.timeout }),
    // The server's hints never become traits, which policies believe.
    ...(annotations === undefined ? undefined : { meta: { annotations } }),
    ...(hosts as Partial<ErasedConfig>),
    ...(traits && { traits }),
    type: 'mcp',
    mcpConfig: { ...mcpConfigOf(listed.name, target, source), ...(traits && { hostTraits: traits }) },
    inputSchema: jsonSchema(describedSchema(listed.inputSchema) as JsonSchemaObject, { origin: 'wire' }),
    ...(outputSchema && {
      outputSchema: jsonSchema(describedSchema(outputSchema) as JsonSchemaObject, { origin: 'wire' }),
    }),
    handler: (input, context) => source.run(calledTool, input, context),
  }
  const tool = new Tool(config)
  tool.describe() // throws if the tool cannot be described to a model
  return { tool, digest, renamed: (other) => new Tool({ ...config, name: other }) }
}

function mcpConfigOf(toolName: string, target: Target, source: AcceptedServer): McpConfig {
  const { kind, address, name, command, args = [] } = target
  return {
    serverName: source.server,
    ...(name === undefined ? { isSelfNamed: true } : undefined),
    toolName,
    ...(command === undefined ? undefined : { program: sha256(JSON.stringify([command, ...args])) }),
    ...(address === undefined ? undefined : { serverUrl: `${address.origin}${address.pathname}` }),
    ...(kind === 'other' ? undefined : { transport: kind }),
  }
}

/** Reads the view of an MCP app. With its `visibility` a server may hide a tool from the model and show it only to its apps. */
function uiOf(meta: unknown): ToolUi | undefined {
  const ui = fieldOf(meta, 'ui')
  const resourceUri = fieldOf(ui, 'resourceUri') ?? fieldOf(meta, 'ui/resourceUri')
  const visibility = fieldOf(ui, 'visibility')
  const hasView = typeof resourceUri === 'string' && resourceUri.startsWith('ui://')
  if (!hasView && !Array.isArray(visibility)) return undefined
  return {
    ...(hasView ? { resourceUri } : undefined),
    ...(Array.isArray(visibility)
      ? { visibility: (['model', 'app'] as const).filter((who) => visibility.includes(who)) }
      : undefined),
  }
}

const dataKeywords = new Set(['const', 'enum', 'default', 'examples'])

/** Escapes hidden characters in the titles and descriptions of a schema. The rest is unchanged. */
function describedSchema(schema: unknown): unknown {
  if (typeof schema !== 'object' || schema === null) return schema
  if (Array.isArray(schema)) return schema.map(describedSchema)
  return Object.fromEntries(
    Object.entries(schema).map(([key, value]) => {
      if (typeof value === 'string' && (key === 'description' || key === 'title')) return [key, safeText(value)]
      return [key, dataKeywords.has(key) ? value : describedSchema(value)]
    }),
  )
}
