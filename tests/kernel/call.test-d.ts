import { content, createExecutor, shown, tool, type ToolCall, type ToolExecutor, type Evaluation } from 'toolwright'
import type { MarkedContent, MarkedJson } from 'toolwright/extension'
import type { FoundRecord, Journal } from 'toolwright/records'
import { describe, expectTypeOf, test } from 'vitest'
import { z } from 'zod'

const executor = createExecutor()

describe('a call', () => {
  test('is none if its args stand under the name of a provider or a protocol', () => {
    // @ts-expect-error a block of Anthropic has `input`
    void executor.execute({ id: 'toolu_1', name: 'pay', input: { cents: 1 } })
    // @ts-expect-error a call of MCP has `arguments`
    void executor.execute({ name: 'pay', arguments: { cents: 1 } })
    // @ts-expect-error and some have `parameters`
    void executor.stream({ name: 'pay', parameters: { cents: 1 } })
    const block = { type: 'tool_use', id: 'toolu_1', name: 'pay', input: { cents: 1 } }
    // @ts-expect-error also one that was not written here
    void executor.executeToolCalls([block])
    // @ts-expect-error a message is no array of calls
    void executor.executeToolCalls({ role: 'assistant', content: [block] })
    expectTypeOf<{ name: string; args: unknown }>().toExtend<ToolCall>()
    expectTypeOf<{ name: string }>().toExtend<ToolCall>()
  })
})

test('an author of a journal can name everything that it gives', () => {
  expectTypeOf<NonNullable<Awaited<ReturnType<Journal['read']>>>>().toEqualTypeOf<FoundRecord>()
})

test('an evaluated call is given the options of a call, and says one of three words', () => {
  expectTypeOf<ToolExecutor['evaluate']>().parameters.toEqualTypeOf<Parameters<ToolExecutor['execute']>>()
  expectTypeOf<Evaluation['decision']>().toEqualTypeOf<'allow' | 'ask' | 'deny' | 'invalid'>()
  void executor.execute({ name: 'pay' }, { requireApproval: true })
  // @ts-expect-error a call is held or not
  void executor.execute({ name: 'pay' }, { hold: 'maybe' })
})

test('what is shown beside a value is content, with the type of the value', () => {
  expectTypeOf(shown('three', { count: 3 })).toEqualTypeOf<MarkedContent & MarkedJson<{ count: number }>>()
  expectTypeOf(shown([{ type: 'text', text: 'three' }], null)).toExtend<ReturnType<typeof content>>()
  const outputSchema = z.object({ count: z.number() })
  const base = { name: 'count', description: 'Counts', outputSchema }
  void tool({ ...base, handler: () => shown('three', { count: 3 }) })
  // @ts-expect-error the value has to be what the schema says
  void tool({ ...base, handler: () => shown('three', { count: 'three' }) })
  // @ts-expect-error content is text or blocks
  shown(3, { count: 3 })
})
