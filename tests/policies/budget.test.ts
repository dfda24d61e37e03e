import { InvalidConfigurationError } from 'toolwright'
import { budget } from 'toolwright/policies/budget'
import { describe, expect, test } from 'vitest'
import { policyConformance } from '../conformance/policies.ts'
import { executorOf, limitTests } from './_limits.ts'

policyConformance('budget', { allowing: () => budget({ calls: 30 }), refusing: () => budget({ calls: 0 }) })

describe('budget', () => {
  limitTests((calls, options = {}) => budget({ calls, ...options }))

  test.each([
    [1, undefined, 'The budget is used up: 1 call of "work" in a session is allowed'],
    [2, 'session', 'The budget is used up: 2 calls in a session are allowed'],
    [3, 'tool', 'The budget is used up: 3 calls of "work" are allowed'],
  ] as const)('a refusal says how many were allowed (%i per %s)', async (calls, per, message) => {
    const executor = executorOf(budget({ calls, ...(per && { per }) }))
    for (let count = 0; count < calls; count++) await executor.execute({ name: 'work' })
    const { error } = await executor.execute({ name: 'work' })
    expect(error?.message).toBe(message)
  })

  test('a refusal says which calls hold a place and have not begun', async () => {
    const waits = { policies: [{ name: 'waits', decide: () => new Promise<undefined>(() => {}) }] }
    const executor = executorOf(budget({ calls: 1 }), waits)
    const held = executor.execute({ name: 'work' })
    const { error } = await executor.execute({ name: 'work' })
    expect(error?.message).toContain('1 call of "work" in a session is allowed, 1 of which waits to begin')
    await executor.close()
    expect(await held).toMatchObject({ status: 'cancelled' })
  })

  test.each([
    ['no number', {}],
    ['a fraction', { calls: 1.5 }],
    ['a negative number', { calls: -1 }],
    ['no end', { calls: Infinity }],
    ['an unknown `per`', { calls: 1, per: 'user' }],
    ['something else as `tools`', { calls: 1, tools: 'work' }],
    ['an option that is misspelt', { calls: 1, tool: ['work'] }],
    ['nothing', undefined],
  ])('refuses %s', (_, options) => {
    expect(() => budget(options as never)).toThrow(InvalidConfigurationError)
  })
})
