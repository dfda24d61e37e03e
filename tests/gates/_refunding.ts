// Run by once-journals.test.ts in two processes on one Postgres: asks for each refund in words of its own, several at a time.
import { createExecutor, tool } from 'toolwright'
import { once } from 'toolwright/gates/once'
import { postgresJournal } from 'toolwright/journals/postgres'

const [connectionString = '', schema = '', count = ''] = process.argv.slice(2)
const refunded: number[] = []
const refund = tool('refund', async ({ order }: { order: number; words: string }) => {
  await new Promise((resolve) => setTimeout(resolve, 1))
  return refunded.push(order)
}).with({ effectKey: (input) => `refund:${(input as { order: number }).order}` })
const use = [postgresJournal(connectionString, { schema }), once({ scope: 'principal', repeat: 'deny' })]
const executor = createExecutor({ tools: [refund], use, concurrency: 8 })
await executor.calls.list() // the tables are there
process.stdout.write('ready\n')
await new Promise((resolve) => process.stdin.once('data', resolve))
process.stdin.destroy()
const calls = Array.from({ length: Number(count) }, (_, order) => ({
  name: 'refund',
  args: { order, words: `${process.pid}` },
}))
const results = await executor.executeToolCalls(calls, { principal: 'ada' })
await executor.close()
process.stdout.write(`${JSON.stringify({ refunded, statuses: results.map(({ status }) => status) })}\n`)
