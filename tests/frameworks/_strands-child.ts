// An agent whose records and snapshot are files: one process asks, and the next answers.
import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import process from 'node:process'
import type { Snapshot } from '@strands-agents/sdk'
import { executorOn } from './_tools.ts'
import { agentOf, FakeModel, toolOutputOf } from './drivers/strands.ts'

const { file, answer } = JSON.parse(process.argv[2] ?? '') as { readonly file: string; readonly answer?: object }
const kept = `${file}.snapshot`
const isFirst = !existsSync(kept)
const executor = executorOn(file)
const calls = [5, 500].map((cents) => ({ id: `c${cents}`, name: 'pay', args: { cents } }))
const agent = agentOf(executor, new FakeModel([calls], isFirst ? 0 : 1))
if (!isFirst) agent.loadSnapshot(JSON.parse(readFileSync(kept, 'utf8')) as Snapshot)
const asked = (JSON.parse(isFirst ? '[]' : readFileSync(`${kept}.asked`, 'utf8')) as string[]).map((id) => ({
  interruptResponse: { interruptId: id, response: (answer ?? {}) as never },
}))
const { stopReason, interrupts = [] } = await agent.invoke(isFirst ? 'go' : asked)
writeFileSync(kept, JSON.stringify(agent.takeSnapshot({ preset: 'session' })))
writeFileSync(`${kept}.asked`, JSON.stringify(interrupts.map(({ id }) => id)))
await executor.close()
const reasons = interrupts.map(({ reason }) => reason)
console.log(JSON.stringify({ stopReason, reasons, said: [toolOutputOf(agent, 'c5'), toolOutputOf(agent, 'c500')] }))
