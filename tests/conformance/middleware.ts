import { assert, asyncProperty, jsonValue } from 'fast-check'
import { createExecutor, type Extension } from 'toolwright'
import { describeMiddleware } from 'toolwright/conformance/middleware'
import { describe, expect, test } from 'vitest'
import { testTool } from '../../src/conformance/_tool.ts'

export { runTool, testTool } from '../../src/conformance/_tool.ts'

/** What every leaf with middleware promises, and that with random JSON beside. `create` gives a new extension. */
export function middlewareConformance(title: string, create: () => Extension): void {
  describeMiddleware(title, create)

  const kinds = [{}, { traits: { readonly: true } }, { traits: { idempotent: true } }, { type: 'mcp' }]
  describe.each(kinds)(`${title} around a tool with %j`, (options) => {
    test('hands JSON at random on, and changes neither it nor the input', async () => {
      const use = [create()]
      await assert(
        asyncProperty(jsonValue(), jsonValue(), async (value, arg) => {
          const args = { arg }
          const before = JSON.stringify([value, args])
          const tools = [testTool((input: object) => ({ value, input }), options)]
          const result = await createExecutor({ tools, use }).execute({ name: 'work', args })
          expect(await result.artifact?.asString()).toBe(JSON.stringify({ value, input: args }))
          expect(JSON.stringify([value, args])).toBe(before)
        }),
      )
    })
  })
}
