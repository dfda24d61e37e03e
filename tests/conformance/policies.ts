import { assert, asyncProperty, constantFrom, jsonValue, oneof, record, string } from 'fast-check'
import { createExecutor, tool, type Caller, type Tool, type ToolTraits } from 'toolwright'
import { describePolicy, type PolicyTestOptions } from 'toolwright/conformance/policies'
import { expect, test } from 'vitest'

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

/** What every leaf with policies promises, and that with random calls beside. */
export function policyConformance(title: string, options: PolicyTestOptions): void {
  describePolicy(title, options)

  test(`${title} is a policy that can decide about calls at random, and changes no args`, async () => {
    const call = record({
      args: oneof(record({ value: jsonValue(), list: jsonValue() }), jsonValue()),
      session: oneof(string(), odd),
      caller: constantFrom(...callers),
    })
    const { allowing, refusing, asking } = options
    for (const create of [allowing, refusing, asking].filter((one) => one !== undefined)) {
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
          expect(['ok', 'denied', 'waiting', 'error']).toContain(status)
          expect(error?.code).not.toBe('E_INTERNAL')
          expect(JSON.stringify(content)).not.toContain('could not decide')
          expect(JSON.stringify(args)).toBe(before)
        }),
      )
      expect(reports).toEqual([])
    }
  })
}
