import { Annotation, Command, MemorySaver, MessagesAnnotation } from '@langchain/langgraph'
import { createReactAgent } from '@langchain/langgraph/prebuilt'
import type { Run } from '../chat.ts'
import * as theirs from './tools.ts'

const stateSchema = Annotation.Root({ ...MessagesAnnotation.spec, language: Annotation<string> })
const checkpointer = new MemorySaver()

function agentOf({ model }: Run) {
  return createReactAgent({ llm: model, tools: Object.values(theirs), stateSchema, checkpointer })
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
