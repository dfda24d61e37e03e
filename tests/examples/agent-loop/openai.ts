import type OpenAI from 'openai'
import type { ToolExecutor } from 'toolwright'
import { openai } from 'toolwright/formats/openai'

const format = openai()

/** Asks a question, and runs the tools that the model calls, until it calls none. Returns the conversation. */
export async function converse(
  client: OpenAI,
  executor: ToolExecutor,
  question: string,
  isStreamed = false,
): Promise<OpenAI.ChatCompletionMessageParam[]> {
  const messages: OpenAI.ChatCompletionMessageParam[] = [{ role: 'user', content: question }]
  for (let turn = 0; turn < 10; turn++) {
    const request = { model: 'gpt-5.1', tools: format.definitions(executor.tools()), messages }
    const completion = isStreamed
      ? await client.chat.completions.stream(request).finalChatCompletion()
      : await client.chat.completions.create(request)
    const message = completion.choices[0]!.message
    messages.push(message)
    const calls = format.calls(message)
    if (calls.length === 0) break
    messages.push(...format.results(await executor.executeToolCalls(calls), message))
  }
  return messages
}
