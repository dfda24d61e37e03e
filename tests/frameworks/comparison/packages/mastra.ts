import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { deserialize, serialize } from 'node:v8'
import { Mastra } from '@mastra/core'
import { Agent } from '@mastra/core/agent'
import { InMemoryStore } from '@mastra/core/storage'
import { createTool } from '@mastra/core/tools'
import { modelOf, toolOutputOf, wordsOf } from '../../_ai-model.ts'
import type { Compared, Heard, Scene } from '../_scene.ts'

type Runs = Map<string, unknown>

/** A storage whose workflows are in a file. The package has the interface, and a storage in memory. */
function storageIn(file: string): InMemoryStore {
  const storage = new InMemoryStore()
  const { workflows } = storage.stores
  const { workflows: runs } = (workflows as unknown as { readonly db: { readonly workflows: Runs } }).db
  if (existsSync(file)) for (const [key, run] of deserialize(readFileSync(file)) as Runs) runs.set(key, run)
  const writes = workflows as unknown as Record<string, (update: unknown) => Promise<unknown>>
  for (const name of ['persistWorkflowSnapshot', 'updateWorkflowResults', 'updateWorkflowState']) {
    const write = writes[name]?.bind(workflows)
    writes[name] = async (update) => {
      const value = await write?.(update)
      writeFileSync(file, serialize(structuredClone(runs)))
      return value
    }
  }
  return storage
}

function start({ folder, offers, turns, isAsked, signal }: Scene) {
  const tools = offers.map(({ name, description, schema, run }) => {
    const execute = async (input: unknown, context?: { readonly abortSignal?: AbortSignal | undefined }) =>
      run(input as never, context?.abortSignal)
    return [
      name,
      createTool({ id: name, description, inputSchema: schema, execute, ...(isAsked && { requireApproval: true }) }),
    ]
  })
  const model = modelOf(...turns.map((calls) => ({ calls })), { text: 'done' })
  const agent = new Agent({
    id: 'payer',
    name: 'payer',
    instructions: 'Pay.',
    model: model as never,
    tools: Object.fromEntries(tools) as never,
    durable: true,
  })
  const storage = storageIn(join(folder, 'storage'))
  const mastra = new Mastra({ agents: { payer: agent }, storage, logger: false, recovery: { durableAgents: 'auto' } })
  const heard = (): Heard => ({
    resultOf: (id) => wordsOf(toolOutputOf(model.doStreamCalls.at(-1)?.prompt ?? [], id)),
    offered: model.doStreamCalls[0]?.tools?.map(({ name }) => name) ?? [],
  })
  const options = { maxSteps: 5, ...(signal && { abortSignal: signal }) }
  return { agent: mastra.getAgent('payer'), heard, options }
}

interface Stream {
  readonly runId: string
  readonly fullStream: unknown
}

async function read(stream: unknown): Promise<string> {
  const { fullStream, runId, output } = stream as Stream & { readonly output?: Stream }
  for await (const part of (output?.fullStream ?? fullStream) as AsyncIterable<{
    type: string
    payload?: { error?: unknown }
  }>) {
    if (part.type === 'error') throw part.payload?.error
    if (part.type === 'tool-call-approval') return runId
  }
  return runId
}

export const compared: Compared = {
  name: 'Mastra',
  packages: ['@mastra/core'],
  uses: '`Agent` with `durable: true`, `createTool`, `abortSignal`, `requireApproval`, and a storage that writes a file',
  beside: 'storages on databases in packages of their own, processors that shorten the history, and workflows',
  noTimeout: { files: '@mastra/core/dist/tools/{types,tool}.d.ts' },
  async run(scene) {
    const { agent, heard, options } = start(scene)
    await read(await agent.stream('go', options))
    return heard()
  },
  async ask(scene) {
    const { agent, options } = start(scene)
    return read(await agent.stream('go', options))
  },
  async answer(scene, kept) {
    const { agent, heard, options } = start({ ...scene, turns: [] })
    await read(await agent.approveToolCall({ runId: kept as string, ...options }))
    return heard()
  },
  async goOn(scene) {
    const { agent, heard } = start({ ...scene, turns: [] })
    await agent.recoverActiveRuns()
    return heard()
  },
}
