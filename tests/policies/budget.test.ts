import { clientTool, createExecutor, tool } from 'toolwright'
import { InvalidConfigurationError, ToolFailure } from 'toolwright/errors'
import type { Extension, ToolExecutor, ToolResult } from 'toolwright'
import { memoryJournal } from 'toolwright/journals/memory'
import { budget } from 'toolwright/policies/budget'
import { shadow } from 'toolwright/policies/shadow'
import { describe, expect, test } from 'vitest'
import { policyConformance } from '../conformance/policies.ts'
import { executorOf, limitTests, statuses } from './_limits.ts'

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
    ['`calls` and `units`', { calls: 1, units: 1, cost: (): number => 1 }],
    ['units without a cost', { units: 1 }],
    ['a cost without units', { cost: (): number => 1 }],
    ['units that are no number', { units: Number.NaN, cost: (): number => 1 }],
    ['units without end', { units: Infinity, cost: (): number => 1 }],
    ['a negative number of units', { units: -1, cost: (): number => 1 }],
    ['a cost that is no function', { units: 1, cost: 1 }],
    ['something else as `tools`', { calls: 1, tools: 'work' }],
    ['an option that is misspelt', { calls: 1, tool: ['work'] }],
    ['nothing', undefined],
  ])('refuses %s', (_, options) => {
    expect(() => budget(options as never)).toThrow(InvalidConfigurationError)
  })
})

type Spending = { readonly estimate?: unknown; readonly actual?: unknown; readonly fails?: boolean }

/** Estimates what the input says, and costs what the handler returned. */
const spoken = (input: unknown, result?: unknown): number => {
  const { estimate } = input as Spending
  return (result === undefined ? estimate : (result as Spending).actual) as number
}

function spender(...use: Extension[]): {
  spend: (args: Spending) => Promise<ToolResult>
  executor: ToolExecutor
  ran: unknown[]
} {
  const ran: unknown[] = []
  const spend = tool('spend', async (args: Spending) => {
    ran.push(args)
    await Promise.resolve()
    if (args.fails === true) throw new ToolFailure('it broke')
    return { actual: args.actual }
  })
  const executor = createExecutor({ tools: [spend], use })
  const run = async (args: Spending): Promise<ToolResult> =>
    executor.execute({ name: 'spend', args }, { session: 'one' })
  return { spend: run, executor, ran }
}

const units = (most: number, options: object = {}): Extension => budget({ units: most, cost: spoken, ...options })

policyConformance('budget of units', {
  allowing: () => budget({ units: 30, cost: () => 1 }),
  refusing: () => budget({ units: 0, cost: () => 1 }),
})

