import { createExecutor, tool } from 'toolwright'
import { has, never, same, words } from '../_assert.ts'
import type { Case } from '../run.ts'

const count = tool('count', async function* () {
  yield 1
  return 'end'
})
const asked = tool({ name: 'asked', description: 'Needs a person', requiresConfirmation: true, handler: () => 'done' })

export const hosts: readonly Case[] = [
  {
    name: 'client: the HTTP API reads what pages send, and its stream tells them',
    needs: ['web', 'streams'],
    async run() {
      const { httpClients } = await import('toolwright/client/http')
      const { connect } = await import('toolwright/client/browser')
      const pick = tool({ name: 'pick', description: 'Asks the page', type: 'client', requiresResponse: true })
      const executor = createExecutor({ tools: [pick] })
      const api = httpClients({ executor, authorize: () => ({ session: executor.session }) })
      const client = connect('http://localhost', { fetch: (...parameters) => api.fetch(new Request(...parameters)) })
      client.tool('pick', () => 'blue')
      same(words(await executor.calls.settled(await executor.execute({ name: 'pick' }))), 'blue')
      client.close()
      await executor.close()
    },
  },
  {
    name: 'hosts: a framework runs a call, is told of its progress, and gives one up',
    async run() {
      const { aiSdkTools } = await import('toolwright/frameworks/ai-sdk')
      const executor = createExecutor({ tools: [count, tool('hang', () => never)] })
      const { tools } = aiSdkTools({ executor, session: 's' })
      const caller = new AbortController()
      const run = async (name: string, signal = caller.signal): Promise<string[]> => {
        const statuses = []
        const options = { toolCallId: name, messages: [], abortSignal: signal }
        for await (const { status } of tools[name]?.execute({}, options) ?? []) statuses.push(status)
        return statuses
      }
      same(await run('count'), ['running', 'ok'])
      const running = run('hang')
      executor.on('tool:start', () => setTimeout(() => caller.abort(), 1))
      same(await running, ['cancelled'])
      same(await run('hang'), ['cancelled'])
    },
  },
  {
    name: 'hosts: a framework asks a person, and a call that was not asked about does not run',
    async run() {
      const { openaiAgentsTools } = await import('toolwright/frameworks/openai-agents')
      const { anthropicTools } = await import('toolwright/frameworks/anthropic')
      const { aiSdkTools } = await import('toolwright/frameworks/ai-sdk')
      const { langchainTools } = await import('toolwright/frameworks/langchain')
      const { mastraTools } = await import('toolwright/frameworks/mastra')
      const { strandsTools } = await import('toolwright/frameworks/strands')
      const { tanstackTools } = await import('toolwright/frameworks/tanstack')
      const executor = createExecutor({ tools: [asked] })
      const { toolApproval, tools, answer: passAnswers } = aiSdkTools({ executor, session: 's' })
      const question = await toolApproval['asked']?.({}, { toolCallId: 'c1', messages: [] })
      same(question?.type, 'user-approval')
      same((await executor.calls.waiting()).length, 1)
      const yes = [
        { content: [{ type: 'tool-approval-request', toolCallId: 'c2', approvalId: 'a' }] },
        { content: [{ type: 'tool-approval-response', approvalId: 'a', approved: true }] },
      ]
      for await (const { status } of tools['asked']?.execute({}, { toolCallId: 'c2', messages: yes }) ?? []) {
        same(status, 'error')
      }
      same(await passAnswers([]), [])
      const makers = [openaiAgentsTools, anthropicTools, langchainTools, mastraTools, strandsTools, tanstackTools]
      has(
        makers.every((maker) => typeof maker === 'function'),
        'the other frameworks',
      )
    },
  },
]
