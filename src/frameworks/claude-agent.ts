/**
 * The Claude Agent SDK. This adapter serves an executor's tools to Claude's agent in this process, over MCP, and asks a person before
 * they run. It imports nothing of the SDK, and needs `@modelcontextprotocol/server`.
 *
 * @module
 */
import type { ToolExecutor, ToolResult } from '../index.ts'
import { functionOption, stringOption } from '../extension.ts'
import { mcpServer } from '../mcp/server.ts'
import { answerOf, offered, questionOf, type FrameworkQuestion } from './_approvals.ts'
import { checkConversation } from './_options.ts'
import { Visit, type PersonAnswer, type FrameworkOptions } from './_visit.ts'

export type { FrameworkQuestion } from './_approvals.ts'
export type { FrameworkOptions } from './_visit.ts'

/** What the SDK tells of a call before it runs. */
export interface ClaudePermissionOptions {
  readonly toolUseID: string
  readonly signal: AbortSignal
  readonly mcpServer?: { readonly name: string; readonly source: string }
}

/** The answer to the SDK. */
export type ClaudePermission =
  { behavior: 'allow'; updatedInput: { [key: string]: unknown } } | { behavior: 'deny'; message: string }

/** Decides on calls before they run: the SDK's `canUseTool`. */
export type ClaudeCanUseTool<Options> = (
  toolName: string,
  input: { [key: string]: unknown },
  options: Options,
) => Promise<ClaudePermission | null>

/** Options of `claudeAgentServer`. */
export interface ClaudeAgentServerOptions<Options extends ClaudePermissionOptions> extends Omit<
  FrameworkOptions,
  'caller' | 'dialect' | 'principal'
> {
  /** The server's name, and its key in `mcpServers`. Default: `toolwright`. */
  readonly name?: string
  /**
   * Asks a person about a call that needs approval. `true` and `{ approved: true }` allow, all else denies. Default: the call
   * waits, the model reads that it does, and `executor.calls.decide` answers it.
   */
  readonly ask?: (question: FrameworkQuestion, options: Options) => unknown
  /** Decides on tools that are not this executor's. Default: they are denied. */
  readonly canUseTool?: ClaudeCanUseTool<Options>
}

/** A server in this process, as `query` takes it. */
export interface ClaudeAgentServer<Options> {
  /** For `mcpServers`, under the server's name. Each `query` has its own. */
  readonly server: {
    readonly type: 'sdk'
    readonly name: string
    readonly tools: { name: string; permission_policy: 'always_ask' }[]
    /** Of a class of the SDK, of which the SDK uses `connect`. */
    readonly instance: never
  }
  /** For `canUseTool`. */
  readonly canUseTool: ClaudeCanUseTool<Options>
}

/** Where the agent writes its id of a call. */
const idOfCall = 'claudecode/toolUseId'

/**
 * Makes an executor's tools those of Claude's agent. Every call goes through the executor's pipeline, in one session.
 *
 * The SDK asks `canUseTool` before each call of a tool that may need approval. The call then waits in the journal until `ask` has
 * the person's answer.
 *
 * @param options The executor, the session, and how a person is asked.
 * @throws `E_INVALID_CONFIGURATION` if an option is unknown, missing or wrong.
 * @example
 * ```ts
 * import { createExecutor, tool } from 'toolwright'
 * import { claudeAgentServer } from 'toolwright/frameworks/claude-agent'
 *
 * const executor = createExecutor({ tools: [tool('now', () => '12:00')] })
 * const ask = ({ prompt }: { prompt: string }) => prompt.includes('now')
 * const { server, canUseTool } = claudeAgentServer({ executor, session: 'chat-1', ask })
 * // query({ prompt: 'What time is it?', options: { mcpServers: { toolwright: server }, canUseTool } })
 * ```
 * @see https://platform.claude.com/docs/en/agent-sdk/custom-tools
 * @experimental
 */
export function claudeAgentServer<Options extends ClaudePermissionOptions = ClaudePermissionOptions>(
  options: ClaudeAgentServerOptions<Options>,
): ClaudeAgentServer<Options> {
  checkConversation('claudeAgentServer', options, {
    name: stringOption,
    ask: functionOption,
    canUseTool: functionOption,
  })
  const { executor, session, name: server = 'toolwright', ask } = options
  const visit = new Visit(options, 'claude-agent')
  const prefix = `mcp__${server}__`
  const tools = offered(visit)
  const names = new Set(tools.map(({ name }) => name))
  /** The answers to calls that come next, by the agent's ids of them. */
  const answers = new Map<string, PersonAnswer>()

  const stream: ToolExecutor['stream'] = (call, { signal } = {}) => {
    const answer = answers.get(String(call.id))
    answers.delete(String(call.id))
    return visit.stream(call, { answer, signal })
  }
  const own = new Proxy(executor, {
    get(target, key) {
      if (key === 'stream') return stream
      const value: unknown = Reflect.get(target, key)
      return typeof value === 'function' ? (value as (...args: unknown[]) => unknown).bind(target) : value
    },
  })
  const served = mcpServer({
    executor: own,
    name: server,
    approvals: 'application',
    report: visit.report,
    identify(meta) {
      const id = meta?.[idOfCall]
      return typeof id === 'string' ? { id } : {}
    },
  })
  const instance = {
    connect: (transport: Parameters<typeof served.connect>[0]) => served.connect(transport, { session }),
  }
  const mayAsk = tools.filter(({ requiresConfirmation }) => requiresConfirmation !== false)

  return {
    server: {
      type: 'sdk',
      name: server,
      tools: mayAsk.map(({ name }) => ({ name, permission_policy: 'always_ask' })),
      instance: instance as never,
    },
    async canUseTool(toolName, input, permission) {
      const { toolUseID: id, mcpServer: from } = permission
      const name = toolName.slice(prefix.length)
      const isOurs = toolName.startsWith(prefix) && names.has(name) && (from === undefined || from.source === 'sdk')
      if (!isOurs) {
        const denial = { behavior: 'deny', message: `No person is asked about ${toolName}.` } as const
        return options.canUseTool === undefined ? denial : options.canUseTool(toolName, input, permission)
      }
      const allowed = { behavior: 'allow', updatedInput: input } as const
      const question = await visit.asks(visit.callOf(id, name, input))
      if (question === undefined || ask === undefined) return allowed // the call itself says what becomes of it
      const answer = answerOf(await ask(questionOf(id, name, question), permission))
      if (answer.decision === 'allow') {
        answers.set(id, answer)
        return allowed
      }
      const [result] = await visit.answer([{ id, name, answer }])
      return { behavior: 'deny', message: textIn(result) }
    },
  }
}

/** Returns the words of a denial. */
function textIn(result: ToolResult | undefined): string {
  const words = result?.content.map((block) => (block.type === 'text' ? block.text : ''))
  return words?.join('\n') || 'Permission denied by user'
}
