import { expect, test } from 'vitest'
import { runSchedules, seedOf } from './_lock-schedules.ts'

test('10,000 schedules of 50 calls at random end, and no two calls of them that clash run at once', async () => {
  await expect(runSchedules(seedOf(), 10_000)).resolves.toBeUndefined()
}, 1_800_000)
