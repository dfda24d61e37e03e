import { generateText, stepCountIs, type LanguageModel, type ModelMessage } from 'ai-6'
import { MockLanguageModelV3 } from 'ai-6/test'
import { aiSdkTools } from 'toolwright/hosts/ai-sdk'
import { modelOf, toldOf, wordsOf } from '../_ai-model.ts'
import type { Driver } from '../_kit.ts'

/** Version 6, whose tools have `needsApproval`. */
export const driver: Driver = {
  name: 'AI SDK 6',
  async run({ executor }, call, { answer, signal, session = 'chat-1' } = {}) {
    const { tools, hear } = aiSdkTools({ executor, session, version: 6 })
    const steps = modelOf({ calls: [call] }, { text: 'done' })
    const model = new MockLanguageModelV3({ doGenerate: (options) => steps.doGenerate(options as never) as never })
    const messages: ModelMessage[] = [{ role: 'user', content: 'go' }]
    const request = {
      model: model as LanguageModel,
      tools,
      stopWhen: stepCountIs(3),
      ...(signal && { abortSignal: signal }),
    }
    const first = await generateText({ ...request, messages })
    const asked = first.content.find((part) => part.type === 'tool-approval-request')
    if (asked !== undefined && answer !== undefined) {
      const { approvalId } = asked
      const approved = answer === 'allow'
      messages.push(...first.response.messages, {
        role: 'tool',
        content: [{ type: 'tool-approval-response', approvalId, approved, reason: 'says the test' }],
      })
      await hear(messages)
      await generateText({ ...request, messages })
    }
    const words = wordsOf(toldOf(model.doGenerateCalls.at(-1)?.prompt, call.id))
    return { words, isAsked: asked !== undefined }
  },
}
