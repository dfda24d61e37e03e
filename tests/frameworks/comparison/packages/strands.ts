import { Agent, SessionManager, tool } from '@strands-agents/sdk'
import { LocalFileStorage } from '@strands-agents/sdk/storage'
import { HumanInTheLoop } from '@strands-agents/sdk/vended-interventions/hitl'
import { ContextOffloader } from '@strands-agents/sdk/vended-plugins/context-offloader'
import { FakeModel, toolOutputOf } from '../../drivers/strands.ts'
import type { Compared, Heard, Scene } from '../_scene.ts'

function start({ folder, offers, turns, isAsked, signal }: Scene) {
  const tools = offers.map(({ name, description, schema, run }) =>
    tool({
      name,
      description,
      inputSchema: schema,
      callback: (input, context) => run(input as never, context?.agent.cancelSignal) as never,
    }),
  )
  const model = new FakeModel(turns)
  const storage = new LocalFileStorage(folder)
  const agent = new Agent({
    id: 'payer',
    model,
    tools,
    printer: false,
    sessionManager: new SessionManager({ sessionId: 'run-1', storage, saveLatestOn: 'message' }),
    plugins: [new ContextOffloader({ storage })],
    interventions: isAsked ? [new HumanInTheLoop()] : [],
  })
  const heard = (): Heard => ({
    resultOf: (id) => toolOutputOf(agent, id),
    offered: agent.tools.map(({ name }) => name),
  })
  const invoke = (input: Parameters<Agent['invoke']>[0]) =>
    agent.invoke(input, { ...(signal && { cancelSignal: signal }) })
  return { invoke, heard }
}

export const compared: Compared = {
  name: 'Strands',
  packages: ['@strands-agents/sdk'],
  uses:
    '`Agent` with `tool`, `cancelSignal`, `ContextOffloader`, `HumanInTheLoop`, and a `SessionManager` on files ' +
    'that saves each message',
  beside: 'hooks around tool calls, retries, and sandboxes with a timeout of their own',
  noTimeout: { files: '@strands-agents/sdk/dist/src/tools/*.d.ts' },
  async run(scene) {
    const { invoke, heard } = start(scene)
    await invoke('go')
    return heard()
  },
  async ask(scene) {
    const { interrupts = [] } = await start(scene).invoke('go')
    return interrupts.map(({ id }) => id)
  },
  async answer(scene, kept) {
    const { invoke, heard } = start({ ...scene, turns: [] })
    await invoke((kept as string[]).map((id) => ({ interruptResponse: { interruptId: id, response: true } })))
    return heard()
  },
}
