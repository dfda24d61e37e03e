import { ToolMessage } from '@langchain/core/messages'
import { DynamicStructuredTool } from '@langchain/core/tools'
import { Annotation, Command, interrupt, MemorySaver, MessagesAnnotation } from '@langchain/langgraph'
import { createReactAgent } from '@langchain/langgraph/prebuilt'
import { createExecutor } from 'toolwright'
import { langchainTools } from 'toolwright/frameworks/langchain'
import { memoryJournal } from 'toolwright/journals/memory'
import { setLanguage } from '../before/tools.ts'
import type { Run } from '../chat.ts'
import * as named from './tools.ts'

const stateSchema = Annotation.Root({ ...MessagesAnnotation.spec, language: Annotation<string> })
const checkpointer = new MemorySaver()

const executor = createExecutor({ tools: Object.values(named), use: [memoryJournal()] })

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
