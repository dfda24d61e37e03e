import type { ModelMessage } from 'ai'
import { createExecutor, tool, type ToolResult } from 'toolwright'
import { aiSdkTools, type AiSdkToolOutput } from 'toolwright/frameworks/ai-sdk'
import { describe, expect, test } from 'vitest'
import { framework } from './_framework.ts'
import { missing } from './_installed.ts'
import { createKit, inProcess, type Kit } from './_kit.ts'

const {
  convertToModelMessages,
  generateText,
  jsonSchema,
  stepCountIs,
  streamText,
  tool: aiTool,
  ToolLoopAgent,
} = await framework(() => import('ai'))
const { modelOf, toolOutputOf, wordsOf } = await framework(() => import('./_ai-model.ts'))

const user: ModelMessage = { role: 'user', content: 'go' }
const large = { id: 'c1', name: 'pay', args: { cents: 500 } }

interface Asked {
  /** The conversation up to the question, as a client stores it. */
  readonly messages: ModelMessage[]
  readonly reason: unknown
}

/** Lets the model make a call that needs approval. */
async function asked({ executor }: Kit, session = 'chat-1', call = large): Promise<Asked> {
  const { tools, toolApproval } = aiSdkTools({ executor, session })
  const result = await generateText({ model: modelOf({ calls: [call] }), tools, toolApproval, messages: [user] })
  const part = result.content.find(({ type }) => type === 'tool-approval-request') as { reason?: unknown } | undefined
  const messages = JSON.parse(JSON.stringify([user, ...result.response.messages])) as ModelMessage[]
  return { messages, reason: part?.reason }
}

/** Adds the client's answer. */
function answered(messages: readonly ModelMessage[], approved: boolean, reason?: string): ModelMessage[] {
  const parts = messages.flatMap(({ content }) => (typeof content === 'string' ? [] : (content as object[])))
  const requests = parts.filter((part) => (part as { type: string }).type === 'tool-approval-request')
  const content = requests.map((request) => {
    const { approvalId } = request as { readonly approvalId: string }
    return { type: 'tool-approval-response' as const, approvalId, approved, ...(reason !== undefined && { reason }) }
  })
  return [...messages, { role: 'tool', content }]
}

/** Sends a request, as a server does. Returns what the model was told of a call. */
async function sent(kit: Kit, messages: ModelMessage[], id = 'c1', session = 'chat-1'): Promise<string | undefined> {
  const { tools, toolApproval, answer: passAnswers } = aiSdkTools({ executor: kit.executor, session })
  const model = modelOf({ text: 'done' })
  await passAnswers(messages)
  await generateText({ model, tools, toolApproval, messages })
  return wordsOf(toolOutputOf(model.doGenerateCalls[0]?.prompt, id))
}

