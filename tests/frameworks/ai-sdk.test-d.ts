import {
  convertToModelMessages,
  generateText,
  streamText,
  tool as aiTool,
  ToolLoopAgent,
  validateUIMessages,
  type InferUITools,
  type LanguageModel,
  type ToolSet,
  type UIMessage,
} from 'ai'
import type { InferUITools as InferUITools6, ToolSet as ToolSet6, UIMessage as UIMessage6 } from 'ai-6'
import {
  clientTool,
  content,
  createExecutor,
  json,
  shown,
  tool,
  type ContentBlock,
  type ToolExecutor,
} from 'toolwright'
import {
  aiSdkTools,
  type AiSdkFailure,
  type AiSdkHostTool,
  type AiSdkProgress,
  type AiSdkToolOutput,
  type AiSdkTools,
  type AiSdkToolsOptions,
} from 'toolwright/frameworks/ai-sdk'
import { describe, expectTypeOf, test } from 'vitest'
import { z } from 'zod'

interface Order {
  readonly id: string
  readonly total: number
}

const get_order = tool({
  name: 'get_order',
  description: 'Reads an order',
  inputSchema: z.object({
    id: z.string(),
    since: z.iso
      .date()
      .transform((text) => new Date(text))
      .optional(),
  }),
  handler: ({ id }): Order => ({ id, total: 5 }),
})
const now = tool({ name: 'now', description: 'The time', handler: () => '12:00' })
const count = tool({
  name: 'count',
  description: 'Counts',
  inputSchema: { type: 'object', properties: { upTo: { type: 'integer' } }, required: ['upTo'] },
  outputSchema: z.object({ counted: z.number() }),
  handler: async function* ({ upTo }) {
    yield 'one'
    return { counted: upTo }
  },
})
const executor: ToolExecutor = createExecutor({ tools: [get_order, now, count] })
const session = 'chat-1'
declare const model: LanguageModel

/** What a caller sends. */
interface Asked {
  id: string
  since?: string | undefined
}

describe('tools by name', () => {
  const { tools, toolApproval } = aiSdkTools({
    executor,
    session,
    tools: { get_order, now, count },
    output: 'value',
    errors: 'output-error',
  })
  type Parts = InferUITools<typeof tools>

  test('give InferUITools the names, what the model sends, and what the handlers return', () => {
    expectTypeOf<keyof Parts>().toEqualTypeOf<'get_order' | 'now' | 'count'>()
    expectTypeOf<Parts['get_order']>().toEqualTypeOf<{ input: Asked; output: Order }>()
    expectTypeOf<Parts['now']>().toEqualTypeOf<{ input: Record<string, never>; output: string }>()
    expectTypeOf<Parts['count']['input']>().toEqualTypeOf<{ upTo: number }>()
    expectTypeOf<InferUITools6<typeof tools>>().toEqualTypeOf<Parts>()
  })

  test('type the parts of a message of a front end', () => {
    const render = (message: UIMessage<unknown, never, Parts>): string => {
      for (const part of message.parts) {
        if (part.type === 'tool-get_order' && part.state === 'output-available') {
          expectTypeOf(part.input).toEqualTypeOf<Asked>()
          expectTypeOf(part.output).toEqualTypeOf<Order>()
          return `${part.output.id}: ${part.output.total}`
        }
        if (part.type === 'tool-get_order' && part.state === 'output-error') return part.errorText
        // @ts-expect-error -- there is no such tool
        if (part.type === 'tool-get_orders') return ''
      }
      return ''
    }
    expectTypeOf(render).parameter(0).toExtend<UIMessage>()
    expectTypeOf<UIMessage6<unknown, never, InferUITools6<typeof tools>>['parts'][number]['type']>().toExtend<string>()
  })

  test('have their progress beside the value, if the handler yields', () => {
    expectTypeOf<Parts['count']['output']>().toEqualTypeOf<{ counted: number } | AiSdkProgress<string>>()
  })

  test('fit generateText, streamText and an agent, and type their results', async () => {
    expectTypeOf(tools).toExtend<ToolSet>()
    expectTypeOf(tools).toExtend<ToolSet6>()
    const { toolResults } = await generateText({ model, tools, toolApproval, prompt: 'go' })
    for (const result of toolResults) {
      if (result.dynamic !== true && result.toolName === 'get_order') {
        expectTypeOf(result.input).toEqualTypeOf<Asked>()
        expectTypeOf(result.output).toEqualTypeOf<Order>()
      }
    }
    streamText({ model, tools, toolApproval, prompt: 'go' })
    const agent = new ToolLoopAgent({ model, tools, toolApproval })
    expectTypeOf(agent.tools).toEqualTypeOf(tools)
  })

  test('fit what checks stored messages of a front end', () => {
    void validateUIMessages<UIMessage<unknown, never, Parts>>({ messages: [], tools })
    void convertToModelMessages<UIMessage<unknown, never, Parts>>([], { tools })
  })

  test('stand beside tools of the application, with the types of both', () => {
    const both = { ...tools, own: aiTool({ description: 'Own', inputSchema: z.object({}), execute: () => 5 }) }
    type Both = InferUITools<typeof both>
    expectTypeOf<Both['get_order']['output']>().toEqualTypeOf<Order>()
    expectTypeOf<Both['own']['output']>().toEqualTypeOf<number>()
  })

  test('are tools, and nothing else', () => {
    // @ts-expect-error -- no tool
    aiSdkTools({ executor, session, tools: { get_order: { name: 'get_order' } } })
    // @ts-expect-error -- no record
    aiSdkTools({ executor, session, tools: [get_order] })
    // @ts-expect-error -- no such output
    aiSdkTools({ executor, session, output: 'values' })
    // @ts-expect-error -- no such state
    aiSdkTools({ executor, session, errors: 'throw' })
    // @ts-expect-error -- it is not named
    void aiSdkTools({ executor, session, tools: { get_order } }).tools.now
  })
})

