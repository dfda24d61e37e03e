import { createExecutor, type ToolCall } from 'toolwright'
import type { Found, Journal } from 'toolwright/records'
import { describe, expectTypeOf, test } from 'vitest'

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
  expectTypeOf<NonNullable<Awaited<ReturnType<Journal['read']>>>>().toEqualTypeOf<Found>()
})
