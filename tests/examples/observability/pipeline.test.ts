import { spawnSync } from 'node:child_process'
import { join } from 'node:path'
import { createExecutor, tool } from 'toolwright'
import { expect, test } from 'vitest'
import { pipeline } from './pipeline.ts'

test('calls are grouped by callId, and each start has its end by invocationId, though they cross', async () => {
  const gates = new Map<string, PromiseWithResolvers<void>>()
  const wait = tool({
    name: 'wait',
    description: 'Waits for its gate',
    inputSchema: { type: 'object', properties: { gate: { type: 'string' } }, required: ['gate'] },
    handler: async (_, { invocationId }) => {
      const gate = Promise.withResolvers<void>()
      gates.set(invocationId, gate)
      await gate.promise
    },
  })
  const { observer, groups, open } = pipeline()
  const executor = createExecutor({ tools: [wait], use: [{ observers: [observer] }] })
  const run = (invocationId: string, gate: string) =>
    executor.execute({ name: 'wait', args: { gate } }, { invocationId })
  const [first, second, other] = [run('one', 'a'), run('two', 'a'), run('three', 'b')]
  await expect.poll(() => gates.size).toBe(3)
  expect(open().map(({ invocationId }) => invocationId)).toEqual(['one', 'two', 'three'])

  // The second ends before the first: by the order of the events alone they would be paired wrongly.
  gates.get('two')?.resolve()
  await second
  expect(open().map(({ invocationId }) => invocationId)).toEqual(['one', 'three'])
  gates.get('three')?.reject(new Error('the gate is stuck'))
  gates.get('one')?.resolve()
  await Promise.all([first, other])

  expect(open()).toEqual([])
  expect(groups()).toMatchObject([
    {
      callId: (await first).callId,
      runs: [
        { invocationId: 'one', status: 'ok', durationMs: expect.any(Number) },
        { invocationId: 'two', status: 'ok', durationMs: expect.any(Number) },
      ],
    },
    { runs: [{ invocationId: 'three', status: 'error', durationMs: expect.any(Number) }] },
  ])
  await executor.close()
})

test('a call that waits has no start, and after the answer it is one run', async () => {
  const pay = tool({ name: 'pay', description: 'Pays', requiresConfirmation: true, handler: () => 'paid' })
  const { observer, groups, open } = pipeline()
  const executor = createExecutor({ tools: [pay], use: [{ observers: [observer] }] })
  const { token = '' } = await executor.execute({ name: 'pay' })
  expect(groups()).toMatchObject([{ toolName: 'pay', runs: [{ status: 'waiting' }] }])
  expect(groups()[0]?.runs[0]).not.toHaveProperty('startedAt')
  await executor.calls.decide(token, 'allow')
  expect(groups()).toMatchObject([{ runs: [{ status: 'ok', durationMs: expect.any(Number) }] }])
  expect([groups()[0]?.runs.length, open()]).toEqual([1, []])
  await executor.close()
})

test('the program prints what was called, how often it ran, and what came of it', () => {
  const flags = ['--disable-warning=ExperimentalWarning', '-C', '@toolwright/source']
  const program = join(import.meta.dirname, 'main.ts')
  const { stdout, stderr } = spawnSync(process.execPath, [...flags, program], { encoding: 'utf8' })
  expect(stderr).toBe('')
  expect(
    stdout
      .replace(/^[0-9a-f]{12} +/gm, '')
      .replace(/ +/g, ' ')
      .split('\n')
      .toSorted(),
  ).toEqual([
    '',
    '0 open',
    'exchange 1 called 0 ran error E_INVALID_TOOL_ARGS',
    'get_forecast 1 called 1 ran error E_TOOL_DOWNSTREAM_ERROR',
    'get_forecast 2 called 2 ran ok, ok',
    'keep_notes 1 called 0 ran waiting',
  ])
})
