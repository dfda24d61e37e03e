import { canBeDescribed, type ToolDefinition } from '../tool/definition.ts'
import { ToolNotFoundError } from '../errors.ts'
import { oneLine } from '../outcome/failure.ts'
import { type Received, type Resolved, stamp } from '../call/parcel.ts'
import type { Approvals, Kernel } from '../kernel.ts'
import { isVisible, type ToolRegistry } from '../tool/registry.ts'
import { nearestFirst } from '../tool/nearest.ts'

const mostListed = 20
const runHere: readonly string[] = ['server', 'mcp', 'client', 'output']

/** Finds the tool that the call names. A tool that the caller may not see counts as unknown. */
export function resolve(received: Received, kernel: Kernel): Resolved {
  received.deadline.check()
  if (received.call.refusal !== undefined) throw received.call.refusal
  const registry = kernel.registryFor(received.session)
  const tool = registry.resolve(received.call.name)
  if (tool === undefined || !isVisible(tool, received.caller)) throw notFound(received, registry, kernel)
  const { resumption } = received
  // Redeeming the call has loaded the approvals.
  if (resumption !== undefined) (kernel.approvals() as Approvals).requireUnchanged(tool, resumption.fingerprint)
  // A client's timeout starts when the client is asked, and so does not limit the call.
  const isClients = tool.type === 'client' && tool.requiresResponse
  if (!isClients && tool.timeout !== undefined) received.deadline.limit(tool.timeout)
  return stamp(received, 'tool', tool)
}

function notFound({ call, caller }: Received, registry: ToolRegistry, kernel: Kernel): ToolNotFoundError {
  const isRunnable = ({ type }: ToolDefinition): boolean => runHere.includes(type) || kernel.runners.has(type)
  const runnable = Array.from(registry.list(caller).filter(isRunnable), ({ name }) => name)
  const names = nearestFirst(runnable, call.name)
  const shown: string[] = []
  let checked = 0
  while (shown.length < mostListed && checked < names.length) {
    const name = names[checked++]!
    const tool = registry.get(name)
    if (tool !== undefined && canBeDescribed(tool, () => {})) shown.push(name)
  }
  const rest = names.length > checked ? ` and ${names.length - checked} more` : ''
  const available = shown.length === 0 ? 'no tools' : shown.join(', ') + rest
  return new ToolNotFoundError(`There is no tool ${JSON.stringify(oneLine(call.name, 64))}. Available: ${available}.`, {
    recommendations: [
      'Call one of the tools that are available, by its exact name.',
      'Go on without this tool if none of them does the same.',
    ],
  })
}
