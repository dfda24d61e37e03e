import { sha256 } from '#sha256'
import type { ToolDefinition, ToolDescription } from '../kernel/tool/definition.ts'
import { ApprovalInvalidError } from '../kernel/errors.ts'
import { sortMembers } from './own-json.ts'

/** The last hash of each definition, and what it was made of. Large schemas take a while to sort. */
const fingerprints = new WeakMap<ToolDefinition, { readonly sources: readonly unknown[]; readonly hash: string }>()

/**
 * Returns the hash of a tool's definition and its server. An approval for another definition or another server is void. Two tools
 * without a server differ, if equal, only by `metadata.version`.
 */
export function fingerprint(definition: ToolDefinition): string {
  const { name, description, type, audience, traits, metadata, mcpConfig } = definition
  let schemas: Partial<Pick<ToolDescription, 'inputSchema' | 'outputSchema'>> = {}
  try {
    const { inputSchema, outputSchema } = definition.describe()
    schemas = { inputSchema, ...(outputSchema && { outputSchema }) }
  } catch {
    // a tool for people only need not have a schema that converts
  }
  const { serverName, serverUrl, toolName, program } = mcpConfig ?? {}
  const source = mcpConfig && [serverName, serverUrl, toolName, program].map(String)
  const promise = { name, description, type, audience, traits, version: String(metadata.version), source }
  // A definition describes itself with the same schemas each time. The rest is small, and is compared.
  const sources = [JSON.stringify(promise), schemas.inputSchema, schemas.outputSchema]
  const last = fingerprints.get(definition)
  if (last?.sources.every((part, index) => part === sources[index])) return last.hash
  const hash = sha256(JSON.stringify({ ...promise, ...schemas }, sortMembers))
  fingerprints.set(definition, { sources, hash })
  return hash
}

/** Requires that a tool is still the one that approval was asked for. @throws `E_APPROVAL_INVALID` if it is gone or changed. */
export function requireUnchanged(
  definition: ToolDefinition | undefined,
  name: string,
  formerFingerprint: string,
): asserts definition is ToolDefinition {
  const quoted = JSON.stringify(name)
  if (definition === undefined) {
    throw new ApprovalInvalidError(`There is no tool ${quoted} here. Allow the call in a program that has it.`)
  }
  if (fingerprint(definition) === formerFingerprint) return
  throw new ApprovalInvalidError(`Tool ${quoted} has changed since approval was asked for. Ask anew.`)
}
