// Whether a transfer has to be confirmed depends on the amount, and on who the user is, which a database knows.
import { createExecutor, tool, type ToolEvent, type ToolExecutor, type ToolResult } from 'toolwright'
import { expect, test } from 'vitest'
import { z } from 'zod'

interface Values {
  readonly user: string
}

const roles = new Map([
  ['ada', 'admin'],
  ['bob', 'member'],
])

interface Bank {
  readonly executor: ToolExecutor
  readonly transfers: string[]
  readonly events: ToolEvent[]
}

function bank(): Bank {
  const transfers: string[] = []
  const transferFunds = tool({
    name: 'transfer_funds',
    description: 'Transfer money between accounts',
    inputSchema: z.object({ amount: z.number().positive(), to: z.string() }),
    requiresConfirmation: async ({ amount }, { values }) => {
      const { user } = values as Values
      await Promise.resolve()
      const role = roles.get(user)
      if (role === undefined) throw new Error('the database is down')
      return !(role === 'admin' || amount < 100)
    },
    confirmationMessage: ({ amount, to }) => `Transfer $${amount} to ${to}? This cannot be undone.`,
    handler: ({ amount, to }) => {
      transfers.push(`$${amount} to ${to}`)
      return [{ type: 'text', text: `Transferred $${amount} to ${to}` }]
    },
  })
  const balance = tool('balance', () => '$5,000')
  const executor = createExecutor({ tools: [transferFunds, balance] })
  const events: ToolEvent[] = []
  executor.on('call:waiting', (event) => void events.push(event))
  return { executor, transfers, events }
}

function transfer(executor: ToolExecutor, user: string, amount: number): Promise<ToolResult> {
  return executor.execute({ name: 'transfer_funds', args: { amount, to: 'eve' } }, { values: { user } })
}

test('an administrator is not asked, and neither is anybody about a small amount', async () => {
  const { executor, transfers, events } = bank()
  expect((await transfer(executor, 'ada', 1_000)).status).toBe('ok')
  expect((await transfer(executor, 'bob', 99)).status).toBe('ok')
  expect(transfers).toEqual(['$1000 to eve', '$99 to eve'])
  expect(events).toEqual([])
})

test('a member is asked about $100, and the money moves only with a yes', async () => {
  const { executor, transfers, events } = bank()
  const { token = '', status } = await transfer(executor, 'bob', 100)
  expect([status, transfers]).toEqual(['waiting', []])
  expect(events).toMatchObject([{ reason: 'approval', prompt: 'Transfer $100 to eve? This cannot be undone.' }])
  expect((await executor.calls.decide(token, 'allow')).status).toBe('ok')
  expect(transfers).toEqual(['$100 to eve'])
})

test('where nobody can say who the user is, somebody is asked', async () => {
  const { executor, transfers } = bank()
  expect((await transfer(executor, 'nobody', 1)).status).toBe('waiting')
  expect(transfers).toEqual([])
})

test('other calls of the same turn go on while a transfer waits', async () => {
  const { executor, transfers } = bank()
  const calls = [
    { id: 1, name: 'transfer_funds', args: { amount: 500, to: 'eve' } },
    { id: 2, name: 'balance', args: {} },
  ]
  const results = await executor.executeToolCalls(calls, { values: { user: 'bob' } })
  expect(results.map(({ id, status }) => [id, status])).toEqual([
    [1, 'waiting'],
    [2, 'ok'],
  ])
  const denied = await executor.calls.decide(results[0]?.token ?? '', 'deny')
  expect([denied.status, transfers]).toEqual(['denied', []])
})
