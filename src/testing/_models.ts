// A script as the model object of a framework. No framework is imported: these are its shapes.
import { jsonArgs, type SpokenTurn } from './_messages.ts'
import { textPieces } from './_streams.ts'

interface AiSdkUsage {
  inputTokens: { total: number; noCache: number; cacheRead: number; cacheWrite: number }
  outputTokens: { total: number; text: number; reasoning: number }
}

interface AiSdkFinish {
  unified: 'stop' | 'tool-calls'
  raw: string
}

type AiSdkContent =
  { type: 'text'; text: string } | { type: 'tool-call'; toolCallId: string; toolName: string; input: string }

type AiSdkPart =
  | { type: 'stream-start'; warnings: never[] }
  | { type: 'text-start' | 'text-end'; id: string }
  | { type: 'text-delta'; id: string; delta: string }
  | { type: 'tool-call'; toolCallId: string; toolName: string; input: string }
  | { type: 'finish'; finishReason: AiSdkFinish; usage: AiSdkUsage }

/** A language model of version 7 of the AI SDK, as its `generateText` and `streamText` take it. */
export interface ScriptedLanguageModel {
  readonly specificationVersion: 'v4'
  readonly provider: string
  readonly modelId: string
  readonly supportedUrls: Record<string, RegExp[]>
  doGenerate(request: unknown): Promise<{
    content: AiSdkContent[]
    finishReason: AiSdkFinish
    usage: AiSdkUsage
    warnings: never[]
  }>
  doStream(request: unknown): Promise<{ stream: ReadableStream<AiSdkPart> }>
}

function aiSdkUsage(): AiSdkUsage {
  return {
    inputTokens: { total: 1, noCache: 1, cacheRead: 0, cacheWrite: 0 },
    outputTokens: { total: 1, text: 1, reasoning: 0 },
  }
}

/** @param turnFor Returns the next turn. */
export function scriptedLanguageModel(turnFor: (request: unknown) => Promise<SpokenTurn>): ScriptedLanguageModel {
  const contentOf = ({ text, calls }: SpokenTurn): AiSdkContent[] => [
    ...(text === undefined ? [] : [{ type: 'text' as const, text }]),
    ...calls.map(({ id, name, args }) => {
      return { type: 'tool-call' as const, toolCallId: id, toolName: name, input: jsonArgs(args) }
    }),
  ]
  const finishOf = ({ calls }: SpokenTurn): AiSdkFinish => {
    return calls.length > 0 ? { unified: 'tool-calls', raw: 'tool_calls' } : { unified: 'stop', raw: 'stop' }
  }
  return {
    specificationVersion: 'v4',
    provider: 'toolwright',
    modelId: 'script',
    supportedUrls: {},
    doGenerate: async (request) => {
      const turn = await turnFor(request)
      return { content: contentOf(turn), finishReason: finishOf(turn), usage: aiSdkUsage(), warnings: [] }
    },
    doStream: async (request) => {
      const turn = await turnFor(request)
      const parts = contentOf(turn).flatMap((part): AiSdkPart[] => {
        if (part.type === 'tool-call') return [part]
        const deltas = textPieces(part.text).map((delta) => ({ type: 'text-delta' as const, id: 'text', delta }))
        return [{ type: 'text-start', id: 'text' }, ...deltas, { type: 'text-end', id: 'text' }]
      })
      const stream = new ReadableStream<AiSdkPart>({
        start(controller) {
          controller.enqueue({ type: 'stream-start', warnings: [] })
          for (const part of parts) controller.enqueue(part)
          controller.enqueue({ type: 'finish', finishReason: finishOf(turn), usage: aiSdkUsage() })
          controller.close()
        },
      })
      return { stream }
    },
  }
}

interface AgentsUsage {
  requests: number
  inputTokens: number
  outputTokens: number
  totalTokens: number
  inputTokensDetails: Record<string, number>[]
  outputTokensDetails: Record<string, number>[]
}

type AgentsItem =
  | { type: 'message'; role: 'assistant'; status: 'completed'; content: { type: 'output_text'; text: string }[] }
  | { type: 'function_call'; callId: string; name: string; status: 'completed'; arguments: string }

type AgentsEvent =
  | { type: 'response_started' }
  | { type: 'output_text_delta'; delta: string }
  | { type: 'response_done'; response: { id: string; usage: AgentsUsage; output: AgentsItem[] } }

/** A model of OpenAI Agents, as its `Agent` takes it. */
export interface ScriptedAgentsModel {
  getResponse(request: unknown): Promise<{
    usage: AgentsUsage & { requestUsageEntries: undefined; add(usage: unknown): void }
    output: AgentsItem[]
    responseId: string
  }>
  getStreamedResponse(request: unknown): AsyncIterable<AgentsEvent>
}

/** @param turnFor Returns the next turn. */
export function scriptedAgentsModel(turnFor: (request: unknown) => Promise<SpokenTurn>): ScriptedAgentsModel {
  const usageOf = (): AgentsUsage => {
    return {
      requests: 1,
      inputTokens: 1,
      outputTokens: 1,
      totalTokens: 2,
      inputTokensDetails: [],
      outputTokensDetails: [],
    }
  }
  const outputOf = ({ text, calls }: SpokenTurn): AgentsItem[] => [
    ...(text === undefined
      ? []
      : [
          {
            type: 'message' as const,
            role: 'assistant' as const,
            status: 'completed' as const,
            content: [{ type: 'output_text' as const, text }],
          },
        ]),
    ...calls.map(({ id, name, args }) => {
      return {
        type: 'function_call' as const,
        callId: id,
        name,
        status: 'completed' as const,
        arguments: jsonArgs(args),
      }
    }),
  ]
  return {
    getResponse: async (request) => {
      const output = outputOf(await turnFor(request))
      return { usage: { ...usageOf(), requestUsageEntries: undefined, add: () => {} }, output, responseId: 'script' }
    },
    async *getStreamedResponse(request) {
      const turn = await turnFor(request)
      yield { type: 'response_started' }
      for (const delta of turn.text === undefined ? [] : textPieces(turn.text))
        yield { type: 'output_text_delta', delta }
      yield { type: 'response_done', response: { id: 'script', usage: usageOf(), output: outputOf(turn) } }
    },
  }
}
