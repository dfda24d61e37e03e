/**
 * Calls of a model as a table of what was called, how often, and what came of it.
 *
 *   npx node -C @toolwright/source tests/examples/observability/main.ts
 */
import process from 'node:process'
import { createExecutor } from 'toolwright'
import tools from '../tools.ts'
import { pipeline } from './pipeline.ts'

const { observer, groups, open } = pipeline()
const executor = createExecutor({ tools, use: [{ observers: [observer] }] })
await executor.executeToolCalls([
  { id: 1, name: 'get_forecast', args: { city: 'Bergen', days: 2 } },
  { id: 2, name: 'get_forecast', args: '{ "days": 2, "city": "Bergen" }' }, // the same call, written in another way
  { id: 3, name: 'get_forecast', args: { city: 'Atlantis' } },
  { id: 4, name: 'exchange', args: { amount: -1, from: 'EUR', to: 'USD' } },
  { id: 5, name: 'keep_notes', args: { clear: true } },
])
for (const { callId, toolName, runs } of groups()) {
  const ended = runs.filter(({ durationMs }) => durationMs !== undefined)
  const outcomes = runs.map(({ status, code }) => [status, code].filter(Boolean).join(' '))
  const cells = [callId.slice(0, 12), toolName, `${runs.length} called`, `${ended.length} ran`, outcomes.join(', ')]
  process.stdout.write(
    `${cells
      .map((cell) => cell.padEnd(14))
      .join(' ')
      .trimEnd()}\n`,
  )
}
process.stdout.write(`${open().length} open\n`)
await executor.close()
