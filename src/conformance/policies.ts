/**
 * Tests what every policy promises. They run in vitest.
 *
 * @module
 */
import { describe, expect, test } from 'vitest'
import { createExecutor, tool, type Caller, type Extension } from '../index.ts'
import { hostileTexts, hostileValues } from './_hostile.ts'
import { testTool } from './_tool.ts'

/** What a policy is tested with. At least one of them is needed. Each makes a new extension with policies. */
export interface PolicyTestOptions {
  /** Makes an extension that lets the tool `work` run, 30 times at least. */
  readonly allowing?: () => Extension
  /** Makes an extension that refuses the tool `work`. */
  readonly refusing?: () => Extension
  /** Makes an extension that asks about the tool `work`. */
  readonly asking?: () => Extension
}

const callers: readonly Caller[] = ['model', 'user', { app: 'other' }]
// An executor takes at most 1,024 characters as a session.
const sessions = [...hostileTexts.map((text) => text.slice(0, 1_024)), '\ud800']

/**
 * Describes what every policy promises, in tests of vitest.
 *
 * @param name The name of the policy, for the titles of the tests.
 * @param options How the policy is made to allow, to refuse and to ask. What it never does is left out.
 * @throws `TypeError` if `options` makes no policy.
 * @experimental
 * @example
 * ```ts
 * import { describePolicy } from 'toolwright/conformance/policies'
 * import { budget } from 'toolwright/policies/budget'
 *
 * describePolicy('budget', { allowing: () => budget({ calls: 100 }), refusing: () => budget({ calls: 0 }) })
 * ```
 */
