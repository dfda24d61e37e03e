import type { ToolDefinition } from '../tool/definition.ts'
import { type Received, type Resolved, stamp } from '../call/parcel.ts'
import type { Kernel } from '../kernel.ts'
import { notFound } from '../outcome/not-found.ts'
import { isVisible } from '../tool/registry.ts'

/** Finds the tool that the call names. A tool that the caller may not see counts as unknown. */
export function resolve(received: Received, kernel: Kernel): Resolved {
  received.deadline.check()
  if (received.call.refusal !== undefined) throw received.call.refusal
  const registry = kernel.registryFor(received.session)
  const tool = registry.resolve(received.call.name)
  const isSeen = tool !== undefined && isVisible(tool, received.caller)
  received.resumption?.admit(received, isSeen ? tool : undefined)
  if (!isSeen) throw notFound(received, registry, kernel)
  // A client's timeout starts when the client is asked, and so does not limit the call.
  const isClients = tool.type === 'client' && tool.requiresResponse
  if (!isClients && tool.timeout !== undefined) received.deadline.limit(tool.timeout)
  return stampTool(received, tool, kernel)
}

/** Gives a call its tool. If the tool has secrets, gives the call what hides them first. */
export function stampTool(received: Received, tool: ToolDefinition, kernel: Pick<Kernel, 'redaction'>): Resolved {
  const { secrets } = tool
  if (secrets.length > 0) received.redactor = kernel.redaction.redactorOf(received, secrets)
  return stamp(received, 'tool', tool)
}
