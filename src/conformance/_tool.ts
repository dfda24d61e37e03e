import { createExecutor, tool, type Extension, type Tool, type ToolContext, type ToolResult } from '../index.ts'

/** What a test runs as a tool. */
export type TestHandler = (input: never, context: ToolContext) => unknown

/** Makes a tool that takes any object. `options` are those of `tool`. */
export function testTool(handler: TestHandler, options: object = {}): Tool {
  return tool({
    name: 'work',
    description: 'Does what the test says',
    inputSchema: { type: 'object' },
    handler,
    ...options,
  } as never)
}

/** Calls a tool once, with extensions. */
export async function runTool(
  use: readonly Extension[],
  handler: TestHandler,
  options: object = {},
): Promise<ToolResult> {
  return createExecutor({ tools: [testTool(handler, options)], use }).execute({ name: 'work', args: { a: 1 } })
}
