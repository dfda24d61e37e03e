import type { Policy } from '../ports.ts'
import type { ToolDefinition } from './definition.ts'

/** Returns a sentence about each bridge that a policy names: a policy is asked about the tool behind it, never about a bridge. */
export function namedBridges(policies: readonly Policy[], tools: Iterable<ToolDefinition>): string[] {
  const bridges = Array.from(tools).filter(({ type }) => type === 'bridge')
  return policies.flatMap(({ name: policy, names = [] }) => {
    const named = bridges.filter(({ name, aliases }) => [name, ...aliases].some((each) => names.includes(each)))
    return named.map(
      ({ name }) =>
        `The policy ${JSON.stringify(policy)} names ${JSON.stringify(name)}, and decides about no call of it: that is a bridge, and a call through it is the call of another tool. Name that tool.`,
    )
  })
}
