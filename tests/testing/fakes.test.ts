import { clientTool, createExecutor, json, tool, ToolFailure, type Extension, type ToolEvent } from 'toolwright'
import { retry } from 'toolwright/middleware/retry'
import { fakeTools, testOptions, type Fake } from 'toolwright/testing'
import { describe, expect, it } from 'vitest'
import { z } from 'zod'

const never = (): never => {
  throw new Error('the real thing was asked')
}
const refund = tool({
  name: 'refund',
  description: 'Refunds an order',
  inputSchema: z.object({ order: z.string(), amount: z.number().default(1) }),
  handler: never,
})
const find = tool({
  name: 'find_order',
  description: 'Finds an order',
  inputSchema: z.object({ id: z.string() }),
  traits: { readonly: true },
  handler: ({ id }) => `order ${id}`,
})
const make = (...use: Extension[]) => createExecutor({ tools: [refund, find], use })
const paid = { name: 'refund', args: { order: 'A-1' } }

describe('a fake', () => {
  it('stands in for the handler, which does not run, and completes the effect', async () => {
    const fakes = fakeTools({ refund: { result: { done: true } } })
    const result = await make(fakes).execute(paid)
    expect(result).toMatchObject({ status: 'ok', effect: 'completed', value: { done: true } })
    expect(() => fakes.verify()).not.toThrow()
  })

  it('gets the args as the schema returns them, and the context', async () => {
    const noted: unknown[] = []
    const fakes = fakeTools({
      refund: ({ order, amount }: { order?: string; amount?: number }, { toolName, emit }) => {
        emit('asked', { order })
        noted.push(order, amount, toolName)
        return null
      },
    })
    const executor = make(fakes)
    const progress: ToolEvent[] = []
    executor.on('tool:progress', (event) => progress.push(event))
    await executor.execute(paid)
    expect(noted).toEqual(['A-1', 1, 'refund'])
    expect(progress).toMatchObject([{ type: 'asked', data: { order: 'A-1' } }])
  })

  it('leaves wrong args refused as ever, and is not asked', async () => {
    const fakes = fakeTools({ refund: { result: 1 } })
    const result = await make(fakes).execute({ name: 'refund', args: { order: 1 } })
    expect(result).toMatchObject({ status: 'error', error: { code: 'E_INVALID_TOOL_ARGS' } })
    expect(() => fakes.verify()).toThrow('The fake of refund was never asked.')
  })

  it('gives its errors as a handler throws them', async () => {
    const errors: Fake = [{ error: 'Closed.' }, { error: Object.assign(new TypeError('bad'), { status: 429 }) }]
    const executor = make(fakeTools({ refund: errors }))
    const failed = await executor.execute(paid)
    expect(failed).toMatchObject({ status: 'error', effect: 'unknown', error: { code: 'E_TOOL_DOWNSTREAM_ERROR' } })
    expect(failed.content).toEqual([{ type: 'text', text: 'Closed.' }])
    expect((await executor.execute(paid)).error).toMatchObject({ category: 'rate_limit', retryable: true })
  })

  it('that is a list answers in turn, and one call too many is a miss', async () => {
    const fakes = fakeTools({ refund: [{ result: 1 }, { result: 2 }] })
    const executor = make(fakes)
    const texts: unknown[] = []
    for (let turn = 0; turn < 3; turn++) texts.push((await executor.execute(paid)).content[0])
    const words = 'refund was called 3 times, and its fake has 2 answers.'
    expect(texts).toEqual(['1', '2', words].map((text) => ({ type: 'text', text })))
    expect(fakes.misses).toEqual([words])
    expect(() => fakes.verify()).toThrow(words)
  })

  it('is asked anew by each retry, and hooks see each answer', async () => {
    const noted: unknown[] = []
    const flaky = tool({
      name: 'flaky',
      description: 'Fails first',
      traits: { idempotent: true },
      handler: never,
      hooks: { postToolUse: (_call, result) => void noted.push(result) },
    })
    const fakes = fakeTools({
      flaky: [{ error: new ToolFailure('Once more.', { retryable: true }) }, { result: 'got it' }],
    })
    const executor = createExecutor({ tools: [flaky], use: [retry({ delay: 0 }), fakes] })
    expect(await executor.execute({ name: 'flaky' })).toMatchObject({ status: 'ok', value: 'got it' })
    expect(noted).toEqual(['got it'])
    fakes.verify()
  })

  it('that is a generator yields progress', async () => {
    const fakes = fakeTools({
      async *refund() {
        yield 'half'
        await Promise.resolve()
        return json('done')
      },
    })
    const executor = make(fakes)
    const progress: unknown[] = []
    executor.on('tool:progress', ({ data }) => progress.push(data))
    expect(await executor.execute(paid)).toMatchObject({ status: 'ok', value: 'done' })
    expect(progress).toEqual(['half'])
  })

  it('has to meet the output schema', async () => {
    const quote = tool({
      name: 'quote',
      description: 'Quotes',
      outputSchema: z.object({ cents: z.number() }),
      handler: never,
    })
    const executor = createExecutor({ tools: [quote], use: [fakeTools({ quote: { result: { cents: 'many' } } })] })
    expect(await executor.execute({ name: 'quote' })).toMatchObject({ error: { code: 'E_INVALID_TOOL_RESULT' } })
  })

  it('that names no tool, or is never asked, fails the check with all that is wrong', async () => {
    const fakes = fakeTools({ refnd: { result: 1 }, find_order: { result: 1 } })
    await make(fakes).execute(paid)
    const error = await Promise.resolve()
      .then(() => fakes.verify())
      .catch((thrown: unknown) => thrown)
    expect(error).toMatchObject({ name: 'AssertionError', code: 'ERR_ASSERTION' })
    expect((error as Error).message.split('\n')).toEqual([
      'The fakes do not fit what was called:',
      '- refund was called in a test and has no fake. Add one: fakeTools({ refund: { result: … } }).',
      '- There is no tool refnd.',
      '- The fake of find_order was never asked.',
    ])
  })

  it('of a client tool is never asked, since the client answers', async () => {
    const pick = clientTool({ name: 'pick', description: 'Picks a file', requiresResponse: true })
    const fakes = fakeTools({ pick: { result: 'a' } })
    const executor = createExecutor({ tools: [pick], use: [fakes] })
    const { token, status } = await executor.execute({ name: 'pick' })
    expect(status).toBe('waiting')
    expect(await executor.calls.respond(token ?? '', 'b')).toMatchObject({ status: 'ok', value: 'b' })
    expect(() => fakes.verify()).toThrow('a client runs it. Answer it with executor.calls.respond.')
  })

  it.each([
    ['a text', { refund: 'refunded' }],
    ['an object of another form', { refund: { value: 1 } }],
    ['a list of such', { refund: [{ result: 1 }, null] }],
  ])('cannot be %s', (_name, fakes) => {
    expect(() => fakeTools(fakes as never)).toThrow(/The fake of "refund" is none/)
  })

  it('is found by its own name alone', async () => {
    const odd = tool({ name: 'toString', description: 'Is inherited', handler: never })
    const executor = createExecutor({ tools: [odd], use: [fakeTools({})] })
    expect((await executor.execute({ name: 'toString' })).content).toMatchObject([
      { text: expect.stringContaining('has no fake') },
    ])
  })
})

