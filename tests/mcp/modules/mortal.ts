import { appendFileSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { createExecutor, tool } from 'toolwright'
import { sqliteJournal } from 'toolwright/journals/sqlite'
import { mcpServer } from 'toolwright/mcp/server'

// A server that is killed by its own tool, after that has had its effect and before it is written.
const [, , folder = '', session = ''] = process.argv
const paid = join(folder, 'paid')

const pay = tool({
  name: 'pay',
  description: 'Pays',
  inputSchema: { type: 'object', properties: { to: { type: 'string' } } },
  handler: (_, { invocationId }) => {
    appendFileSync(paid, `${invocationId}\n`)
    process.kill(process.pid, 'SIGKILL')
    return new Promise(() => {})
  },
  reconcile: (_, { invocationId }) => {
    const isPaid = readFileSync(paid, 'utf8').includes(invocationId)
    return isPaid ? { effect: 'completed', result: 'found out' } : { effect: 'none' }
  },
})

const executor = createExecutor({ tools: [pay], use: [sqliteJournal(join(folder, 'calls.db'))] })
await executor.calls.recover({ staleAfter: 0 })
await mcpServer({ executor }).stdio(session === '' ? {} : { session })
