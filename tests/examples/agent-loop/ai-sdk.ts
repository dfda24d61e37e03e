import { generateText, jsonSchema, streamText, type LanguageModel, type ModelMessage, type ToolSet } from 'ai'
import type { ToolExecutor } from 'toolwright'
import { aiSdk } from 'toolwright/formats/ai-sdk'

const format = aiSdk()

/** Asks a question, and runs the tools that the model calls, until it calls none. Returns the conversation. */
export async function converse(
  model: LanguageModel,
  executor: ToolExecutor,
  question: string,
  isStreamed = false,
): Promise<ModelMessage[]> {
  const messages: ModelMessage[] = [{ role: 'user', content: question }]
  for (let turn = 0; turn < 10; turn++) {
    const tools: ToolSet = Object.fromEntries(
      format.definitions(executor.tools()).map(({ name, description, inputSchema }) => {
        return [name, { description, inputSchema: jsonSchema(inputSchema) }]
      }),
    )
    const request = { model, tools, messages }
    const { response } = isStreamed ? streamText(request) : await generateText(request)
    const said = (await response).messages
    messages.push(...said)
    const calls = format.calls(said)
    if (calls.length === 0) break
    messages.push(format.results(await executor.executeToolCalls(calls), said))
  }
  return messages
}
