// Step 2: the tools are as they were, and run in an executor.
import { convertToModelMessages, generateText, isStepCount, streamText, toUIMessageStream } from 'ai'
import { createExecutor } from 'toolwright'
import { aiSdkTools, fromAiSdk } from 'toolwright/frameworks/ai-sdk'
import { memoryJournal } from 'toolwright/journals/memory'
import { tools as theirs } from '../before/tools.ts'
import type { Chat, Page } from '../chat.ts'

const stopWhen = isStepCount(5)
const executor = createExecutor({
  tools: await fromAiSdk(theirs, {
    tools: {
      cancel_order: { requiresConfirmation: true },
      export_orders: { inlineLimit: 65_536 },
      wait_for_payment: { timeout: 600_000 },
    },
  }),
  use: [memoryJournal()],
})

function toolsOf({ chatId, customer }: Chat | Page) {
  return aiSdkTools({ executor, session: chatId, values: { customer }, output: 'value', errors: 'output-error' })
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
