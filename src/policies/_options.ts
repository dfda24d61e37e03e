import type { ToolDefinition } from '../index.ts'
import { InvalidConfigurationError } from '../errors.ts'

/**
 * Names a tool in a list: by its name, or, for a server's tool, by the server's name and the server's name for the tool. In a
 * list that makes a policy milder, a plain name means only the application's own tool, since a server may list any name. Such a list
 * knows a server only by the `name` that the application gave it, never by the name that the server chose.
 */
export type ToolName = string | { readonly server: string; readonly name: string }

/** Throws if options are no object, or on an unknown option, since a misspelt list would protect nothing. */
export function requireOptions(leaf: string, options: unknown, known: readonly string[]): void {
  if (typeof options !== 'object' || options === null) throw wrong(leaf, 'takes an object of options')
  const stranger = Object.keys(options).find((name) => !known.includes(name))
  if (stranger !== undefined) {
    throw wrong(leaf, `has no option ${JSON.stringify(stranger)}; its options are ${known.join(', ')}`)
  }
}

/** The tools that one option lists. */
export class ToolList {
  readonly #names = new Set<string>()
  readonly #ofServers = new Set<string>()

  /** @throws `E_INVALID_CONFIGURATION` if `list` is not an array of tool names. */
  constructor(leaf: string, option: string, list: readonly ToolName[] | undefined) {
    if (!Array.isArray(list ?? [])) throw wrong(leaf, `takes an array of tool names as \`${option}\``)
    for (const entry of list ?? []) {
      const { server, name } = Object(entry) as { readonly server?: unknown; readonly name?: unknown }
      if (typeof entry === 'string') this.#names.add(entry)
      else if (typeof server === 'string' && typeof name === 'string') this.#ofServers.add(pair(server, name))
      else throw wrong(leaf, `takes tool names, and { server, name } for a server's tools, as \`${option}\``)
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
export function identityOf({ name, mcpConfig }: ToolDefinition): string {
  if (mcpConfig === undefined) return name
  const { serverName, serverUrl, program, toolName } = mcpConfig
  return `${name} ${JSON.stringify([serverName, serverUrl, program, toolName])}`
}

/** @throws `E_INVALID_CONFIGURATION` if `word` is not one of `words`. */
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

/** @throws `E_INVALID_CONFIGURATION` if `value` is not a whole number of at least `least`. */
export function wholeNumber(leaf: string, option: string, value: number, least: number): number {
  if (Number.isSafeInteger(value) && value >= least) return value
  throw wrong(leaf, `takes a whole number of at least ${least} as \`${option}\``)
}

/** Makes the error of a leaf whose options are invalid. */
export function wrong(leaf: string, message: string): InvalidConfigurationError {
  return new InvalidConfigurationError(`\`${leaf}\` ${message}.`)
}
