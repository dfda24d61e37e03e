// Goes on with the stored state of a run of OpenAI Agents in a process of its own: prints what the model was told.
import process from 'node:process'
import { Runner, RunState } from '@openai/agents'
import { agentOf, modelOf, toolOutputOf } from './drivers/openai-agents.ts'
import { executorOn } from './_tools.ts'

const { file, state: text, id } = JSON.parse(process.argv[2] ?? '') as { file: string; state: string; id: string }
const executor = executorOn(file)
const model = modelOf()
const { agent } = agentOf(executor, model)
const state = await RunState.fromString(agent, text)
for (const asked of state.getInterruptions()) state.approve(asked)
await new Runner().run(agent, state)
await executor.close()
process.stdout.write(JSON.stringify({ words: toolOutputOf(model, id) }))
