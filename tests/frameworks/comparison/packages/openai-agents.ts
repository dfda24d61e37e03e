import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { Agent, MemorySession, Runner, RunState, tool, type AgentInputItem } from '@openai/agents'
import { modelOf, toolOutputOf } from '../../drivers/openai-agents.ts'
import type { Compared, Heard, Scene } from '../_scene.ts'

/** A session whose items are in a file. The package has the interface, and a session in memory. */
class FileSession extends MemorySession {
  readonly #file: string

  constructor(file: string) {
    super(existsSync(file) ? { initialItems: JSON.parse(readFileSync(file, 'utf8')) as AgentInputItem[] } : {})
    this.#file = file
  }

  override async addItems(items: AgentInputItem[]): Promise<void> {
    await super.addItems(items)
    await this.#save()
  }

  override async applyHistoryTransaction(
    change: Parameters<MemorySession['applyHistoryTransaction']>[0],
  ): Promise<void> {
    await super.applyHistoryTransaction(change)
    await this.#save()
  }

  async #save(): Promise<void> {
    writeFileSync(this.#file, JSON.stringify(await this.getItems()))
  }
}

function start({ offers, turns, timeout, isAsked, folder, signal }: Scene) {
  const tools = offers.map(({ name, description, schema, run }) =>
    tool({
      name,
      description,
      parameters: schema,
      execute: (input, _context, details) => run(input as never, details?.signal) as never,
      ...(timeout !== undefined && { timeoutMs: timeout }),
      ...(isAsked && { needsApproval: true }),
    }),
  )
  const model = modelOf(...turns)
  const agent = new Agent({ name: 'payer', instructions: 'Pay.', model, tools })
  const session = new FileSession(join(folder, 'session.json'))
  const runner = new Runner({ toolNotFoundBehavior: 'return_error_to_model' })
  const heard: Heard = { resultOf: (id) => toolOutputOf(model, id), offered: tools.map(({ name }) => name) }
  const run = (input: string | RunState<unknown, typeof agent>) =>
    runner.run(agent, input, { session, ...(signal && { signal }) })
  return { agent, run, heard }
}

export const compared: Compared = {
  name: 'OpenAI Agents',
  packages: ['@openai/agents'],
  uses:
    '`Runner` with `tool`, `timeoutMs`, `signal`, `toolNotFoundBehavior`, and `needsApproval`; ' +
    'a `Session` that writes a file, and the stored `RunState`',
  beside: '`callModelInputFilter` with which you shorten a result yourself, guardrails, and error formatters',
  async run(scene) {
    const { run, heard } = start(scene)
    await run('go')
    return heard
  },
  async ask(scene) {
    const { run } = start(scene)
    const { state } = await run('go')
    return state.toString()
  },
  async answer(scene, kept) {
    const { agent, run, heard } = start({ ...scene, turns: [] })
    const state = await RunState.fromString(agent, kept as string)
    for (const asked of state.getInterruptions()) state.approve(asked)
    await run(state)
    return heard
  },
}
