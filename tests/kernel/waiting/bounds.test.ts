import { createExecutor, tool, type ToolResult } from 'toolwright'
import type { Decision } from 'toolwright/extension'
import { afterEach, describe, expect, test, vi } from 'vitest'
import { z } from 'zod'
import { never, outcome, soon, work } from '../_calls.ts'
import { places } from '../_journals.ts'

afterEach(() => {
  vi.useRealTimers()
})

/** How long a call that needs approval waits, in milliseconds; `undefined` if it has no end. */
async function patience(options: object, ...decisions: Decision[]): Promise<number | undefined> {
  vi.useFakeTimers({ toFake: ['Date'] })
  const policies = decisions.map((decision, index) => ({ name: `policy ${index}`, decide: () => decision }))
  const tools = [work('t', () => 1, { requiresConfirmation: true })]
  const { expiresAt = 0, error } = await createExecutor({ tools, use: [{ policies }], ...options }).execute({
    name: 't',
  })
  if (error !== undefined) throw error
  return expiresAt === 8.64e15 ? undefined : expiresAt - Date.now()
}

describe('a question waits', () => {
  test.each<[string, object, Decision[], number | undefined]>([
    ['a day if nothing else is said', {}, [], 86_400_000],
    ['as long as the executor says', { approvalTimeout: 60_000 }, [], 60_000],
    ['without end if the executor says so', { approvalTimeout: 0 }, [], undefined],
    ['without end if the executor says Infinity', { approvalTimeout: Infinity }, [], undefined],
    ['as long as the policy says that asks', {}, [{ decision: 'ask', timeout: 5_000 }], 5_000],
    ['without end if the policy says so', {}, [{ decision: 'ask', timeout: 0 }], undefined],
    ['a day if the policy does not say', {}, [{ decision: 'ask' }], 86_400_000],
    [
      'for the shortest time of several policies',
      {},
      [{ decision: 'ask', timeout: 9_000 }, { decision: 'ask', timeout: 0 }, { decision: 'ask' }],
      9_000,
    ],
  ])('%s', async (_, options, decisions, milliseconds) => {
    expect(await patience(options, ...decisions)).toBe(milliseconds)
  })

  test.each([-1, Number.NaN, '5'])('never for a time that is none: %j denies the call', async (timeout) => {
    const asking = { decision: 'ask', timeout } as never
    await expect(patience({}, asking)).rejects.toMatchObject({ code: 'E_TOOL_DENIED' })
    await expect(patience({ approvalTimeout: timeout })).rejects.toMatchObject({ code: 'E_INVALID_CONFIGURATION' })
  })

  test('for as long as the policy says also with an approver', async () => {
    const policies = [{ name: 'brief', decide: () => ({ decision: 'ask' as const, timeout: 20 }) }]
    const use = [{ policies, approver: { ask: () => never } }]
    const result = await soon(createExecutor({ tools: [work('t', () => 1)], use }).execute({ name: 't' }))
    expect(outcome(result)).toBe('denied none E_APPROVAL_EXPIRED')
  })
})

describe.each(places)('the snapshot of a call that waits (%s)', (_, place) => {
  test('says whose it is, what is asked and until when, and no more once it has settled', async () => {
    const tools = [work('t', () => 'done', { requiresConfirmation: true, confirmationMessage: 'Really?' })]
    const executor = createExecutor({ tools, use: [place().open()] })
    const {
      invocationId,
      callId,
      token = '',
      expiresAt,
    } = await executor.execute({ id: 7, name: 't' }, { session: 's' })
    const waiting = { session: 's', callId, toolCallId: 7, status: 'waiting', effect: 'none' }
    expect(await executor.calls.get(invocationId)).toMatchObject({ ...waiting, prompt: 'Really?', expiresAt })
    await executor.calls.decide(token, 'allow')
    const settled = await executor.calls.get(invocationId)
    expect(settled).toMatchObject({ ...waiting, status: 'ok', effect: 'completed' })
    expect(settled).not.toHaveProperty('expiresAt')
    expect(JSON.stringify(settled)).not.toContain(token)
  })

  test('has the question to a client too', async () => {
    const tools = [work('form', () => 1, { type: 'client', requiresResponse: true })]
    const executor = createExecutor({ tools, use: [place().open()] })
    const { invocationId } = await executor.execute({ name: 'form' })
    expect(await executor.calls.get(invocationId)).toMatchObject({ prompt: 'Answer form', effect: 'unknown' })
  })
})

describe('tool.checkOutput', () => {
  const form = tool({
    name: 'form',
    description: 'Asks for an address',
    type: 'client',
    requiresResponse: true,
    outputSchema: z.object({ email: z.email().transform((email) => email.toLowerCase()) }),
  })

  test('gives back what the schema makes of a result', async () => {
    expect(await form.checkOutput({ email: 'Ada@Example.com' })).toEqual({ email: 'ada@example.com' })
    expect(await work('any', () => 1).checkOutput({ as: 'it is' })).toEqual({ as: 'it is' })
  })

  test('names each place of a result that does not fit', async () => {
    await expect(form.checkOutput({ email: 'nobody' })).rejects.toMatchObject({
      code: 'E_INVALID_TOOL_RESULT',
      issues: [{ path: ['email'] }],
    })
  })
})

test("executor.on('*') hears every event of every call, once each, until it is undone", async () => {
  const executor = createExecutor({ tools: [work('t', () => 1, { requiresConfirmation: true })] })
  const heard: string[] = []
  const undo = executor.on('*', ({ event, seq }) => heard.push(`${seq} ${event}`))
  const { token = '' }: ToolResult = await executor.execute({ name: 't' })
  await executor.calls.decide(token, 'allow')
  const first = ['0 call:received', '1 call:waiting']
  expect(heard).toEqual([...first, '2 call:resumed', '3 tool:start', '4 tool:end', '5 call:settled'])
  undo()
  await executor.execute({ name: 't' })
  expect(heard).toHaveLength(6)
})
