// What is tested in other processes too: it imports no test runner.
import { appendFileSync, existsSync, readFileSync } from 'node:fs'
import { clientTool, createExecutor, tool, ToolFailure, type Extension, type ToolExecutor } from 'toolwright'
import { artifactTools } from 'toolwright/artifacts/tools'
import { sqliteJournal } from 'toolwright/journals/sqlite'

/** Makes an executor over a file. Close it before the test ends, or let the test close it. */
export function executorOn(file: string, use: readonly Extension[] = [], began: () => void = () => {}): ToolExecutor {
  const ran = (line: string): void => appendFileSync(`${file}.runs`, `${line}\n`)
  const pay = tool({
    name: 'pay',
    description: 'Pays',
    inputSchema: {
      type: 'object',
      properties: { cents: { type: 'integer', description: 'How much' } },
      required: ['cents'],
      additionalProperties: false,
    },
    requiresConfirmation: ({ cents }) => cents > 100,
    confirmationMessage: ({ cents }) => `Pay ${cents}?`,
    handler: ({ cents }, { values, principal }) => {
      ran(`pay ${cents}`)
      return { paid: cents, by: (values as { readonly user?: string }).user ?? principal ?? 'unknown' }
    },
  })
  const log = tool('log', () => Array.from({ length: 4_000 }, (_, line) => `line ${line}`).join('\n'))
  const count = tool({
    name: 'count',
    description: 'Counts',
    handler: async function* () {
      yield 'one'
      yield 'two'
      return { counted: 3 }
    },
  })
  const fail = tool('fail', () => {
    throw new ToolFailure('No such order.', { recommendations: ['List the orders.'] })
  })
  const wait = tool('wait', async (_, { signal }) => {
    ran('wait')
    began()
    await new Promise((_resolve, reject) => signal.addEventListener('abort', () => reject(signal.reason as Error)))
  })
  const picture = tool('picture', () => [{ type: 'image', data: 'aGk=', mimeType: 'image/png' }])
  const choose = clientTool({ name: 'choose', description: 'Asks in the page', requiresResponse: true })
  return createExecutor({
    tools: [pay, log, count, fail, wait, picture, choose],
    use: [sqliteJournal(file), artifactTools(), ...use],
  })
}

/** What the handlers of all processes ran. */
export function runsOf(file: string): string[] {
  return existsSync(`${file}.runs`) ? readFileSync(`${file}.runs`, 'utf8').trim().split('\n') : []
}
