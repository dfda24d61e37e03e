import { createExecutor, memoryStore, tool } from 'toolwright'
import { memoryDispatcher } from 'toolwright/distributed/memory'
import { memoryJournal } from 'toolwright/journals/memory'
import { expect, onTestFinished, test, vi } from 'vitest'
import { callerOn, sqliteGround, toolsOf, workerOn } from './_fleet.ts'

const soon = { timeout: 30_000, interval: 10 }

test('of twenty executors that are given one id, one runs the call', async () => {
  const ran: string[] = []
  const ground = sqliteGround(toolsOf(ran), memoryDispatcher())
  const caller = callerOn(ground)
  const asked = caller.execute({ name: 'charge' }, { session: 's', invocationId: 'a' })
  await vi.waitFor(async () => expect((await caller.calls.get('a')).status).toBe('waiting'), soon)
  const executors = Array.from({ length: 20 }, () => {
    const executor = createExecutor({ tools: ground.tools, use: ground.use() })
    onTestFinished(() => executor.close())
    return executor
  })
  const results = await Promise.all(executors.map((executor) => executor.queue.run('a')))
  expect(results.flatMap((result) => result?.status ?? [])).toEqual(['ok'])
  expect([(await asked).status, ran]).toEqual(['ok', ['a']])
  const again = await Promise.all(executors.map((executor) => executor.queue.run('a')))
  expect([again.every((result) => result === undefined), ran]).toEqual([true, ['a']])
})

test('a record has the secrets and the carried values of a call until it has settled or is sealed, and no longer', async () => {
  const inputSchema = { type: 'object', properties: { key: { type: 'string' } } } as const
  const secret = { inputSchema, secrets: ['/key'] }
  const tools = [
    tool({ name: 'hide', description: 'Ends', ...secret, handler: () => 'done' }),
    tool({ name: 'hang', description: 'Never ends', ...secret, handler: () => new Promise(() => {}) }),
  ]
  const [shared, store] = [memoryJournal(), memoryStore()]
  const ground = { tools, dispatcher: memoryDispatcher(), use: () => [shared, { store }] }
  const caller = callerOn(ground, { carry: () => ({ tenant: 'carried-7c1d' }) })
  const args = { key: 'secret-93af' }
  const asked = ['hide', 'hang'].map((name) => caller.execute({ name, args }, { session: 's', invocationId: name }))
  const textOf = async (id: string): Promise<string> => JSON.stringify(await shared.journal.read(id))
  for (const id of ['hide', 'hang']) {
    await vi.waitFor(async () => expect((await caller.calls.get(id)).status).toBe('waiting'), soon)
    expect(await textOf(id)).toMatch(/secret-93af.*carried-7c1d|carried-7c1d.*secret-93af/)
  }
  const worker = workerOn(ground)
  expect((await asked[0])?.status).toBe('ok')
  await vi.waitFor(async () => expect((await caller.calls.get('hang')).state).toBe('EXECUTING'), soon)
  // The worker counts as dead as soon as it was silent for a moment.
  await vi.waitFor(async () => {
    await caller.calls.recover({ rerun: true, staleAfter: 1 })
    expect((await caller.calls.get('hang')).state).toBe('SEALED')
  }, soon)
  expect(await asked[1]).toMatchObject({ error: { code: 'E_SEALED' }, effect: 'unknown' })
  for (const id of ['hide', 'hang']) expect(await textOf(id)).not.toMatch(/secret-93af|carried-7c1d/)
  await worker.close()
})
