import { generateText, stepCountIs, type ModelMessage } from 'ai'
import { aiSdkTools } from 'toolwright/hosts/ai-sdk'
import { modelOf, toldOf, wordsOf } from '../_ai-model.ts'
import type { Driver } from '../_kit.ts'

/** Version 7, with the approval in a second request. */
export const driver: Driver = {
  name: 'AI SDK 7',
  async run({ executor }, call, { answer, signal, session = 'chat-1' } = {}) {
    const { tools, toolApproval, hear } = aiSdkTools({ executor, session })
    const model = modelOf({ calls: [call] }, { text: 'done' })
    const messages: ModelMessage[] = [{ role: 'user', content: 'go' }]
    const request = { model, tools, toolApproval, stopWhen: stepCountIs(3), ...(signal && { abortSignal: signal }) }
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
