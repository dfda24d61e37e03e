import { createExecutor, tool, type ToolExecutor } from 'toolwright'
import { InvalidConfigurationError, ToolFailure } from 'toolwright/errors'
import { repeats, type RepeatsOptions } from 'toolwright/policies/repeats'
import { describe, expect, test } from 'vitest'
import { policyConformance } from '../conformance/policies.ts'

const allowing = (): ReturnType<typeof repeats> => repeats({ max: 1_000 })

function executorOf(options: RepeatsOptions): { executor: ToolExecutor; ran: unknown[] } {
  const ran: unknown[] = []
  const look = tool('look', (args: { n?: number }) => {
    ran.push(args)
    if (args.n === 13) throw new ToolFailure('a secret of the tool')
    return { rain: 'all day', run: ran.length }
  })
  const long = tool('long', () => 'x'.repeat(10_000))
  const raw = tool('raw', () => new Uint8Array(10_000))
  const safe = tool({
    name: 'safe',
    description: 'Safe',
    inputSchema: { type: 'object' },
    secrets: ['/pin'],
    handler: ({ pin }: Record<string, unknown>) => ({ pin, door: 'open' }),
  })
  return { executor: createExecutor({ tools: [look, long, raw, safe], use: [repeats(options)] }), ran }
}

policyConformance('repeats', { allowing })

describe('the same call again and again', () => {
  test('runs as often as allowed, and is then denied with the words of its last result', async () => {
    const { executor, ran } = executorOf({ max: 2 })
    const say = async (args: unknown): Promise<unknown> => (await executor.execute({ name: 'look', args })).status
    expect([await say({ n: 1, m: 2 }), await say('{"m":2.0,"n":1}')]).toEqual(['ok', 'ok'])
    const denied = await executor.execute({ name: 'look', args: { m: 2, n: 1 } })
    expect(denied).toMatchObject({ status: 'denied', effect: 'none', error: { code: 'E_TOOL_DENIED' } })
    expect(denied.error?.message).toBe(
      'The same call was made 2 times already. Change the args, or go on with what you have. It last ended with: {"rain":"all day","run":2}',
    )
    expect(await say({ n: 2, m: 2 })).toBe('ok')
    expect(ran).toHaveLength(3)
  })

  test('is another call in another session, unless a principal makes it', async () => {
    const { executor } = executorOf({ max: 1 })
    for (const session of ['a', 'b']) expect((await executor.execute({ name: 'look' }, { session })).status).toBe('ok')
    const ofAll = executorOf({ max: 1, per: 'principal' }).executor
    const asked = (session: string, principal: string): Promise<{ status: string }> =>
      ofAll.execute({ name: 'look' }, { session, principal })
    expect((await asked('a', 'ada')).status).toBe('ok')
    expect((await asked('b', 'ada')).status).toBe('denied')
    expect((await asked('b', 'bob')).status).toBe('ok')
  })

  test('is counted before it ends, so that parallel calls cannot exceed the limit', async () => {
    const { executor, ran } = executorOf({ max: 2 })
    const results = await executor.executeToolCalls(Array.from({ length: 9 }, () => ({ name: 'look', args: {} })))
    expect(results.filter(({ status }) => status === 'ok')).toHaveLength(2)
    expect(ran).toHaveLength(2)
  })

  test('tells little of a long result, nothing of what a tool threw, and no secrets', async () => {
    const { executor } = executorOf({ max: 1 })
    const again = async (call: { name: string; args?: object }): Promise<string> => {
      await executor.execute(call)
      return String((await executor.execute(call)).error?.message)
    }
    expect((await again({ name: 'long' })).length).toBeLessThan(600)
    expect(await again({ name: 'raw' })).toMatch(/It last ended with: a result that is not shown\.$/)
    expect(await again({ name: 'look', args: { n: 13 } })).toMatch(/It last ended with: an error\.$/)
    expect(await again({ name: 'safe', args: { pin: '123456' } })).toMatch(/\{"pin":"\[secret\]","door":"open"\}$/)
  })

  test('is counted for the tools that are named alone', async () => {
    const { executor } = executorOf({ max: 1, tools: ['long'] })
    for (let count = 0; count < 5; count++) expect((await executor.execute({ name: 'look' })).status).toBe('ok')
  })
})

test.each([
  ['no number', {}],
  ['none at all', { max: 0 }],
  ['a fraction', { max: 1.5 }],
  ['an unknown `per`', { max: 1, per: 'tool' }],
  ['an option that is misspelt', { max: 1, tool: ['look'] }],
  ['nothing', undefined],
])('refuses %s', (_, options) => {
  expect(() => repeats(options as never)).toThrow(InvalidConfigurationError)
})
