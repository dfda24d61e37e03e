import type { ToolDefinition } from '../index.ts'
import { InvalidConfigurationError, ToolNotFoundError } from '../errors.ts'

const definitionMark = Symbol.for('toolwright.definition')

/** Returns how an option is set; the first of its words is the default. @throws `E_INVALID_CONFIGURATION` if it is another. */
export function modeOf<Mode extends string>(name: string, mode: Mode | undefined, modes: readonly [Mode, Mode]): Mode {
  if (mode === undefined) return modes[0]
  if (modes.includes(mode)) return mode
  const words = modes.map((each) => JSON.stringify(each)).join(' or ')
  throw new InvalidConfigurationError(`\`${name}\` of aiSdkTools is ${words}, and not ${quotedValue(mode)}.`)
}

/**
 * Refuses tools that the types of `tools` would promise and the executor does not have.
 *
 * @throws `E_TOOL_NOT_FOUND`; `E_INVALID_CONFIGURATION` for another definition, a key that is not the name, or no tool.
 */
export function requireTools(tools: unknown, byName: ReadonlyMap<string, ToolDefinition>): void {
  if (tools === undefined) return
  if (typeof tools !== 'object' || tools === null || Array.isArray(tools)) {
    const kind = Array.isArray(tools) ? 'an array' : quotedValue(tools)
    throw new InvalidConfigurationError(
      `\`tools\` of aiSdkTools has tools by their names, such as { get_order }, and is not ${kind}.`,
    )
  }
  for (const [key, tool] of Object.entries(tools)) {
    const definition = toolDefinitionOf(tool)
    const place = `tools[${JSON.stringify(key)}] of aiSdkTools`
    if (definition === undefined) {
      throw new InvalidConfigurationError(`${place} is no tool of Toolwright. Pass what \`tool\` returned.`)
    }
    const name = JSON.stringify(definition.name)
    if (definition.name !== key) {
      throw new InvalidConfigurationError(
        `${place} is the tool ${name}. The SDK calls it by its name, so write { ${name}: … }.`,
      )
    }
    const executorTool = byName.get(key)
    if (executorTool === undefined) {
      throw new ToolNotFoundError(
        `${place} is not offered: the executor has no tool ${name} for this caller and session. Pass it to createExecutor({ tools }), or leave it out here.`,
      )
    }
    if (executorTool !== definition) {
      throw new InvalidConfigurationError(
        `${place} is another definition than the executor's tool ${name}. Pass the same tool to both: \`with\` makes another.`,
      )
    }
  }
}

function toolDefinitionOf(tool: unknown): ToolDefinition | undefined {
  const isTool = typeof tool === 'function' || (typeof tool === 'object' && tool !== null)
  return isTool ? (tool as { readonly [definitionMark]?: ToolDefinition })[definitionMark] : undefined
}

function quotedValue(value: unknown): string {
  return typeof value === 'string' ? JSON.stringify(value.slice(0, 64)) : String(value === null ? null : typeof value)
}