describe('a tool without a fake', () => {
  it.each([
    ['fails', {}, /has no fake/],
    ['runs if it changes nothing', { others: 'readonly' }, /^order A$/],
    ['runs', { others: 'run' }, /^order A$/],
  ] as const)('%s', async (_name, options, words) => {
    const { content } = await make(fakeTools({}, options)).execute({ name: 'find_order', args: { id: 'A' } })
    expect(content).toMatchObject([{ type: 'text', text: expect.stringMatching(words) }])
  })

  it('that changes something fails beside those that run because they are readonly', async () => {
    const result = await make(fakeTools({}, { others: 'readonly' })).execute(paid)
    expect(result).toMatchObject({ status: 'error', content: [{ text: expect.stringMatching(/no fake/) }] })
  })

  it('of a type that the application runs itself never reaches that runner', async () => {
    const runner: Extension = { runners: [{ type: 'remote', run: never }] }
    const far = tool({ name: 'far', description: 'Far away', type: 'remote' })
    const run = async (fakes: Readonly<Record<string, Fake>>) =>
      createExecutor({ tools: [far], use: [runner, fakeTools(fakes)] }).execute({ name: 'far' })
    expect(await run({})).toMatchObject({ status: 'error', content: [{ text: expect.stringMatching(/no fake/) }] })
    expect(await run({ far: { result: 'near' } })).toMatchObject({ status: 'ok', value: 'near' })
  })
})

describe('the options for a test', () => {
  it('replace a runner of the application, which would clash', async () => {
    const use = [
      {
        runners: [
          { type: 'server', run: never },
          { type: 'own', run: () => 'own' },
        ],
      },
    ]
    const own = tool({ name: 'own', description: 'Is run by its own runner', type: 'own' })
    const fakes = fakeTools({ refund: { result: 'faked' } }, { others: 'run' })
    expect(() => createExecutor({ tools: [refund], use: [...use, fakes] })).toThrow(/Two extensions bring a runner/)
    const executor = createExecutor(testOptions({ tools: [refund, own], use }, fakes))
    expect(await executor.execute(paid)).toMatchObject({ value: 'faked' })
    expect(await executor.execute({ name: 'own' })).toMatchObject({ value: 'own' })
  })

  it('replace an approver, and keep the rest of its extension, which may be an instance with private fields', async () => {
    class Desk {
      #denied = 0
      approver = { ask: async () => ({ decision: 'deny' as const }) }
      policies = [{ name: 'desk', decide: () => ({ decision: 'ask' as const }) }]
      isClosed = false
      guide = (): string => ''
      close(): void {
        this.#denied++
        this.isClosed = this.#denied === 1
      }
    }
    const desk = new Desk()
    const approver = { ask: async () => ({ decision: 'allow' as const }) }
    const options = testOptions({ tools: [refund], use: [desk] }, { approver }, fakeTools({ refund: { result: 1 } }))
    const executor = createExecutor(options)
    expect(await executor.execute(paid)).toMatchObject({ status: 'ok' })
    await executor.close()
    expect(desk.isClosed).toBe(true)
  })

  it('keep extensions whose members cannot be changed', async () => {
    const frozen = Object.freeze({ runners: [{ type: 'server', run: never }], observers: [] })
    const executor = createExecutor(
      testOptions({ tools: [refund], use: [frozen] }, fakeTools({ refund: { result: 1 } })),
    )
    expect(await executor.execute(paid)).toMatchObject({ status: 'ok' })
  })
})
