import { generateText, stepCountIs, type LanguageModel, type ModelMessage } from 'ai-6'
import { MockLanguageModelV3 } from 'ai-6/test'
import { aiSdkTools } from 'toolwright/frameworks/ai-sdk'
import { conversation, modelOf } from '../_ai-model.ts'
import type { Driver } from '../_kit.ts'

/** Version 6, whose tools have `needsApproval`. */
export const driver: Driver = {
  name: 'AI SDK 6',
  async run({ executor }, call, { answer, signal, session = 'chat-1' } = {}) {
    const { tools, answer: passAnswers } = aiSdkTools({ executor, session, version: 6 })
    const steps = modelOf({ calls: [call] }, { text: 'done' })
    const model = new MockLanguageModelV3({ doGenerate: (options) => steps.doGenerate(options as never) as never })
    const request = { tools, stopWhen: stepCountIs(3), ...(signal && { abortSignal: signal }) }
    const generate = (messages: ModelMessage[]) => generateText({ ...request, model: model as LanguageModel, messages })
    return conversation(call, answer, { generate, passAnswers, model })
  },
}
