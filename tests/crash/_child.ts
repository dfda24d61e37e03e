// Run by _rounds.ts in a process of its own: waits for a word, then makes calls until it is killed.
import { createExecutor, type ToolResult } from 'toolwright'
import { records } from 'toolwright/records'
import { momentsUntil, mortal, waitForWord } from './_killed.ts'
import { callOf, callsOfRound, openJournal, toolsOn, type Place } from './_work.ts'

interface Task {
  readonly place: Place
  readonly traces: string
  readonly round: number
  /** At which moment it kills itself; 0 for never. */
  readonly lastMoment: number
}

const { place, traces, round, lastMoment } = JSON.parse(process.argv[2] ?? '') as Task
await waitForWord()
const moment = momentsUntil(lastMoment)

const extension = openJournal(place)
const executor = createExecutor({
  tools: toolsOn(traces, moment),
  use: [{ ...extension, ...records(mortal(extension.journal, moment)) }],
})
const digests = new Map<string, string | undefined>()
executor.on('call:settled', ({ invocationId, digest }) => digests.set(invocationId, digest))

/** What is said here has been promised. */
function acknowledge({ invocationId, status, content, token }: ToolResult): void {
  const digest = digests.get(invocationId)
  process.stdout.write(`${JSON.stringify({ invocationId, status, content, token, digest })}\n`)
}

let next = 0
async function work(): Promise<void> {
  while (next < callsOfRound) {
    const { call, invocationId, isAnswered } = callOf(round, next++)
    const result = await executor.execute(call, { invocationId, session: 'crash' })
    acknowledge(result)
    if (isAnswered && result.token !== undefined) acknowledge(await executor.calls.decide(result.token, 'allow'))
  }
}

await Promise.all(Array.from({ length: 6 }, work))
process.stdout.write('"done"\n')
setInterval(() => {}, 60_000) // until somebody kills it
