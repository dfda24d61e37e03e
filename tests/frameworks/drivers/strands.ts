import * as sdk from '@strands-agents/sdk'
import type { ToolExecutor } from 'toolwright'
import { strandsTools } from 'toolwright/frameworks/strands'
import type { Call, Driver } from '../_kit.ts'

/** A model that makes the calls of each turn, and then says that it is done. */
export class FakeModel extends sdk.Model {
  readonly asked: sdk.Message[][] = []
  readonly #turns: readonly (readonly Call[])[]
  #turn: number

  /** @param turn The first turn that is still to come. */
  constructor(turns: readonly (readonly Call[])[], turn = 0) {
    super()
    this.#turns = turns
    this.#turn = turn
  }

  override getConfig(): { modelId: string } {
    return { modelId: 'fake' }
  }

  override updateConfig(): void {}

  override async *stream(messages: sdk.Message[]): AsyncGenerator<sdk.ModelStreamEvent, void, undefined> {
    this.asked.push([...messages])
    const calls = this.#turns[this.#turn++] ?? []
    const events: object[] = [{ type: 'modelMessageStartEvent', role: 'assistant' }]
    for (const { id: toolUseId, name, args } of calls) {
      const delta = { type: 'toolUseInputDelta', input: JSON.stringify(args) }
      events.push({ type: 'modelContentBlockStartEvent', start: { type: 'toolUseStart', name, toolUseId } })
      events.push({ type: 'modelContentBlockDeltaEvent', delta }, { type: 'modelContentBlockStopEvent' })
    }
    if (calls.length === 0) {
      const delta = { type: 'textDelta', text: 'done' }
      events.push({ type: 'modelContentBlockStartEvent' }, { type: 'modelContentBlockDeltaEvent', delta })
      events.push({ type: 'modelContentBlockStopEvent' })
    }
    events.push({ type: 'modelMessageStopEvent', stopReason: calls.length === 0 ? 'endTurn' : 'toolUse' })
    yield* events as sdk.ModelStreamEvent[]
  }
}

export function agentOf(executor: ToolExecutor, model: FakeModel, session = 'run-1'): sdk.Agent {
  return new sdk.Agent({ model, tools: strandsTools({ executor, session, sdk }), printer: false })
}

/** The result of a call in the agent's messages. */
export function resultIn({ messages }: sdk.Agent, id: string): sdk.ToolResultBlock | undefined {
  const blocks = messages.flatMap(({ content }) => content)
  return blocks.findLast((block) => block.type === 'toolResultBlock' && block.toolUseId === id) as sdk.ToolResultBlock
}

/** What the model read as the result of a call. */
export function toolOutputOf(agent: sdk.Agent, id: string): string | undefined {
  const texts = resultIn(agent, id)?.content.map((block) => {
    if (block.type === 'textBlock') return block.text
    return JSON.stringify(block.type === 'jsonBlock' ? block.json : block)
  })
  return texts?.join('\n')
}

export const driver: Driver = {
  name: 'Strands',
  async run({ executor }, call, { answer, signal, session } = {}) {
    const agent = agentOf(executor, new FakeModel([[call]]), session)
    const first = await agent.invoke('go', { ...(signal && { cancelSignal: signal }) })
    const interrupts = first.interrupts ?? []
    const isAsked = interrupts.length > 0
    if (isAsked && answer !== undefined) {
      const response = { approved: answer === 'allow', note: 'says the test' }
      await agent.invoke(interrupts.map(({ id }) => ({ interruptResponse: { interruptId: id, response } })))
    }
    return { words: toolOutputOf(agent, call.id), isAsked }
  },
}
