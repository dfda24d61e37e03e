import {
  createExecutor,
  tool,
  type Extension,
  type ToolDefinition,
  type ToolEventOf,
  type ToolResult,
  type ToolType,
  type ToolTypes,
} from 'toolwright'
import type { Policy, ToolCallRecord } from 'toolwright/extension'
import { expectTypeOf, test } from 'vitest'

test('a bridge is a type of tools, and needs no handler', () => {
  expectTypeOf<ToolTypes>().toHaveProperty('bridge')
  expectTypeOf<'bridge'>().toExtend<ToolType>()
  const bridge = tool({ name: 'tool_call', description: 'Calls', type: 'bridge' })
  expectTypeOf(bridge.type).toEqualTypeOf<string>()
  // @ts-expect-error -- one that runs here needs a handler
  tool({ name: 'local', description: 'Runs', type: 'server' })
})

test('a result, a record and the first event say which bridge named the tool', () => {
  expectTypeOf<ToolResult['via']>().toEqualTypeOf<string | undefined>()
  expectTypeOf<ToolCallRecord['via']>().toEqualTypeOf<string | undefined>()
  expectTypeOf<ToolEventOf<'call:received'>['via']>().toEqualTypeOf<string | undefined>()
  // @ts-expect-error -- the others are those of the tool
  expectTypeOf<ToolEventOf<'tool:start'>['via']>().toBeNever()
})

test('the list of tools cannot be changed, and an extension chooses from it', () => {
  const tools = createExecutor().tools()
  expectTypeOf(tools).toEqualTypeOf<readonly ToolDefinition[]>()
  expectTypeOf(tools).not.toHaveProperty('push') // all callers share it
  expectTypeOf<ReturnType<NonNullable<Extension['offers']>>>().toEqualTypeOf<boolean>()
  expectTypeOf<Policy['names']>().toEqualTypeOf<readonly string[] | undefined>()
})
