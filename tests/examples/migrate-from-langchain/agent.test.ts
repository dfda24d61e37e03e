// The tests of the agent, as they were before it moved. They know nothing of the kernel, and run over each stage of the move.
import type { BaseMessage, ToolMessage } from '@langchain/core/messages'
import type { FakeBuiltModel } from '@langchain/core/testing'
import { beforeEach, describe, expect, test, vi } from 'vitest'
import { framework } from '../../frameworks/_framework.ts'
import { missing } from '../../frameworks/_installed.ts'
import { deeds } from './travel.ts'

if (missing !== undefined) console.warn(`The migration from LangChain is not run: ${missing}`)

const { AIMessage } = await framework(() => import('@langchain/core/messages'))
const { fakeModel } = await framework(() => import('@langchain/core/testing'))
const stages = await framework(async () => ({
  before: await import('./before/agent.ts'),
  wrapped: await import('./wrapped/agent.ts'),
  after: await import('./after/agent.ts'),
}))

/** A model that makes calls, and is done when it has their results. */
function calling(...calls: readonly (readonly [name: string, args: object])[]): FakeBuiltModel {
  return fakeModel()
    .respondWithTools(calls.map(([name, args], index) => ({ id: `call_${index + 1}`, name, args })))
    .respond(new AIMessage('Done.'))
    .respond(new AIMessage('Done again.'))
}

/** The last message of a tool about a call. */
function toolMessage({ messages }: { readonly messages: BaseMessage[] }, id = 'call_1'): ToolMessage | undefined {
  return messages.findLast(
    (message): message is ToolMessage => 'tool_call_id' in message && message.tool_call_id === id,
  )
}

/** What a run stopped to ask. */
function questionOf(state: object): unknown {
  const { __interrupt__: [first] = [] } = state as { readonly __interrupt__?: readonly { readonly value: unknown }[] }
  return first?.value
}

let threads = 0
beforeEach(() => {
  deeds.length = 0
  threads++
})

