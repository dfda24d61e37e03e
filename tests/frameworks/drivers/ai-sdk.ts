import { generateText, stepCountIs, type ModelMessage } from 'ai'
import { aiSdkTools } from 'toolwright/frameworks/ai-sdk'
import { conversation, modelOf } from '../_ai-model.ts'
import type { Driver } from '../_kit.ts'

/** Version 7, with the approval in a second request. */
export const driver: Driver = {
  name: 'AI SDK 7',
  async run({ executor }, call, { answer, signal, session = 'chat-1' } = {}) {
    const { tools, toolApproval, answer: passAnswers } = aiSdkTools({ executor, session })
    const model = modelOf({ calls: [call] }, { text: 'done' })
    const request = { model, tools, toolApproval, stopWhen: stepCountIs(3), ...(signal && { abortSignal: signal }) }
    const generate = (messages: ModelMessage[]) => generateText({ ...request, messages })
    return conversation(call, answer, { generate, passAnswers, model })
  },
}
