// Run by fleet.test.ts in a process of its own: a worker of a fleet, until it is killed.
import { createExecutor } from 'toolwright'
import { createWorker } from 'toolwright/distributed/worker'
import { open, staleAfter, toolsOn, type Site } from './_fleet.ts'

const site = JSON.parse(process.argv[2] ?? '') as Site
process.stdin.on('end', () => process.exit()).resume() // the test is gone

const { use, dispatcher } = open(site)
const worker = createWorker({
  executor: createExecutor({ tools: toolsOn(site), use }),
  ...(dispatcher && { dispatcher }),
  queues: { default: 16 },
  sweepEvery: 1_000,
  staleAfter,
})
worker.on('error', (error) => process.stderr.write(`${String(error)}\n`))
await worker.ready
process.stdout.write('ready\n')
