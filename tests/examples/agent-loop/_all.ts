import Anthropic from '@anthropic-ai/sdk'
import { createOpenAICompatible } from '@ai-sdk/openai-compatible'
import { GoogleGenAI } from '@google/genai'
import OpenAI from 'openai'
import type { ToolExecutor } from 'toolwright'
import { converse as byAiSdk } from './ai-sdk.ts'
import { converse as byAnthropic } from './anthropic.ts'
import { converse as byGemini } from './gemini.ts'
import { converse as byOpenAiResponses } from './openai-responses.ts'
import { converse as byOpenAi } from './openai.ts'
import { anthropicTurns, chatTurns, geminiTurns, responsesTurns } from './_recorded.ts'
import type { Turn } from './_servers.ts'

/** A loop with the client library that it is written for. */
export interface Loop {
  readonly turns: readonly Turn[]
  run(url: string, executor: ToolExecutor, question: string, isStreamed: boolean): Promise<readonly object[]>
}

/** The loops by the name of their format. */
export const loops: ReadonlyMap<string, Loop> = new Map(
  Object.entries<Loop>({
    anthropic: {
      turns: anthropicTurns,
      run: (baseURL, ...rest) => byAnthropic(new Anthropic({ baseURL, apiKey: 'none' }), ...rest),
    },
    openai: {
      turns: chatTurns,
      run: (baseURL, ...rest) => byOpenAi(new OpenAI({ baseURL, apiKey: 'none' }), ...rest),
    },
    'openai-responses': {
      turns: responsesTurns,
      run: (baseURL, ...rest) => byOpenAiResponses(new OpenAI({ baseURL, apiKey: 'none' }), ...rest),
    },
    gemini: {
      turns: geminiTurns,
      run: (baseUrl, ...rest) => byGemini(new GoogleGenAI({ apiKey: 'none', httpOptions: { baseUrl } }), ...rest),
    },
    'ai-sdk': {
      turns: chatTurns,
      run: (baseURL, ...rest) => byAiSdk(createOpenAICompatible({ name: 'local', baseURL })('gpt-5.1'), ...rest),
    },
  }),
)
