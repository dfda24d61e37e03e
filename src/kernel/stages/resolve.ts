import { beyondBridge } from '../call/bridge.ts'
import type { ToolDefinition } from '../tool/definition.ts'
import { requireShallow } from '../call/parent.ts'
import { type Received, type Resolved, setTool, type Writable } from '../call/parcel.ts'
import type { Kernel } from '../kernel.ts'
import { notFound } from '../outcome/not-found.ts'
import { isVisible, type ToolRegistry } from '../tool/registry.ts'

/** Finds the tool that the call names. A tool that the caller may not see counts as unknown. */
export function resolve(received: Received, kernel: Kernel): Resolved {
  received.deadline.check()
  if (received.call.refusal !== undefined) throw received.call.refusal
  if (received.parent !== undefined) requireShallow(received)
  const registry = kernel.registryFor(received.session)
  const tool = calledTool(received, registry, kernel)
  const isSeen = tool !== undefined && isVisible(tool, received.caller)
  received.resumption?.admit(received, isSeen ? tool : undefined)
  if (!isSeen) throw notFound(received, registry, kernel)
  // A client's timeout starts when the client is asked, and so does not limit the call.
  const isClients = tool.type === 'client' && tool.requiresResponse
  if (!isClients && tool.timeout !== undefined) received.deadline.limit(tool.timeout)
  return giveTool(received, tool, kernel)
}

/** Returns the tool that a call names. If that is a bridge, the call becomes that of the tool which its args name. */
function calledTool(received: Received, registry: ToolRegistry, { argsLimit }: Kernel): ToolDefinition | undefined {
  const { call, caller, resumption } = received
  const tool = registry.resolve(call.name)
  if (tool?.type !== 'bridge' || resumption !== undefined || !isVisible(tool, caller)) return tool
  const target = beyondBridge(call, tool.name, argsLimit)
  ;(received as Writable<Received>).call = target
  const named = registry.resolve(target.name)
  return named?.type === 'bridge' ? undefined : named // a bridge leads to no other
}

/** Gives a call its tool. If the tool has secrets, gives the call what hides them first. */
export function giveTool(received: Received, tool: ToolDefinition, kernel: Pick<Kernel, 'redaction'>): Resolved {
  const { secrets } = tool
  if (secrets.length > 0) received.redactor = kernel.redaction.redactorOf(received, secrets)
  return setTool(received, tool)
}
