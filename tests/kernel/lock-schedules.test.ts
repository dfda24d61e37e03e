import { expect, test } from 'vitest'
import { runSchedules, seedOf } from './_lock-schedules.ts'

test('of 50 calls at random, two that clash never run at once, those of a turn keep their order, and all end', async () => {
  const isOne = process.env['SEED'] !== undefined
  await expect(runSchedules(seedOf(), isOne ? 1 : 60)).resolves.toBeUndefined()
})
