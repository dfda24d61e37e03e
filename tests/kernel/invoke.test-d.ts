import { createExecutor, tool, type Tool, type ToolExecutor, type ToolResult } from 'toolwright'
import { expectTypeOf, test } from 'vitest'
import { z } from 'zod'

const executor = createExecutor()
const add = tool({
  name: 'add',
  description: 'Adds',
  inputSchema: z.object({ a: z.number(), b: z.number().default(2) }),
  handler: ({ a, b }) => a + b,
})
const when = tool({
  name: 'when',
  description: 'When',
  inputSchema: { type: 'object', properties: { city: { type: 'string' } }, required: ['city'] },
  outputSchema: z.number().transform((time) => new Date(time)),
  handler: () => 0,
})
const now = tool({ name: 'now', description: 'Now', handler: () => 'now' })
const any: Tool = add

test('a tool is invoked with args of its input, and gives a value of its output', async () => {
  const result = await executor.invoke(add, { a: 1 })
  expectTypeOf(result).toExtend<ToolResult>()
  if (result.status === 'ok') expectTypeOf(result.value).toEqualTypeOf<number | undefined>()
  else expectTypeOf(result.value).toEqualTypeOf<undefined>()
  expectTypeOf((await executor.invoke(when, { city: 'Oslo' })).value).toEqualTypeOf<Date | undefined>()
  expectTypeOf((await executor.invoke(now)).value).toEqualTypeOf<string | undefined>()
  void executor.invoke(now, undefined, { session: 'ada' })
  void executor.invoke(any, { anything: 1 }, { caller: 'model' })
})

test('args of another type are refused', () => {
  // @ts-expect-error `a` is a number
  void executor.invoke(add, { a: 'one' })
  // @ts-expect-error `a` is missing
  void executor.invoke(add, {})
  // @ts-expect-error the args are missing
  void executor.invoke(add)
  // @ts-expect-error there is no `c`
  void executor.invoke(add, { a: 1, c: 1 })
  // @ts-expect-error a name is not a tool
  void executor.invoke('add', { a: 1 })
})

test('an executor has ten members beside its calls and its queue', () => {
  type Members = Exclude<keyof ToolExecutor, symbol>
  expectTypeOf<Members>().toEqualTypeOf<
    | ('execute' | 'executeToolCalls' | 'stream' | 'invoke' | 'evaluate' | 'tools' | 'on')
    | ('artifacts' | 'session' | 'close')
    | ('calls' | 'queue')
  >()
})
