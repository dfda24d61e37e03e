import { createExecutor, tool, type ToolContext } from 'toolwright'
import type { Conflict } from 'toolwright/extension'
import { expectTypeOf, test } from 'vitest'
import * as z from 'zod'

test('`conflicts` gets the validated input and the context of a call', () => {
  tool({
    name: 'edit',
    description: 'Edits',
    inputSchema: z.object({ path: z.string(), line: z.coerce.number().default(1) }),
    conflicts: (input, context) => {
      expectTypeOf(input).toEqualTypeOf<{ path: string; line: number }>()
      expectTypeOf(context).toEqualTypeOf<ToolContext>()
      return [`file:${input.path}`, { key: 'lines', mode: 'read', scope: 'session' }]
    },
    handler: () => 1,
  })
  expectTypeOf<string>().toExtend<Conflict>()
  // @ts-expect-error -- there is no such mode
  tool('t', () => 1).with({ conflicts: () => [{ key: 'a', mode: 'append' }] })
  // @ts-expect-error -- it is a list
  tool('t', () => 1).with({ conflicts: () => 'a' })
})

test('`parent` is a context, in every way to make a call', () => {
  const inner = tool('inner', ({ a }: { a: number }) => a)
  tool('outer', async (_input: object, context) => {
    const executor = createExecutor({ tools: [inner], waitTimeout: 1_000 })
    const call = { name: 'inner', args: { a: 1 } }
    await executor.execute(call, { parent: context })
    await executor.executeToolCalls([call], { parent: context })
    await executor.invoke(inner, { a: 1 }, { parent: context })
    executor.stream(call, { parent: context })
    expectTypeOf((await executor.calls.list({ parent: context.invocationId }))[0]!.parent).toEqualTypeOf<
      string | undefined
    >()
    // @ts-expect-error -- the id of a call is no context
    await executor.execute(call, { parent: context.invocationId })
  })
  createExecutor().on('call:received', ({ parent }) => expectTypeOf(parent).toEqualTypeOf<string | undefined>())
  createExecutor().on('call:blocked', ({ by, gate, keys, behind }) => {
    expectTypeOf(by).toEqualTypeOf<'gate' | 'lock' | 'order'>()
    expectTypeOf([gate, behind]).toEqualTypeOf<(string | undefined)[]>()
    expectTypeOf(keys).toEqualTypeOf<readonly string[] | undefined>()
  })
})
