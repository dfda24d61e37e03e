// Step 2: the tools are as they were, and run in an executor. One interrupts its graph, and is rewritten at once.
import { ToolMessage } from '@langchain/core/messages'
import { DynamicStructuredTool } from '@langchain/core/tools'
import { Annotation, Command, interrupt, MemorySaver, MessagesAnnotation } from '@langchain/langgraph'
import { createReactAgent } from '@langchain/langgraph/prebuilt'
import { createExecutor } from 'toolwright'
import { fromLangchain, langchainTools } from 'toolwright/frameworks/langchain'
import { memoryJournal } from 'toolwright/journals/memory'
import { bookTrip } from '../after/tools.ts'
import * as theirs from '../before/tools.ts'
import type { Run } from '../chat.ts'

const { bookTrip: _rewritten, setLanguage, ...wrapped } = theirs
const stateSchema = Annotation.Root({ ...MessagesAnnotation.spec, language: Annotation<string> })
const checkpointer = new MemorySaver()

const executor = createExecutor({
  tools: [
    ...fromLangchain(Object.values(wrapped), {
      tools: { price_history: { inlineLimit: 65_536 }, await_payment: { timeout: 600_000 } },
    }),
    bookTrip,
  ],
  use: [memoryJournal()],
})

function agentOf({ model, thread }: Run) {
  const core = { DynamicStructuredTool, ToolMessage }
  const tools = langchainTools({ executor, session: thread, core, interrupt, artifact: 'value' })
  return createReactAgent({ llm: model, tools: [...tools, setLanguage], stateSchema, checkpointer })
}

function configOf({ thread, customer, signal }: Run) {
  return { configurable: { thread_id: thread, customer }, signal }
}

/** Sends what the customer says. */
export async function say(run: Run, text: string) {
  return agentOf(run).invoke({ messages: [{ role: 'user', content: text }] }, configOf(run))
}

/** Goes on with what a person answered. */
export async function answer(run: Run, approved: boolean, note: string) {
  return agentOf(run).invoke(new Command({ resume: { approved, note } }), configOf(run))
}

/** Streams what the tools do. */
export async function watch(run: Run, text: string) {
  const config = { ...configOf(run), streamMode: 'tools' } as const
  return agentOf(run).stream({ messages: [{ role: 'user', content: text }] }, config)
}
