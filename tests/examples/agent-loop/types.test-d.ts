import type Anthropic from '@anthropic-ai/sdk'
import type { Content, GenerateContentResponse, Part, ToolListUnion } from '@google/genai'
import type { CallToolRequest, CallToolResult, Tool } from '@modelcontextprotocol/server'
import type { generateText, ModelMessage, streamText, ToolResultPart, ToolSet } from 'ai'
import type OpenAI from 'openai'
import type { Format, ToolDefinition, ToolResult } from 'toolwright'
import { aiSdk } from 'toolwright/formats/ai-sdk'
import { anthropic } from 'toolwright/formats/anthropic'
import { gemini } from 'toolwright/formats/gemini'
import { mcp } from 'toolwright/formats/mcp'
import { openai } from 'toolwright/formats/openai'
import { openaiResponses } from 'toolwright/formats/openai-responses'

declare const tools: ToolDefinition[]
declare const results: ToolResult[]

/** What goes into a format and comes out of it is of the types of `@anthropic-ai/sdk`. */
export function ofAnthropic(message: Anthropic.Message, sent: Anthropic.MessageParam[]): void {
  const format = anthropic()
  const request: Anthropic.MessageCreateParams = {
    model: 'claude-sonnet-5-5',
    max_tokens: 1024,
    tools: [...format.definitions(tools), { type: 'web_search_20250305', name: 'web_search' }],
    messages: [...sent, format.results(results, message), format.results(results, message.content)],
  }
  format.calls(message)
  format.calls(message.content)
  format.calls(request.messages)
}

/** … of `openai`, for chat completions. */
export function ofOpenAi(completion: OpenAI.ChatCompletion, sent: OpenAI.ChatCompletionMessageParam[]): void {
  const format = openai()
  const message = completion.choices[0]!.message
  const request: OpenAI.ChatCompletionCreateParams = {
    model: 'gpt-5.1',
    tools: format.definitions(tools),
    messages: [...sent, message, ...format.results(results, message)],
  }
  format.calls(completion)
  format.calls(message)
  format.calls(message.tool_calls ?? [])
  format.calls(request.messages)
  // @ts-expect-error -- a choice is no message
  format.calls(completion.choices[0]!)
}

/** … of `openai`, for responses. */
export function ofOpenAiResponses(response: OpenAI.Responses.Response, sent: OpenAI.Responses.ResponseInput): void {
  const format = openaiResponses()
  const request: OpenAI.Responses.ResponseCreateParams = {
    model: 'gpt-5.1',
    tools: [...format.definitions(tools), { type: 'web_search' }],
    input: [...sent, ...format.results(results, response)],
  }
  format.calls(response)
  format.calls(response.output)
  format.calls(sent)
  // @ts-expect-error -- a whole request is no message
  format.calls(request)
}

/** … of `@google/genai`. */
export function ofGemini(response: GenerateContentResponse, chunks: GenerateContentResponse[], parts: Part[]): void {
  const format = gemini()
  const config: { tools: ToolListUnion } = { tools: [...format.definitions(tools), { googleSearch: {} }] }
  const contents: Content[] = [format.results(results, response), format.results(results, chunks)]
  format.calls(response)
  format.calls(chunks)
  format.calls(contents)
  format.calls(parts)
  format.calls(response.candidates![0]!.content!)
  void config
}

/** … of `ai`. */
export function ofAiSdk(
  result: Awaited<ReturnType<typeof generateText<ToolSet>>>,
  stream: ReturnType<typeof streamText<ToolSet>>,
): void {
  const format = aiSdk()
  const messages: ModelMessage[] = [...result.response.messages, format.results(results, result)]
  const parts: ToolResultPart[] = format.results(results, result.toolCalls).content
  format.calls(result)
  format.calls(result.toolCalls)
  format.calls(messages)
  void stream.toolCalls.then((calls) => format.calls(calls))
  // @ts-expect-error -- the calls of a stream are a promise
  format.calls(stream)
  void parts
}

/** … of version 2 of the Model Context Protocol's SDK. */
export function ofMcp(request: CallToolRequest): CallToolResult {
  const format = mcp()
  const listed: Tool[] = format.definitions(tools)
  format.calls(request)
  void listed
  return format.results(results, request)
}

/** A message of one provider is not taken for another's where the types can tell. */
export function ofOthers(completion: OpenAI.ChatCompletion, message: Anthropic.Message, content: Content): void {
  // @ts-expect-error -- a completion is not Anthropic's
  anthropic().calls(completion)
  // @ts-expect-error -- nor Gemini's
  gemini().calls(completion)
  // @ts-expect-error -- a message of Anthropic is not Gemini's
  gemini().calls(message)
  // @ts-expect-error -- a content of Gemini is not OpenAI's
  openai().calls(content)
  // @ts-expect-error -- nothing is not a message
  openai().calls(null)
  // @ts-expect-error -- and no empty object is
  anthropic().calls({})
}

/** A message of an unknown type goes into a format without parameters, and each format is one. */
export function ofAnything(message: unknown): void {
  const formats: Format[] = [anthropic(), openai(), openaiResponses(), gemini(), aiSdk(), mcp()]
  for (const format of formats) format.results(results, format.calls(message))
}
