// A client of an MCP server finds and calls thousands of tools that are not listed.
import { tool } from 'toolwright'
import { toolSearch } from 'toolwright/discovery/search'
import { describe, expect, test } from 'vitest'
import { connect, eras, start } from '../mcp/_server.ts'

const inputSchema = { type: 'object', properties: { id: { type: 'string' } }, required: ['id'] } as const
const weigh = tool({
  name: 'weigh_parcel',
  description: 'Weighs a parcel.',
  inputSchema,
  handler: () => ({ grams: 12 }),
})
const many = Array.from({ length: 5_000 }, (_, index) => tool(`count_${index}`, () => index))

describe.each(eras)('a client of the era %s', (_era, mode) => {
  test('lists three tools of 5,003, finds another, and calls it', async () => {
    const health = tool('health', () => 'well')
    const { url } = await start({ tools: [...many, weigh, health], use: [toolSearch({ always: ['health'] })] })
    const client = await connect(url, mode)
    const { tools } = await client.listTools()
    expect(tools.map(({ name }) => name)).toEqual(['health', 'tool_search', 'tool_call'])
    const search = { name: 'tool_search', arguments: { query: 'how heavy is a parcel', detail: 'schema', limit: 1 } }
    const found = await client.callTool(search)
    expect(found.content).toEqual([{ type: 'text', text: 'weigh_parcel: Weighs a parcel.\n  args: { id: string }' }])
    const call = { name: 'tool_call', arguments: { name: 'weigh_parcel', args: { id: 'p1' } } }
    expect((await client.callTool(call)).isError ?? false).toBe(false)
  })
})
