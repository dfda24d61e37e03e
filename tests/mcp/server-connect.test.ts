// Clients in this process, over a transport that the application has.
import { Client, InMemoryTransport } from '@modelcontextprotocol/client'
import { createExecutor, tool, type ToolContext, type ToolExecutor } from 'toolwright'
import { memoryJournal } from 'toolwright/journals/memory'
import { mcpServer, type McpServerOptions } from 'toolwright/mcp/server'
import { describe, expect, test } from 'vitest'
import { closing, textOf } from './_server.ts'

interface Counted {
  readonly executor: ToolExecutor
  readonly seen: { readonly session: string; readonly invocationId: string; readonly id: unknown }[]
}

function counting(): Counted {
  const seen: Counted['seen'] = []
  const work = tool('work', (_: unknown, { session, invocationId, toolUse }: ToolContext) => {
    seen.push({ session, invocationId, id: toolUse.toolUseId })
    return `run ${seen.length}`
  })
  const executor = createExecutor({ tools: [work], use: [memoryJournal()] })
  closing(() => executor.close())
  return { executor, seen }
}

async function connected(options: McpServerOptions, session?: string): Promise<Client> {
  const [near, far] = InMemoryTransport.createLinkedPair()
  await mcpServer(options).connect(near, session === undefined ? {} : { session })
  const client = new Client({ name: 'in process', version: '1.0.0' })
  await client.connect(far)
  closing(() => client.close())
  return client
}

describe('a server on a transport of the application', () => {
  test.each([undefined, 3000, { port: 3000 }])('says that it takes a transport, and not %o', async (transport) => {
    await expect(mcpServer({ executor: createExecutor() }).connect(transport as never)).rejects.toMatchObject({
      code: 'E_INVALID_CONFIGURATION',
      message: /^`connect` takes a transport of /,
    })
  })

  test('lists and runs the tools in a session of its own, or in that of the application', async () => {
    const { executor, seen } = counting()
    const one = await connected({ executor })
    expect((await one.listTools()).tools.map(({ name }) => name)).toEqual(['work'])
    expect(textOf(await one.callTool({ name: 'work' }))).toBe('run 1')
    const other = await connected({ executor }, 'chat-1')
    expect(textOf(await other.callTool({ name: 'work' }))).toBe('run 2')
    expect(seen.map(({ session }) => session)).toEqual([expect.stringMatching(/^mcp-/), 'chat-1'])
  })

  test('says when the client has gone, and closes the transport', async () => {
    const { executor } = counting()
    const [near, far] = InMemoryTransport.createLinkedPair()
    const { closed } = await mcpServer({ executor }).connect(near)
    await far.start()
    await far.close()
    await closed
    const [again, client] = InMemoryTransport.createLinkedPair()
    const connection = await mcpServer({ executor }).connect(again)
    let isGone = false
    // oxlint-disable-next-line unicorn/prefer-add-event-listener -- it is no event target
    client.onclose = () => (isGone = true)
    await connection.close()
    expect(isGone).toBe(true)
    await connection.closed
  })

  test('takes the id of a call, and the identity of its occurrence, from the request', async () => {
    const { executor, seen } = counting()
    const client = await connected(
      {
        executor,
        identify: (meta, { session }) => {
          const id = String(meta?.['framework/id'])
          return { id, invocationId: `${session}/${id}` }
        },
      },
      'chat-1',
    )
    const call = { name: 'work', _meta: { 'framework/id': 'toolu_1' } }
    expect(textOf(await client.callTool(call))).toBe('run 1')
    expect(textOf(await client.callTool(call))).toBe('run 1') // the same occurrence
    expect(textOf(await client.callTool({ name: 'work', _meta: { 'framework/id': 'toolu_2' } }))).toBe('run 2')
    expect(seen).toEqual([
      { session: 'chat-1', invocationId: 'chat-1/toolu_1', id: 'toolu_1' },
      { session: 'chat-1', invocationId: 'chat-1/toolu_2', id: 'toolu_2' },
    ])
  })

  test('answers with an error of its own if it cannot be identified', async () => {
    const { executor, seen } = counting()
    const reports: unknown[] = []
    const identify = (): never => {
      throw new Error('no id')
    }
    const client = await connected({ executor, identify, report: (error) => void reports.push(error) })
    await expect(client.callTool({ name: 'work' })).rejects.toThrow('Internal error')
    expect(reports).toMatchObject([{ message: 'no id' }])
    expect(seen).toEqual([])
  })
})
