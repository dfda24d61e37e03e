import { createExecutor } from 'toolwright'
import { expect, onTestFinished, test, vi } from 'vitest'
import { changed } from '../kernel/_journals.ts'
import { callerOn, sqliteGround, toolsOf } from './_fleet.ts'

const soon = { timeout: 30_000, interval: 10 }

test('a sweep leaves alone the calls that its worker is taking: it waits for the answer, and each runs once', async () => {
  const ran: string[] = []
  const ground = sqliteGround(toolsOf(ran), undefined)
  const caller = callerOn(ground)
  const asked = ['a', 'b'].map((invocationId) => caller.execute({ name: 'charge' }, { session: 's', invocationId }))
  await vi.waitFor(async () => expect(await caller.queue.depth('default', 9)).toBe(2), soon)
  const [taken, swept] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()]
  const [journal, ...others] = ground.use()
  // The journal has taken the calls, and answers once the sweep has seen all that this worker runs.
  const late = changed(journal as Parameters<typeof changed>[0], {
    take: (own) => async (query, owner) => {
      const found = (await own.take?.(query, owner)) ?? []
      taken.resolve()
      await swept.promise
      return found
    },
    list: (own) =>
      async function* (query, report) {
        yield* own.list(query, report)
        if (query.state === 'running') swept.resolve()
      },
  })
  const executor = createExecutor({ tools: ground.tools, use: [late, ...others] })
  onTestFinished(() => executor.close())
  const taking = executor.queue.take('default', 2)
  await taken.promise
  const { requeued, sealed } = await executor.calls.recover({ rerun: true })
  expect({ requeued, sealed }).toEqual({ requeued: [], sealed: [] })
  for (const id of await taking) expect((await executor.queue.run(id))?.status).toBe('ok')
  expect((await Promise.all(asked)).map(({ status }) => status)).toEqual(['ok', 'ok'])
  expect(ran.toSorted()).toEqual(['a', 'b'])
})

test('a take whose answer is lost keeps its calls from no other worker', async () => {
  const ground = sqliteGround(toolsOf(), undefined)
  const asked = callerOn(ground).execute({ name: 'charge' }, { session: 's', invocationId: 'a' })
  const [journal, ...others] = ground.use()
  const deaf = changed(journal as Parameters<typeof changed>[0], {
    take: (own) => async (query, owner) => {
      const found = (await own.take?.(query, owner)) ?? []
      if (found.length > 0) throw new Error('The connection was lost.')
      return found
    },
  })
  const executor = createExecutor({ tools: ground.tools, use: [deaf, ...others] })
  onTestFinished(() => executor.close())
  await vi.waitFor(async () => {
    await expect(executor.queue.take('default', 1)).rejects.toMatchObject({ code: 'E_JOURNAL' })
  }, soon)
  expect((await executor.calls.recover({ rerun: true })).requeued).toMatchObject([{ invocationId: 'a' }])
  const other = createExecutor({ tools: ground.tools, use: ground.use() })
  onTestFinished(() => other.close())
  expect((await other.queue.run('a'))?.status).toBe('ok')
  expect((await asked).status).toBe('ok')
})
