import { Client } from '@modelcontextprotocol/sdk/client/index.js'
import { InMemoryTransport } from '@modelcontextprotocol/sdk/inMemory.js'
import type { ToolExecutor } from 'toolwright'
import { claudeAgentServer, type ClaudeAgentServer, type FrameworkQuestion } from 'toolwright/frameworks/claude-agent'
import type { Call, Driver } from '../_kit.ts'

interface Text {
  readonly text?: string
}

export interface Agent {
  readonly server: ClaudeAgentServer<never>['server']
  /** A call of the model: the SDK asks `canUseTool`, and calls the tool if it is allowed. */
  readonly call: (
    call: Call,
    options?: {
      readonly signal?: AbortSignal
      readonly isUnasked?: true
      readonly onprogress?: (progress: unknown) => void
    },
  ) => Promise<string>
  readonly close: () => Promise<void>
}

/** What the SDK does with a server in its process, over a transport of its own. */
export async function agentOf(
  executor: ToolExecutor,
  ask?: (question: FrameworkQuestion) => unknown,
  session = 'chat-1',
): Promise<Agent> {
  const { server, canUseTool } = claudeAgentServer({ executor, session, ...(ask && { ask }) })
  const [near, far] = InMemoryTransport.createLinkedPair()
  await (server.instance as { connect(transport: unknown): Promise<unknown> }).connect(near)
  const client = new Client({ name: 'claude-code', version: '2.0.0' })
  await client.connect(far)
  return {
    server,
    async call({ id, name, args }, { signal = new AbortController().signal, isUnasked, onprogress } = {}) {
      const input = args as { [key: string]: unknown }
      const options = { toolUseID: id, signal, mcpServer: { name: 'toolwright', source: 'sdk' } }
      const permission = isUnasked ? undefined : await canUseTool(`mcp__toolwright__${name}`, input, options)
      if (permission?.behavior === 'deny') return permission.message
      const meta = { 'claudecode/toolUseId': id }
      const result = await client.callTool({ name, arguments: input, _meta: meta }, undefined, {
        signal,
        ...(onprogress && { onprogress }),
      })
      return (result.content as Text[]).map(({ text }) => text ?? '').join('\n')
    },
    close: () => client.close(),
  }
}

export const driver: Driver = {
  name: 'Claude Agent SDK',
  async run({ executor }, call, { answer, signal, session } = {}) {
    let isAsked = false
    const agent = await agentOf(
      executor,
      () => {
        isAsked = true
        if (answer === undefined) throw new Stopped()
        return { approved: answer === 'allow', note: 'says the test' }
      },
      session,
    )
    try {
      return { words: await agent.call(call, signal && { signal }), isAsked }
    } catch (error) {
      if (!(error instanceof Stopped)) throw error
      return { words: undefined, isAsked }
    } finally {
      await agent.close()
    }
  },
}

/** The process ended while the person was asked. */
class Stopped extends Error {}
