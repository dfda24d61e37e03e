// One process of the story beside it: waits with a question, or answers one, on the file of a journal.
import { appendFileSync } from 'node:fs'
import { createExecutor, isToolError, tool } from 'toolwright'
import { sqliteJournal } from 'toolwright/journals/sqlite'
import { consoleObserver } from 'toolwright/observers/console'

const [, , step = '', journal = '', traces = '', token = ''] = process.argv

const transfer = tool({
  name: 'transfer_funds',
  description: 'Transfer money between accounts',
  inputSchema: {
    type: 'object',
    properties: { amount: { type: 'number' }, to: { type: 'string' } },
    required: ['amount', 'to'],
  },
  requiresConfirmation: true,
  handler: ({ amount, to }) => {
    appendFileSync(traces, `$${amount} to ${to}\n`)
    return `Transferred $${amount} to ${to}`
  },
})

const executor = createExecutor({ tools: [transfer], use: [sqliteJournal(journal), consoleObserver()] })

function say(message: object): void {
  process.stdout.write(`${JSON.stringify(message)}\n`)
}

if (step === 'ask') {
  const { status, token: secret } = await executor.execute(
    { id: 'toolu_1', name: 'transfer_funds', args: { amount: 500, to: 'eve' } },
    { session: 'bob', invocationId: 'transfer 1' },
  )
  say({ status, token: secret })
  setInterval(() => {}, 60_000) // until somebody kills it
} else {
  try {
    const recovery = await executor.calls.recover()
    const waiting = await executor.calls.waiting()
    const { status, id, invocationId, content } = await executor.calls.decide(token, 'allow', { decidedBy: 'ada' })
    say({ status, id, invocationId, content, sealed: recovery.sealed.length, kept: waiting.length })
  } catch (error) {
    say({ code: isToolError(error) ? error.code : String(error) })
  }
  await executor.close()
}
