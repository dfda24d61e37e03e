import { valueKind } from '../json/value-kind.ts'
import type { Caller } from '../call/context-types.ts'
import { definitionOf, isToolLike, requireDescribable, type ToolDefinition, type ToolLike } from './definition.ts'
import { InvalidConfigurationError, ToolAlreadyRegisteredError } from '../errors.ts'
import { isRaw } from '../schema/json-schema.ts'
import { loadEngine } from '../schema/validator.ts'

/** What to do if a name is taken. */
export type OnCollision = 'replace' | 'keep' | 'throw'

const mostFormer = 10_000

/**
 * Tools by name; a registry with a parent falls back to it.
 *
 * @example
 * const registry = new ToolRegistry([tool('now', () => '12:00')])
 * const remove = registry.add(tool('later', () => '13:00'))
 */
export class ToolRegistry {
  readonly parent: ToolRegistry | undefined
  readonly #tools = new Map<string, ToolDefinition>()
  /** Names by the spelling of a name or alias, which is equal for those that differ only by `-`, `_` and case. */
  readonly #spellings = new Map<string, string>()
  /** Tools whose `add` was undone; the undo of a replacement does not restore them. */
  readonly #undone = new WeakSet<ToolDefinition>()
  /** Spellings of the names and aliases of removed tools, the oldest first. */
  readonly #former = new Set<string>()
  /** Names by the last `hide` (`true`) or `unhide` (`false`). */
  readonly #hidden = new Map<string, boolean>()
  readonly #listeners = new Set<() => void>()
  #version = 0

  /**
   * @param tools The tools to add.
   * @param options `parent`: looked up for names that are not here.
   * @throws `E_TOOL_ALREADY_REGISTERED`, `E_SCHEMA_CONVERSION`, `E_INVALID_CONFIGURATION` as `add` does.
   */
  constructor(tools: Iterable<ToolLike> = [], options: { readonly parent?: ToolRegistry } = {}) {
    this.parent = options.parent
    let index = 0
    for (const tool of tools) {
      requireTool(tool, `\`tools[${index++}]\``)
      this.add(tool)
    }
  }

