import type { Caller } from '../call/context-types.ts'
import { InvalidConfigurationError } from '../errors.ts'
import type { Extension, Policy } from '../ports.ts'
import { canBeDescribed, type ToolDefinition } from './definition.ts'
import { KeptLists } from './kept-lists.ts'
import { namedBridges } from './named-bridges.ts'
import type { ToolRegistry } from './registry.ts'

/** The tools that callers are shown: those that can be described, and that all extensions offer. */
export class ShownTools {
  readonly #lists = new KeptLists()
  readonly #choosing: readonly Extension[]
  readonly #policies: readonly Policy[]
  readonly #report: (error: unknown) => void
  readonly #reported = new Set<string>()

  constructor(
    extensions: readonly Extension[],
    { policies, report }: { readonly policies: readonly Policy[]; readonly report: (error: unknown) => void },
  ) {
    this.#choosing = extensions.filter((extension) => extension.offers !== undefined)
    this.#policies = policies.filter(({ names }) => names !== undefined)
    this.#report = report
  }

  /** Reports each bridge that a policy names, once. */
  check(tools: readonly ToolDefinition[]): void {
    if (this.#policies.length === 0) return
    for (const words of namedBridges(this.#policies, tools)) {
      if (this.#reported.has(words)) continue
      this.#reported.add(words)
      this.#report(new InvalidConfigurationError(words))
    }
  }

  of(registry: ToolRegistry, caller: Caller, session: string): readonly ToolDefinition[] {
    const isChosen = this.#choosing.length > 0
    return this.#lists.of(registry, isChosen ? [caller, session] : [caller], () => {
      const tools = registry.list(caller)
      this.check(tools)
      const offered = isChosen ? this.#offered(tools, caller, session) : tools
      return offered.filter((tool) => canBeDescribed(tool, this.#report))
    })
  }

  /** An extension that throws is reported once, and not asked again. */
  #offered(tools: readonly ToolDefinition[], caller: Caller, session: string): readonly ToolDefinition[] {
    const choosing = new Set(this.#choosing)
    return tools.filter((tool) => {
      for (const extension of choosing) {
        try {
          if (extension.offers?.(tool, caller, session) === false) return false
        } catch (error) {
          choosing.delete(extension)
          this.#report(error)
        }
      }
      return true
    })
  }
}
