// The first test of a loop: its own, and in three frameworks. The page of tests shows the first of them.
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { createExecutor, tool, type Extension, type ToolExecutor } from 'toolwright'
import { aiSdk } from 'toolwright/formats/ai-sdk'
import { anthropic, type AnthropicMessage } from 'toolwright/formats/anthropic'
import { openai } from 'toolwright/formats/openai'
import { openaiResponses } from 'toolwright/formats/openai-responses'
import { aiSdkTools } from 'toolwright/frameworks/ai-sdk'
import { langchainTools } from 'toolwright/frameworks/langchain'
import { openaiAgentsTools } from 'toolwright/frameworks/openai-agents'
import { fakeTools, observe, script } from 'toolwright/testing'
import 'toolwright/testing/vitest'
import { describe, expect, test } from 'vitest'
import { z } from 'zod'
import { framework } from './_framework.ts'
import { missing } from './_installed.ts'

const { generateText, stepCountIs, streamText } = await framework(() => import('ai'))
const agents = await framework(() => import('@openai/agents'))
const { fakeModel } = await framework(() => import('@langchain/core/testing'))
const { createReactAgent } = await framework(() => import('@langchain/langgraph/prebuilt'))
const core = await framework(() => import('@langchain/core/tools'))
const { AIMessage, HumanMessage, ToolMessage } = await framework(() => import('@langchain/core/messages'))
const { OpenAIProvider, Agent, run, Runner, setTracingDisabled, tool: agentsTool } = agents
if (missing === undefined) setTracingDisabled(true)

const never = (): never => {
  throw new Error('The real one was asked.')
}
const tools = [
  tool({
    name: 'find_order',
    description: 'Finds an order',
    inputSchema: z.object({ id: z.string() }),
    handler: never,
  }),
  tool({ name: 'refund', description: 'Refunds', inputSchema: z.object({ order: z.string() }), handler: never }),
]

/** What an application exports for its tests: its executor, with further extensions, and its loop. */
const make = (use: readonly Extension[]): ToolExecutor => createExecutor({ tools, use })
async function agent(
  ask: (request: object) => Promise<AnthropicMessage>,
  executor: ToolExecutor,
  prompt: string,
): Promise<string> {
  const format = anthropic()
  const messages: object[] = [{ role: 'user', content: prompt }]
  for (;;) {
    const message = await ask({ messages: [...messages], tools: format.definitions(executor.tools()) })
    const calls = format.calls(message)
    const { content } = message as unknown as { content: { text?: string }[] }
    if (calls.length === 0) return content.map(({ text }) => text).join('')
    messages.push({ role: 'assistant', content }, format.results(await executor.executeToolCalls(calls), message))
  }
}

// first test: a loop of your own
test('refunds a late order', async () => {
  const executor = make([fakeTools({ find_order: { result: { late: true } }, refund: { result: 'refunded' } })])
  observe(executor)
  const turns = [
    { calls: [['find_order', { id: 'A-1' }]] },
    { calls: [['refund', { order: 'A-1' }]] },
    'Done.',
  ] as const
  expect(await agent(script(anthropic(), turns).next, executor, 'My parcel is late')).toBe('Done.')
  expect(executor).toHaveCalledInOrder('find_order', ['refund', { afterResult: true }])
  expect(executor).toHaveCalled('refund', { args: { order: 'A-1' }, effect: 'completed', times: 1 })
})
// end

describe.skipIf(missing !== undefined)('the first test', () => {
  // first test: AI SDK
  test('of the AI SDK', async () => {
    const executor = make([fakeTools({ refund: { result: 'refunded' } })])
    observe(executor)
    const model = script(aiSdk(), [{ calls: [['refund', { order: 'A-1' }]] }, 'Done.']).languageModel
    const bound = aiSdkTools({ executor, session: 'chat' })
    const { text } = await generateText({ model, ...bound, prompt: 'late', stopWhen: stepCountIs(5) })
    expect(text).toBe('Done.')
    expect(executor).toHaveCalled('refund', { args: { order: 'A-1' }, effect: 'completed', times: 1 })
  })
  // end

  // first test: OpenAI Agents
  test('of OpenAI Agents', async () => {
    const executor = make([fakeTools({ refund: { result: 'refunded' } })])
    observe(executor)
    const model = script(openaiResponses(), [{ calls: [['refund', { order: 'A-1' }]] }, 'Done.']).agentsModel
    const bound = openaiAgentsTools({ executor, session: 'run', tool: agentsTool })
    const { finalOutput } = await run(new Agent({ name: 'clerk', model, tools: bound.tools }), 'late')
    expect(finalOutput).toBe('Done.')
    expect(executor).toHaveCalled('refund', { args: { order: 'A-1' }, effect: 'completed', times: 1 })
  })
  // end

  // first test: LangGraph
  test('of LangGraph, whose core has a model of its own for tests', async () => {
    const executor = make([fakeTools({ refund: { result: 'refunded' } })])
    observe(executor)
    const bound = langchainTools({ executor, session: 'thread', core: { ...core, ToolMessage } })
    const llm = fakeModel()
      .respondWithTools([{ name: 'refund', args: { order: 'A-1' } }])
      .respond(new AIMessage('Done.'))
    const { messages } = await createReactAgent({ llm, tools: bound }).invoke({ messages: [new HumanMessage('late')] })
    expect(messages.at(-1)?.content).toBe('Done.')
    expect(executor).toHaveCalled('refund', { args: { order: 'A-1' }, effect: 'completed', times: 1 })
  })
  // end
})

