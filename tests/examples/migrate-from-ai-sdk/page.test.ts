// The page tells what the migrated agent did, and what has changed by it. Both are held here.
import type { ModelMessage } from 'ai'
import { createExecutor, tool } from 'toolwright'
import { aiSdkTools, fromAiSdk } from 'toolwright/frameworks/ai-sdk'
import { expect } from 'vitest'
import { z } from 'zod'
import { framework } from '../../frameworks/_framework.ts'
import { missing } from '../../frameworks/_installed.ts'
import { describeMigratedAgent, describeMigrationPage, sharedChanges } from '../_migration.ts'
import { deeds } from './shop.ts'

describeMigrationPage('migrate-from-ai-sdk', 'From the AI SDK', {
  // What stands for something else, and what this agent does not have.
  placeholders: ['input', 'options', 'context', 'schema', 'words', 'value', 'strict'],
  // What only other programs have, and the tools of the page.
  elsewhere: ['sqliteJournal', 'ToolLoopAgent', 'experimental_context', 'pay', 'weather'],
})

const ai = await framework(() => import('ai'))
const { modelOf } = await framework(() => import('../../frameworks/_ai-model.ts'))
const agents = await framework(
  async () => [await import('./before/agent.ts'), await import('./after/agent.ts')] as const,
)
const user: ModelMessage = { role: 'user', content: 'Help me.' }
let chats = 0

/** A request of a chat of its own, in which the model makes these calls. */
function requestOf(...calls: readonly (readonly [name: string, args: object])[]) {
  const said = calls.map(([name, args], index) => ({ calls: [{ id: `call_${index + 1}`, name, args }] }))
  return { model: modelOf(...said, { text: 'Done.' }), chatId: `page-${chats++}`, customer: 'ada', messages: [user] }
}

/** Makes a request of the old agent, and of the migrated one. */
async function bothOf(...calls: readonly (readonly [name: string, args: object])[]) {
  const [old, migrated] = agents
  return [await old.reply(requestOf(...calls)), await migrated.reply(requestOf(...calls))] as const
}

// By the first words of each item of the page.
const changes: { readonly [words: string]: () => Promise<void> } = {
  async '`execute` called directly validates nothing'() {
    const inputSchema = z.object({ city: z.string() })
    const old = ai.tool({ inputSchema, execute: ({ city }) => `21 degrees in ${city}` })
    expect(await old.execute({ city: 7 } as never, { toolCallId: 'x', messages: [], context: {} })).toBe(
      '21 degrees in 7',
    )
    const handler = ({ city }: { city: string }): string => `21 degrees in ${city}`
    const weather = tool({ name: 'weather', description: 'The weather', inputSchema, handler })
    expect(await weather({ city: 'Oslo' })).toBe('21 degrees in Oslo')
    await expect(weather({ city: 7 } as never)).rejects.toMatchObject({ code: 'E_INVALID_TOOL_ARGS' })
  },
  async 'The executor validates, not the SDK'() {
    const [old, migrated] = await bothOf(['search_products', { query: ' TEA ' }])
    expect(old.steps[0]?.toolCalls[0]?.input).toMatchObject({ query: 'tea', limit: 2 })
    expect(migrated.steps[0]?.toolCalls[0]?.input).toEqual({ query: ' TEA ' })
    const asked: string[] = []
    const refund = ai.tool({ inputSchema: z.object({ cents: z.number() }), execute: ({ cents }) => cents })
    const executor = createExecutor({ tools: await fromAiSdk({ refund }) })
    for (const tools of [{ refund }, aiSdkTools({ executor, session: 'chat-1' }).tools]) {
      const { model, messages } = requestOf(['refund', { cents: 'x' }])
      const repairToolCall = async (): Promise<null> => {
        asked.push('repair')
        return null
      }
      await ai.generateText({ model, tools, messages, repairToolCall })
    }
    expect(asked).toEqual(['repair'])
  },
  async 'What a generator yields comes as the preliminary output'() {
    const outputs: unknown[] = []
    for (const { respond } of agents) {
      const { messages: _messages, ...request } = requestOf(['track_parcel', { id: 'o-1' }])
      const uiMessages = [{ id: 'm1', role: 'user' as const, parts: [{ type: 'text' as const, text: 'Where is it?' }] }]
      const stream = await respond({ ...request, uiMessages })
      let first: unknown
      for await (const chunk of stream) {
        if (chunk.type === 'tool-output-available' && chunk.preliminary === true) first ??= chunk.output
      }
      outputs.push(first)
    }
    const data = { id: 'o-1', state: 'packed' }
    expect(outputs).toEqual([data, { status: 'running', progress: { type: 'yield', data } }])
  },
  async 'Parts of a `dynamicTool`'() {
    const types: unknown[] = []
    for (const { respond } of agents) {
      const { messages: _messages, ...request } = requestOf(['shelf_report', { aisle: 3 }])
      const uiMessages = [{ id: 'm1', role: 'user' as const, parts: [{ type: 'text' as const, text: 'Is it full?' }] }]
      let parts: readonly { readonly type: string }[] = []
      for await (const state of ai.readUIMessageStream({ stream: await respond({ ...request, uiMessages }) }))
        parts = state.parts
      types.push(parts.find(({ type }) => type.includes('tool'))?.type)
    }
    expect(types).toEqual(['dynamic-tool', 'tool-shelf_report'])
  },
  async 'An id of a call that comes twice in a session'() {
    deeds.length = 0
    const [, migrated] = agents
    const request = requestOf(['refund', { id: 'o-1', cents: 5 }])
    const again = requestOf(['refund', { id: 'o-1', cents: 5 }])
    const other = requestOf(['refund', { id: 'o-1', cents: 6 }])
    await migrated.reply(request)
    const { chatId } = request
    expect((await migrated.reply({ ...again, chatId })).steps[0]?.toolResults[0]?.output).toEqual({ refunded: 5 })
    const refused = await migrated.reply({ ...other, chatId })
    expect(refused.steps[0]?.content.find(({ type }) => type === 'tool-error')).toMatchObject({ toolName: 'refund' })
    expect(deeds).toEqual(['refund o-1 5'])
  },
  ...sharedChanges,
}

describeMigratedAgent('migrate-from-ai-sdk', changes, missing)
