import type { ToolDefinition } from '../index.ts'
import { InvalidConfigurationError, ToolNotFoundError } from '../errors.ts'
import { oneOf, type OptionCheck } from '../extension.ts'
import type { AiSdkToolsOptions } from './_ai-sdk-types.ts'
import { checkConversation } from './_options.ts'

const anyOption: OptionCheck = { expected: 'tools by their names', accepts: () => true }
const definitionMark = Symbol.for('toolwright.definition')

/** @throws `E_INVALID_CONFIGURATION` if an option of `aiSdkTools` is unknown, missing or wrong. */
export function checkAiSdkOptions(options: AiSdkToolsOptions): void {
  checkConversation('aiSdkTools', options, {
    version: {
      expected: '6 or 7, the major version of the SDK (for 5 there is `aiSdk` of `toolwright/formats/ai-sdk`),',
      accepts: (value) => value === 6 || value === 7,
    },
    tools: anyOption, // `requireTools` looks at each
    output: oneOf('envelope', 'value'),
    errors: oneOf('output-available', 'output-error'),
  })
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