describe.skipIf(missing !== undefined)('a script', () => {
  test('streams in the AI SDK', async () => {
    const executor = make([fakeTools({ refund: { result: 'refunded' } })])
    observe(executor)
    const long = 'x'.repeat(200_000)
    const model = script(aiSdk(), [{ text: 'I look.', calls: [['refund', { order: long }]] }, 'Done.']).languageModel
    const bound = aiSdkTools({ executor, session: 'chat' })
    const { text } = streamText({ model, ...bound, prompt: 'late', stopWhen: stepCountIs(5) })
    expect(await text).toBe('Done.')
    expect(executor).toHaveCalled('refund', { args: { order: long }, times: 1 })
  })

  test('streams in OpenAI Agents', async () => {
    const executor = make([fakeTools({ refund: { result: 'refunded' } })])
    observe(executor)
    const model = script(openaiResponses(), [{ calls: [['refund', { order: 'A-1' }]] }, 'Done.']).agentsModel
    const bound = openaiAgentsTools({ executor, session: 'run', tool: agentsTool })
    const result = await run(new Agent({ name: 'clerk', model, tools: bound.tools }), 'late', { stream: true })
    await result.completed
    expect(result.finalOutput).toBe('Done.')
    expect(executor).toHaveCalled('refund', { times: 1 })
  })

  test.each([
    ['responses, plainly', true, false],
    ['responses, streamed', true, true],
    ['completions, plainly', false, false],
    ['completions, streamed', false, true],
  ])('is behind the client of OpenAI Agents: %s', async (_title, useResponses, stream) => {
    const executor = make([fakeTools({ refund: { result: 'refunded' } })])
    observe(executor)
    const format = useResponses ? openaiResponses() : openai()
    const model = script(format as never, [{ calls: [['refund', { order: 'A-1' }]] }, 'Done.'])
    const bound = openaiAgentsTools({ executor, session: 'run', tool: agentsTool })
    const { default: OpenAI } = await import('openai')
    const openAIClient = new OpenAI({ apiKey: 'none', fetch: model.fetch, maxRetries: 0 })
    const runner = new Runner({
      modelProvider: new OpenAIProvider({ openAIClient: openAIClient as never, useResponses }),
    })
    const clerk = new Agent({ name: 'clerk', model: 'script', tools: bound.tools })
    const result = stream ? await runner.run(clerk, 'late', { stream }) : await runner.run(clerk, 'late')
    if ('completed' in result) await result.completed
    expect(result.finalOutput).toBe('Done.')
    expect(executor).toHaveCalled('refund', { args: { order: 'A-1' }, effect: 'completed', times: 1 })
    expect(model.left).toBe(0)
  })
})

describe('the first tests', () => {
  const source = readFileSync(import.meta.filename, 'utf8')
  const first = [...source.matchAll(/^ *\/\/ first test: (.+)\n([^]*?)\n *\/\/ end$/gm)].map(
    ([, name = '', code = '']) => [name, code] as const,
  )

  test('are four, of at most 12 lines each', () => {
    expect(first.map(([name]) => name)).toEqual(['a loop of your own', 'AI SDK', 'OpenAI Agents', 'LangGraph'])
    for (const [name, code] of first) expect(code.trim().split('\n').length, name).toBeLessThanOrEqual(12)
  })

  test.each(first)('are on the page: %s', (_name, code) => {
    // The page is JavaScript, and its lines break elsewhere.
    const plain = (text: string): string => text.replace(/ as const|\s+|,(?=\s*\])/g, '')
    const page = readFileSync(join(import.meta.dirname, '../../src/testing/README.md'), 'utf8')
    const [body = ''] = /(?<==> \{\n)[^]*(?=\n *\}\)$)/.exec(code) ?? []
    expect(body).not.toBe('')
    expect(plain(page).includes(plain(body))).toBe(true)
  })
})
