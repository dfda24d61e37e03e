// The matchers in Jest's own `expect`, which other runners use too.
import { createExecutor, tool } from 'toolwright'
import { matchers, observe } from 'toolwright/testing'
import { beforeAll, describe, expect, test } from 'vitest'
import { framework } from './_framework.ts'
import { missing } from './_installed.ts'

const jest = await framework(() => import('expect'))

describe.skipIf(missing !== undefined)('in Jest’s `expect`', () => {
  const executor = createExecutor({ tools: [tool('refund', ({ order }: { order: string }) => `refunded ${order}`)] })
  const expectOf = (
    subject: unknown,
  ): Record<'toHaveCalled', (name: string, expected?: object) => void> & {
    readonly not: Record<'toHaveCalled', (name: string, expected?: object) => void>
  } => jest.expect(subject) as never

  beforeAll(async () => {
    jest.expect.extend({ ...matchers })
    observe(executor)
    await executor.execute({ name: 'refund', args: { order: 'A-1' } })
  })

  test('a matcher passes, and takes Jest’s own patterns', () => {
    expectOf(executor).toHaveCalled('refund', { args: { order: 'A-1' }, effect: 'completed', times: 1 })
    expectOf(executor).toHaveCalled('refund', { args: { order: jest.expect.any(String) } })
    expectOf(executor).not.toHaveCalled('send_email')
  })

  test('a failure shows the nearest call, also with `not`', () => {
    expect(() => expectOf(executor).toHaveCalled('refund', { args: { order: 'B-2' } })).toThrow(/A-1/)
    expect(() => expectOf(executor).not.toHaveCalled('refund')).toThrow(/refund/)
  })

  test('an executor that nothing observes is an error', () => {
    expect(() => expectOf(createExecutor({ tools: [] })).not.toHaveCalled('refund')).toThrow(/observe/)
  })
})
