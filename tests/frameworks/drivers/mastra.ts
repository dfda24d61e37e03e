import { Mastra } from '@mastra/core'
import { Agent } from '@mastra/core/agent'
import { InMemoryStore } from '@mastra/core/storage'
import { createTool } from '@mastra/core/tools'
import type { MockLanguageModelV4 } from 'ai/test'
import type { ToolExecutor } from 'toolwright'
import { mastraTools } from 'toolwright/frameworks/mastra'
import { modelOf, toolOutputOf, wordsOf } from '../_ai-model.ts'
import type { Driver } from '../_kit.ts'

/** What a run showed of itself. */
export interface Shown {
  readonly runId: string
  readonly suspended: { readonly toolCallId: string; readonly suspendPayload: { readonly prompt: string } }[]
  readonly results: { readonly toolCallId: string; readonly result: unknown }[]
  readonly written: unknown[]
}

export function agentOf(
  executor: ToolExecutor,
  model: MockLanguageModelV4,
  session = 'thread-1',
  storage: InMemoryStore = new InMemoryStore(),
): Agent {
  const tools = mastraTools({ executor, session, createTool })
  const agent = new Agent({ id: 'payer', name: 'payer', instructions: 'Pay.', model: model as never, tools })
  return new Mastra({ agents: { payer: agent }, storage, logger: false }).getAgent('payer')
}

type Output = Awaited<ReturnType<Agent['stream']>>

export async function read(output: Output): Promise<Shown> {
  const shown: Shown = { runId: output.runId, suspended: [], results: [], written: [] }
  for await (const part of output.fullStream as unknown as AsyncIterable<{
    type: string
    payload: never
    data?: unknown
  }>) {
    if (part.type === 'tool-call-suspended') shown.suspended.push(part.payload)
    if (part.type === 'tool-result') shown.results.push(part.payload)
    if (part.type === 'data-tool-progress') shown.written.push(part.data)
  }
  return shown
}

export const driver: Driver = {
  name: 'Mastra',
  async run({ executor }, call, { answer, signal, session } = {}) {
    const model = modelOf({ calls: [call] }, { text: 'done' })
    const agent = agentOf(executor, model, session)
    const first = await read(await agent.stream('go', { maxSteps: 3, ...(signal && { abortSignal: signal }) }))
    const [asked] = first.suspended
    if (asked !== undefined && answer !== undefined) {
      const data = { approved: answer === 'allow', note: 'says the test' }
      await read(await agent.resumeStream(data, { runId: first.runId, toolCallId: asked.toolCallId }))
    }
    return { words: wordsOf(toolOutputOf(model.doStreamCalls.at(-1)?.prompt, call.id)), isAsked: asked !== undefined }
  },
}