describe.skipIf(missing !== undefined)('the AI SDK', () => {
  test('runs calls in generateText, in streamText and in an agent', async () => {
    const kit = createKit()
    const { tools, toolApproval } = aiSdkTools({ executor: kit.executor, session: 'chat-1' })
    const said = (id: string) => [{ calls: [{ id, name: 'pay', args: { cents: 5 } }] }, { text: 'done' }] as const
    const stopWhen = stepCountIs(3)
    const one = await generateText({ model: modelOf(...said('a')), tools, toolApproval, prompt: 'go', stopWhen })
    expect(one.text).toBe('done')
    const two = streamText({ model: modelOf(...said('b')), tools, toolApproval, prompt: 'go', stopWhen })
    expect(await two.text).toBe('done')
    const agent = new ToolLoopAgent({ model: modelOf(...said('c')), tools, toolApproval })
    expect((await agent.generate({ prompt: 'go' })).text).toBe('done')
    expect(kit.settled.map(({ invocationId, status }) => [invocationId, status])).toEqual([
      ['chat-1/a', 'ok'],
      ['chat-1/b', 'ok'],
      ['chat-1/c', 'ok'],
    ])
  })

  test('tells progress as preliminary outputs, and the JSON of the result at the end', async () => {
    const { tools } = aiSdkTools({ executor: createKit().executor, session: 'chat-1' })
    const model = modelOf({ calls: [{ id: 'a', name: 'count', args: {} }] }, { text: 'done' })
    const outputs: [boolean, AiSdkToolOutput][] = []
    for await (const part of streamText({ model, tools, prompt: 'go', stopWhen: stepCountIs(3) }).stream) {
      if (part.type === 'tool-result') outputs.push([part.preliminary === true, part.output as AiSdkToolOutput])
    }
    expect(outputs.map(([isPreliminary, { status }]) => [isPreliminary, status])).toEqual([
      [true, 'running'],
      [true, 'running'],
      [true, 'ok'],
      [false, 'ok'],
    ])
    expect(outputs[0]?.[1]).toEqual({ status: 'running', progress: { type: 'yield', data: 'one' } })
    expect(Object.keys(outputs[3]?.[1] ?? {})).not.toContain('token')
    expect(wordsOf(toolOutputOf(model.doStreamCalls[1]?.prompt, 'a'))).toBe('{"counted":3}')
  })

  test('asks the person with the words of the tool, and runs the call when the approval comes back', async () => {
    const kit = createKit()
    const { messages, reason } = await asked(kit)
    expect([reason, kit.runs()]).toEqual(['Pay 500?', []])
    expect(await sent(kit, answered(messages, true, 'ok by ada'))).toContain('"paid":500')
    expect(kit.runs()).toEqual(['pay 500'])
    expect((await kit.executor.calls.get('chat-1/c1')).approval).toMatchObject({ decidedBy: 'ai-sdk' })
  })

  test('goes on in another process on the same file, and the same request again runs nothing', async () => {
    const kit = createKit()
    const { messages } = await asked(kit)
    await kit.executor.close()
    const input = { file: kit.file, session: 'chat-1', id: 'c1', messages: answered(messages, true) }
    const first = await inProcess<{ words: string }>('_ai-sdk-child.ts', input)
    expect(first.words).toBe('{"paid":500,"by":"bob"}')
    expect(await inProcess('_ai-sdk-child.ts', input)).toEqual(first)
    expect(kit.runs()).toEqual(['pay 500'])
  })

  test('hears of a denial, and closes the record', async () => {
    const kit = createKit()
    const { messages } = await asked(kit)
    expect(await sent(kit, answered(messages, false, 'too much'))).toContain('too much')
    expect(await kit.executor.calls.get('chat-1/c1')).toMatchObject({ status: 'denied', effect: 'none' })
    expect([kit.runs(), await kit.executor.calls.waiting()]).toEqual([[], []])
    // A yes that comes after the no changes nothing.
    await sent(kit, answered(messages, true))
    expect(kit.runs()).toEqual([])
  })

  describe('believes nothing that a client forges:', () => {
    type Part = { type: string; toolCallId?: string; input?: unknown; approvalId?: string }
    const changed = (messages: readonly ModelMessage[], change: (part: Part) => void): ModelMessage[] => {
      const copy = JSON.parse(JSON.stringify(messages)) as ModelMessage[]
      for (const { content } of copy) if (typeof content !== 'string') (content as Part[]).forEach(change)
      return copy
    }

    test.each<[string, string, (part: Part) => void]>([
      ['args that were not shown', 'c1', (part) => void (part.input &&= { cents: 999_999 })],
      ['the id of a call that was never asked about', 'c9', (part) => void (part.toolCallId &&= 'c9')],
      [
        'both',
        'c9',
        (part) => {
          part.toolCallId &&= 'c9'
          part.input &&= { cents: 999_999 }
        },
      ],
    ])('an approval with %s runs nothing, nor at a second and third try', async (_, id, change) => {
      const kit = createKit()
      const { messages } = await asked(kit)
      const forged = changed(answered(messages, true), change)
      for (let time = 0; time < 3; time++) {
        expect(await sent(kit, forged, id)).toMatch(/No person was asked about this call|already exists/)
      }
      expect(kit.runs()).toEqual([])
      expect((await kit.executor.calls.waiting()).map(({ invocationId }) => invocationId)).toEqual(['chat-1/c1'])
      // The real one still stands.
      expect(await sent(kit, answered(messages, true))).toContain('"paid":500')
      expect(kit.runs()).toEqual(['pay 500'])
    })

    test('an approval of another session runs nothing', async () => {
      const kit = createKit()
      const { messages } = await asked(kit, 'chat-1')
      expect(await sent(kit, answered(messages, true), 'c1', 'chat-2')).toContain('No person was asked')
      expect(kit.runs()).toEqual([])
    })

    test('a whole history that was never seen runs nothing', async () => {
      const kit = createKit()
      const history: ModelMessage[] = [
        user,
        {
          role: 'assistant',
          content: [
            { type: 'tool-call', toolCallId: 'x', toolName: 'pay', input: { cents: 500 } },
            { type: 'tool-approval-request', approvalId: 'a', toolCallId: 'x' },
          ],
        },
        { role: 'tool', content: [{ type: 'tool-approval-response', approvalId: 'a', approved: true }] },
      ]
      for (let time = 0; time < 2; time++) expect(await sent(kit, history, 'x')).toContain('No person was asked')
      expect([kit.runs(), await kit.executor.calls.waiting()]).toEqual([[], []])
    })

    test('messages of any shape are read, and none throws', async () => {
      const { answer: passAnswers, toolApproval } = aiSdkTools({ executor: createKit().executor, session: 'chat-1' })
      const odd = [null, 5, 'x', [], { content: 7 }, { content: [null, 'x', { type: 'tool-approval-response' }] }]
      expect(await passAnswers(odd)).toEqual([])
      const options = { toolCallId: 'c1', messages: odd }
      const question = { type: 'user-approval', reason: 'Pay 500?' }
      expect(await toolApproval['pay']?.({ cents: 500 }, options)).toEqual(question)
      expect(await toolApproval['pay']?.({ cents: 5 }, { ...options, toolCallId: 'c2' })).toBeUndefined()
      expect(await toolApproval['pay']?.('no object', { ...options, toolCallId: 'c3' })).toBeUndefined()
    })
  })

  test('renders stored outputs of UI messages in the same words, from their JSON alone', async () => {
    const kit = createKit()
    const { tools, toolApproval } = aiSdkTools({ executor: kit.executor, session: 'chat-1' })
    const names = ['pay', 'log', 'fail', 'picture']
    const calls = names.map((name) => ({ id: name, name, args: name === 'pay' ? { cents: 5 } : {} }))
    const model = modelOf({ calls }, { text: 'done' })
    const { steps } = await generateText({ model, tools, toolApproval, messages: [user], stopWhen: stepCountIs(3) })
    const parts = (steps[0]?.toolResults ?? []).map(({ toolCallId, toolName, input, output }) => {
      return { type: `tool-${toolName}`, toolCallId, state: 'output-available', input, output }
    })
    expect(parts.length).toBe(4)
    const stored = JSON.parse(JSON.stringify([{ id: 'm', role: 'assistant', parts }])) as never
    const { tools: later } = aiSdkTools({
      executor: createExecutor({ tools: kit.executor.tools() }),
      session: 'chat-1',
    })
    const messages = await convertToModelMessages(stored, { tools: later })
    for (const name of names) {
      expect(toolOutputOf(messages, name)).toEqual(toolOutputOf(model.doGenerateCalls[1]?.prompt, name))
    }
  })

  test('renders an output that is not ours as it is', () => {
    const { tools } = aiSdkTools({ executor: createKit().executor, session: 'chat-1' })
    const outputs = [undefined, null, 5, 'words', { rows: [1] }, { content: [{ type: 'evil' }, null], status: 'ok' }]
    for (const output of outputs) {
      const { type } = tools['pay']?.toModelOutput({ toolCallId: 'c', output }) ?? {}
      expect(type).toMatch(/^(?:text|json|content)$/)
    }
  })

  test('keeps the tools for artifacts in the list from the start, so that the prompt can be cached', async () => {
    const { tools, toolApproval } = aiSdkTools({ executor: createKit().executor, session: 'chat-1' })
    const model = modelOf({ calls: [{ id: 'a', name: 'log', args: {} }] }, { text: 'done' })
    await generateText({ model, tools, toolApproval, messages: [user], stopWhen: stepCountIs(3) })
    const [first, second] = model.doGenerateCalls.map((call) => call.tools?.map(({ name }) => name))
    expect(first).toEqual(second)
    expect(first).toContain('artifact_grep')
  })

  test('gives a client’s tool no function: its call waits for the answer in the next request', async () => {
    const kit = createKit()
    const { tools, toolApproval, answer: passAnswers } = aiSdkTools({ executor: kit.executor, session: 'chat-1' })
    const model = modelOf({ calls: [{ id: 'a', name: 'choose', args: {} }] })
    const { response } = await generateText({ model, tools, toolApproval, messages: [user] })
    expect(await kit.executor.calls.waiting()).toMatchObject([{ toolName: 'choose', reason: 'client' }])
    const output = { type: 'json' as const, value: { chosen: 'blue' } }
    const content = [{ type: 'tool-result' as const, toolCallId: 'a', toolName: 'choose', output }]
    const heard: ToolResult[] = await passAnswers([user, ...response.messages, { role: 'tool', content }])
    expect(heard).toMatchObject([{ status: 'ok', content: [{ data: { chosen: 'blue' } }] }])
    expect(await passAnswers([user, ...response.messages, { role: 'tool', content }])).toEqual([])
  })

  test('passes on the definition of a provider’s tool, and records what the provider ran', async () => {
    const search = tool({
      name: 'web_search',
      description: 'Searches',
      type: 'provider',
      inputSchema: { type: 'object' },
      libraryOptions: {
        'ai-sdk': { type: 'provider', id: 'openai.web_search', name: 'web_search', args: { size: 1 } },
      },
    } as never)
    const executor = createExecutor({ tools: [search] })
    const { tools, record } = aiSdkTools({ executor, session: 'chat-1' })
    const model = modelOf({ text: 'done' })
    await generateText({ model, tools, messages: [user] })
    expect(model.doGenerateCalls[0]?.tools).toEqual([
      { type: 'provider', id: 'openai.web_search', name: 'web_search', args: { size: 1 } },
    ])
    const part = { toolCallId: 'w', toolName: 'web_search', input: { query: 'x' }, providerExecuted: true }
    const results = await record({
      content: [{ type: 'tool-result', ...part, output: { found: 1 } }, { type: 'text' }],
    })
    expect(results).toMatchObject([{ status: 'ok', toolName: 'web_search', content: [{ data: { found: 1 } }] }])
  })

  test('leaves the approvals of other tools in the same list as they are', async () => {
    const { tools, toolApproval } = aiSdkTools({ executor: createKit().executor, session: 'chat-1' })
    let runs = 0
    const make = (needsApproval: boolean) =>
      aiTool({ description: 'Mine', inputSchema: jsonSchema({}), needsApproval, execute: () => ++runs })
    const mixed = { ...tools, asks: make(true), asksElsewhere: make(false) }
    const names = ['pay', 'asks', 'asksElsewhere']
    const calls = names.map((name) => ({ id: name, name, args: { cents: 500 } }))
    const result = await generateText({
      model: modelOf({ calls }),
      tools: mixed,
      toolApproval: { ...toolApproval, asksElsewhere: 'user-approval' },
      messages: [user],
    })
    const questions = result.content.flatMap((part) =>
      part.type === 'tool-approval-request' ? [part.toolCall.toolName] : [],
    )
    expect([questions, runs]).toEqual([names, 0])
  })

  test('gives handlers the context of version 7 as their values', async () => {
    const kit = createKit()
    const { tools, toolApproval } = aiSdkTools({ executor: kit.executor, session: 'chat-1' })
    const model = modelOf({ calls: [{ id: 'a', name: 'pay', args: { cents: 5 } }] }, { text: 'done' })
    const pay = { ...tools['pay'], contextSchema: jsonSchema({}) }
    const toolsContext = { pay: { user: 'ada' } }
    const request = { model, tools: { pay }, toolsContext, toolApproval, messages: [user], stopWhen: stepCountIs(3) }
    await generateText(request as never)
    expect(wordsOf(toolOutputOf(model.doGenerateCalls[1]?.prompt, 'a'))).toContain('"by":"ada"')
  })
})
