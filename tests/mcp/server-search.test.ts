// A server that lists few of its tools, and lets clients call all of them.
import { createExecutor, tool, ToolRegistry, type Extension, type Tool } from 'toolwright'
import { mcpTools } from 'toolwright/mcp/client'
import { describe, expect, test } from 'vitest'
import { z } from 'zod'
import { closing, connect, eras, start, textOf } from './_server.ts'

const many = Array.from({ length: 5_000 }, (_, index) => tool(`tool_${index}`, () => index))
const weigh = tool({
  name: 'weigh_parcel',
  description: 'Weighs a parcel',
  inputSchema: z.object({ id: z.string() }),
  outputSchema: z.object({ grams: z.int() }),
  handler: () => ({ grams: 12 }),
})
const health = tool('health', () => 'well')
const bridge = tool({
  name: 'tool_call',
  description: 'Calls a tool',
  type: 'bridge',
  inputSchema: { type: 'object', properties: { name: { type: 'string' }, args: {} }, required: ['name', 'args'] },
})
const own: readonly Tool[] = [bridge]
const few: Extension = { tools: () => own, offers: ({ name }) => name === 'health' || name === 'tool_call' }

const through = (name: string, args: unknown): { name: string; arguments: Record<string, unknown> } => ({
  name: 'tool_call',
  arguments: { name, args },
})

/** Lets a notification arrive, which a later one follows on the same connection. */
const soon = (): Promise<void> => new Promise((resolve) => setTimeout(resolve, 100))

describe.each(eras)('a server of the era %s that lists 2 of 5,003 tools', (_era, mode) => {
  test('runs the tool that a bridge names, with its structured content', async () => {
    const events: string[] = []
    const observing: Extension = { observers: [({ event, toolName }) => void events.push(`${event} ${toolName}`)] }
    const { url } = await start({ tools: [...many, weigh, health], use: [few, observing] })
    const client = await connect(url, mode)
    expect((await client.listTools()).tools.map(({ name }) => name)).toEqual(['health', 'tool_call'])
    const weighed = await client.callTool(through('weigh_parcel', { id: 'p1' }))
    expect(weighed).toMatchObject({ structuredContent: { grams: 12 } })
    expect(events).toEqual(['received', 'start', 'end', 'settled'].map((each) => {
      return `${each === 'start' || each === 'end' ? 'tool' : 'call'}:${each} weigh_parcel`
    })) // prettier-ignore
    const wrong = await client.callTool(through('weigh_parcel', { idd: 'p1' }))
    expect([wrong.isError, textOf(wrong)]).toEqual([
      true,
      expect.stringContaining('The args of weigh_parcel fit this schema: {'),
    ])
    const unknown = await client.callTool(through('no_such_tool', {}))
    expect([unknown.isError, textOf(unknown)]).toEqual([
      true,
      expect.stringContaining('There is no tool "no_such_tool"'),
    ])
    expect(textOf(await client.callTool({ name: 'tool_7', arguments: {} }))).toBe('7') // known by its name
  })

  test('tells of a change of what it lists, and of nothing else', async () => {
    const registry = new ToolRegistry([weigh, health])
    const { url } = await start({ tools: registry, use: [few] })
    let changes = 0
    const onChanged = (): void => void changes++
    const client = await connect(url, mode, {
      listChanged: { tools: { onChanged, autoRefresh: false, debounceMs: 0 } },
    })
    await client.listTools()
    registry.add(tool('later', () => 'here'))
    registry.remove('weigh_parcel')
    await soon()
    expect(changes).toBe(0)
    expect(textOf(await client.callTool(through('later', {})))).toBe('here')
    registry.remove('health')
    await expect.poll(() => changes).toBe(1)
  })
})

test('our client sees the few tools of such a server, and calls the others through its bridge', async () => {
  const { url } = await start({ tools: [...many, weigh, health], use: [few] })
  const client = createExecutor({ use: [await mcpTools({ name: 'big', url })] })
  closing(() => client.close())
  expect(client.tools()).toHaveLength(2)
  const called = client.tools().find(({ name }) => name.endsWith('tool_call'))?.name ?? ''
  const result = await client.execute({ name: called, args: { name: 'weigh_parcel', args: { id: 'p1' } } })
  // For this executor it is one tool of a server: only the server knows that it is a bridge.
  expect(result).toMatchObject({ status: 'ok', toolName: called, value: { grams: 12 } })
  expect(result).not.toHaveProperty('via')
})
