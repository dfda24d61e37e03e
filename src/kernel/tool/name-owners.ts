import type { Caller } from '../call/context-types.ts'
import type { Extension, SessionTools } from '../ports.ts'
import type { Shelf } from '../result/shelf.ts'
import { definitionOf, isToolLike, type ToolDefinition, type ToolLike } from './definition.ts'
import { InvalidConfigurationError, ToolAlreadyRegisteredError } from '../errors.ts'
import { catalogueIn } from './kept-lists.ts'
import { spelling, ToolRegistry } from './registry.ts'

/** The most names that one extension may claim in the life of an executor. */
const mostClaimedNames = 10_000
/** How many different sets of tools are kept, since sessions with different tools alternate. The least recently used goes. */
const mostSets = 8

interface Owner {
  readonly extension: Extension
  /** Whether the tool came from a server, which may list any name. */
  readonly isServer: boolean
}

/**
 * Records which extension owns a name. A server's name stays its own for the life of the executor. A server never gets a name
 * that a tool of another source has or had. Reason: people approve tools, and policies allow them, by name. The tools of a guest
 * own no name: they yield to a tool of any other source, also to one that comes later.
 */
class NameOwners {
  /** The executor's own tools. */
  readonly registry: ToolRegistry
  readonly #report: (error: unknown) => void
  readonly #owners = new Map<string, Owner>()
  readonly #counts = new Map<Extension, number>()
  #serverNames = 0
  readonly #reported = new Set<string>()

  constructor(registry: ToolRegistry, report: (error: unknown) => void) {
    this.registry = registry
    this.#report = report
  }

  /** How many names belong to servers. It never sinks. */
  get count(): number {
    return this.#serverNames
  }

  /** Whether a name belongs to another source than this extension. */
  isTaken(name: string, extension: Extension): boolean {
    const owner = this.#owners.get(spelling(name))
    return (owner?.extension ?? extension) !== extension || (owner?.isServer !== true && this.registry.wasTaken(name))
  }

  /** Claims the names of an extension's tools. Returns the tools that own theirs; the others are set aside and reported. */
  claim(tools: readonly ToolLike[], extension: Extension): readonly ToolLike[] {
    const { isGuest = false } = extension
    return tools.filter((tool) => {
      if (!isToolLike(tool)) return true // the registry refuses it with the reason
      const { name, aliases, mcpConfig } = definitionOf(tool)
      const isServer = mcpConfig !== undefined
      const words = [name, ...aliases]
      const other = words.find((word) => this.#isForeign(word, { extension, isServer }))
      const count = this.#counts.get(extension) ?? 0
      if (other !== undefined) {
        const of = isServer ? ` of the server ${JSON.stringify(mcpConfig.serverName)}` : isGuest ? ' of a page' : ''
        this.#refuse(
          `The tool ${JSON.stringify(name)}${of} is set aside: ${JSON.stringify(other)} belongs to a tool of another source. Give the tool another name; \`mcpTools\` takes a \`prefix\`.`,
          isGuest ? spelling(other) : undefined, // a page has many spellings of one name
        )
      } else if (isServer && count > mostClaimedNames) {
        this.#refuse(
          `The server ${JSON.stringify(mcpConfig.serverName)} has used ${mostClaimedNames} names: its tools of other names are set aside.`,
        )
        return words.every((word) => this.#owners.has(spelling(word)))
      } else if (!isGuest) this.#give(words, { extension, isServer }, count)
      return other === undefined
    })
  }

  /** Whether a name belongs to a server, so that a tool of the executor's registry gives way. */
  isServers(name: string): boolean {
    return this.#serverNames > 0 && this.#owners.get(spelling(name))?.isServer === true
  }

  /** Reports that a tool of the executor's registry is set aside for a server's. */
  standBack(name: string): void {
    this.#refuse(
      `The tool ${JSON.stringify(name)} of the executor's registry is set aside: a server's tool had this name before. Give it another name, or add it before the executor is first used.`,
    )
  }

  #isForeign(word: string, { extension, isServer }: Owner): boolean {
    if (isServer || extension.isGuest) return this.isTaken(word, extension)
    const owner = this.#owners.get(spelling(word))
    return owner?.isServer === true && owner.extension !== extension
  }

  #give(words: readonly string[], owner: Owner, count: number): void {
    if (count > mostClaimedNames) return
    for (const word of words.map(spelling)) {
      if (this.#owners.has(word)) continue
      this.#owners.set(word, owner)
      if (owner.isServer) this.#serverNames++
      count++
    }
    this.#counts.set(owner.extension, count)
  }

  /** Reports each clash once. */
  #refuse(message: string, clash = message): void {
    if (this.#reported.has(clash) || this.#reported.size >= mostClaimedNames) return
    this.#reported.add(clash)
    this.#report(new ToolAlreadyRegisteredError(message))
  }
}

