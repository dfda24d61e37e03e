// The tests of the agent, as they were before it moved. They know nothing of the kernel, and run over each stage of the move.
import type { ModelMessage, UIMessage, UIMessageChunk } from 'ai'
import { beforeEach, describe, expect, test, vi } from 'vitest'
import { framework } from '../../frameworks/_framework.ts'
import { missing } from '../../frameworks/_installed.ts'
import { deeds, photo } from './shop.ts'

if (missing !== undefined) console.warn(`The migration from the AI SDK is not run: ${missing}`)

const { modelOf, toolOutputOf, wordsOf } = await framework(() => import('../../frameworks/_ai-model.ts'))
const { readUIMessageStream } = await framework(() => import('ai'))
const stages = await framework(async () => ({
  before: await import('./before/agent.ts'),
  wrapped: await import('./wrapped/agent.ts'),
  after: await import('./after/agent.ts'),
}))

/** A model that makes a call, and is done when it has its result. */
function calling(name: string, args: object) {
  return modelOf({ calls: [{ id: 'call_1', name, args }] }, { text: 'Done.' })
}

const user: ModelMessage = { role: 'user', content: 'Help me.' }
const uiUser: UIMessage = { id: 'm1', role: 'user', parts: [{ type: 'text', text: 'Help me.' }] }
let chats = 0

beforeEach(() => {
  deeds.length = 0
  chats++
})

