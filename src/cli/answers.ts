import type { ToolExecutor, ToolResult } from '../index.ts'
import type { ApprovalRequest } from '../extension.ts'
import { note, thrownMessage, type Host } from './host.ts'
import { terminalApprover } from './terminal.ts'

/** Returns the results of calls, with those of calls that were answered meanwhile. */
export type AwaitAnswers = (results: readonly ToolResult[]) => Promise<ToolResult[]>

/**
 * Returns what asks at the terminal about the calls of a module's executor that wait for approval: an executor that is made
 * already takes no approver. A call that is not answered keeps its `waiting` result.
 */
export function terminalAnswers(executor: ToolExecutor, host: Host): AwaitAnswers {
  const terminal = terminalApprover(host)
  const requests = new Map<string, ApprovalRequest>()
  executor.on('call:waiting', (event) => {
    const { invocationId, callId, reason, inProcess } = event
    if (reason === 'approval' && callId !== null && inProcess === undefined)
      requests.set(invocationId, { ...event, callId })
  })

  async function answer(result: ToolResult): Promise<ToolResult> {
    const { approver } = terminal
    const request = requests.get(result.invocationId)
    if (result.token === undefined || request === undefined || approver === undefined) return result
    try {
      const { decision, note: words } = await approver.ask(request, host.signal)
      const { signal } = host
      return await executor.calls.decide(result.token, decision, {
        signal,
        ...(words !== undefined && { note: words }),
      })
    } catch (error) {
      note(host, thrownMessage(error))
      return result
    }
  }

  return async (results) => {
    try {
      return await Promise.all(results.map(answer))
    } finally {
      await terminal.close?.()
    }
  }
}
