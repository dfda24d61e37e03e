import type { ToolDefinition, ToolDescription } from '../index.ts'
import { isObject, type Fields } from './_read.ts'

/** A definition may be changed by whoever gets it: nothing in it is shared with the tool. */
export function copy<Value>(value: Value): Value {
  const copied: Value = JSON.parse(JSON.stringify(value))
  return copied
}

/**
 * The definitions of the tools that models may be shown. Of a tool that the provider runs itself, the options are the
 * whole definition; one without options for this provider is left out.
 *
 * @param optionsOf What a tool says for this provider alone.
 * @param define Makes one definition, of copies that it may keep.
 */
export function definitionsOf(
  tools: readonly ToolDefinition[],
  optionsOf: (tool: ToolDefinition) => unknown,
  define: (description: ToolDescription, options: Fields, tool: ToolDefinition) => unknown,
): unknown[] {
  const definitions: unknown[] = []
  for (const tool of tools) {
    if (tool.audience === 'user') continue
    const given = optionsOf(tool)
    const options = isObject(given) ? copy(given) : undefined
    if (tool.type !== 'provider') definitions.push(define(copy(tool.describe()), options ?? {}, tool))
    else if (options !== undefined) definitions.push(options)
  }
  return definitions
}

/** The examples that are objects, as the args of a call are. */
export function examplesOf(tool: ToolDefinition): Fields[] {
  return copy(tool.examples.filter(isObject))
}