describe.skipIf(missing !== undefined).each(['before', 'wrapped', 'after'] as const)('%s: the agent', (stage) => {
  const { say, answer, watch } = stages[stage] ?? {}
  const run = (model: FakeBuiltModel) => ({ model, thread: `${stage}-${threads}`, customer: 'ada' })

  /** Lets the model make a call, and returns the message of the tool, and what the model said in the end. */
  async function called(name: string, args: object) {
    const state = await say(run(calling([name, args])), 'Help me.')
    return { state, message: toolMessage(state), said: state.messages.at(-1)?.text }
  }

  test('offers the model twelve tools, with their schemas and the extras of the provider', async () => {
    const model = fakeModel().respond(new AIMessage('Hello.'))
    const bound = vi.spyOn(model, 'bindTools')
    expect((await say(run(model), 'Hello.')).messages.at(-1)?.text).toBe('Hello.')
    const tools = bound.mock.calls[0]?.[0] ?? []
    expect(tools.map(({ name }) => name).toSorted()).toEqual([
      'await_payment',
      'book_trip',
      'cancel_trip',
      'convert',
      'find_documents',
      'hand_over',
      'my_bookings',
      'price_history',
      'search_trips',
      'set_language',
      'translate',
      'watch_price',
    ])
    const search = tools.find(({ name }) => name === 'search_trips')
    expect(search).toMatchObject({
      description: 'Searches trips',
      extras: { cache_control: { type: 'ephemeral' } },
    })
  })

  test('gives a tool its input with defaults, after transforms', async () => {
    const { message, said } = await called('search_trips', { to: 'Oslo', from: '2026-05-02', price: { max: 500 } })
    expect(said).toBe('Done.')
    expect(JSON.parse(message?.text ?? '')).toEqual({
      trips: [
        { id: 't-2', to: 'Oslo', day: '2026-05-02', euros: 300 },
        { id: 't-3', to: 'Oslo', day: '2026-07-02', euros: 120 },
      ],
    })
  })

  test('gives a tool the customer of the run', async () => {
    const { message } = await called('my_bookings', {})
    expect(JSON.parse(message?.text ?? '')).toEqual({ customer: 'ada', bookings: ['t-1'] })
  })

  test('keeps the sources of documents beside the words for the model', async () => {
    const { message } = await called('find_documents', { topic: 'Oslo' })
    expect(message).toMatchObject({
      status: 'success',
      name: 'find_documents',
      content: 'You need a passport for Oslo.',
      artifact: [{ url: 'https://example.com/Oslo' }],
    })
  })

  test('tells the model what a tool throws, and goes on', async () => {
    const { message, said } = await called('cancel_trip', { trip: 't-9' })
    expect(said).toBe('Done.')
    expect(message?.status).toBe('error')
    expect(message?.text).toContain('There is no booking of t-9.')
  })

  test('runs nothing with wrong input, and tells the model which', async () => {
    const { message, said } = await called('book_trip', { trip: 7 })
    expect(said).toBe('Done.')
    expect(message?.status).toBe('error')
    expect(message?.text).toContain('trip')
    expect(deeds).toEqual([])
  })

  test('gives the model a large list whole', async () => {
    expect((await called('price_history', { trip: 't-1' })).message?.text.split('\n')).toHaveLength(2_000)
  })

  test('gives what a generator returns as the result', async () => {
    const { message } = await called('watch_price', { trip: 't-2' })
    expect(JSON.parse(message?.text ?? '')).toEqual({ trip: 't-2', euros: 300 })
  })

  test('streams what a tool does meanwhile', async () => {
    const model = calling(['watch_price', { trip: 't-2' }])
    const events: unknown[] = []
    for await (const { event } of await watch(run(model), 'What does it cost?')) events.push(event)
    expect(events).toEqual(['on_tool_start', 'on_tool_event', 'on_tool_event', 'on_tool_end'])
  })

  test('runs a tool that takes a text, and one with a JSON Schema', async () => {
    expect((await called('translate', { input: 'Hei' })).message?.text).toBe('Hei, på norsk')
    threads++
    expect(JSON.parse((await called('convert', { euros: 2 })).message?.text ?? '')).toEqual({ kroner: 22 })
  })

  test('ends with the words of a tool that answers directly', async () => {
    const { state } = await called('hand_over', { reason: 'a refund' })
    expect(state.messages.at(-1)?.text).toBe('A colleague will answer: a refund')
  })

  test('keeps what a tool sets in the state of the graph', async () => {
    const { state, message } = await called('set_language', { language: 'Norwegian' })
    expect(state.language).toBe('Norwegian')
    expect(message?.text).toBe('Now in Norwegian.')
  })

  test('stops a tool that waits, if the run is given up', async () => {
    const leaving = new AbortController()
    const model = calling(['await_payment', { trip: 't-1' }])
    const saying = say({ ...run(model), signal: leaving.signal }, 'I pay.').catch((error: unknown) => error)
    await vi.waitFor(() => expect(deeds).toEqual(['wait for t-1']))
    leaving.abort()
    await saying
    await vi.waitFor(() => expect(deeds).toEqual(['wait for t-1', 'leave t-1']))
  })

  test('asks before a dear trip, and books it once if the person agrees', async () => {
    const itsRun = run(calling(['book_trip', { trip: 't-2' }]))
    expect(questionOf(await say(itsRun, 'Book it.'))).toMatchObject({ prompt: 'Book t-2 for 300 euros?' })
    expect(deeds).toEqual([])
    const state = await answer(itsRun, true, 'fine')
    expect(toolMessage(state)).toMatchObject({ status: 'success', content: 'Booked t-2.' })
    expect(state.messages.at(-1)?.text).toBe('Done.')
    expect(deeds).toEqual(['book t-2'])
  })

  test('books nothing if the person does not agree, and tells the model why', async () => {
    const itsRun = run(calling(['book_trip', { trip: 't-2' }]))
    await say(itsRun, 'Book it.')
    expect(toolMessage(await answer(itsRun, false, 'too dear'))?.text).toContain('too dear')
    expect(deeds).toEqual([])
  })

  test('asks nothing about a cheap trip', async () => {
    expect((await called('book_trip', { trip: 't-1' })).message?.text).toBe('Booked t-1.')
    expect(deeds).toEqual(['book t-1'])
  })

  test('makes two calls of one message', async () => {
    const state = await say(run(calling(['book_trip', { trip: 't-1' }], ['my_bookings', {}])), 'Book it, and list all.')
    expect([toolMessage(state)?.text, toolMessage(state, 'call_2')?.text]).toEqual([
      'Booked t-1.',
      '{"customer":"ada","bookings":["t-1"]}',
    ])
  })
})
