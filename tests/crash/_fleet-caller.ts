// Run by fleet.test.ts in a process of its own: a caller that says what it was given, until it is killed.
import { askedUntilWritten, callerOn, callsOf, open, type Site } from './_fleet.ts'

/** `unsent`: it kills itself once so many calls are written and about to be sent. 0: never. */
interface Task {
  readonly site: Site
  readonly count: number
  readonly unsent: number
}

const { site, count, unsent } = JSON.parse(process.argv[2] ?? '') as Task
process.stdin.on('end', () => process.exit()).resume() // the test is gone

let sent = 0
const executor = callerOn(site, open(site), () => {
  if (++sent === unsent) process.kill(process.pid, 'SIGKILL')
})
await Promise.all(
  callsOf(site, count).map(async (planned) => {
    const { invocationId, status, content } = await askedUntilWritten(executor, planned)
    process.stdout.write(`${JSON.stringify({ invocationId, status, content })}\n`)
  }),
)
