import { masked, type ToolDefinition } from '../index.ts'

/**
 * Returns the args of a call as a page may see them: the secrets of the tool are masked, or those of the tool that a bridge
 * names. Returns nothing if the args may be meant for any tool, and one has secrets.
 *
 * @param tools All tools that calls may name.
 */
export function maskedArgs(
  tools: readonly ToolDefinition[],
  name: unknown,
  args: unknown,
): { readonly value: unknown } | undefined {
  const tool = toolCalled(tools, name)
  if (tool !== undefined && tool.type !== 'bridge') return { value: masked(args, tool.secrets) }
  if (haveNoSecrets(tools)) return { value: args }
  return tool === undefined ? undefined : argsOfBridge(tools, args)
}

/** Returns the tool of a name or an alias. */
export function toolCalled(tools: readonly ToolDefinition[], name: unknown): ToolDefinition | undefined {
  return (
    tools.find((tool) => tool.name === name) ?? tools.find(({ aliases }) => aliases.some((alias) => alias === name))
  )
}

export function haveNoSecrets(tools: readonly ToolDefinition[]): boolean {
  return tools.every(({ secrets }) => secrets.length === 0)
}

function argsOfBridge(tools: readonly ToolDefinition[], wrapped: unknown): { readonly value: unknown } | undefined {
  try {
    const { name, args } = (typeof wrapped === 'string' ? JSON.parse(wrapped) : wrapped) as Record<string, unknown>
    const target = toolCalled(tools, name)
    if (target === undefined || target.type === 'bridge') return undefined
    const ownArgs = masked(typeof args === 'string' ? JSON.parse(args) : args, target.secrets)
    return { value: { name, args: ownArgs } }
  } catch {
    return undefined // of args that cannot be read, it is not known where the secrets are
  }
}
