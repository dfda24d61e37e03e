// A process with an HTTP API on a journal: prints where it listens, and appends a line to a file for each run of its tool.
import { appendFileSync } from 'node:fs'
import { join } from 'node:path'
import process from 'node:process'
import { createExecutor, tool } from 'toolwright'
import { httpClients } from 'toolwright/client/http'
import { listen } from 'toolwright/client/node'
import { sqliteJournal } from 'toolwright/journals/sqlite'

const [folder = '', port = '0'] = process.argv.slice(2)
const deploy = tool({
  name: 'deploy',
  description: 'Deploys',
  requiresConfirmation: true,
  handler: () => {
    appendFileSync(join(folder, 'runs'), `${process.pid}\n`)
    return `deployed by ${process.pid}`
  },
})
const look = tool({
  name: 'look',
  description: 'Asks the page',
  type: 'client',
  requiresResponse: true,
  timeout: 600_000,
})
const executor = createExecutor({
  tools: [deploy, look],
  use: [sqliteJournal(join(folder, 'calls.db'))],
  report: () => {},
})
const clients = httpClients({ executor, authorize: () => ({ session: 'ada', name: 'Ada' }), report: () => {} })
const { url } = await listen(
  async (request) => {
    const { pathname } = new URL(request.url)
    if (!pathname.startsWith('/ask/')) return clients.fetch(request)
    const { invocationId } = await executor.execute({ name: pathname.slice(5) }, { session: 'ada' })
    return Response.json({ invocationId })
  },
  { port: Number(port) },
)
process.stdout.write(`${url}\n`)
