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
  /** Whose traits are believed. Default: those of every tool but the ones of type `mcp`, which a server made. */
  readonly believe?: (tool: ToolDefinition) => boolean
}

const traits = ['readonly', 'destructive', 'openWorld'] as const
const strictness = ['allow', 'ask', 'deny'] as const

/**
 * Decides by the traits of the tool: of those that hold and are named here, the strictest wins.
 *
 * A tool that is not believed might be anything: what is said of `destructive`, `openWorld` and `otherwise` applies to it in
 * any case, and a `readonly` of its own can only make the decision stricter.
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
  const { believe = (tool) => tool.type !== 'mcp' } = options
  if (typeof believe !== 'function') throw wrong('byTraits', 'takes a function as `believe`')
  const said = new Map<(typeof traits)[number], number>()
  for (const trait of traits) {
    if (options[trait] !== undefined) said.set(trait, levelOf(trait, options[trait]))
  }
  const otherwise = levelOf('otherwise', options.otherwise ?? 'allow')

  function decide(tool: ToolDefinition): Decision {
    const isBelieved = believe(tool) === true
    let level = isBelieved ? -1 : otherwise
    for (const [trait, its] of said) {
      if (tool.traits[trait] || (!isBelieved && trait !== 'readonly')) level = Math.max(level, its)
    }
    const decision = strictness[level < 0 ? otherwise : level]
    if (decision === 'ask') return { decision, reason: 'Approval required for a tool of this kind' }
    if (decision === 'deny') return { decision, reason: 'Tools of this kind are refused by policy' }
    return undefined
  }

  return { policies: [{ name: 'byTraits', decide: ({ tool }) => decide(tool) }] }
}

function levelOf(option: string, decision: TraitDecision): number {
  return strictness.indexOf(wordOf('byTraits', option, decision, strictness))
}
