import { content } from './content.ts'
import { partsOf } from './definition.ts'
import { drain, isGenerator } from './drain.ts'
import { ClientToolError, InvalidExecutionTypeError, ToolNoHandlerError } from './errors.ts'
import { announceProgress } from './events.ts'
import { downstream, returnedFailure } from './failure.ts'
import { stamp, type Confirmed } from './parcel.ts'
import { Pause } from './pause.ts'
import type { Kernel, Ledger } from './ports.ts'
import { isThenable } from './thenable.ts'

const clientPatience = 30_000

/** The result of a call that nobody here runs: a policy gave it, or the provider ran the tool itself. */
export function resultWithoutRun(confirmed: Confirmed, kernel: Kernel): { readonly value: unknown } | null {
  const { tool, verdict, call } = confirmed
  if (verdict !== null && verdict.result !== null) return verdict.result
  if (kernel.runners.has(tool.type)) return null
  if (tool.type === 'provider' && call.result !== undefined) {
    confirmed.effect = 'completed'
    return { value: call.result }
  }
  if (tool.type === 'client' && tool.requiresResponse && confirmed.resumption?.reply === undefined) {
    confirmed.effect = 'unknown'
    if (confirmed.resumption?.isExpired) throw new ClientToolError('The client did not answer in time.')
    throw new Pause('client', `Answer ${tool.name}`, tool.timeout ?? clientPatience)
  }
  return null
}

/** Does the work of a confirmed call, by whoever runs tools of its type. `input` is what was confirmed. */
export async function perform(confirmed: Confirmed, input: unknown, kernel: Kernel): Promise<unknown> {
  const { tool, deadline } = confirmed
  deadline.check()
  stamp(confirmed, 'input', input) // whatever a middleware has put there
  const work = workOf(confirmed, input, kernel)
  const hasEffect = !(tool.traits.readonly && tool.type === 'server')
  if (hasEffect) confirmed.effect = 'unknown'
  confirmed.attempts++
  if (confirmed.attempts > 1) await kernel.ledger?.commit(confirmed)
  let value: unknown
  try {
    value = work()
    if (isThenable(value)) value = await deadline.within(value)
    if (isGenerator(value)) {
      value = await drain(value, deadline, (data) => {
        announceProgress(confirmed, kernel, 'yield', data)
      })
    }
    const failure = returnedFailure(value)
    if (failure !== undefined) throw failure
    const isPlaceholder = tool.type === 'client' && !tool.requiresResponse && !kernel.runners.has('client')
    if (hasEffect && !isPlaceholder) confirmed.effect = 'completed'
    return value
  } catch (thrown) {
    if (kernel.ledger !== undefined && isThenable(value) && deadline.signal.aborted) {
      auditLate(value, confirmed, kernel.ledger)
    }
    deadline.check()
    throw downstream(tool.name, thrown)
  }
}

/** What the handler still does after its caller was released changes nothing, and is written down. */
function auditLate(value: PromiseLike<unknown>, confirmed: Confirmed, ledger: Ledger): void {
  value.then(
    () => ledger.remark(confirmed, 'the handler returned late'),
    () => ledger.remark(confirmed, 'the handler failed late'),
  )
}

function workOf(confirmed: Confirmed, input: unknown, kernel: Kernel): () => unknown {
  const { tool, context, resumption } = confirmed
  const reply = resumption?.reply
  const { handler } = partsOf(tool)
  const runner = kernel.runners.get(tool.type)
  if (reply !== undefined) return () => reply.value
  if (runner !== undefined) return () => runner.run(confirmed, context)
  switch (tool.type) {
    case 'server':
    case 'mcp':
      if (handler === undefined) throw new ToolNoHandlerError(`Tool "${tool.name}" has no handler.`)
      return () => handler(input, context)
    case 'client':
      if (tool.requiresResponse) {
        throw new ToolNoHandlerError(`Tool "${tool.name}" waits for a client: run it through an executor.`)
      }
      return () => content(tool.defaultResult)
    case 'provider':
      throw new InvalidExecutionTypeError(
        `Tool "${tool.name}" is run by the provider of the model, and its call carries no result of the provider.`,
      )
    default:
      throw new InvalidExecutionTypeError(
        `Nothing here runs tools of type "${tool.type}". Give the executor an extension with a runner for it.`,
      )
  }
}
