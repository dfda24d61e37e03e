import { canBeDescribed } from '../tool/definition.ts'
import { ToolNotFoundError } from '../errors.ts'
import { oneLine } from '../outcome/failure.ts'
import { requireUnchanged } from '../../approvals/fingerprint.ts'
import { nearestFirst } from '../tool/nearest.ts'
import { stamp, type Received, type Resolved } from '../call/parcel.ts'
import { clientPatience } from '../run/handler.ts'
import type { Kernel } from '../ports.ts'
import { isVisible, type ToolRegistry } from '../tool/registry.ts'

const listed = 20
const runHere: readonly string[] = ['server', 'mcp', 'client']

/** Finds the tool that the call names; one that the caller may not see is not there. */
export function resolve(received: Received, kernel: Kernel): Resolved {
  received.deadline.check()
  if (received.call.refusal !== undefined) throw received.call.refusal
  const registry = kernel.registryFor(received.session)
  const tool = registry.resolve(received.call.name)
  if (tool === undefined || !isVisible(tool, received.caller)) throw notFound(received, registry, kernel)
  const { resumption } = received
  if (resumption !== undefined) requireUnchanged(tool, tool.name, resumption.fingerprint)
  // The time of a client that answers elsewhere is its own: it begins when the client is asked.
  const isClients = tool.type === 'client' && tool.requiresResponse
  if (!isClients && tool.timeout !== undefined) received.deadline.limit(tool.timeout)
  if (isClients && kernel.runners.has('client')) received.deadline.limit(tool.timeout ?? clientPatience)
  return stamp(received, 'tool', tool)
}

function notFound({ call, caller }: Received, registry: ToolRegistry, kernel: Kernel): ToolNotFoundError {
  const runnable = registry.list(caller).filter(({ type }) => runHere.includes(type) || kernel.runners.has(type))
  const names = nearestFirst(
    Array.from(runnable, ({ name }) => name),
    call.name,
  )
  const shown: string[] = []
  let checked = 0
  while (shown.length < listed && checked < names.length) {
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