/** The tools of a session and of the executor, without tools of the executor whose names belong to a server. */
class SessionRegistry extends ToolRegistry {
  readonly #owners: NameOwners

  /** @param tools The tools of the session. Those that the registry refuses are reported and left out. */
  constructor(owners: NameOwners, tools: readonly ToolLike[], report: (error: unknown) => void) {
    super([], { parent: owners.registry })
    this.#owners = owners
    for (const tool of tools) {
      try {
        this.add(tool)
      } catch (error) {
        report(error)
      }
    }
  }

  override get version(): number {
    return super.version + this.#owners.count
  }

  override get(name: string): ToolDefinition | undefined {
    return this.#own(super.get(name), name)
  }

  override resolve(name: string): ToolDefinition | undefined {
    return this.#own(super.resolve(name), name)
  }

  override list(caller?: Caller): ToolDefinition[] {
    return super.list(caller).filter((tool) => this.#own(tool, tool.name) !== undefined)
  }

  #own(tool: ToolDefinition | undefined, name: string): ToolDefinition | undefined {
    if (tool === undefined || !this.#owners.isServers(name) || this.parent?.get(tool.name) !== tool) return tool
    this.#owners.standBack(name)
    return undefined
  }
}

/** The tools of an extension for a session, and those whose names it owns. */
interface ExtensionTools {
  readonly tools: readonly ToolLike[]
  readonly own: readonly ToolLike[]
}

const emptyTools: ExtensionTools = { tools: [], own: [] }

/** Returns what finds the tools of a session: the executor's own, and those that extensions add. */
export function registriesOf(
  registry: ToolRegistry,
  extensions: readonly Extension[],
  shelf: Shelf,
  report: (error: unknown) => void,
): (session: string) => ToolRegistry {
  const rank = ({ isGuest }: Extension): number => (isGuest ? 1 : 0)
  const giving = extensions.filter((extension) => extension.tools !== undefined).toSorted((a, b) => rank(a) - rank(b))
  if (giving.length === 0) return () => registry
  const owners = new NameOwners(registry, report)
  const recent: { readonly sets: readonly ExtensionTools[]; readonly registry: ToolRegistry }[] = []
  let isAsking = false
  const requestOf = (extension: Extension, session: string): SessionTools => ({
    session,
    shelf,
    isTaken: (name) => owners.isTaken(name, extension),
    catalogue(caller) {
      if (!isAsking) return catalogueIn(registryFor(session), caller)
      throw new InvalidConfigurationError(
        'An extension read the `catalogue` of a session within its own `tools`. Read it later, such as in a handler.',
      )
    },
  })
  /** Returns the tools of an extension. Returns none if the extension throws, which is reported. */
  const toolsBy = (extension: Extension, session: string, index: number): ExtensionTools => {
    try {
      const tools = extension.tools?.(requestOf(extension, session)) ?? []
      if (tools.length === 0) return emptyTools
      const claimed = extension.isGuest === true ? owners.claim(tools, extension) : undefined // others may have its names by now
      for (const { sets } of recent) {
        const former = sets[index]
        const isSame = claimed === undefined || isEqualList(claimed, former?.own ?? [])
        if (former?.tools === tools && isSame) return former
      }
      return { tools, own: claimed ?? owners.claim(tools, extension) }
    } catch (error) {
      report(error)
      return emptyTools
    }
  }
  const registryFor = (session: string): ToolRegistry => {
    isAsking = true
    const sets = giving.map((extension, index) => toolsBy(extension, session, index))
    isAsking = false
    const place = recent.findIndex((each) => isEqualList(each.sets, sets))
    if (place === 0) return recent[0]!.registry
    let [entry] = place < 0 ? [] : recent.splice(place, 1)
    if (entry === undefined) {
      const own = sets.flatMap((each) => each.own)
      entry = { sets, registry: new SessionRegistry(owners, own, report) }
    }
    recent.unshift(entry)
    recent.length = Math.min(recent.length, mostSets)
    return entry.registry
  }
  return registryFor
}

function isEqualList(list: readonly unknown[], other: readonly unknown[]): boolean {
  return list.length === other.length && list.every((each, index) => each === other[index])
}
