import { createExecutor, outputsOf, tool, type Format, type ToolCall } from 'toolwright'
import { aiSdk } from 'toolwright/formats/ai-sdk'
import { anthropic } from 'toolwright/formats/anthropic'
import { gemini } from 'toolwright/formats/gemini'
import { mcp } from 'toolwright/formats/mcp'
import { openai } from 'toolwright/formats/openai'
import { openaiResponses } from 'toolwright/formats/openai-responses'
import { memoryJournal } from 'toolwright/journals/memory'
import { describe, expect, test } from 'vitest'
import { z } from 'zod'

const answer = tool({
  name: 'answer',
  description: 'Your final answer',
  type: 'output',
  inputSchema: z.object({
    city: z.string(),
    days: z.number().default(1),
    when: z
      .string()
      .transform((text) => new Date(text))
      .optional(),
  }),
})
const now = tool('now', () => '12:00')

/** A message of each format with some calls, and how many answers a reply has. */
const formats: readonly (readonly [Format, (calls: readonly ToolCall[]) => unknown, (reply: unknown) => unknown[]])[] =
  [
    [
      anthropic(),
      (calls) => ({
        role: 'assistant',
        content: calls.map(({ id, name, args }) => ({ type: 'tool_use', id, name, input: args })),
      }),
      (reply) => (reply as { content: unknown[] }).content,
    ],
    [
      openai(),
      (calls) => ({
        role: 'assistant',
        content: null,
        tool_calls: calls.map(({ id, name, args }) => ({
          id,
          type: 'function',
          function: { name, arguments: JSON.stringify(args) },
        })),
      }),
      (reply) => reply as unknown[],
    ],
    [
      openaiResponses(),
      (calls) =>
        calls.map(({ id, name, args }) => ({
          type: 'function_call',
          call_id: id,
          name,
          arguments: JSON.stringify(args),
        })),
      (reply) => reply as unknown[],
    ],
    [
      gemini(),
      (calls) => ({
        role: 'model',
        parts: calls.map(({ id, name, args }) => ({ functionCall: { id, name, args } })),
      }),
      (reply) => (reply as { parts: unknown[] }).parts,
    ],
    [
      aiSdk(),
      (calls) => ({
        role: 'assistant',
        content: calls.map(({ id, name, args }) => ({
          type: 'tool-call',
          toolCallId: id,
          toolName: name,
          input: args,
        })),
      }),
      (reply) => (reply as { content: unknown[] }).content,
    ],
  ]

describe.each(formats.map(([format, asking, answersIn]) => ({ name: format.name, format, asking, answersIn })))(
  'an answer by a tool, in $name',
  ({ format, asking, answersIn }) => {
    async function turn(calls: readonly ToolCall[]): Promise<{ outputs: unknown; reply: unknown[] }> {
      const message = asking(calls)
      const results = await createExecutor({ tools: [answer, now] }).executeToolCalls(format.calls(message))
      expect(answersIn(format.results(results))).toHaveLength(answersIn(format.results(results, message)).length)
      return { outputs: outputsOf(results), reply: answersIn(format.results(results, message)) }
    }

    test('is validated, collected by name, and ends the turn without a reply', async () => {
      const { outputs, reply } = await turn([{ id: 'a', name: 'answer', args: { city: 'Oslo' } }])
      expect(outputs).toEqual({ answer: [{ city: 'Oslo', days: 1 }] })
      expect(reply).toEqual([])
    })

    test('is told as recorded beside another call', async () => {
      const { outputs, reply } = await turn([
        { id: 'a', name: 'answer', args: { city: 'Oslo' } },
        { id: 'b', name: 'now', args: {} },
        { id: 'c', name: 'answer', args: { city: 'Bergen', days: 3 } },
      ])
      expect(outputs).toEqual({ answer: [{ city: 'Oslo', days: 1 }, { city: 'Bergen', days: 3 }] }) // prettier-ignore
      expect(reply.map((each) => /Recorded\.|12:00/.exec(JSON.stringify(each))?.[0])).toEqual([
        'Recorded.',
        '12:00',
        'Recorded.',
      ])
      expect(JSON.stringify(reply)).not.toContain('Oslo')
    })

    test('is an ordinary error if it does not fit, and the answer beside it is kept', async () => {
      const { outputs, reply } = await turn([
        { id: 'a', name: 'answer', args: { days: 2 } },
        { id: 'b', name: 'answer', args: { city: 'Oslo' } },
      ])
      expect(outputs).toEqual({ answer: [{ city: 'Oslo', days: 1 }] })
      expect(JSON.stringify(reply[0])).toMatch(/city/)
      expect(JSON.stringify(reply[1])).toContain('Recorded.')
    })

    test('is offered to the model like any tool', () => {
      expect(JSON.stringify(format.definitions([answer]))).toContain('Your final answer')
    })
  },
)

