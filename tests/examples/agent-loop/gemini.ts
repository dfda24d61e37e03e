import type { Content, GenerateContentResponse, GoogleGenAI } from '@google/genai'
import type { ToolExecutor } from 'toolwright'
import { gemini } from 'toolwright/formats/gemini'

const format = gemini()

/** Asks a question, and runs the tools that the model calls, until it calls none. Returns the conversation. */
export async function converse(
  client: GoogleGenAI,
  executor: ToolExecutor,
  question: string,
  isStreamed = false,
): Promise<Content[]> {
  const contents: Content[] = [{ role: 'user', parts: [{ text: question }] }]
  for (let turn = 0; turn < 10; turn++) {
    const request = { model: 'gemini-3-pro', contents, config: { tools: format.definitions(executor.tools()) } }
    const chunks: GenerateContentResponse[] = []
    if (!isStreamed) chunks.push(await client.models.generateContent(request))
    else for await (const chunk of await client.models.generateContentStream(request)) chunks.push(chunk)
    contents.push({ role: 'model', parts: chunks.flatMap((chunk) => chunk.candidates?.[0]?.content?.parts ?? []) })
    const calls = format.calls(chunks)
    if (calls.length === 0) break
    contents.push(format.results(await executor.executeToolCalls(calls), chunks))
  }
  return contents
}
