import type { Caller } from '../call/context-types.ts'
import type { ToolDefinition } from './definition.ts'
import type { ToolRegistry } from './registry.ts'

/** How many lists of a registry are kept. The least recently used goes first. */
const mostLists = 32

interface KeptList {
  readonly version: number
  readonly tools: readonly ToolDefinition[]
}

/** Keeps lists of tools until their registries change, so that the same array means the same tools. */
export class KeptLists {
  readonly #kept = new WeakMap<ToolRegistry, Map<string, KeptList>>()

  /** Returns the list of a registry for a caller and a session. Makes it, if that has not been made since the last change. */
  of(
    registry: ToolRegistry,
    who: readonly unknown[],
    make: () => readonly ToolDefinition[],
  ): readonly ToolDefinition[] {
    const [key, { version }] = [JSON.stringify(who), registry] // the version is that before: `make` may run an extension
    let lists = this.#kept.get(registry)
    if (lists === undefined) this.#kept.set(registry, (lists = new Map()))
    const former = lists.get(key)
    const list = former?.version === version ? former : { version, tools: Object.freeze([...make()]) }
    lists.delete(key)
    lists.set(key, list)
    for (const oldest of lists.keys()) if (lists.size > mostLists) lists.delete(oldest)
    return list.tools
  }
}

const keptCatalogues = new KeptLists()

/** Returns all tools of a registry that a caller may call. */
export function catalogueIn(registry: ToolRegistry, caller: Caller | undefined): readonly ToolDefinition[] {
  return keptCatalogues.of(registry, [caller], () => registry.list(caller))
}