describe('an answer by a tool', () => {
  test('has the values that the schema returns, no effect, and the policies and events of every call', async () => {
    const seen: string[] = []
    const executor = createExecutor({
      tools: [answer],
      use: [
        {
          policies: [
            { name: 'watch', decide: ({ input }) => void seen.push(`asked ${Object.keys(input as object).join()}`) },
          ],
          observers: [({ event }) => void seen.push(event)],
        },
      ],
    })
    const result = await executor.execute({ name: 'answer', args: { city: 'Oslo', when: '2026-01-02' } })
    expect(result).toMatchObject({ status: 'ok', effect: 'none', content: [{ type: 'json' }] })
    expect(result.output).toEqual({ city: 'Oslo', days: 1, when: new Date('2026-01-02') })
    expect(seen).toEqual(['call:received', 'asked city,days,when', 'tool:start', 'tool:end', 'call:settled'])
  })

  test('is whole, if it is large, and if it looks like a failure of a handler', async () => {
    const any = tool({ name: 'answer', description: 'Any', type: 'output', inputSchema: { type: 'object' } })
    const executor = createExecutor({ tools: [any] })
    const large = { text: 'x'.repeat(200_000) }
    const looksFailed = { ok: false, error: 'no' }
    const results = await executor.executeToolCalls([
      { name: 'answer', args: large },
      { name: 'answer', args: looksFailed },
    ])
    expect(outputsOf(results)).toEqual({ answer: [large, looksFailed] })
    expect(results[0]).toMatchObject({ content: [{ type: 'json', data: large }] })
    expect(results[0]).not.toHaveProperty('handle')
  })

  test('waits for a person if it has to, and is the same in the record', async () => {
    const asked = tool({
      name: 'answer',
      description: 'Your final answer',
      type: 'output',
      inputSchema: z.object({ city: z.string() }),
      requiresConfirmation: true,
    })
    const executor = createExecutor({ tools: [asked], use: [memoryJournal()] })
    const call = { name: 'answer', args: { city: 'Oslo' } }
    const options = { session: 's', invocationId: 'inv_1' }
    const paused = await executor.execute(call, options)
    expect(outputsOf([paused])).toEqual({})
    const allowed = await executor.calls.decide(paused.token!, 'allow')
    const again = await executor.execute(call, options)
    for (const result of [allowed, again]) expect(outputsOf([result])).toEqual({ answer: [{ city: 'Oslo' }] })
  })

  test('hides its secrets', async () => {
    const secret = tool({
      name: 'answer',
      description: 'Your final answer',
      type: 'output',
      inputSchema: { type: 'object' },
      secrets: ['/pin'],
    })
    const result = await createExecutor({ tools: [secret] }).execute({ name: 'answer', args: { pin: '1234567' } })
    expect(JSON.stringify(result)).not.toContain('1234567')
    expect(outputsOf([result])).toEqual({ answer: [{ pin: '[secret]' }] })
  })

  test('may have any name, and other tools give no outputs', async () => {
    const odd = tool({ name: '__proto__', description: 'Odd', type: 'output', inputSchema: { type: 'object' } })
    const results = await createExecutor({ tools: [odd, now] }).executeToolCalls([
      { name: '__proto__', args: { a: 1 } },
      { name: 'now', args: {} },
      { name: 'unknown', args: {} },
    ])
    const outputs = outputsOf(results)
    expect(Object.entries(outputs)).toEqual([['__proto__', [{ a: 1 }]]])
  })

  test('is answered to a client of the Model Context Protocol, which waits for it', async () => {
    const request = {
      jsonrpc: '2.0',
      id: 1,
      method: 'tools/call',
      params: { name: 'answer', arguments: { city: 'Oslo' } },
    }
    const results = await createExecutor({ tools: [answer] }).executeToolCalls(mcp().calls(request))
    expect(mcp().results(results, request)).toMatchObject({ id: 1, result: { structuredContent: { city: 'Oslo' } } })
  })
})