export function describePolicy(name: string, options: PolicyTestOptions): void {
  const [allowing, refusing, asking] = [options.allowing, options.refusing, options.asking].map(withPolicies)
  const all = [allowing, refusing, asking].filter((create) => create !== undefined)
  if (all.length === 0) throw new TypeError(`${name}: give at least one of "allowing", "refusing" and "asking".`)
  const work = testTool((input: unknown) => input, { audience: 'all' })

  describe(`${name} is a policy that`, () => {
    test('has a name', () => {
      for (const create of all) {
        for (const { name: title } of create().policies ?? [])
          expect(title, 'the `name` of the policy').toEqual(expect.stringMatching(/^\S.*\S$/))
      }
    })

    test('can decide about any call, of every session and caller, and changes no args', async () => {
      for (const create of all) {
        const reports: unknown[] = []
        const executor = createExecutor({ tools: [work], use: [create()], report: (error) => void reports.push(error) })
        const values = hostileValues().flatMap((value) => [value, { value, list: [value] }])
        for (const [index, args] of values.entries()) {
          for (const caller of callers) {
            const before = JSON.stringify(args)
            const session = sessions[index % sessions.length] ?? ''
            const { status, error, content } = await executor.execute({ name: 'work', args }, { session, caller })
            expect(['ok', 'denied', 'waiting', 'error']).toContain(status)
            // What the policy threw, or what it may return, stands in the error.
            if (error?.code === 'E_INTERNAL' || JSON.stringify(content).includes('could not decide')) throw error
            expect(JSON.stringify(args)).toBe(before)
          }
        }
        expect(reports).toEqual([])
      }
    })

    test('settles every one of many calls side by side', async () => {
      for (const create of all) {
        const executor = createExecutor({ tools: [work], use: [create()] })
        const calls = Array.from({ length: 50 }, (_, index) => ({ name: 'work', args: { index } }))
        const results = await Promise.all(calls.map((call) => executor.execute(call, { session: 'one' })))
        for (const { status } of results) expect(['ok', 'denied', 'waiting']).toContain(status)
        results.forEach(({ status, content }, index) => {
          if (status === 'ok') expect(content).toMatchObject([{ data: { index } }])
        })
      }
    })

    test('does not mind a call that was given up, nor being closed', async () => {
      for (const create of all) {
        const extension = create()
        const executor = createExecutor({ tools: [work], use: [extension] })
        const result = await executor.execute({ name: 'work' }, { signal: AbortSignal.abort() })
        expect(['cancelled', 'denied', 'waiting']).toContain(result.status)
        await executor.close()
        await extension.close?.()
      }
    })

    test('says what it would decide, and decides the same however often it is asked that', async () => {
      const args = { a: 1 }
      const decided = async (create: () => Extension, evaluations: number): Promise<string[]> => {
        const executor = createExecutor({ tools: [work], use: [create()] })
        const reasons: string[] = []
        for (let round = 0; round < 40; round++) {
          let would = ''
          for (let time = 0; time < evaluations; time++) {
            would = (await executor.evaluate({ name: 'work', args }, { session: 'one' })).decision
          }
          const { status } = await executor.execute({ name: 'work', args }, { session: 'one' })
          if (would !== '')
            expect(would).toBe(
              status === 'ok' ? 'allow' : status === 'waiting' ? 'ask' : status === 'denied' ? 'deny' : 'invalid',
            )
          reasons.push(status)
        }
        return reasons
      }
      for (const create of all) expect(await decided(create, 25)).toEqual(await decided(create, 0))
    })

    testIf(allowing)('lets the call run', async () => {
      const executor = createExecutor({ tools: [work], use: extensionsOf(allowing) })
      const result = await executor.execute({ name: 'work', args: { a: [1, { b: 2 }] } })
      expect(result).toMatchObject({ status: 'ok', content: [{ data: { a: [1, { b: 2 }] } }] })
      expect(result.value).toEqual({ a: [1, { b: 2 }] }) // a policy that adds to the input adds to what the handler gets
    })

    testIf(allowing)('lets a call run that another policy asked about, once it is approved', async () => {
      const asks: Extension = { policies: [{ name: 'asks', decide: () => ({ decision: 'ask' }) }] }
      for (const use of [
        [asks, ...extensionsOf(allowing)],
        [...extensionsOf(allowing), asks],
      ]) {
        const executor = createExecutor({ tools: [work], use })
        const { status, token = '' } = await executor.execute({ name: 'work' })
        expect(status).toBe('waiting')
        expect(await executor.calls.decide(token, 'allow')).toMatchObject({ status: 'ok' })
      }
    })

    testIf(allowing)('cannot overrule another that refuses', async () => {
      const refuses: Extension = { policies: [{ name: 'refuses', decide: () => ({ decision: 'deny' }) }] }
      const executor = createExecutor({ tools: [work], use: [...extensionsOf(allowing), refuses] })
      expect(await executor.execute({ name: 'work' })).toMatchObject({ status: 'denied' })
    })

    testIf(refusing)('refuses in one line, and nothing runs', async () => {
      let runs = 0
      const counted = tool({ name: 'work', description: 'Counts', handler: () => ++runs })
      const executor = createExecutor({ tools: [counted], use: extensionsOf(refusing) })
      const result = await executor.execute({ name: 'work' })
      expect(result).toMatchObject({ status: 'denied', effect: 'none', error: { code: 'E_TOOL_DENIED' } })
      expect(result.error?.message).toMatch(/^[A-Z][^\n]*$/)
      expect(runs).toBe(0)
    })

    testIf(asking)('asks, and the call runs if the answer is yes', async () => {
      const executor = createExecutor({ tools: [work], use: extensionsOf(asking) })
      const { status, token = '' } = await executor.execute({ name: 'work', args: { a: 1 } })
      expect(status).toBe('waiting')
      const result = await executor.calls.decide(token, 'allow')
      expect(result).toMatchObject({ status: 'ok', content: [{ data: { a: 1 } }] })
      expect(result.value).toEqual({ a: 1 })
    })
  })
}

/** Without a policy, most tests would pass, and nothing would be tested. */
function withPolicies(create: (() => Extension) | undefined): (() => Extension) | undefined {
  if (create === undefined) return undefined
  return () => {
    const extension = create() as Extension | undefined
    if (!Array.isArray(extension?.policies) || extension.policies.length === 0)
      throw new TypeError('What was made has no `policies`: it is an extension, `{ policies: [{ name, decide }] }`.')
    return extension
  }
}

function extensionsOf(create: (() => Extension) | undefined): Extension[] {
  return create === undefined ? [] : [create()]
}

/** Returns what declares a test, if the policy can be made to do what it is about. */
function testIf(create: unknown): (name: string, body: () => void | Promise<void>) => void {
  return create === undefined ? () => {} : (name, body) => test(name, body)
}
