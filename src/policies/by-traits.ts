/**
 * Permissions by what tools are like. This leaf goes by traits alone: it reads no names and no args, and what a tool of a
 * wire says of itself never makes it milder.
 *
 * @module
 */
import type { Decision, Extension, Policy, ToolDefinition } from '../index.ts'
import { requireOptions, wordOf, wrong } from './_options.ts'

/** Let the call through, ask somebody, or refuse it. */
export type TraitDecision = 'allow' | 'ask' | 'deny'

export interface ByTraitsOptions {
  /** Of tools that change nothing. */
  readonly readonly?: TraitDecision
  /** Of tools that may destroy something. */
  readonly destructive?: TraitDecision
  /** Of tools that reach beyond what the host controls. */
  readonly openWorld?: TraitDecision
  /** Of tools to which none of the above applies. Default: `'allow'`. */
  readonly otherwise?: TraitDecision
  /**
   * Whose traits are believed. Default: those of every tool, except a tool of type `mcp` to which `mcpTools({ tools })` gave
   * none of `readonly`, `destructive` and `openWorld`.
   */
  readonly believe?: (tool: ToolDefinition) => boolean
}

const traits = ['readonly', 'destructive', 'openWorld'] as const
const strictness = ['allow', 'ask', 'deny'] as const

/**
 * Decides by the traits of the tool: of those that hold and are named here, the strictest wins.
 *
 * A tool that is not believed might be anything: what is said of `destructive`, `openWorld` and `otherwise` applies to it in
 * any case, and a `readonly` of its own can only make the decision stricter. The reason of a decision says so.
 *
 * @param options What becomes of the tools with each trait; a trait that is left out says nothing.
 * @throws `E_INVALID_CONFIGURATION` where an option is unknown, or is not `'allow'`, `'ask'` or `'deny'`.
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
  requireOptions('byTraits', options, [...traits, 'otherwise', 'believe'])
  const { believe = isDescribedByHost } = options
  if (typeof believe !== 'function') throw wrong('byTraits', 'takes a function as `believe`')
  const said = new Map<(typeof traits)[number], number>()
  for (const trait of traits) {
    if (options[trait] !== undefined) said.set(trait, levelOf(trait, options[trait]))
  }
  const otherwise = levelOf('otherwise', options.otherwise ?? 'allow')

  function decide(tool: ToolDefinition): Decision {
    const isBelieved = believe(tool) === true
    let level = isBelieved ? -1 : otherwise
    let kind: string = 'otherwise'
    for (const [trait, its] of said) {
      const applies = tool.traits[trait] || (!isBelieved && trait !== 'readonly')
      if (!applies || its <= level) continue
      level = its
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

/** Whether the host itself said what a tool is like: one of a server has no traits but those that the host gave it. */
function isDescribedByHost(tool: ToolDefinition): boolean {
  const given = tool.mcpConfig?.hostTraits
  return tool.type !== 'mcp' || (given !== undefined && traits.some((trait) => given[trait] !== undefined))
}

/** Why traits do not count, and what to do if they should. */
function disbelieved({ type }: ToolDefinition): string {
  const next = type === 'mcp' ? 'Give it `traits` in `mcpTools({ tools })`, or set `believe`' : 'Set `believe`'
  return `: the traits of this tool are not believed. ${next}`
}

function levelOf(option: string, decision: TraitDecision): number {
  return strictness.indexOf(wordOf('byTraits', option, decision, strictness))
}
