import { InvalidConfigurationError, type ToolDefinition } from '../index.ts'

/**
 * A tool in a list: by its name, or, if it is a server's, by the name of the server and the name that the server gives it. A
 * list that makes a policy milder means tools of the host's own by plain names, since a server may list any name; a server that
 * the host gave no `name` is not known by the one that it chose.
 */
export type ToolName = string | { readonly server: string; readonly name: string }

/** Refuses options that are none, and names that nobody reads: a list that is misspelt would guard nothing. */
export function requireOptions(leaf: string, options: unknown, known: readonly string[]): void {
  if (typeof options !== 'object' || options === null) throw wrong(leaf, 'takes an object of options')
  const stranger = Object.keys(options).find((name) => !known.includes(name))
  if (stranger !== undefined) {
    throw wrong(leaf, `has no option ${JSON.stringify(stranger)}; its options are ${known.join(', ')}`)
  }
}

/** The tools that a list of an option names. */
export class ToolList {
  readonly #names = new Set<string>()
  readonly #ofServers = new Set<string>()

  /** @throws `E_INVALID_CONFIGURATION` if it is no list of tools. */
  constructor(leaf: string, option: string, list: readonly ToolName[] | undefined) {
    if (!Array.isArray(list ?? [])) throw wrong(leaf, `takes an array of tool names as \`${option}\``)
    for (const entry of list ?? []) {
      const { server, name } = Object(entry) as { readonly server?: unknown; readonly name?: unknown }
      if (typeof entry === 'string') this.#names.add(entry)
      else if (typeof server === 'string' && typeof name === 'string') this.#ofServers.add(pair(server, name))
      else throw wrong(leaf, `takes tool names, and { server, name } for a server's tools, as \`${option}\``)
    }
  }

  /** Whether a tool stands in the list, by any of its names, whoever made it: for lists that make a policy stricter. */
  includes(tool: ToolDefinition): boolean {
    return this.hasName(tool) || tool.aliases.some((alias) => this.#names.has(alias)) || this.#hasOfServer(tool)
  }

  /** Whether the list means this very tool: for lists that make a policy milder. */
  means(tool: ToolDefinition): boolean {
    if (tool.mcpConfig === undefined) return this.hasName(tool)
    return tool.mcpConfig.isSelfNamed !== true && this.#hasOfServer(tool)
  }

  /** Whether the tool's own name stands in the list by itself. */
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

/** What tells a tool from those that have its name elsewhere; without line breaks. */
export function identityOf({ name, mcpConfig }: ToolDefinition): string {
  if (mcpConfig === undefined) return name
  const { serverName, serverUrl, program, toolName } = mcpConfig
  return `${name} ${JSON.stringify([serverName, serverUrl, program, toolName])}`
}

/** One of a few words. */
export function wordOf<Word extends string>(
  leaf: string,
  option: string,
  word: Word | undefined,
  words: readonly Word[],
  otherwise?: Word,
): Word {
  const given = word ?? otherwise
  if (given !== undefined && words.includes(given)) return given
  const shown = JSON.stringify(word) ?? typeof word
  throw wrong(leaf, `takes ${words.map((each) => `"${each}"`).join(', ')} as \`${option}\`, not ${shown}`)
}

/** A whole number. */
export function wholeNumber(leaf: string, option: string, value: number, least: number): number {
  if (Number.isSafeInteger(value) && value >= least) return value
  throw wrong(leaf, `takes a whole number of at least ${least} as \`${option}\``)
}

/** The error of a leaf that cannot be made of its options. */
export function wrong(leaf: string, message: string): InvalidConfigurationError {
  return new InvalidConfigurationError(`\`${leaf}\` ${message}.`)
}
