// The page tells what the migrated agent did, and what has changed by it. Both are held here.
import { content, createExecutor, tool, type Tool } from 'toolwright'
import { fromLangchain, langchainTools } from 'toolwright/frameworks/langchain'
import { memoryJournal } from 'toolwright/journals/memory'
import { expect } from 'vitest'
import { z } from 'zod'
import { framework } from '../../frameworks/_framework.ts'
import { missing } from '../../frameworks/_installed.ts'
import { describeMigratedAgent, describeMigrationPage, sharedChanges } from '../_migration.ts'

describeMigrationPage('migrate-from-langchain', 'From LangChain', {
  // What stands for something else. The agent of LangGraph has its `ToolNode` within, and needs no loop without LangGraph.
  placeholders: ['function', 'fields', 'words', 'value', 'config', 'calls', 'ToolNode', 'executeToolCalls'],
  // What only other programs have, and the tools of the page.
  elsewhere: ['context', 'store', 'calls', 'decide', 'weather', 'id', 'interruptOn', 'humanInTheLoopMiddleware'],
})

const { AIMessage, ToolMessage } = await framework(() => import('@langchain/core/messages'))
const { DynamicStructuredTool, tool: theirTool } = await framework(() => import('@langchain/core/tools'))
const { fakeModel } = await framework(() => import('@langchain/core/testing'))
const agents = await framework(
  async () => [await import('./before/agent.ts'), await import('./after/agent.ts')] as const,
)
let threads = 0

/** A run of a thread of its own, in which the model makes this call. */
function runOf(name: string, args: object) {
  const model = fakeModel()
    .respondWithTools([{ id: 'call_1', name, args }])
    .respond(new AIMessage('Done.'))
  return { model, thread: `page-${threads++}`, customer: 'ada' }
}

/** Makes a run of the old agent, and of the migrated one. Returns what the tool said. */
async function bothOf(name: string, args: object): Promise<readonly (string | undefined)[]> {
  const said: (string | undefined)[] = []
  for (const { say } of agents) {
    const { messages } = await say(runOf(name, args), 'Help me.')
    said.push(messages.find((message) => ToolMessage.isInstance(message))?.text)
  }
  return said
}

function toolsOf(...tools: Tool[]) {
  const core = { DynamicStructuredTool, ToolMessage }
  return langchainTools({ executor: createExecutor({ tools, use: [memoryJournal()] }), session: 'thread-1', core })
}

// By the first words of each item of the page.
const changes: { readonly [words: string]: () => Promise<void> } = {
  async 'If arguments do not fit the schema, `invoke` of LangChain throws.'() {
    const fields = { name: 'weather', description: 'The weather', schema: z.object({ city: z.string() }) }
    const weather = theirTool(({ city }) => `21 degrees in ${city}`, fields)
    const call = { type: 'tool_call' as const, id: 'call_1', name: 'weather', args: { city: 7 } }
    await expect(weather.invoke(call)).rejects.toThrow('did not match')
    const [migrated] = toolsOf(...fromLangchain([weather]))
    expect(await migrated?.invoke(call)).toMatchObject({ status: 'error', tool_call_id: 'call_1' })
    const executor = createExecutor({ tools: fromLangchain([weather]) })
    expect((await executor.execute(call)).error?.code).toBe('E_INVALID_TOOL_ARGS')
  },
  async 'Errors are told in the words of the executor'() {
    const [old, migrated] = await bothOf('cancel_trip', { trip: 't-9' })
    expect(old).toBe('Error: There is no booking of t-9.\n Please fix your mistakes.')
    expect(migrated).toContain('There is no booking of t-9.')
    expect(migrated).not.toContain('Please fix')
  },
  async 'What a tool yields or writes'() {
    const data: unknown[] = []
    for (const { watch } of agents) {
      const events = await watch(runOf('watch_price', { trip: 't-1' }), 'What does it cost?')
      let first: unknown
      for await (const event of events) if (event.event === 'on_tool_event') first ??= event.data
      data.push(first)
    }
    const chunk = { trip: 't-1', state: 'asking the airline' }
    const progress = { type: 'yield', data: chunk }
    expect(data).toEqual([chunk, { type: 'tool-progress', toolCallId: 'call_1', toolName: 'watch_price', progress }])
  },
  async 'An id of a call that comes twice in a session'() {
    const ran: string[] = []
    const statuses: unknown[] = []
    const fields = { name: 'weather', description: 'The weather', schema: z.object({ city: z.string() }) }
    const weather = theirTool(({ city }) => String(ran.push(city)), fields)
    const call = (city: string) => ({ type: 'tool_call' as const, id: 'call_1', name: 'weather', args: { city } })
    await weather.invoke(call('Oslo'))
    await weather.invoke(call('Oslo'))
    expect(ran.splice(0)).toEqual(['Oslo', 'Oslo'])
    const [migrated] = toolsOf(...fromLangchain([weather]))
    for (const city of ['Oslo', 'Oslo', 'Rome']) {
      const message = (await migrated?.invoke(call(city))) as { readonly status: string } | undefined
      statuses.push(message?.status)
    }
    expect(ran).toEqual(['Oslo'])
    expect(statuses).toEqual(['success', 'success', 'error'])
  },
  async '`toolRetryMiddleware` and `handleToolErrors` see no error'() {
    const fields = { name: 'weather', description: 'The weather', schema: z.object({ city: z.string() }) }
    const weather = theirTool((): string => {
      throw new Error('The service is away.')
    }, fields)
    const call = { type: 'tool_call' as const, id: 'call_1', name: 'weather', args: { city: 'Oslo' } }
    await expect(weather.invoke(call)).rejects.toThrow('The service is away.')
    const [migrated] = toolsOf(...fromLangchain([weather]))
    const words = expect.stringContaining('The service is away.') as string
    expect(await migrated?.invoke(call)).toMatchObject({ status: 'error', content: words })
  },
  async 'Pictures and sounds in results'() {
    const photo = tool('photo', () => content([{ type: 'image', data: 'aGk=', mimeType: 'image/png' }]))
    const [migrated] = toolsOf(photo)
    const message: unknown = await migrated?.invoke({ type: 'tool_call', id: 'call_1', name: 'photo', args: {} })
    expect(message).toMatchObject({ status: 'success', content: expect.stringContaining('image/png') as string })
    expect(JSON.stringify(message)).not.toContain('aGk=')
  },
  ...sharedChanges,
}

describeMigratedAgent('migrate-from-langchain', changes, missing)
