import { createExecutor, tool } from 'toolwright'
import { anthropic } from 'toolwright/formats/anthropic'
import { anthropicTools } from 'toolwright/frameworks/anthropic'
import { describe, expect, test } from 'vitest'
import { framework } from './_framework.ts'
import { missing } from './_installed.ts'
import { createKit } from './_kit.ts'

const { ToolError } = await framework(() => import('@anthropic-ai/sdk/lib/tools/ToolError'))
const { serverOf, resultIn } = await framework(() => import('./drivers/anthropic.ts'))

const params = { model: 'claude-test', max_tokens: 100, messages: [{ role: 'user' as const, content: 'go' }] }

describe.skipIf(missing !== undefined)('Anthropic’s tool runner', () => {
  test.each([false, true])('runs calls side by side, and marks failures (streaming: %s)', async (stream) => {
    const kit = createKit()
    const { client, requests, close } = await serverOf(
      { id: 'toolu_1', name: 'pay', args: { cents: 5 } },
      { id: 'toolu_2', name: 'fail', args: {} },
      { id: 'toolu_3', name: 'picture', args: {} },
    )
    const tools = anthropicTools({ executor: kit.executor, session: 'chat-1', ToolError })
    if (stream) {
      const runner = client.beta.messages.toolRunner({ ...params, tools, max_iterations: 3, stream: true })
      for await (const each of runner) await each.finalMessage()
    } else await client.beta.messages.toolRunner({ ...params, tools, max_iterations: 3 }).runUntilDone()
    close()
    expect(resultIn(requests, 'toolu_1')).toMatchObject({ content: '{"paid":5,"by":"unknown"}' })
    expect(resultIn(requests, 'toolu_2')).toMatchObject({
      is_error: true,
      content: expect.stringContaining('No such order') as string,
    })
    expect(JSON.stringify(resultIn(requests, 'toolu_3'))).toContain('"media_type":"image/png"')
    expect(kit.settled.map(({ id }) => String(id)).toSorted()).toEqual(['toolu_1', 'toolu_2', 'toolu_3'])
  })

  test('tells the model that a call waits; once it is decided, its result goes into a later message', async () => {
    const kit = createKit()
    const { client, requests, close } = await serverOf({ id: 'toolu_1', name: 'pay', args: { cents: 500 } })
    const tools = anthropicTools({ executor: kit.executor, session: 'chat-1', ToolError })
    await client.beta.messages.toolRunner({ ...params, tools, max_iterations: 3 }).runUntilDone()
    close()
    expect(resultIn(requests, 'toolu_1')).toMatchObject({
      content: expect.stringContaining('waits for approval') as string,
    })
    const [waiting] = await kit.executor.calls.waiting({ session: 'chat-1' })
    if (waiting === undefined) throw new Error('nothing waits')
    const result = await kit.executor.calls.decide(waiting, 'allow', { decidedBy: 'ada' })
    expect(anthropic().results([result])).toMatchObject({ content: [{ tool_use_id: 'toolu_1' }] })
    expect(kit.runs()).toEqual(['pay 500'])
  })

  test('sends the tools that Anthropic runs as their definitions', async () => {
    const search = tool({
      name: 'web_search',
      description: 'Searches',
      type: 'provider',
      providerOptions: { anthropic: { type: 'web_search_20250305', name: 'web_search' } },
    } as never)
    const { client, requests, close } = await serverOf()
    const tools = anthropicTools({ executor: createExecutor({ tools: [search] }), session: 's', ToolError })
    await client.beta.messages.toolRunner({ ...params, tools, max_iterations: 1 }).runUntilDone()
    close()
    expect(requests[0]?.tools).toEqual([{ type: 'web_search_20250305', name: 'web_search' }])
  })
})
