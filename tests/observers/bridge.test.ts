import { createExecutor, tool } from 'toolwright'
import { openTelemetry } from 'toolwright/observers/open-telemetry'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { enableContexts, telemetry } from './_telemetry.ts'

let undo = (): void => {}
beforeEach(() => void (undo = enableContexts()))
afterEach(() => undo())

const bridge = tool({ name: 'tool_call', description: 'Calls', type: 'bridge', inputSchema: { type: 'object' } })
const add = tool('add', ({ a }: { a: number }) => a + 1)

test('a span is that of the tool which a bridge names, and has the bridge beside it', async () => {
  const collector = telemetry()
  const executor = createExecutor({
    tools: [bridge, add],
    use: [openTelemetry({ ...collector.providers, recordArgs: true })],
  })
  await executor.execute({ name: 'tool_call', args: { name: 'add', args: { a: 1 } } })
  await executor.execute({ name: 'add', args: { a: 1 } })
  const [bridged, direct] = collector.calls()
  expect([bridged?.name, direct?.name]).toEqual(['execute_tool add', 'execute_tool add'])
  expect(bridged?.attributes).toMatchObject({
    'gen_ai.tool.name': 'add',
    'gen_ai.tool.type': 'function',
    'gen_ai.tool.call.arguments': '{"a":1}',
    'toolwright.tool.type': 'server',
    'toolwright.via': 'tool_call',
  })
  expect(direct?.attributes).not.toHaveProperty(['toolwright.via'])
})

test('a span of a bridge that names no tool has no bridge beside it', async () => {
  const collector = telemetry()
  const executor = createExecutor({ tools: [bridge, add], use: [openTelemetry(collector.providers)] })
  await executor.execute({ name: 'tool_call', args: {} })
  const [span] = collector.calls()
  expect(span?.attributes).toMatchObject({ 'error.type': 'E_INVALID_TOOL_ARGS' })
  expect(span?.attributes).not.toHaveProperty(['toolwright.via'])
})
