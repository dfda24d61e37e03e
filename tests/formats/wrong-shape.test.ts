import { createExecutor, tool, type Format } from 'toolwright'
import { aiSdk } from 'toolwright/formats/ai-sdk'
import { anthropic } from 'toolwright/formats/anthropic'
import { gemini } from 'toolwright/formats/gemini'
import { mcp } from 'toolwright/formats/mcp'
import { openai } from 'toolwright/formats/openai'
import { openaiResponses } from 'toolwright/formats/openai-responses'
import { describe, expect, test } from 'vitest'
import { messages } from './_messages.ts'

const formats: readonly Format[] = [anthropic(), openai(), openaiResponses(), gemini(), aiSdk(), mcp()]
const chat = formats.filter(({ name }) => name !== 'gemini' && name !== 'mcp')

/** What a format says of a message: the calls that it reads, or its words. */
function said(format: Format, message: unknown): unknown {
  try {
    return format.calls(message)
  } catch (error) {
    expect(error).toMatchObject({ code: 'E_INVALID_CONFIGURATION' })
    return (error as Error).message
  }
}

const table = Object.entries(messages).flatMap(([owner, all]) =>
  all.flatMap(({ title, message, calls }) => formats.map((format) => ({ owner, title, message, calls, format }))),
)

describe('a message of one format in another', () => {
  test.each(table)('$format.name reads a message of $owner: $title', ({ owner, message, calls, format }) => {
    const words = said(format, message)
    if (format.name === owner) expect(words).toEqual(calls)
    else if (calls.length > 0) {
      expect(words).toMatch(
        new RegExp(
          `^The format ${format.name} reads no calls in this: it looks like .*\\. Use the format ${owner}\\.$`,
        ),
      )
    } else if (chat.includes(format) && JSON.stringify(message).startsWith('{"role":"assistant","content":')) {
      expect(words).toEqual([]) // text alone, which all of these have in this form
    } else expect(words).toMatch(/^The format /)
  })
})

const choice = { index: 0, message: { role: 'assistant', content: 'Hi', tool_calls: [] }, finish_reason: 'stop' }
const aStream = { [Symbol.asyncIterator]: () => ({ next: () => Promise.resolve({ done: true, value: 1 }) }) }

const wrong: readonly (readonly [title: string, message: unknown, words: RegExp])[] = [
  ['null', null, /it is null\. Pass /],
  ['undefined', undefined, /it is undefined\. Pass /],
  ['an empty object', {}, /it is an object without fields\. Pass /],
  ['text', '{"role":"assistant"}', /it is text\. Pass /],
  ['a number', 7, /it is a number\. Pass /],
  ['an array of nothing', [null], /an array whose first item is null\. Pass /],
  ['an object of another kind', { answer: 42, more: [] }, /it is an object with "answer", "more"\. Pass /],
  ['a promise', Promise.resolve({ role: 'assistant', content: 'Hi' }), /a promise\. Await it\.$/],
  ['a response of fetch', new Response('{}'), /a response of `fetch`\. Pass `await response\.json\(\)`\.$/],
  ['a stream', aStream, /a stream\. Wait for the end of the stream, and pass the finished message\.$/],
  ['a body', new ReadableStream(), /a stream\. Wait /],
  ['a choice', choice, /a choice of a chat completion\. Pass its `message` to the format openai\.$/],
  ['the choices', [choice], /a choice of a chat completion\. Pass its `message` /],
  ['a candidate', messageOf('gemini', 0, 'candidates', 0), /a candidate of Gemini\. Pass its `content` /],
  [
    'a chunk of a chat completion',
    {
      id: 'chatcmpl-1',
      object: 'chat.completion.chunk',
      choices: [{ index: 0, delta: { role: 'assistant', tool_calls: [{ index: 0, id: 'call_1' }] } }],
    },
    /a chunk of a chat completion\. Wait .* to the format openai\.$/,
  ],
  [
    'an event of a Responses stream',
    { type: 'response.function_call_arguments.delta', item_id: 'fc_1', delta: '{' },
    /an event of a Responses stream\. .* to the format openai-responses\.$/,
  ],
  [
    'an event of an Anthropic stream',
    {
      type: 'content_block_start',
      index: 1,
      content_block: { type: 'tool_use', id: 'toolu_1', name: 'now', input: {} },
    },
    /an event of an Anthropic stream\. .* to the format anthropic\.$/,
  ],
  [
    'a part of an AI SDK stream',
    { type: 'tool-input-delta', id: 'call_1', delta: '{' },
    /a part of an AI SDK stream\. Pass `await result\.toolCalls` to the format ai-sdk\.$/,
  ],
  [
    'a UI message',
    { id: 'm1', role: 'assistant', parts: [{ type: 'tool-now', toolCallId: 'call_1', state: 'input-available' }] },
    /a UI message of the AI SDK\. Convert it with `convertToModelMessages`, and use the format ai-sdk\.$/,
  ],
  [
    'an error of a provider',
    { type: 'error', error: { type: 'overloaded_error', message: 'Overloaded' } },
    /an error of the provider\. Handle it /,
  ],
  [
    'a call of this package',
    { id: 'a', name: 'now', args: {} },
    /a call that a format has read\. Pass it to the executor\.$/,
  ],
]

