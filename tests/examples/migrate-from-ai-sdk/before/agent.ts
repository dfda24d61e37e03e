import { convertToModelMessages, generateText, isStepCount, streamText, toUIMessageStream } from 'ai'
import type { Chat, Page } from '../chat.ts'
import { tools } from './tools.ts'

const stopWhen = isStepCount(5)

/** Answers a chat. */
export async function reply({ model, customer, messages, abortSignal }: Chat) {
  const toolsContext = { get_order: { customer }, order_summary: { customer } }
  const toolApproval = { cancel_order: 'user-approval' } as const
  return generateText({ model, tools, toolApproval, toolsContext, messages, abortSignal, stopWhen })
}

/** Answers the page of a chat, which reads `useChat`. */
export async function respond({ model, customer, uiMessages }: Page) {
  const messages = await convertToModelMessages(uiMessages, { tools })
  const toolsContext = { get_order: { customer }, order_summary: { customer } }
  const toolApproval = { cancel_order: 'user-approval' } as const
  const { stream } = streamText({ model, tools, toolApproval, toolsContext, messages, stopWhen })
  return toUIMessageStream({ stream, tools })
}
