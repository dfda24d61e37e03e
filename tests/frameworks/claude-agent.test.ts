// The Claude Agent SDK takes the server in its process over a transport of its own, as here. Its command line is 370 MB: the test
// that runs it is opt-in, and needs an account.
import process from 'node:process'
import type { Options } from '@anthropic-ai/claude-agent-sdk'
import { createExecutor, tool } from 'toolwright'
import { claudeAgentServer } from 'toolwright/frameworks/claude-agent'
import { describe, expect, expectTypeOf, test } from 'vitest'
import { framework } from './_framework.ts'
import { missing } from './_installed.ts'
import { createKit } from './_kit.ts'

const { agentOf } = await framework(() => import('./drivers/claude-agent.ts'))

const pay = (cents: number) => ({ id: `toolu_${cents}`, name: 'pay', args: { cents } })

describe.skipIf(missing !== undefined)('claudeAgentServer', () => {
  test('is what `query` takes', () => {
    const { server, canUseTool } = claudeAgentServer({ executor: createKit().executor, session: 'chat-1' })
    expectTypeOf({ mcpServers: { toolwright: server }, canUseTool }).toExtend<Options>()
    expect(server).toMatchObject({ type: 'sdk', name: 'toolwright' })
    expect(server.tools).toEqual([{ name: 'pay', permission_policy: 'always_ask' }])
  })

  test('uses the agent’s id of the call, and the values of the application', async () => {
    const { executor, runs } = createKit()
    const agent = await agentOf(executor)
    expect(await agent.call(pay(5))).toBe('{"paid":5,"by":"unknown"}')
    expect(await executor.calls.get('chat-1/toolu_5')).toMatchObject({ status: 'ok', toolCallId: 'toolu_5' })
    await agent.call(pay(5)) // the same call again
    expect(runs()).toEqual(['pay 5'])
    await agent.close()
  })

  test('sends progress, if the agent wants it', async () => {
    const agent = await agentOf(createKit().executor)
    const updates: unknown[] = []
    await agent.call(
      { id: 'toolu_1', name: 'count', args: {} },
      { onprogress: (progress) => void updates.push(progress) },
    )
    expect(updates.length).toBeGreaterThan(0)
    await agent.close()
  })

  test('asks before a call that needs approval, and not before others', async () => {
    const { executor, runs } = createKit()
    const asked: unknown[] = []
    const agent = await agentOf(executor, (question) => {
      asked.push(question)
      return { approved: true, note: 'fine' }
    })
    await agent.call(pay(5))
    expect(await agent.call(pay(500))).toBe('{"paid":500,"by":"unknown"}')
    expect(asked).toEqual([{ type: 'tool-approval', toolName: 'pay', toolCallId: 'toolu_500', prompt: 'Pay 500?' }])
    expect(runs()).toEqual(['pay 5', 'pay 500'])
    const { approval } = await executor.calls.get('chat-1/toolu_500')
    expect(approval).toMatchObject({ decidedBy: 'claude-agent', note: 'fine' })
    await agent.close()
  })

  test('leaves a call waiting that came without a question, or whose question had another answer than yes', async () => {
    const { executor, runs } = createKit()
    const silent = await agentOf(executor)
    expect(await silent.call(pay(500), { isUnasked: true })).toContain('approv')
    expect(await silent.call(pay(600))).toContain('approv')
    expect((await executor.calls.waiting()).map(({ id }) => id)).toEqual(['toolu_600', 'toolu_500'])
    await silent.close()
    const asked = await agentOf(executor, () => 'true')
    expect(await asked.call(pay(700))).toContain('Permission denied')
    expect(runs()).toEqual([])
    await asked.close()
  })

  test('does not run other args than the person was shown', async () => {
    const { executor, runs } = createKit()
    const asked = await agentOf(executor)
    await asked.call(pay(500))
    const forged = await agentOf(executor, () => true)
    expect(await forged.call({ ...pay(500), args: { cents: 90_000 } })).toContain('already exists')
    expect(runs()).toEqual([])
    await asked.close()
    await forged.close()
  })

  test('decides on no tool that is not the executor’s', async () => {
    const options = { toolUseID: 'toolu_1', signal: new AbortController().signal }
    const { executor } = createKit()
    const alone = claudeAgentServer({ executor, session: 'chat-1', ask: () => true })
    expect(await alone.canUseTool('Bash', { command: 'ls' }, options)).toMatchObject({ behavior: 'deny' })
    const impostor = { ...options, mcpServer: { name: 'toolwright', source: 'project' } }
    expect(await alone.canUseTool('mcp__toolwright__pay', { cents: 5 }, impostor)).toMatchObject({ behavior: 'deny' })
    const canUseTool = (name: string) => Promise.resolve({ behavior: 'deny', message: `not ${name}` } as const)
    const composed = claudeAgentServer({ executor, session: 'chat-1', canUseTool })
    expect(await composed.canUseTool('Bash', {}, options)).toEqual({ behavior: 'deny', message: 'not Bash' })
  })

  test('runs in the agent of the SDK itself (HOSTS_CLAUDE=1, with an account)', async ({ skip }) => {
    if (process.env['HOSTS_CLAUDE'] !== '1') return skip('left out: it needs an account')
    const { query } = await import('@anthropic-ai/claude-agent-sdk')
    const secret = tool({ name: 'secret', description: 'Tells the secret word', handler: () => 'xylophone' })
    const executor = createExecutor({ tools: [secret] })
    const { server, canUseTool } = claudeAgentServer({ executor, session: 'chat-1', ask: () => true })
    const prompt = 'Call the tool `secret`, and say the word.'
    let said = ''
    const options: Options = { mcpServers: { toolwright: server }, canUseTool, tools: [], settingSources: [] }
    for await (const message of query({ prompt, options })) if ('result' in message) said = message.result
    expect(said).toContain('xylophone')
  }, 300_000)
})
