import type { ToolDefinition } from '../tool/definition.ts'
import { type Received, type Resolved, stamp } from '../call/parcel.ts'
import type { Approvals, Kernel, Redaction } from '../kernel.ts'
import { isThenable, loadPart } from '../json/thenable.ts'
import { isVisible, type ToolRegistry } from '../tool/registry.ts'

/** Finds the tool that the call names. A tool that the caller may not see counts as unknown. */
export function resolve(received: Received, kernel: Kernel): Resolved | Promise<Resolved> {
  received.deadline.check()
  if (received.call.refusal !== undefined) throw received.call.refusal
  const registry = kernel.registryFor(received.session)
  const tool = registry.resolve(received.call.name)
  const isSeen = tool !== undefined && isVisible(tool, received.caller)
  // Redeeming the call has loaded the approvals.
  if (received.resumption !== undefined) (kernel.approvals() as Approvals).admit(received, isSeen ? tool : undefined)
  if (!isSeen) return refuse(received, registry, kernel)
  // A client's timeout starts when the client is asked, and so does not limit the call.
  const isClients = tool.type === 'client' && tool.requiresResponse
  if (!isClients && tool.timeout !== undefined) received.deadline.limit(tool.timeout)
  return stampTool(received, tool, kernel)
}

/** Refuses a call whose tool is unknown. Most executors never do, so the words are loaded on demand. */
async function refuse(received: Received, registry: ToolRegistry, kernel: Kernel): Promise<never> {
  const { notFound } = await received.deadline.outside(loadPart(import('../outcome/not-found.ts')))
  throw notFound(received, registry, kernel)
}

/** Gives a call its tool. If the tool has secrets, gives the call what hides them first. */
export function stampTool(received: Received, tool: ToolDefinition, kernel: Kernel): Resolved | Promise<Resolved> {
  const { secrets } = tool
  if (secrets.length === 0) return stamp(received, 'tool', tool)
  const hide = (redaction: Redaction): Resolved => {
    received.redactor = redaction.redactorOf(received, secrets)
    return stamp(received, 'tool', tool)
  }
  const redaction = kernel.redaction()
  return isThenable(redaction) ? received.deadline.outside(redaction, hide) : hide(redaction)
}
