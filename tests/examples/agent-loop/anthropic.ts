import type Anthropic from '@anthropic-ai/sdk'
import type { ToolExecutor } from 'toolwright'
import { anthropic } from 'toolwright/formats/anthropic'

const format = anthropic()

/** Asks a question, and runs the tools that the model calls, until it calls none. Returns the conversation. */
export async function converse(
  client: Anthropic,
  executor: ToolExecutor,
  question: string,
  isStreamed = false,
): Promise<Anthropic.MessageParam[]> {
  const messages: Anthropic.MessageParam[] = [{ role: 'user', content: question }]
  for (let turn = 0; turn < 10; turn++) {
    const tools = format.definitions(executor.tools())
    const request = { model: 'claude-sonnet-5-5', max_tokens: 1024, tools, messages }
    const message = isStreamed
      ? await client.messages.stream(request).finalMessage()
      : await client.messages.create(request)
    messages.push({ role: message.role, content: message.content })
    const calls = format.calls(message)
    if (calls.length === 0) break
    messages.push(format.results(await executor.executeToolCalls(calls), message))
  }
  return messages
}