describe.skipIf(missing !== undefined).each(['before', 'wrapped', 'after'] as const)('%s: the agent', (stage) => {
  const customer = 'ada'
  const chat = () => ({ chatId: `${stage}-${chats}`, customer, messages: [user] })
  const { reply, respond } = stages[stage] ?? {}

  /** Lets the model make a call, and returns its output or error, and what the model was told. */
  async function called(name: string, args: object) {
    const model = calling(name, args)
    const { steps, text } = await reply({ model, ...chat() })
    const part = steps[0]?.content.find(({ type }) => type === 'tool-result' || type === 'tool-error') as
      { readonly type: string; readonly output?: unknown; readonly error?: unknown } | undefined
    return { text, part, modelOutput: toolOutputOf(model.doGenerateCalls[1]?.prompt, 'call_1') }
  }

  test('offers the model twelve tools, with examples and the options of the provider', async () => {
    const model = modelOf({ text: 'Hello.' })
    expect((await reply({ model, ...chat() })).text).toBe('Hello.')
    const tools = model.doGenerateCalls[0]?.tools ?? []
    expect(tools.map(({ name }) => name).toSorted()).toEqual([
      'cancel_order',
      'choose_address',
      'export_orders',
      'get_order',
      'order_summary',
      'product_photo',
      'refund',
      'search_products',
      'shelf_report',
      'ship_order',
      'track_parcel',
      'wait_for_payment',
    ])
    expect(tools.find(({ name }) => name === 'search_products')).toMatchObject({
      type: 'function',
      description: 'Searches the products of the shop',
      inputExamples: [{ input: { query: 'tea', sort: 'price', price: { from: 0, to: 5 }, limit: 2 } }],
      providerOptions: { anthropic: { cacheControl: { type: 'ephemeral' } } },
      inputSchema: {
        type: 'object',
        properties: { query: { type: 'string' }, sort: { enum: ['name', 'price'], default: 'name' } },
        required: ['query'],
      },
    })
    expect(tools.find(({ name }) => name === 'shelf_report')).toMatchObject({
      inputSchema: { properties: { aisle: { type: 'integer', minimum: 1 } }, required: ['aisle'] },
    })
  })

  test('gives a tool its input with defaults, after transforms', async () => {
    const found = {
      query: 'tea',
      products: [
        { sku: 'tea-2', name: 'Black tea', price: 3 },
        { sku: 'tea-1', name: 'Green tea', price: 4 },
      ],
    }
    const { text, part, modelOutput } = await called('search_products', { query: ' TEA ', price: { to: 5 } })
    expect(text).toBe('Done.')
    expect(part).toMatchObject({ type: 'tool-result', output: found })
    expect(modelOutput).toEqual({ type: 'json', value: found })
  })

  test('gives a tool the customer of the request', async () => {
    const { part } = await called('get_order', { id: 'o-1' })
    expect(part?.output).toEqual({ id: 'o-1', customer: 'ada', items: ['tea-1', 'cup-1'], total: 16 })
    chats++
    const others = await called('get_order', { id: 'o-2' })
    expect(others.part?.type).toBe('tool-error')
    expect(String(others.part?.error)).toContain('ada has no order o-2.')
  })

  test('tells the model less than it tells the program', async () => {
    const { part, modelOutput } = await called('order_summary', { id: 'o-1' })
    expect(part?.output).toMatchObject({ items: ['tea-1', 'cup-1'] })
    expect(modelOutput).toEqual({ type: 'text', value: '2 items for 16 euros' })
  })

  test('shows the model a picture', async () => {
    const { part, modelOutput } = await called('product_photo', { sku: 'tea-1' })
    expect(part?.output).toEqual({ sku: 'tea-1', photo })
    expect(modelOutput).toMatchObject({
      type: 'content',
      value: [
        { type: 'text', text: 'This is tea-1:' },
        { type: 'file', mediaType: 'image/png', data: { type: 'data', data: photo } },
      ],
    })
  })

  test('gives the last state of a parcel as the output', async () => {
    const { part, modelOutput } = await called('track_parcel', { id: 'o-1' })
    expect(part?.output).toEqual({ id: 'o-1', state: 'delivered' })
    expect(modelOutput).toEqual({ type: 'json', value: { id: 'o-1', state: 'delivered' } })
  })

  test('tells the model what a tool throws, and goes on', async () => {
    const { text, part, modelOutput } = await called('ship_order', { id: 'o-1' })
    expect(text).toBe('Done.')
    expect(part?.type).toBe('tool-error')
    expect(modelOutput?.type).toBe('error-text')
    expect(wordsOf(modelOutput)).toContain('The tea of o-1 is out of stock.')
  })

  test('runs nothing with wrong input, and tells the model which', async () => {
    const { text, part, modelOutput } = await called('refund', { id: 'o-1', cents: -5 })
    expect(text).toBe('Done.')
    expect(part?.type).toBe('tool-error')
    expect(modelOutput?.type).toBe('error-text')
    expect(wordsOf(modelOutput)).toContain('cents')
    expect(deeds).toEqual([])
  })

  test('gives the model a large export whole', async () => {
    const { part, modelOutput } = await called('export_orders', { year: 2026 })
    expect(String(part?.output).split('\n')).toHaveLength(2_000)
    expect(wordsOf(modelOutput)).toBe(part?.output)
  })

  test('runs a dynamic tool', async () => {
    expect((await called('shelf_report', { aisle: 3 })).part?.output).toEqual({ aisle: 3, free: 4 })
  })

  test('stops a tool that waits, if the request is given up', async () => {
    const leaving = new AbortController()
    const model = calling('wait_for_payment', { id: 'o-1' })
    const replying = reply({ model, ...chat(), abortSignal: leaving.signal }).catch((error: unknown) => error)
    await vi.waitFor(() => expect(deeds).toEqual(['wait for o-1']))
    leaving.abort()
    await replying
    expect(deeds).toEqual(['wait for o-1', 'leave o-1'])
  })

  test.each([
    ['refund', { id: 'o-1', cents: 5_000 }, 'refund o-1 5000'],
    ['cancel_order', { id: 'o-1' }, 'cancel o-1'],
  ])('asks before %s, and does it once if the person agrees', async (name, args, deed) => {
    const { messages, approvalId } = await asked(name, args)
    expect(deeds).toEqual([])
    const model = modelOf({ text: 'It is done.' })
    const approval = { type: 'tool-approval-response', approvalId, approved: true } as const
    const answered: ModelMessage[] = [...messages, { role: 'tool', content: [approval] }]
    expect((await reply({ model, ...chat(), messages: answered })).text).toBe('It is done.')
    expect(deeds).toEqual([deed])
    expect(toolOutputOf(model.doGenerateCalls[0]?.prompt, 'call_1')?.type).toBe('json')
  })

  test('does nothing if the person does not agree, and tells the model why', async () => {
    const { messages, approvalId } = await asked('refund', { id: 'o-1', cents: 5_000 })
    const model = modelOf({ text: 'A pity.' })
    const approval = { type: 'tool-approval-response', approvalId, approved: false, reason: 'too much' } as const
    await reply({ model, ...chat(), messages: [...messages, { role: 'tool', content: [approval] }] })
    expect(deeds).toEqual([])
    expect(JSON.stringify(toolOutputOf(model.doGenerateCalls[0]?.prompt, 'call_1'))).toContain('too much')
  })

  test('asks nothing about a small refund', async () => {
    expect((await called('refund', { id: 'o-1', cents: 500 })).part?.output).toEqual({ refunded: 500 })
    expect(deeds).toEqual(['refund o-1 500'])
  })

  test('lets the page answer, and tells the model what it chose', async () => {
    const wish = calling('choose_address', { addresses: ['home', 'work'] })
    const { finishReason, toolResults, response } = await reply({ model: wish, ...chat() })
    expect([finishReason, toolResults]).toEqual(['tool-calls', []])
    const output = { type: 'json', value: { address: 'work' } } as const
    const result = { type: 'tool-result', toolCallId: 'call_1', toolName: 'choose_address', output } as const
    const messages: ModelMessage[] = [user, ...response.messages, { role: 'tool', content: [result] }]
    const model = modelOf({ text: 'To work.' })
    expect((await reply({ model, ...chat(), messages })).text).toBe('To work.')
    expect(wordsOf(toolOutputOf(model.doGenerateCalls[0]?.prompt, 'call_1'))).toBe('{"address":"work"}')
  })

  test('streams the state of a parcel to the page', async () => {
    const model = calling('track_parcel', { id: 'o-1' })
    const { chunks, message } = await shownBy(await respond({ model, ...chat(), uiMessages: [uiUser] }))
    const outputs = chunks.filter(({ type }) => type === 'tool-output-available')
    expect(outputs.filter((chunk) => 'preliminary' in chunk && chunk.preliminary === true).length).toBeGreaterThan(2)
    expect(partOf(message)).toMatchObject({ state: 'output-available', output: { id: 'o-1', state: 'delivered' } })
  })

  test('shows the page an error of a tool', async () => {
    const { message } = await shownBy(
      await respond({ model: calling('ship_order', { id: 'o-1' }), ...chat(), uiMessages: [uiUser] }),
    )
    const errorText = expect.stringContaining('The tea of o-1 is out of stock.') as string
    expect(partOf(message)).toMatchObject({ state: 'output-error', errorText })
  })

  test('asks a person in the page, and goes on when the page sends the answer', async () => {
    const first = await shownBy(
      await respond({ model: calling('cancel_order', { id: 'o-1' }), ...chat(), uiMessages: [uiUser] }),
    )
    const part = partOf(first.message)
    expect(part).toMatchObject({ type: 'tool-cancel_order', state: 'approval-requested' })
    expect(deeds).toEqual([])
    const stored = JSON.parse(JSON.stringify(first.message)) as UIMessage
    const approval = { id: part?.approval?.id, approved: true }
    Object.assign(partOf(stored) ?? {}, { state: 'approval-responded', approval })
    const model = modelOf({ text: 'It is cancelled.' })
    const { chunks } = await shownBy(await respond({ model, ...chat(), uiMessages: [uiUser, stored] }))
    expect(chunks.find(({ type }) => type === 'tool-output-available')).toMatchObject({ output: { cancelled: 'o-1' } })
    expect(deeds).toEqual(['cancel o-1'])
  })

  test('remembers what the page stored of earlier answers', async () => {
    const first = calling('order_summary', { id: 'o-1' })
    const { message } = await shownBy(await respond({ model: first, ...chat(), uiMessages: [uiUser] }))
    const stored = JSON.parse(JSON.stringify(message)) as UIMessage
    const model = modelOf({ text: 'You are welcome.' })
    const thanks: UIMessage = { id: 'm3', role: 'user', parts: [{ type: 'text', text: 'Thank you.' }] }
    await shownBy(await respond({ model, ...chat(), uiMessages: [uiUser, stored, thanks] }))
    expect(toolOutputOf(model.doStreamCalls[0]?.prompt, 'call_1')).toEqual({
      type: 'text',
      value: '2 items for 16 euros',
    })
  })

  /** Lets the model make a call that a person is asked about. Returns the messages as a client stores them. */
  async function asked(name: string, args: object): Promise<{ messages: ModelMessage[]; approvalId: string }> {
    const { content, response } = await reply({ model: calling(name, args), ...chat() })
    const request = content.find(({ type }) => type === 'tool-approval-request') as { readonly approvalId: string }
    const messages = JSON.parse(JSON.stringify([user, ...response.messages])) as ModelMessage[]
    return { messages, approvalId: request.approvalId }
  }
})

/** Reads a stream as a page does. Returns its chunks, and the message that the page has in the end. */
async function shownBy(
  stream: ReadableStream<UIMessageChunk>,
): Promise<{ readonly chunks: UIMessageChunk[]; readonly message: UIMessage }> {
  const [one, other] = stream.tee()
  const chunks: UIMessageChunk[] = []
  const reading = (async () => {
    for await (const chunk of one) chunks.push(chunk)
  })()
  let message: UIMessage | undefined
  for await (const state of readUIMessageStream({ stream: other })) message = state
  await reading
  return { chunks, message: message! }
}

function partOf({ parts }: UIMessage): Extract<UIMessage['parts'][number], { toolCallId: string }> | undefined {
  return parts.find((part) => 'toolCallId' in part)
}
