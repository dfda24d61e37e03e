import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { deserialize, serialize } from 'node:v8'
import { AIMessage, HumanMessage, ToolMessage, type BaseMessage } from '@langchain/core/messages'
import { tool } from '@langchain/core/tools'
import { Command, END, interrupt, MemorySaver, MessagesAnnotation, START, StateGraph } from '@langchain/langgraph'
import { ToolNode } from '@langchain/langgraph/prebuilt'
import type { Compared, Heard, Scene } from '../_scene.ts'

/** A checkpointer whose checkpoints are in a file. The package has the interface, and one in memory. */
class FileSaver extends MemorySaver {
  readonly #file: string

  constructor(file: string) {
    super()
    this.#file = file
    if (existsSync(file)) Object.assign(this, deserialize(readFileSync(file)))
  }

  override async put(...parameters: Parameters<MemorySaver['put']>): ReturnType<MemorySaver['put']> {
    const config = await super.put(...parameters)
    this.#save()
    return config
  }

  override async putWrites(...parameters: Parameters<MemorySaver['putWrites']>): Promise<void> {
    await super.putWrites(...parameters)
    this.#save()
  }

  #save(): void {
    writeFileSync(this.#file, serialize({ storage: this.storage, writes: this.writes }))
  }
}

type Input = { readonly messages: BaseMessage[] } | Command | null

function start({ folder, offers, turns, timeout, isAsked, signal }: Scene): (input: Input) => Promise<Heard> {
  const tools = offers.map(({ name, description, schema, run }) =>
    tool(
      (args: unknown, config: { readonly signal?: AbortSignal }) => {
        if (isAsked) interrupt({ question: `May ${name} run?` })
        return run(args as never, config.signal)
      },
      { name, description, schema },
    ),
  )
  let turn = 0
  const graph = new StateGraph(MessagesAnnotation)
    .addNode('model', () => {
      const calls = (turns[turn++] ?? []).map(({ id, name, args }) => ({ id, name, args: args as object }))
      return { messages: [new AIMessage({ content: calls.length === 0 ? 'done' : '', tool_calls: calls })] }
    })
    .addNode('tools', new ToolNode(tools), timeout === undefined ? {} : { timeout })
    .addEdge(START, 'model')
    .addConditionalEdges('model', ({ messages }) => {
      const last = messages.at(-1) as AIMessage
      return (last.tool_calls ?? []).length > 0 ? 'tools' : END
    })
    .addEdge('tools', 'model')
    .compile({ checkpointer: new FileSaver(join(folder, 'checkpoints')) })
  return async (input) => {
    const config = { configurable: { thread_id: 'thread-1' }, recursionLimit: 10, ...(signal && { signal }) }
    const { messages } = await graph.invoke(input as never, { ...config, durability: 'sync' })
    const resultOf = (id: string): string | undefined => {
      const found = messages.findLast((each) => each instanceof ToolMessage && each.tool_call_id === id)
      if (found === undefined) return undefined
      return typeof found.content === 'string' ? found.content : JSON.stringify(found.content)
    }
    return { resultOf, offered: tools.map(({ name }) => name) }
  }
}

const go = (): Input => ({ messages: [new HumanMessage('go')] })

export const compared: Compared = {
  name: 'LangGraph with LangChain',
  packages: ['@langchain/langgraph', '@langchain/core'],
  uses:
    '`ToolNode` with `tool`, `timeout` of a node, `signal`, and `interrupt` in the tool; ' +
    'a checkpointer that writes a file, with `durability: "sync"`',
  beside: 'checkpointers on databases and middleware for tools, in packages of their own; retries of nodes; `task`',
  run: (scene) => start(scene)(go()),
  async ask(scene) {
    await start(scene)(go())
    return null // it is all in the checkpoints
  },
  answer: (scene) => start({ ...scene, turns: [] })(new Command({ resume: true })),
  goOn: (scene) => start({ ...scene, turns: [] })(null),
}
