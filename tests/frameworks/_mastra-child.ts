// An agent whose records and storage are files: one process asks, and the next answers.
import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import process from 'node:process'
import { deserialize, serialize } from 'node:v8'
import { InMemoryStore } from '@mastra/core/storage'
import { modelOf } from './_ai-model.ts'
import { executorOn } from './_tools.ts'
import { agentOf, read } from './drivers/mastra.ts'

const { file, answer } = JSON.parse(process.argv[2] ?? '') as { readonly file: string; readonly answer?: object }
const kept = `${file}.storage`
const storage = new InMemoryStore()
const { workflows } = (storage.stores.workflows as unknown as { db: { workflows: Map<string, unknown> } }).db
const before = existsSync(kept)
  ? (deserialize(readFileSync(kept)) as { runId: string; runs: Map<string, unknown> })
  : undefined
for (const [key, run] of before?.runs ?? []) workflows.set(key, run)

const executor = executorOn(file)
const calls = [5, 500].map((cents) => ({ id: `c${cents}`, name: 'pay', args: { cents } }))
const model = before === undefined ? modelOf({ calls }, { text: 'done' }) : modelOf({ text: 'done' })
const agent = agentOf(executor, model, 'thread-1', storage)
const shown = await read(
  before === undefined
    ? await agent.stream('go')
    : await agent.resumeStream(answer ?? {}, { runId: before.runId, toolCallId: 'c500' }),
)
writeFileSync(kept, serialize({ runId: shown.runId, runs: structuredClone(workflows) }))
await executor.close()
process.stdout.write(JSON.stringify({ ...shown, prompt: model.doStreamCalls.at(-1)?.prompt }), () => process.exit(0))
