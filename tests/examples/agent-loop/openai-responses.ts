import type OpenAI from 'openai'
import type { ToolExecutor } from 'toolwright'
import { openaiResponses } from 'toolwright/formats/openai-responses'

const format = openaiResponses()

/** Asks a question, and runs the tools that the model calls, until it calls none. Returns the responses. */
export async function converse(
  client: OpenAI,
  executor: ToolExecutor,
  question: string,
  isStreamed = false,
): Promise<OpenAI.Responses.Response[]> {
  const responses: OpenAI.Responses.Response[] = []
  let input: OpenAI.Responses.ResponseInput = [{ role: 'user', content: question }]
  for (let turn = 0; turn < 10; turn++) {
    const previous_response_id = responses.at(-1)?.id ?? null // the server has the conversation
    const request = { model: 'gpt-5.1', tools: format.definitions(executor.tools()), input, previous_response_id }
    const response = isStreamed
      ? await client.responses.stream(request).finalResponse()
      : await client.responses.create(request)
    responses.push(response)
    const calls = format.calls(response)
    if (calls.length === 0) break
    input = format.results(await executor.executeToolCalls(calls), response)
  }
  return responses
}