  /**
   * Adds a tool.
   *
   * @param options `onCollision`: what to do if the name is taken. Default: `'throw'`.
   * @returns A function that removes the tool again and restores the one that it replaced.
   * @throws `E_TOOL_ALREADY_REGISTERED` if the name, an alias or a spelling is taken; `E_SCHEMA_CONVERSION` if the tool cannot be
   * shown to a model; `E_INVALID_CONFIGURATION` if it is not a tool.
   */
  add(tool: ToolLike, options: { readonly onCollision?: OnCollision } = {}): () => void {
    requireTool(tool, 'The argument of `add`')
    const definition = definitionOf(tool)
    const { name } = definition
    const former = this.#tools.get(name)
    if (former !== undefined && options.onCollision === 'keep') return () => {}
    if (former !== undefined && options.onCollision !== 'replace') throw nameTaken(name, `a tool of this name`)
    requireDescribable(definition)
    if (isRaw(definition.inputSchema) || isRaw(definition.outputSchema)) loadEngine().catch(() => {}) // validation reports it
    if (former !== undefined) this.#remove(former)
    try {
      this.#insert(definition)
    } catch (error) {
      if (former !== undefined) this.#insert(former)
      throw error
    }
    this.#undone.delete(definition)
    return () => {
      this.#undone.add(definition)
      if (this.#tools.get(name) !== definition) return
      if (former === undefined || this.#undone.has(former)) return void this.remove(name)
      this.#remove(definition)
      try {
        this.#insert(former)
      } catch (error) {
        this.#insert(definition) // the replaced tool no longer fits: nothing is undone
        this.#undone.delete(definition)
        throw error
      }
    }
  }

  /** Removes a tool. Returns `false` if there is no tool of this name. */
  remove(name: string): boolean {
    const definition = this.#tools.get(name)
    if (definition === undefined) return false
    this.#hidden.delete(name)
    this.#remove(definition)
    return true
  }

  /** Removes the `ephemeral` tools of this registry, but not those of its parent or of extensions. Returns their names. */
  pruneEphemeral(): string[] {
    const names = [...this.#tools.values()].filter(({ ephemeral }) => ephemeral).map(({ name }) => name)
    for (const name of names) this.remove(name)
    return names
  }

  /** Hides a tool from callers, who may still call it, and one that replaces it. Returns `false` if there is no such tool. */
  hide(name: string): boolean {
    return this.#setHidden(name, true)
  }

  /** Shows a tool that was hidden here or in the parent. Returns `false` if there is no tool of this name. */
  unhide(name: string): boolean {
    return this.#setHidden(name, false)
  }

  /** Whether a tool is hidden from callers. */
  isHidden(name: string): boolean {
    return this.#hidden.get(name) ?? (!this.#tools.has(name) && this.parent?.isHidden(name) === true)
  }

  /** Returns the tool of exactly this name. */
  get(name: string): ToolDefinition | undefined {
    return this.#tools.get(name) ?? this.parent?.get(name)
  }

  has(name: string): boolean {
    return this.get(name) !== undefined
  }

  /** Whether a name or an alias is or was in use, in any spelling. Only the last 10,000 removed names count. */
  wasTaken(name: string): boolean {
    const word = spelling(name)
    return this.#spellings.has(word) || this.#former.has(word) || (this.parent?.wasTaken(name) ?? false)
  }

  /** Grows with each change of the tool list, here or in the parent. */
  get version(): number {
    return this.#version + (this.parent?.version ?? 0)
  }

  /** Subscribes to changes of the tool list, here or in the parent. Returns an unsubscribe function. */
  onChange(listener: () => void): () => void {
    this.#listeners.add(listener)
    const undo = this.parent?.onChange(listener)
    return () => {
      this.#listeners.delete(listener)
      undo?.()
    }
  }

  /** Returns the tool of this name, else the tool that has it as an alias. */
  resolve(name: string): ToolDefinition | undefined {
    return this.get(name) ?? this.#byAlias(name)
  }

  /** Returns all tools in the order of their addition, the parent's first; with a caller, only those that it is shown. */
  list(caller?: Caller): ToolDefinition[] {
    const all = new Map(this.parent?.list().map((tool) => [tool.name, tool]))
    for (const [name, tool] of this.#tools) all.set(name, tool)
    const tools = [...all.values()]
    return caller === undefined ? tools : tools.filter((tool) => isVisible(tool, caller) && !this.isHidden(tool.name))
  }

  /**
   * Returns a new registry with the tools of this one and of others, from left to right. Hidden tools stay hidden.
   *
   * @param options `onCollision`: what to do if a name is taken and the incoming tool's `onCollision` is `'throw'`. Default: `'throw'`.
   */
  merge(others: Iterable<ToolRegistry>, options: { readonly onCollision?: OnCollision } = {}): ToolRegistry {
    const merged = registryOf([]) // the name of a class in itself is renamed by a build
    for (const registry of [this, ...others]) {
      for (const tool of registry.list()) {
        const onCollision = tool.onCollision === 'throw' ? options.onCollision : tool.onCollision
        merged.add(tool, onCollision === undefined ? {} : { onCollision })
        if (merged.get(tool.name) === tool) merged.#setHidden(tool.name, registry.isHidden(tool.name))
      }
    }
    return merged
  }

  #setHidden(name: string, isHidden: boolean): boolean {
    if (!this.has(name)) return false
    if (this.isHidden(name) !== isHidden) {
      this.#hidden.set(name, isHidden)
      this.#notify()
    }
    return true
  }

  #notify(): void {
    this.#version++
    for (const listener of this.#listeners) listener()
  }

  #byAlias(alias: string): ToolDefinition | undefined {
    const tool = this.#tools.get(this.#spellings.get(spelling(alias)) ?? '')
    if (tool?.aliases.includes(alias) === true) return tool
    return this.parent === undefined ? undefined : this.parent.#byAlias(alias)
  }

  #insert(definition: ToolDefinition): void {
    const { name, aliases } = definition
    for (const word of [name, ...aliases]) {
      const other = this.#spellings.get(spelling(word))
      if (other !== undefined && other !== name)
        throw nameTaken(word, `the tool "${other}", whose name or alias is too like it`)
    }
    this.#tools.set(name, definition)
    for (const word of [name, ...aliases]) this.#spellings.set(spelling(word), name)
    this.#notify()
  }

  #remove(definition: ToolDefinition): void {
    this.#tools.delete(definition.name)
    for (const word of [definition.name, ...definition.aliases].map(spelling)) {
      this.#spellings.delete(word)
      this.#former.delete(word) // added again below, as the newest
      this.#former.add(word)
    }
    for (const oldest of this.#former) {
      if (this.#former.size <= mostFormer) break
      this.#former.delete(oldest)
    }
    this.#notify()
  }
}

/** Whether a caller sees a tool and may call it. */
export function isVisible(tool: ToolDefinition, caller: Caller): boolean {
  if (caller === 'user') return true
  if (caller === 'model') return tool.audience !== 'user' && (tool.ui?.visibility?.includes('model') ?? true)
  const app: unknown = caller.app
  const visibility = tool.ui?.visibility ?? ['model', 'app']
  return typeof app === 'string' && tool.mcpConfig?.serverName === app && visibility.includes('app')
}

/** Returns the spelling that is equal for names which models would confuse. */
export function spelling(name: string): string {
  return name.toLowerCase().replaceAll('-', '_')
}

function requireTool(tool: unknown, which: string): void {
  if (isToolLike(tool)) return
  throw new InvalidConfigurationError(
    `${which} is not a tool but ${valueKind(tool)}. Pass the result of \`tool()\`, as in \`tools: [tool({ name, description, handler })]\`.`,
  )
}

function nameTaken(name: string, by: string): ToolAlreadyRegisteredError {
  return new ToolAlreadyRegisteredError(
    `The name ${JSON.stringify(name)} is taken: the registry holds ${by}. Rename the tool, or add it with { onCollision: 'replace' }.`,
  )
}

export function registryOf(tools: ToolRegistry | Iterable<ToolLike>): ToolRegistry {
  if (tools instanceof ToolRegistry) return tools
  if (typeof tools !== 'object' || tools === null || !(Symbol.iterator in tools)) {
    throw new InvalidConfigurationError('`tools` must be an array of tools, or a ToolRegistry.')
  }
  return new ToolRegistry(tools)
}