describe('what is no message', () => {
  test.each(wrong)('%s is told from a message without calls by every format', (_, message, words) => {
    for (const format of formats) expect(said(format, message)).toMatch(words)
  })

  test('an object that cannot be listed is told too', () => {
    const refusing = new Proxy({}, { ownKeys: () => { throw new Error('not for you') } }) // prettier-ignore
    for (const format of formats) expect(said(format, refusing)).toMatch(/an object without fields/)
  })

  test('the words repeat little of a large object', () => {
    const large = Object.fromEntries(Array.from({ length: 10_000 }, (_, index) => [`${'x'.repeat(999)}${index}`, 1]))
    for (const format of formats) expect(String(said(format, large)).length).toBeLessThan(500)
  })
})

const empty: readonly (readonly [format: string, title: string, message: unknown])[] = [
  [
    'anthropic',
    'a response without blocks',
    { type: 'message', role: 'assistant', content: [], stop_reason: 'end_turn' },
  ],
  ['anthropic', 'a block of a kind that is new', { role: 'assistant', content: [{ type: 'daydream', clouds: 3 }] }],
  ['openai', 'a refusal', { role: 'assistant', content: null, refusal: 'No.' }],
  ['openai', 'a completion without choices', { object: 'chat.completion', choices: [] }],
  ['openai', 'an answer in sound', { role: 'assistant', content: null, audio: { id: 'audio_1' }, tool_calls: [] }],
  ['openai-responses', 'a failed response', { object: 'response', status: 'failed', error: { code: 'x' }, output: [] }],
  ['openai-responses', 'an item of a kind that is new', [{ type: 'daydream', clouds: 3 }]],
  ['gemini', 'a blocked prompt', { promptFeedback: { blockReason: 'SAFETY' } }],
  [
    'gemini',
    'a candidate that was cut off',
    { candidates: [{ content: { role: 'model' }, finishReason: 'MAX_TOKENS' }] },
  ],
  ['gemini', 'the last chunk of a stream', [{ usageMetadata: { totalTokenCount: 7 } }]],
  [
    'ai-sdk',
    'a result of text alone',
    { finishReason: 'stop', content: [{ type: 'text', text: 'Hi' }], toolCalls: [] },
  ],
  ['mcp', 'another request', { jsonrpc: '2.0', id: 1, method: 'tools/list' }],
  ['mcp', 'a response', { jsonrpc: '2.0', id: 1, result: {} }],
]

describe('a message without calls', () => {
  test.each(empty)('has none in %s: %s', (name, _, message) => {
    expect(formats.find((format) => format.name === name)?.calls(message)).toEqual([])
  })

  test.each(formats)('is an empty list too, in $name', (format) => {
    expect(format.calls([])).toEqual([])
  })
})

function messageOf(name: string, index: number, ...path: readonly (string | number)[]): unknown {
  return path.reduce<unknown>((found, key) => Reflect.get(Object(found), key), messages[name]?.[index]?.message)
}

describe.each(formats)('$name', (format) => {
  const bare = { name: 'add', description: 'Adds', handler: () => 1 }
  test.each([
    ['an executor', createExecutor()],
    ['a config', [bare]],
    ['tools by name', { add: tool(bare) }],
    ['null', null],
  ])('refuses %s in the place of tools', (_, tools) => {
    expect(() => format.definitions(tools as never)).toThrow(
      '`definitions` takes an array of tools, such as `executor.tools()`.',
    )
  })

  test.each([
    ['a promise', Promise.resolve([])],
    ['nothing', undefined],
    ['promises', [createExecutor().execute({ name: 'add' })]],
    ['a list of nothing', [undefined]],
  ])('refuses %s in the place of results', (_, results) => {
    const write = (): unknown => format.results(results as never, { role: 'assistant', content: [] })
    expect(write).toThrow('`results` takes the array that `executeToolCalls` resolves to. Await it.')
  })
})
