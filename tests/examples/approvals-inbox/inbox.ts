// One process of the story beside it: asks, and waits to be killed; or works through an inbox, on the file of a journal.
import { appendFileSync } from 'node:fs'
import { createExecutor, isToolError, tool } from 'toolwright'
import { sqliteJournal } from 'toolwright/journals/sqlite'

const [, , step = '', journal = '', traces = ''] = process.argv

const refund = tool({
  name: 'refund',
  description: 'Refunds an order',
  inputSchema: {
    type: 'object',
    properties: { order: { type: 'number' }, card: { type: 'string' } },
    required: ['order', 'card'],
  },
  secrets: ['/card'],
  requiresConfirmation: true,
  confirmationMessage: ({ order }) => `Refund order ${order}?`,
  handler: ({ order, card }) => {
    appendFileSync(traces, `${order} to ${card}\n`)
    return `Refunded order ${order}`
  },
})

const executor = createExecutor({ tools: [refund], use: [sqliteJournal(journal)] })

function say(message: unknown): void {
  process.stdout.write(`${JSON.stringify(message)}\n`)
}

async function attempt(work: () => Promise<unknown>): Promise<unknown> {
  try {
    return await work()
  } catch (error) {
    return isToolError(error) ? error.code : String(error)
  }
}

if (step === 'ask') {
  const calls = [7, 8].map((order) => ({ id: `toolu_${order}`, name: 'refund', args: { order, card: '4111' } }))
  const results = await executor.executeToolCalls(calls, { session: 'shop', invocationId: ({ id }) => `refund ${id}` })
  say(results.map(({ status }) => status))
  setInterval(() => {}, 60_000) // until it is killed
} else {
  const waiting = await executor.calls.waiting({ session: 'shop' })
  const call = waiting.find(({ invocationId }) => invocationId === 'refund toolu_7')
  const copy = JSON.parse(JSON.stringify(call ?? null)) as typeof call
  const decided = (which: typeof call, decision: 'allow' | 'deny') =>
    attempt(async () => {
      const { status, id, content } = await executor.calls.decide(which!, decision, {
        decidedBy: 'ada',
        session: 'shop',
      })
      return { status, id, content }
    })
  say({
    waiting: waiting.map(({ invocationId, prompt, args }) => ({ invocationId, prompt, args })).toReversed(),
    copied: await decided(copy, 'allow'),
    first: await decided(call, 'allow'),
    second: await decided(call, 'allow'),
    left: (await executor.calls.waiting()).map(({ invocationId }) => invocationId),
    record: await attempt(async () => {
      const { state, approval } = await executor.calls.get('refund toolu_7')
      return { state, decidedBy: approval.decidedBy }
    }),
  })
  await executor.close()
}
