import { AIMessage, HumanMessage, ToolMessage } from '@langchain/core/messages'
import { DynamicStructuredTool, type StructuredToolInterface } from '@langchain/core/tools'
import {
  Command,
  END,
  interrupt,
  MemorySaver,
  MessagesAnnotation,
  START,
  StateGraph,
  type BaseCheckpointSaver,
} from '@langchain/langgraph'
import { ToolNode } from '@langchain/langgraph/prebuilt'
import type { ToolExecutor } from 'toolwright'
import { langchainTools, type LangchainToolsOptions } from 'toolwright/frameworks/langchain'
import type { Call, Driver } from '../_kit.ts'

/** An executor's tools, with LangChain's own classes. */
export function toolsOf(
  executor: ToolExecutor,
  options: Partial<LangchainToolsOptions<StructuredToolInterface>> = {},
): StructuredToolInterface[] {
  return langchainTools({ executor, session: 'thread-1', core: { DynamicStructuredTool, ToolMessage }, ...options })
}

/** What a person saw of a graph, and the model. */
export interface Turn {
  readonly asked: string[]
  readonly said: Record<string, unknown>
}

/** A graph whose model makes calls, reads their results, and is done. */
export function graphOf(
  tools: StructuredToolInterface[],
  calls: readonly Call[],
  checkpointer: BaseCheckpointSaver = new MemorySaver(),
): { start(signal?: AbortSignal): Promise<Turn>; resume(answer: unknown): Promise<Turn> } {
  const wishes = calls.map(({ id, name, args }) => ({ id, name, args: args as object, type: 'tool_call' as const }))
  const graph = new StateGraph(MessagesAnnotation)
    .addNode('model', ({ messages }) => ({
      messages: [messages.length === 1 ? new AIMessage({ content: '', tool_calls: wishes }) : new AIMessage('done')],
    }))
    .addNode('tools', new ToolNode(tools))
    .addEdge(START, 'model')
    .addConditionalEdges('model', ({ messages }) => (messages.length === 2 ? 'tools' : END))
    .addEdge('tools', 'model')
    .compile({ checkpointer })
  const run = async (input: unknown, signal?: AbortSignal): Promise<Turn> => {
    const config = { configurable: { thread_id: 'thread-1' }, ...(signal && { signal }) }
    const state = (await graph.invoke(input as never, config)) as {
      readonly messages: unknown[]
      readonly __interrupt__?: { readonly value: { readonly toolCallId: string; readonly prompt: string } }[]
    }
    const answers = state.messages.filter((message) => message instanceof ToolMessage)
    return {
      asked: (state.__interrupt__ ?? []).map(({ value }) => `${value.toolCallId}: ${value.prompt}`),
      said: Object.fromEntries(answers.map(({ tool_call_id: id, content }) => [id, content])),
    }
  }
  return {
    start: (signal) => run({ messages: [new HumanMessage('go')] }, signal),
    resume: (answer) => run(new Command({ resume: answer })),
  }
}

export const driver: Driver = {
  name: 'LangGraph',
  async run({ executor }, call, { answer, signal, session = 'thread-1' } = {}) {
    const graph = graphOf(toolsOf(executor, { session, interrupt }), [call])
    const { asked, said } = await graph.start(signal)
    const isAsked = asked.length > 0
    if (!isAsked || answer === undefined) return { words: said[call.id] as string | undefined, isAsked }
    const resumed = await graph.resume({ approved: answer === 'allow', note: 'says the test' })
    return { words: resumed.said[call.id] as string | undefined, isAsked }
  },
}
