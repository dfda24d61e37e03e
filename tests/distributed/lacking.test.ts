import { createExecutor, tool, ToolRegistry } from 'toolwright'
import { createWorker } from 'toolwright/distributed/worker'
import { expect, onTestFinished, test, vi } from 'vitest'
import { changed } from '../kernel/_journals.ts'
import { callerOn, sqliteGround } from './_fleet.ts'

const soon = { timeout: 30_000, interval: 10 }

test('a worker runs what it can behind many calls of a tool that it lacks, and takes few of those', async () => {
  const ran: string[] = []
  const named = (name: string) => tool(name, (_args, { invocationId }) => void ran.push(invocationId))
  const ground = sqliteGround([named('theirs'), named('ours')], undefined)
  const caller = callerOn(ground)
  const asked = (name: string, count: number) =>
    Array.from({ length: count }, (_call, index) =>
      caller.execute({ name, args: {} }, { session: 's', invocationId: `${name} ${index}` }),
    )
  const theirs = asked('theirs', 200)
  await vi.waitFor(async () => expect(await caller.queue.depth('default', 999)).toBe(200), soon)
  const ours = asked('ours', 5)
  const taken: string[] = []
  const [journal, ...others] = ground.use()
  const counting = changed(journal as Parameters<typeof changed>[0], {
    take: (own) => async (query, owner) => {
      const found = (await own.take?.(query, owner)) ?? []
      for (const { record } of found) if (record.name === 'theirs') taken.push(record.id)
      return found
    },
  })
  const tools = new ToolRegistry(ground.tools.slice(1))
  const executor = createExecutor({ tools, use: [counting, ...others] })
  const worker = createWorker({ executor, queues: { default: 4 } })
  onTestFinished(() => worker.close())
  expect((await Promise.all(ours)).map(({ status }) => status)).toEqual(Array.from({ length: 5 }, () => 'ok'))
  expect(taken.length).toBeLessThanOrEqual(8) // a batch or two before it knows
  for (const theirTool of ground.tools.slice(0, 1)) tools.add(theirTool) // from then on it takes those too
  expect((await Promise.all(theirs)).every(({ status }) => status === 'ok')).toBe(true)
  expect(new Set(ran).size).toBe(205)
})
