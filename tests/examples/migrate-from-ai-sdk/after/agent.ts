import { convertToModelMessages, generateText, isStepCount, streamText, toUIMessageStream } from 'ai'
import { createExecutor } from 'toolwright'
import { aiSdkTools } from 'toolwright/frameworks/ai-sdk'
import { memoryJournal } from 'toolwright/journals/memory'
import type { Chat, Page } from '../chat.ts'
import * as named from './tools.ts'

const stopWhen = isStepCount(5)
const executor = createExecutor({ tools: Object.values(named), use: [memoryJournal()] })

function toolsOf({ chatId, customer }: Chat | Page) {
  const options = { executor, session: chatId, values: { customer }, tools: named }
  return aiSdkTools({ ...options, output: 'value', errors: 'output-error' })
}

/** Answers a chat. */
export async function reply(chat: Chat) {
  const { model, messages, abortSignal } = chat
  const { tools, toolApproval, answer } = toolsOf(chat)
  await answer(messages)
  return generateText({ model, tools, toolApproval, messages, abortSignal, stopWhen })
}

/** Answers the page of a chat, which reads `useChat`. */
export async function respond(page: Page) {
  const { model, uiMessages } = page
  const { tools, toolApproval, answer } = toolsOf(page)
  const messages = await convertToModelMessages(uiMessages, { tools })
  await answer(messages)
  const { stream } = streamText({ model, tools, toolApproval, messages, stopWhen })
  return toUIMessageStream({ stream, tools })
}
