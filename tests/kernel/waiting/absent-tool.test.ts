// A call is answered in a process that does not have its tool, or has another version of it.
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createExecutor, tool, type Tool, type ToolEvent, type ToolExecutor, type WaitingCall } from 'toolwright'
import { sqliteJournal } from 'toolwright/journals/sqlite'
import { describe, expect, onTestFinished, test } from 'vitest'

const runs: unknown[] = []

function pay(description: string): Tool {
  const inputSchema = { type: 'object', properties: { amount: { type: 'integer' } } } as const
  return tool({
    name: 'pay',
    description,
    inputSchema,
    requiresConfirmation: true,
    handler: (input) => void runs.push(input),
  })
}

interface Two {
  readonly caller: ToolExecutor
  readonly answering: ToolExecutor
  readonly call: WaitingCall
  readonly callId: string | null
}

/** Makes a call that waits in a journal, and an executor with other tools over the same journal. */
async function waitingWith(tools: readonly Tool[]): Promise<Two> {
  const folder = mkdtempSync(join(tmpdir(), 'toolwright-absent-'))
  const file = join(folder, 'calls.db')
  const caller = createExecutor({ tools: [pay('Pays')], use: [sqliteJournal(file)] })
  const answering = createExecutor({ tools, use: [sqliteJournal(file)] })
  onTestFinished(async () => {
    await Promise.all([caller.close(), answering.close()])
    rmSync(folder, { recursive: true })
  })
  const { callId } = await caller.execute({ id: 'call_1', name: 'pay', args: { amount: 5 } })
  const [call] = await answering.calls.waiting()
  return { caller, answering, call: call!, callId }
}

describe.each([
  ['lacks the tool', [] as readonly Tool[], 'There is no tool "pay" here'],
  ['has another version of the tool', [pay('Pays twice')], 'Tool "pay" has changed since approval was asked for'],
])('a process that %s', (_, tools, words) => {
  test('denies a waiting call, as any other process does', async () => {
    const { answering, caller, call, callId } = await waitingWith(tools)
    const events: ToolEvent[] = []
    answering.on('*', (event) => void events.push(event))
    const result = await answering.calls.decide(call, 'deny', { decidedBy: 'ada', note: 'not today' })
    expect(result).toMatchObject({ id: 'call_1', callId, status: 'denied', effect: 'none' })
    expect(result.content).toEqual([{ type: 'text', text: expect.stringContaining('not today') as string }])
    expect(events.map(({ event, callId: of }) => [event, of])).toEqual([
      ['call:resumed', callId],
      ['call:settled', callId],
    ])
    expect(await caller.calls.get(call.invocationId)).toMatchObject({
      status: 'denied',
      name: 'pay',
      approval: { decision: 'deny', decidedBy: 'ada', note: 'not today' },
    })
    expect(await caller.calls.waiting()).toEqual([])
  })

  test('does not run a call that it allows, says why, and leaves it to wait', async () => {
    const { answering, caller, call } = await waitingWith(tools)
    await expect(answering.calls.decide(call, 'allow')).rejects.toMatchObject({
      code: 'E_APPROVAL_INVALID',
      message: expect.stringContaining(words) as string,
    })
    const [still] = await caller.calls.waiting()
    expect(await caller.calls.decide(still!, 'allow')).toMatchObject({ status: 'ok' })
    expect(runs.splice(0)).toEqual([{ amount: 5 }])
  })
})
