/**
 * Permissions by the traits of tools. This file reads no names and no args. What a server says of its own tool never makes
 * the policy milder.
 *
 * @module
 */
import type { Extension, ToolDefinition } from '../index.ts'
import { checkOptions, functionOption, oneOf, type Decision, type Policy } from '../extension.ts'

/** Allow the call, ask the approver, or deny it. */
export type TraitDecision = 'allow' | 'ask' | 'deny'

/** The options of `byTraits`: a decision for each trait. */
export interface ByTraitsOptions {
  /** For tools that change nothing. */
  readonly readonly?: TraitDecision
  /** For tools that may destroy something. */
  readonly destructive?: TraitDecision
  /** For tools that reach beyond what the application controls. */
  readonly openWorld?: TraitDecision
  /** For tools to which none of the above applies. Default: `'allow'`. */
  readonly otherwise?: TraitDecision
  /**
   * Returns whether the policy believes the traits of a tool. Default: yes, except for a tool of type `mcp` to which
   * `mcpTools({ tools })` gave none of `readonly`, `destructive` and `openWorld`.
   */
  readonly believe?: (tool: ToolDefinition) => boolean
}

const traits = ['readonly', 'destructive', 'openWorld'] as const
const strictness = ['allow', 'ask', 'deny'] as const
const decisions = oneOf(...strictness)

/**
 * Decides by the traits of the tool: the strictest decision among the traits that apply wins.
 *
 * A tool whose traits are not believed may do anything: the decisions for `destructive`, `openWorld` and `otherwise` all apply
 * to it, and its own `readonly` can only make the decision stricter. The reason of a decision says so.
 *
 * @param options The decision for each trait; a trait that is left out decides nothing.
 * @throws `E_INVALID_CONFIGURATION` if an option is unknown, or is not `'allow'`, `'ask'` or `'deny'`.
 * @example
 * ```ts
 * import { createExecutor } from 'toolwright'
 * import { byTraits } from 'toolwright/policies/by-traits'
 *
 * const executor = createExecutor({ use: [byTraits({ readonly: 'allow', destructive: 'deny', otherwise: 'ask' })] })
 * ```
 * @see https://modelcontextprotocol.io/specification/2025-11-25/server/tools
 * @experimental
 */
export function byTraits(options: ByTraitsOptions): Extension & { readonly policies: readonly [Policy] } {
  checkOptions('byTraits', options, {
    readonly: decisions,
    destructive: decisions,
    openWorld: decisions,
    otherwise: decisions,
    believe: functionOption,
  })
  const { believe = isDescribedByHost } = options
  const answers = new Map<(typeof traits)[number], number>()
  for (const trait of traits) {
    if (options[trait] !== undefined) answers.set(trait, strictness.indexOf(options[trait]))
  }
  const otherwise = strictness.indexOf(options.otherwise ?? 'allow')

  function decide(tool: ToolDefinition): Decision {
    const isBelieved = believe(tool) === true
    let level = isBelieved ? -1 : otherwise
    let kind: string = 'otherwise'
    for (const [trait, answer] of answers) {
      const applies = tool.traits[trait] || (!isBelieved && trait !== 'readonly')
      if (!applies || answer <= level) continue
      level = answer
      kind = trait
    }
    const decision = strictness[level < 0 ? otherwise : level]
    if (decision === undefined || decision === 'allow') return undefined
    const word = decision === 'ask' ? 'Approval required' : 'Denied'
    return {
      decision,
      reason: `${word} by byTraits (\`${kind}: '${decision}'\`)${isBelieved ? '' : disbelieved(tool)}`,
    }
  }

  return { policies: [{ name: 'byTraits', decide: ({ tool }) => decide(tool) }] }
}

/** Returns whether the application described the tool: the only traits of a server's tool are those that the application gave it. */
function isDescribedByHost(tool: ToolDefinition): boolean {
  const hostTraits = tool.mcpConfig?.hostTraits
  return tool.type !== 'mcp' || (hostTraits !== undefined && traits.some((trait) => hostTraits[trait] !== undefined))
}

/** Says that the traits are not believed, and how to have them believed. */
function disbelieved({ type }: ToolDefinition): string {
  const next = type === 'mcp' ? 'Give it `traits` in `mcpTools({ tools })`, or set `believe`' : 'Set `believe`'
  return `: the traits of this tool are not believed. ${next}`
}
