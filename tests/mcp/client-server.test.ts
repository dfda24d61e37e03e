// Our client and our server, one at each end, in both forms of the protocol.
import { createExecutor, ToolFailure, ToolRegistry, tool, type ToolExecutor } from 'toolwright'
import { mcpTools, type McpTools, type McpToolsOptions } from 'toolwright/mcp/client'
import { mcpServer } from 'toolwright/mcp/server'
import { describe, expect, onTestFinished, test } from 'vitest'
import { z } from 'zod'
import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client'
import { connect, define, until } from './_scripted.ts'

const forecast = tool({
  name: 'forecast',
  description: 'The weather of tomorrow',
  inputSchema: z.object({ city: z.string() }),
  outputSchema: z.object({ city: z.string(), degrees: z.number() }),
  traits: { readonly: true },
  handler: ({ city }) => ({ city, degrees: 21 }),
})

const wrapperSchema = { type: 'object', properties: { content: { type: 'string' } }, required: ['content'] }

interface Ends {
  readonly registry: ToolRegistry
  readonly server: McpTools
  readonly executor: ToolExecutor
}

describe.each(['2025-11-25', '2026-07-28'] as const)('over %s', (protocol) => {
  async function ends(tools: readonly { readonly name: string }[] = [], options: McpToolsOptions = {}): Promise<Ends> {
    const registry = new ToolRegistry([forecast, ...(tools as never[])])
    const listening = await mcpServer({ executor: createExecutor({ tools: registry }) }).listen({ port: 0 })
    onTestFinished(() => listening.close())
    const server = await mcpTools({ name: 'ours', url: listening.url, protocol, report: () => {}, ...options })
    onTestFinished(() => server.close())
    return { registry, server, executor: createExecutor({ use: [server] }) }
  }

  test('a result comes back as it was, checked at both ends', async () => {
    const { executor } = await ends()
    const result = await executor.execute({ name: 'forecast', args: { city: 'Oslo' } })
    expect(result).toMatchObject({ status: 'ok', content: [{ type: 'json', data: { city: 'Oslo', degrees: 21 } }] })
    expect((await executor.execute({ name: 'forecast', args: { city: 7 } })).error?.code).toBe('E_INVALID_TOOL_ARGS')
  })

  test('a text that a server wraps is passed on with its wrapper, for the schema of the tool', async () => {
    const scripted = await connect([define('answer', { outputSchema: wrapperSchema })])
    const registry = new ToolRegistry(scripted.server.tools())
    const listening = await mcpServer({ executor: createExecutor({ tools: registry }) }).listen({ port: 0 })
    onTestFinished(() => listening.close())
    const client = new Client({ name: 'raw', version: '1' })
    await client.connect(new StreamableHTTPClientTransport(new URL(listening.url)))
    onTestFinished(() => client.close())
    const result = { content: [{ type: 'text', text: 'one\ntwo' }], structuredContent: { content: 'one\ntwo' } }
    expect(await client.callTool({ name: 'answer', arguments: { result } })).toMatchObject(result)
  })

  test('the hints of a server of ours are hints all the same', async () => {
    const { server } = await ends()
    const [described] = server.tools()
    expect(described?.traits.readonly).toBe(false)
    expect(described?.meta).toMatchObject({ annotations: { readOnlyHint: true } })
  })

  test('a failure comes back in its words', async () => {
    const broken = tool('broken', () => {
      throw new ToolFailure('The barometer is broken.')
    })
    const { executor } = await ends([broken])
    const { status, content } = await executor.execute({ name: 'broken', args: {} })
    expect(status).toBe('error')
    expect(JSON.stringify(content)).toContain('The barometer is broken.')
  })

  test('progress comes over, and a call that is given up stops the handler there', async () => {
    let isStopped = false
    const slow = tool('slow', async function* (_input: object, { signal }) {
      signal.addEventListener('abort', () => (isStopped = true))
      yield 'begun'
      await new Promise((resolve) => setTimeout(resolve, 60_000).unref())
      return 'done'
    })
    const { executor } = await ends([slow])
    const heard: unknown[] = []
    executor.on('tool:progress', ({ data }) => heard.push(data))
    const controller = new AbortController()
    const pending = executor.execute({ name: 'slow', args: {} }, { signal: controller.signal })
    await until(() => heard.length > 0)
    controller.abort()
    expect(await pending).toMatchObject({ status: 'cancelled', effect: 'unknown' })
    await until(() => isStopped)
  })

  test('progress in numbers comes over as numbers alone', async () => {
    const slow = tool('slow', async function* () {
      yield { progress: 1, total: 3 }
      return 'done'
    })
    const { executor } = await ends([slow])
    const heard: unknown[] = []
    executor.on('tool:progress', ({ type, data }) => heard.push({ type, data }))
    expect((await executor.execute({ name: 'slow', args: {} })).status).toBe('ok')
    expect(heard).toEqual([{ type: 'progress', data: { progress: 1, total: 3 } }])
  })

  test('what the registry takes in and lets go of is heard here', async () => {
    const { registry, executor } = await ends()
    const undo = registry.add(tool('late', () => 'here'))
    const names = (): string[] => executor.tools().map(({ name }) => name)
    await until(() => names().includes('late'))
    expect((await executor.execute({ name: 'late', args: {} })).content).toEqual([{ type: 'text', text: 'here' }])
    undo()
    await until(() => !names().includes('late'))
  })

  test('a change is passed on to who is served in turn, until they are gone', async () => {
    const { registry, server, executor } = await ends()
    let changes = 0
    const undo = executor.on('tools:changed', () => changes++)
    const gateway = await mcpServer({ executor }).listen({ port: 0 })
    onTestFinished(() => gateway.close())
    const far = await mcpTools({ name: 'far', url: gateway.url, protocol, report: () => {} })
    onTestFinished(() => far.close())
    const names = (): string[] => far.tools().map(({ name }) => name)
    expect(names()).toEqual(['forecast'])
    registry.add(tool('late', () => 'here'))
    await until(() => names().includes('late'))
    expect(changes).toBeGreaterThan(0)
    undo()
    changes = 0
    await server.close()
    await until(() => names().length === 0)
    expect(changes).toBe(0)
  })

  test('a question of the server is answered by the host', async () => {
    const careful = tool({
      name: 'careful',
      description: 'Asks first',
      inputSchema: z.object({}),
      requiresConfirmation: true,
      handler: () => 'done',
    })
    const questions: string[] = []
    const { executor } = await ends([careful], {
      elicit: ({ message }) => {
        questions.push(message)
        return Promise.resolve({ action: 'decline' })
      },
    })
    const { status } = await executor.execute({ name: 'careful', args: {} })
    expect(status).toBe('error')
    expect(questions).toEqual([expect.stringContaining('careful')])
  })
})
