import { sha256 } from '#sha256'
import type { ToolDefinition, ToolDescription } from '../kernel/tool/definition.ts'
import { ApprovalInvalidError } from '../kernel/errors.ts'

/**
 * The hash of what a tool promises now, and of the server that it is from: an approval that was given to another definition, or
 * to the tool of another server, is void. A tool of the host's own that takes the place of one with an equal definition is told
 * apart by `metadata.version` alone.
 */
export function fingerprint(definition: ToolDefinition): string {
  const { name, description, type, audience, traits, metadata, mcpConfig } = definition
  let schemas: Partial<Pick<ToolDescription, 'inputSchema' | 'outputSchema'>> = {}
  try {
    const { inputSchema, outputSchema } = definition.describe()
    schemas = { inputSchema, ...(outputSchema && { outputSchema }) }
  } catch {
    // a tool that is for people alone need not say its schema
  }
  const { serverName, serverUrl, toolName, program } = mcpConfig ?? {}
  const source = mcpConfig && [serverName, serverUrl, toolName, program].map(String)
  const promise = { name, description, type, audience, traits, version: String(metadata.version), ...schemas, source }
  return sha256(JSON.stringify(promise, inOrder))
}

/**
 * Asks that a tool is still what somebody was asked about.
 *
 * @throws `E_APPROVAL_INVALID` where it is gone, or promises something else now.
 */
export function requireUnchanged(definition: ToolDefinition | undefined, name: string, asked: string): void {
  if (definition !== undefined && fingerprint(definition) === asked) return
  throw new ApprovalInvalidError(`Tool ${JSON.stringify(name)} has changed since approval was asked for. Ask anew.`)
}

/** Writes the members of every object in the order of their names: two ways to write a definition down are one. */
function inOrder(_key: string, value: unknown): unknown {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return value
  return Object.fromEntries(Object.entries(value).toSorted(([one], [other]) => (one < other ? -1 : 1)))
}
