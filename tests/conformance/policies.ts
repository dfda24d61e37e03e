import { assert, asyncProperty, constantFrom, jsonValue, oneof, record, string } from 'fast-check'
import { createExecutor, tool, type Caller, type Extension, type Tool, type ToolTraits } from 'toolwright'
import { describe, expect, test } from 'vitest'

export interface PolicyFixtures {
  /** A new extension that lets the first call of the tool `work` run. */
  readonly allowing?: () => Extension
  /** A new extension that refuses the tool `work`. */
  readonly refusing?: () => Extension
  /** A new extension that asks about the tool `work`. */
  readonly asking?: () => Extension
}

/** The tool that is decided about; it gives its input back. */
export function work(options: { name?: string; type?: string; traits?: ToolTraits; aliases?: string[] } = {}): Tool {
  return tool({
    name: 'work',
    description: 'Gives its input back',
    inputSchema: { type: 'object' },
    audience: 'all',
    handler: (input: unknown) => input,
    ...options,
  } as never)
}

const odd = constantFrom('', '__proto__', 'a\nb', 'constructor', '\u202eabc', '\ud800')
const callers: readonly Caller[] = ['model', 'user', { app: 'other' }]

/** What every leaf with policies promises. */
export function policyConformance(title: string, fixtures: PolicyFixtures): void {
  const { allowing, refusing, asking } = fixtures
  const all = [allowing, refusing, asking].filter((create) => create !== undefined)

  describe(`${title} is a policy that`, () => {
    test('has a name', () => {
      for (const create of all) {
        const { policies = [] } = create()
        expect(policies.length).toBeGreaterThan(0)
        for (const { name } of policies) expect(name).toMatch(/^\S.*\S$/)
      }
    })

    test('can decide about any call, in any session, of anybody, and changes no args', async () => {
      const call = record({
        args: oneof(record({ value: jsonValue(), list: jsonValue() }), jsonValue()),
        session: oneof(string(), odd),
        caller: constantFrom(...callers),
      })
      for (const create of all) {
        const reports: unknown[] = []
        const executor = createExecutor({
          tools: [work()],
          use: [create()],
          report: (error) => void reports.push(error),
        })
        await assert(
          asyncProperty(call, async ({ args, session, caller }) => {
            const before = JSON.stringify(args)
            const { status, error, content } = await executor.execute({ name: 'work', args }, { session, caller })
            expect(['ok', 'denied', 'pending', 'error']).toContain(status)
            expect(error?.code).not.toBe('E_INTERNAL')
            expect(JSON.stringify(content)).not.toContain('could not decide')
            expect(JSON.stringify(args)).toBe(before)
          }),
        )
        expect(reports).toEqual([])
      }
    })

    test('settles every one of many calls side by side', async () => {
      for (const create of all) {
        const executor = createExecutor({ tools: [work()], use: [create()] })
        const calls = Array.from({ length: 50 }, (_, index) => ({ name: 'work', args: { index } }))
        const results = await Promise.all(calls.map((call) => executor.execute(call, { session: 'one' })))
        for (const { status } of results) expect(['ok', 'denied', 'pending']).toContain(status)
        results.forEach(({ status, content }, index) => {
          if (status === 'ok') expect(content).toMatchObject([{ data: { index } }])
        })
      }
    })

    test('does not mind a call that was given up, nor being closed', async () => {
      for (const create of all) {
        const extension = create()
        const executor = createExecutor({ tools: [work()], use: [extension] })
        const given = await executor.execute({ name: 'work' }, { signal: AbortSignal.abort() })
        expect(['cancelled', 'denied', 'pending']).toContain(given.status)
        await executor.close()
        await extension.close?.()
      }
    })

    if (allowing)
      test('lets the call run', async () => {
        const executor = createExecutor({ tools: [work()], use: [allowing()] })
        const result = await executor.execute({ name: 'work', args: { a: [1, { b: 2 }] } })
        expect(result).toMatchObject({ status: 'ok', content: [{ data: { a: [1, { b: 2 }] } }] })
      })

    if (allowing)
      test('lets a call run that another policy asked about, once it is approved', async () => {
        const asks: Extension = { policies: [{ name: 'asks', decide: () => ({ decision: 'ask' }) }] }
        for (const use of [
          [asks, allowing()],
          [allowing(), asks],
        ]) {
          const executor = createExecutor({ tools: [work()], use })
          const { status, token = '' } = await executor.execute({ name: 'work' })
          expect(status).toBe('pending')
          expect(await executor.decide(token, 'allow')).toMatchObject({ status: 'ok' })
        }
      })

    if (allowing)
      test('cannot overrule another that refuses', async () => {
        const refuses: Extension = { policies: [{ name: 'refuses', decide: () => ({ decision: 'deny' }) }] }
        const executor = createExecutor({ tools: [work()], use: [allowing(), refuses] })
        expect(await executor.execute({ name: 'work' })).toMatchObject({ status: 'denied' })
      })

    if (refusing)
      test('refuses in one line, and nothing runs', async () => {
        let runs = 0
        const counted = tool({ name: 'work', description: 'Counts', handler: () => ++runs })
        const executor = createExecutor({ tools: [counted], use: [refusing()] })
        const result = await executor.execute({ name: 'work' })
        expect(result).toMatchObject({ status: 'denied', effect: 'none', error: { code: 'E_TOOL_DENIED' } })
        expect(result.error?.message).toMatch(/^[A-Z][^\n]*$/)
        expect(runs).toBe(0)
      })

    if (asking)
      test('asks, and the call runs where the answer is yes', async () => {
        const executor = createExecutor({ tools: [work()], use: [asking()] })
        const { status, token = '' } = await executor.execute({ name: 'work', args: { a: 1 } })
        expect(status).toBe('pending')
        const result = await executor.decide(token, 'allow')
        expect(result).toMatchObject({ status: 'ok', content: [{ data: { a: 1 } }] })
      })
  })
}
