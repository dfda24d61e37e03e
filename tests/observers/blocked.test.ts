import { createExecutor, tool, type Extension } from 'toolwright'
import { consoleObserver } from 'toolwright/observers/console'
import { openTelemetry } from 'toolwright/observers/open-telemetry'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { enableContexts, telemetry } from './_telemetry.ts'

let undo = (): void => {}
beforeEach(() => void (undo = enableContexts()))
afterEach(() => undo())

/** Calls a tool twice, which touches one thing. */
async function callTwice(...use: Extension[]): Promise<void> {
  const touch = tool('touch', async () => new Promise((resolve) => setImmediate(resolve))).with({
    conflicts: () => ['file:/a\u202eb'],
  })
  const executor = createExecutor({ tools: [touch], use })
  await Promise.all(['first', 'second'].map((invocationId) => executor.execute({ name: 'touch' }, { invocationId })))
}

test('the console says what a call waits for, in words that harm no terminal', async () => {
  const lines: string[] = []
  await callTwice(consoleObserver({ write: (line) => void lines.push(line) }))
  const blocked = lines.filter((line) => line.includes('call:blocked'))
  expect(blocked).toHaveLength(1)
  expect(blocked[0]).toMatch(/touch second lock \["file:\/a.+b"\] behind first$/)
  expect(blocked[0]).not.toContain('\u202e')
})

test('a span says what its call waits for', async () => {
  const collector = telemetry()
  await callTwice(openTelemetry(collector.providers))
  const events = collector.calls().flatMap((span) => span.events.filter(({ name }) => name === 'call:blocked'))
  expect(events).toHaveLength(1)
  expect(events[0]?.attributes).toEqual({
    'toolwright.blocked.by': 'lock',
    'toolwright.blocked.keys': [String.raw`file:/a\u202eb`],
    'toolwright.blocked.behind': 'first',
  })
})