test('a value without `errors` may be the result of a call without success', () => {
  const { tools } = aiSdkTools({ executor, session, tools: { get_order, now }, output: 'value' })
  type Parts = InferUITools<typeof tools>
  expectTypeOf<Parts['get_order']['output']>().toEqualTypeOf<Order | AiSdkFailure>()
  expectTypeOf<Parts['now']['output']>().toEqualTypeOf<string | AiSdkFailure>()
})

test('envelopes of named tools have the types of the inputs', () => {
  const { tools } = aiSdkTools({ executor, session, tools: { get_order } })
  expectTypeOf<InferUITools<typeof tools>>().toEqualTypeOf<{ get_order: { input: Asked; output: AiSdkToolOutput } }>()
})

test('values have no mark, and what no type says is unknown', () => {
  const rows = tool({ name: 'rows', description: 'Rows', handler: () => json([1, 2]) })
  const orders = tool({ name: 'orders', description: 'Orders', handler: () => shown('2 orders', [{ order: 1 }]) })
  const picture = tool({ name: 'picture', description: 'A picture', handler: () => content([]) })
  const choose = clientTool({ name: 'choose', description: 'Asks in the page', requiresResponse: true })
  const named = { rows, orders, picture, choose, listed: executor.tools()[0]! }
  const { tools } = aiSdkTools({ executor, session, tools: named, output: 'value', errors: 'output-error' })
  type Parts = InferUITools<typeof tools>
  expectTypeOf<Parts['rows']['output']>().toEqualTypeOf<number[]>()
  expectTypeOf<Parts['orders']['output']>().toEqualTypeOf<{ order: number }[]>()
  expectTypeOf<Parts['picture']['output']>().toEqualTypeOf<string | readonly ContentBlock[]>()
  expectTypeOf<Parts['choose']['input']>().toBeUnknown()
  expectTypeOf<Parts['choose']['output']>().toBeUnknown()
  expectTypeOf<Parts['listed']['input']>().toBeUnknown()
})

test('without names all is as it was', () => {
  const all = aiSdkTools({ executor, session })
  expectTypeOf(all).toEqualTypeOf<AiSdkTools>()
  expectTypeOf(all.tools).toEqualTypeOf<{ [name: string]: AiSdkHostTool }>()
  expectTypeOf(all.tools).toExtend<ToolSet>()
  expectTypeOf({ executor, session }).toExtend<AiSdkToolsOptions>()
})
