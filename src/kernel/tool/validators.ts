import { anyObject, noInput, validatorOf, type Validator } from '../schema/validator.ts'
import { internals, type ToolDefinition } from './definition.ts'

/** Returns the validator of a tool's args. It is made for the first call. */
export function inputOf(tool: ToolDefinition): Validator {
  const parts = internals(tool)
  return (parts.input ??= tool.inputSchema ? validatorOf(tool.inputSchema) : parts.takesAnyObject ? anyObject : noInput)
}

/** Returns the validator of a tool's result, if it has an `outputSchema`. */
export function outputOf(tool: ToolDefinition): Validator | undefined {
  if (tool.outputSchema === undefined) return undefined
  return (internals(tool).output ??= validatorOf(tool.outputSchema))
}
