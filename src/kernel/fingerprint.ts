import { sha256 } from '#sha256'
import { canonicalize } from './canonical.ts'
import type { ToolDefinition, ToolDescription } from './definition.ts'

/** The hash of what a tool promises now: an approval that was given to another definition is void. */
export function fingerprint(definition: ToolDefinition): string {
  const { name, description, type, audience, traits, metadata } = definition
  let schemas: Partial<Pick<ToolDescription, 'inputSchema' | 'outputSchema'>> = {}
  try {
    const { inputSchema, outputSchema } = definition.describe()
    schemas = { inputSchema, ...(outputSchema && { outputSchema }) }
  } catch {
    // a tool that is for people alone need not say its schema
  }
  const { version } = metadata
  return sha256(canonicalize({ name, description, ...schemas, type, audience, traits, version }))
}