describe('budget of units', () => {
  limitTests((calls, options = {}) => budget({ units: calls, cost: () => 1, ...options }))

  test('takes the true cost for the estimate once a call has returned', async () => {
    const { spend } = spender(units(100))
    expect((await spend({ estimate: 90, actual: 10 })).status).toBe('ok')
    expect((await spend({ estimate: 90, actual: 85 })).status).toBe('ok')
    const { status, error } = await spend({ estimate: 6, actual: 0 })
    expect(status).toBe('denied')
    expect(error?.message).toBe(
      'The budget does not allow the call: 100 units of "spend" in a session are allowed, 95 are used or reserved, and the call needs 6',
    )
    expect((await spend({ estimate: 5, actual: 5 })).status).toBe('ok')
  })

  test('reserves before a call runs, so that parallel calls cannot exceed it', async () => {
    const { executor, ran } = spender(units(100))
    const calls = Array.from({ length: 20 }, () => ({ name: 'spend', args: { estimate: 30, actual: 30 } }))
    const results = await Promise.all(calls.map((call) => executor.execute(call, { session: 'one' })))
    expect(results.filter(({ status }) => status === 'ok')).toHaveLength(3)
    expect(ran).toHaveLength(3)
  })

  test('gives back what a call reserved that never ran', async () => {
    const limit = units(100)
    const refuses: Extension = { policies: [{ name: 'no', decide: () => ({ decision: 'deny', reason: 'no' }) }] }
    const asks: Extension = { policies: [{ name: 'asks', decide: () => ({ decision: 'ask' }) }] }
    for (const other of [refuses, asks]) {
      const { spend, ran } = spender(limit, other)
      for (let round = 0; round < 3; round++) await spend({ estimate: 0.1 + 0.2, actual: 1 })
      for (let round = 0; round < 3; round++) await spend({ estimate: 100, actual: 1 })
      expect(ran).toEqual([])
    }
    expect((await spender(limit).spend({ estimate: 100, actual: 100 })).status).toBe('ok')
  })

  test('keeps the estimate of a call that failed', async () => {
    const { spend } = spender(units(100))
    expect((await spend({ estimate: 60, fails: true })).status).toBe('error')
    expect((await spend({ estimate: 41 })).status).toBe('denied')
    expect((await spend({ estimate: 40, actual: 40 })).status).toBe('ok')
  })

  test('denies what follows a call that cost more than it reserved', async () => {
    const { spend } = spender(units(100))
    expect((await spend({ estimate: 1, actual: 1_000 })).status).toBe('ok')
    expect((await spend({ estimate: 0, actual: 0 })).error?.message).toContain('1000 are used or reserved')
  })

  test.each([
    ['nothing', undefined, 'returned undefined'],
    ['NaN', Number.NaN, 'returned NaN'],
    ['a negative number', -5, 'returned -5'],
    ['no end', Infinity, 'returned Infinity'],
    ['a text', '5', 'returned string'],
    ['null', null, 'returned null'],
  ])('denies a call, with words, whose cost is %s', async (_, wrong, words) => {
    const before = spender(budget({ units: 100, cost: () => wrong as never }))
    const { status, error } = await before.spend({})
    expect(status).toBe('denied')
    expect(error?.message).toBe(`\`cost\` of the budget has to return a finite number of at least 0, and ${words}`)
    expect(before.ran).toEqual([])

    const after = spender(
      budget({ units: 100, cost: (_input, result) => (result === undefined ? 1 : (wrong as never)) }),
    )
    expect((await after.spend({})).status).toBe('ok') // it has run: its result is not taken away
    const next = await after.spend({})
    expect(next.status).toBe('denied')
    expect(next.error?.message).toContain(`After an earlier call: \`cost\` of the budget has to return`)
  })

  test('denies a call whose cost is a promise, which may reject', async () => {
    const { spend } = spender(budget({ units: 100, cost: (() => Promise.reject(new Error('late'))) as never }))
    const { status, error } = await spend({})
    expect([status, error?.message]).toEqual(['denied', expect.stringContaining('and returned object')])
  })

  test('denies a call whose cost throws, without its words', async () => {
    const { spend, ran } = spender(
      budget({
        units: 100,
        cost: () => {
          throw new Error('a secret of the application')
        },
      }),
    )
    const { status, error } = await spend({})
    expect([status, error?.message]).toEqual(['denied', '`cost` of the budget threw an error'])
    expect(ran).toEqual([])
  })

  test('settles a call once where the extension is mounted twice', async () => {
    const limit = units(100)
    const { spend } = spender(limit, limit)
    await spend({ estimate: 50, actual: 80 })
    expect((await spend({ estimate: 21 })).status).toBe('denied')
    expect((await spend({ estimate: 20, actual: 20 })).status).toBe('ok')
  })

  test('gives its decisions on trial, where it counts estimates', async () => {
    const said: string[] = []
    const { spend } = spender(shadow(units(100), (report) => void said.push(report.said)))
    for (let round = 0; round < 3; round++) expect((await spend({ estimate: 50, actual: 1 })).status).toBe('ok')
    expect(said).toEqual(['none', 'none', 'deny'])
  })

  test.each(['the same process', 'another process'])('settles what a client answers in %s', async (where) => {
    const form = clientTool({ name: 'form', description: 'Asks the client', requiresResponse: true })
    const journal = memoryJournal()
    const cost = (_input: unknown, result?: unknown): number => (result === undefined ? 50 : 90)
    const limit = budget({ units: 100, cost })
    const options = { session: 'one' }
    const asking = createExecutor({ tools: [form], use: [journal, ...(where === 'the same process' ? [limit] : [])] })
    const answering = where === 'the same process' ? asking : createExecutor({ tools: [form], use: [journal, limit] })
    const { token = '' } = await asking.execute({ name: 'form' }, options)
    expect(await statuses([answering.calls.respond(token, 'here')])).toBe('ok')
    const { status, error } = await answering.execute({ name: 'form' }, options)
    expect([status, error?.message]).toEqual(['denied', expect.stringContaining('90 are used or reserved')])
  })
})
