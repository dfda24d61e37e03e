import { createExecutor, tool, type Extension } from 'toolwright'
import { consoleObserver } from 'toolwright/observers/console'
import { openTelemetry } from 'toolwright/observers/open-telemetry'
import { argsRepair } from 'toolwright/repairs/args'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { enableContexts, telemetry } from './_telemetry.ts'

let undo = (): void => {}
beforeEach(() => void (undo = enableContexts()))
afterEach(() => undo())

const inputSchema = { type: 'object', properties: { n: { type: 'number' } }, required: ['n'] } as const
const double = tool({ name: 'double', description: 'Doubles', inputSchema, handler: ({ n }) => n * 2 })

async function repaired(...use: Extension[]): Promise<string | null> {
  const executor = createExecutor({ tools: [double], use: [argsRepair(), ...use] })
  return (await executor.execute({ name: 'double', args: '{"n":"5",}' })).callId
}

test('the console says how args were repaired', async () => {
  const lines: string[] = []
  await repaired(consoleObserver({ write: (line) => void lines.push(line) }))
  expect(lines.find((line) => line.includes('call:repaired'))).toMatch(/trailing-comma, number-from-text .*\{"n":5\}/)
})

test('a span says how args were repaired, and has the call that ran', async () => {
  const collector = telemetry()
  const callId = await repaired(openTelemetry({ ...collector.providers, recordArgs: true }))
  const [span] = collector.calls()
  expect(span?.events.map(({ name }) => name)).toContain('call:repaired')
  expect(span?.attributes).toMatchObject({
    'toolwright.repair.steps': ['trailing-comma', 'number-from-text'],
    'gen_ai.tool.call.arguments': '{"n":5}',
  })
  expect(JSON.stringify(span?.attributes)).toContain(callId)
})
