import type { ToolDefinition } from '../index.ts'
import type { OptionCheck } from '../extension.ts'

/**
 * Names a tool in a list: by its name, or, for a server's tool, by the server's name and the server's name for the tool. In a
 * list that makes a policy milder, a plain name means only the application's own tool, since a server may list any name. Such a list
 * knows a server only by the `name` that the application gave it, never by the name that the server chose.
 */
export type ToolName = string | { readonly server: string; readonly name: string }

/** Takes the names of tools. */
export const toolNames: OptionCheck = {
  expected: "an array of tool names, and of { server, name } for a server's tools,",
  accepts: (list) => Array.isArray(list) && list.every(isToolName),
}

function isToolName(entry: unknown): boolean {
  const { server, name } = Object(entry) as { readonly server?: unknown; readonly name?: unknown }
  return typeof entry === 'string' || (typeof server === 'string' && typeof name === 'string')
}

/** Returns the plain names in lists of tools. */
export function plainNames(...lists: readonly (readonly ToolName[] | undefined)[]): string[] {
  return lists.flatMap((list = []) => list.filter((entry) => typeof entry === 'string'))
}

/** The tools that one option lists. */
export class ToolList {
  readonly #names = new Set<string>()
  readonly #ofServers = new Set<string>()

  /** @param list What `toolNames` accepts. Default: none. */
  constructor(list: readonly ToolName[] = []) {
    for (const entry of list) {
      if (typeof entry === 'string') this.#names.add(entry)
      else this.#ofServers.add(pair(entry.server, entry.name))
    }
  }

  /** Returns whether the list has any name or alias of the tool, from any source. For lists that make a policy stricter. */
  includes(tool: ToolDefinition): boolean {
    return this.hasName(tool) || tool.aliases.some((alias) => this.#names.has(alias)) || this.#hasOfServer(tool)
  }

  /** Returns whether the list means exactly this tool. For lists that make a policy milder. */
  means(tool: ToolDefinition): boolean {
    if (tool.mcpConfig === undefined) return this.hasName(tool)
    return tool.mcpConfig.isSelfNamed !== true && this.#hasOfServer(tool)
  }

  /** Returns whether the list has the tool's own name as a plain name. */
  hasName({ name }: ToolDefinition): boolean {
    return this.#names.has(name)
  }

  #hasOfServer({ mcpConfig }: ToolDefinition): boolean {
    if (mcpConfig === undefined || this.#ofServers.size === 0) return false
    return this.#ofServers.has(pair(mcpConfig.serverName, mcpConfig.toolName))
  }
}

function pair(server: unknown, name: unknown): string {
  return JSON.stringify([server, name])
}

/** Returns a text without line breaks that distinguishes a tool from tools of the same name from other sources. */
export function toolIdentity({ name, mcpConfig }: ToolDefinition): string {
  if (mcpConfig === undefined) return name
  const { serverName, serverUrl, program, toolName } = mcpConfig
  return `${name} ${JSON.stringify([serverName, serverUrl, program, toolName])}`
}
