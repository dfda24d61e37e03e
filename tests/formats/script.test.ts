// A scripted model behind the providers' own client libraries, without a socket.
import { existsSync } from 'node:fs'
import { createRequire } from 'node:module'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { anthropic } from 'toolwright/formats/anthropic'
import { gemini } from 'toolwright/formats/gemini'
import { openai } from 'toolwright/formats/openai'
import { openaiResponses } from 'toolwright/formats/openai-responses'
import { script, type ScriptTurn } from 'toolwright/testing'
import { describe, expect, test } from 'vitest'

const folder = join(import.meta.dirname, 'sdks')
const isInstalled = existsSync(join(folder, 'node_modules'))
const { resolve } = createRequire(join(folder, 'package.json'))

/** A client library, as its users see it. Its own types are checked by the examples. */
async function library<Library>(name: string): Promise<Library> {
  return (await import(pathToFileURL(resolve(name)).href)) as Library
}

type Client = new (options: object) => Record<string, Record<string, never>>
const long = { text: 'é"\n\u{1f600}'.repeat(40_000) }
const turns: readonly ScriptTurn[] = [
  {
    text: 'I look.',
    calls: [
      ['mail', long],
      ['now', {}],
    ],
  },
  { text: 'Done.' },
]
const settings = { apiKey: 'none', maxRetries: 0 }

describe.skipIf(!isInstalled)('a script behind a client library', () => {
  test.each([false, true])('of Anthropic gives the message, streamed: %s', async (isStreamed) => {
    const { default: Anthropic } = await library<{ default: Client }>('@anthropic-ai/sdk')
    const model = script(anthropic(), turns)
    const { messages } = new Anthropic({ ...settings, fetch: model.fetch }) as unknown as {
      messages: { create(body: object): Promise<never>; stream(body: object): { finalMessage(): Promise<never> } }
    }
    const ask = (...said: unknown[]): Promise<never> => {
      const body = { model: 'script', max_tokens: 9, messages: [{ role: 'user', content: 'late' }, ...said] }
      return isStreamed ? messages.stream(body).finalMessage() : messages.create(body)
    }
    const message = await ask()
    expect(anthropic().calls(message)).toMatchObject([
      { id: 'call_1', name: 'mail', args: long },
      { name: 'now', args: {} },
    ])
    expect(message).toMatchObject({ stop_reason: 'tool_use', content: [{ text: 'I look.' }, {}, {}] })
    const result = { role: 'user', content: [{ type: 'tool_result', tool_use_id: 'call_1', content: 'sent' }] }
    expect(await ask(message, result)).toMatchObject({ stop_reason: 'end_turn', content: [{ text: 'Done.' }] })
    await expect(ask()).rejects.toThrow(/The script has 2 turns/)
    expect(model.requests).toHaveLength(2)
  })

  test.each([false, true])('of OpenAI gives the completion, streamed: %s', async (isStreamed) => {
    const { default: OpenAI } = await library<{ default: Client }>('openai')
    const model = script(openai(), turns)
    const client = new OpenAI({ ...settings, fetch: model.fetch }) as unknown as {
      chat: {
        completions: {
          create(body: object): Promise<never>
          stream(body: object): { finalChatCompletion(): Promise<never> }
        }
      }
    }
    const ask = (): Promise<never> => {
      const body = { model: 'script', messages: [{ role: 'tool', tool_call_id: 'call_1', content: 'sent' }] }
      const { completions } = client.chat
      return isStreamed
        ? completions.stream({ ...body, stream_options: { include_usage: true } }).finalChatCompletion()
        : completions.create(body)
    }
    const message = await ask()
    expect(openai().calls(message)).toMatchObject([
      { id: 'call_1', name: 'mail', args: JSON.stringify(long) },
      { id: 'call_2', args: '{}' },
    ])
    expect(message).toMatchObject({ usage: { total_tokens: 2 }, choices: [{ message: { content: 'I look.' } }] })
    expect(await ask()).toMatchObject({ choices: [{ finish_reason: 'stop', message: { content: 'Done.' } }] })
    await expect(ask()).rejects.toThrow(/The script has 2 turns/)
  })

  test.each([false, true])('of OpenAI gives the response, streamed: %s', async (isStreamed) => {
    const { default: OpenAI } = await library<{ default: Client }>('openai')
    const model = script(openaiResponses(), turns)
    const { responses } = new OpenAI({ ...settings, fetch: model.fetch }) as unknown as {
      responses: { create(body: object): Promise<never>; stream(body: object): { finalResponse(): Promise<never> } }
    }
    const ask = (): Promise<never> => {
      const body = { model: 'script', input: [{ type: 'function_call_output', call_id: 'call_1', output: 'sent' }] }
      return isStreamed ? responses.stream(body).finalResponse() : responses.create(body)
    }
    const response = await ask()
    expect(openaiResponses().calls(response)).toMatchObject([
      { id: 'call_1', name: 'mail', args: JSON.stringify(long) },
      { id: 'call_2' },
    ])
    expect(response).toMatchObject({ output: [{ content: [{ text: 'I look.' }] }, {}, {}] })
    expect(await ask()).toMatchObject({ output_text: 'Done.' })
    await expect(ask()).rejects.toThrow(/The script has 2 turns/)
  })

  test.each([false, true])('of Gemini gives the response, streamed: %s', async (isStreamed) => {
    const { GoogleGenAI } = await library<{ GoogleGenAI: Client }>('@google/genai')
    const model = script(gemini(), turns)
    const before = globalThis.fetch
    globalThis.fetch = model.fetch // this library takes no `fetch` of its own
    try {
      const { models } = new GoogleGenAI({ apiKey: 'none' }) as unknown as {
        models: {
          generateContent(body: object): Promise<object>
          generateContentStream(body: object): Promise<AsyncIterable<object>>
        }
      }
      const ask = async (): Promise<object[]> => {
        const body = { model: 'script', contents: 'late' }
        if (!isStreamed) return [await models.generateContent(body)]
        const chunks: object[] = []
        for await (const chunk of await models.generateContentStream(body)) chunks.push(chunk)
        return chunks
      }
      const calls = (await ask()).flatMap((message) => gemini().calls(message))
      expect(calls).toMatchObject([
        { id: 'call_1', name: 'mail', args: long },
        { id: 'call_2', name: 'now', args: {} },
      ])
      expect((await ask()).map((message) => (message as { text?: string }).text).join('')).toBe('Done.')
      await expect(ask()).rejects.toThrow(/The script has 2 turns/)
    } finally {
      globalThis.fetch = before
    }
  })
})
