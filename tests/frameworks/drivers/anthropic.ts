import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import Anthropic from '@anthropic-ai/sdk'
import { ToolError } from '@anthropic-ai/sdk/lib/tools/ToolError'
import { anthropicTools } from 'toolwright/frameworks/anthropic'
import type { Call, Driver } from '../_kit.ts'

interface Block {
  readonly type: string
  readonly tool_use_id?: string
  readonly content?: unknown
  readonly is_error?: boolean
}

/** A server with the shapes of the Messages API, that lets the model make these calls and then end its turn. */
export async function serverOf(...calls: readonly Call[]): Promise<{
  readonly client: Anthropic
  readonly requests: { readonly messages: { readonly content: unknown }[]; readonly tools: object[] }[]
  readonly close: () => void
  readonly unref: () => void
}> {
  const requests: { messages: { content: unknown }[]; tools: object[] }[] = []
  const server = createServer((request, response) => {
    let body = ''
    request.setEncoding('utf8').on('data', (text: string) => (body += text))
    request.on('end', () => {
      const asked = JSON.parse(body) as (typeof requests)[number] & { stream?: boolean }
      requests.push(asked)
      const uses = calls.map(({ id, name, args }) => ({ type: 'tool_use', id, name, input: args }))
      const isFirst = requests.length === 1
      const content = isFirst ? uses : [{ type: 'text', text: 'done' }]
      const message = {
        id: `msg_${requests.length}`,
        type: 'message',
        role: 'assistant',
        model: 'claude-test',
        content,
        stop_reason: isFirst ? 'tool_use' : 'end_turn',
        stop_sequence: null,
        usage: { input_tokens: 1, output_tokens: 1 },
      }
      if (asked.stream !== true) {
        response.setHeader('content-type', 'application/json')
        return response.end(JSON.stringify(message))
      }
      response.setHeader('content-type', 'text/event-stream')
      const events: object[] = [{ type: 'message_start', message: { ...message, content: [], stop_reason: null } }]
      content.forEach((block, index) => {
        const isCall = 'input' in block
        const delta = isCall
          ? { type: 'input_json_delta', partial_json: JSON.stringify(block.input) }
          : { type: 'text_delta', text: 'done' }
        const start = isCall ? { ...block, input: {} } : { ...block, text: '' }
        events.push({ type: 'content_block_start', index, content_block: start })
        events.push({ type: 'content_block_delta', index, delta }, { type: 'content_block_stop', index })
      })
      const { stop_reason, stop_sequence } = message
      events.push({ type: 'message_delta', delta: { stop_reason, stop_sequence }, usage: { output_tokens: 1 } })
      events.push({ type: 'message_stop' })
      for (const event of events) {
        response.write(`event: ${(event as { type: string }).type}\ndata: ${JSON.stringify(event)}\n\n`)
      }
      return response.end()
    })
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const baseURL = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  const client = new Anthropic({ apiKey: 'none', baseURL, maxRetries: 0 })
  return {
    client,
    requests,
    unref: () => void server.unref(),
    close: () => {
      server.closeAllConnections()
      server.close()
    },
  }
}

/** The result that the model read of a call. */
export function resultIn(
  requests: readonly { readonly messages: readonly { readonly content: unknown }[] }[],
  id: string,
): Block | undefined {
  const blocks = requests.flatMap(({ messages }) => messages.flatMap(({ content }) => content as Block[]))
  return blocks.findLast(({ type, tool_use_id }) => type === 'tool_result' && tool_use_id === id)
}

export const driver: Driver = {
  name: 'Anthropic tool runner',
  asksNoPerson: true,
  async run({ executor }, call, { signal, session = 'chat-1' } = {}) {
    const tools = anthropicTools({ executor, session, ToolError })
    const { client, requests, close } = await serverOf(call)
    try {
      const params = { model: 'claude-test', max_tokens: 100, messages: [{ role: 'user' as const, content: 'go' }] }
      const runner = client.beta.messages.toolRunner({ ...params, tools, max_iterations: 3 }, signal && { signal })
      await runner.runUntilDone()
    } finally {
      close()
    }
    const content = resultIn(requests, call.id)?.content
    return { words: typeof content === 'string' ? content : JSON.stringify(content), isAsked: false }
  },
}
