import { createExecutor, type ToolEventOf } from 'toolwright'
import { aiSdkTools, fromAiSdk } from 'toolwright/frameworks/ai-sdk'
import { describe, expect, test } from 'vitest'
import { z } from 'zod'
import { z as z3 } from 'zod/v3'
import { framework } from './_framework.ts'
import { missing } from './_installed.ts'

const { dynamicTool, jsonSchema, tool, zodSchema } = await framework(() => import('ai'))

describe.skipIf(missing !== undefined)('tools of the AI SDK', () => {
  const seen: unknown[] = []
  const theirs = () => ({
    weather: tool({
      description: 'Get the weather in a location',
      inputSchema: z.object({ location: z.string().describe('The location to get the weather for') }),
      execute: async ({ location }, { toolCallId, abortSignal, context }) => {
        seen.push([toolCallId, abortSignal instanceof AbortSignal, context])
        return { location, temperature: 72 }
      },
    }),
    raw: tool({
      description: 'Takes JSON Schema',
      inputSchema: jsonSchema<{ n: number }>({
        type: 'object',
        properties: { n: { type: 'integer' } },
        required: ['n'],
      }),
      execute: ({ n }) => n + 1,
    }),
    even: tool({
      description: 'Has a validator of its own',
      inputSchema: jsonSchema<{ n: number }>(
        { type: 'object', properties: { n: { type: 'integer' } } },
        {
          validate: (value) => {
            const { n } = value as { n: number }
            return n % 2 === 0
              ? { success: true, value: { n } }
              : { success: false, error: new Error('n has to be even') }
          },
        },
      ),
      execute: ({ n }) => n / 2,
    }),
    dynamic: dynamicTool({ description: 'Is dynamic', inputSchema: z.object({}), execute: async () => 'dynamic' }),
    steps: tool({
      description: 'Goes step by step',
      inputSchema: z.object({}),
      async *execute() {
        yield { status: 'loading' }
        yield { status: 'nearly' }
        yield { status: 'done' }
      },
    }),
    rows: tool({
      description: 'Tells the model something else',
      inputSchema: z.object({}),
      execute: () => ({ rows: [1, 2, 3] }),
      toModelOutput: ({ output }) => ({ type: 'text', value: `${output.rows.length} rows` }),
    }),
    picture: tool({
      description: 'Takes a picture',
      inputSchema: z.object({}),
      execute: () => 'aGk=',
      toModelOutput: ({ output }) => ({
        type: 'content',
        value: [
          { type: 'text', text: 'a picture' },
          { type: 'file', mediaType: 'image/png', data: { type: 'data', data: output } },
        ],
      }),
    }),
    pay: tool({
      description: 'Pays',
      inputSchema: z.object({ cents: z.number() }),
      needsApproval: async ({ cents }) => cents > 100,
      execute: ({ cents }) => `paid ${cents}`,
    }),
    fails: tool({
      description: 'Fails',
      inputSchema: z.object({}),
      execute: (): string => {
        throw new Error('out of order')
      },
    }),
    waits: tool({
      description: 'Waits',
      inputSchema: z.object({}),
      execute: async (_, { abortSignal }) => {
        await new Promise((_resolve, reject) => abortSignal?.addEventListener('abort', () => reject(new Error('left'))))
      },
    }),
    choose: tool({ description: 'Asks in the page', inputSchema: z.object({}), outputSchema: z.string() }),
  })

  test('are validated by their schemas, run, and keep what they gave', async () => {
    const executor = createExecutor({ tools: await fromAiSdk(theirs()) })
    const run = (name: string, args: unknown = {}) =>
      executor.execute({ id: 'call_1', name, args }, { values: { user: 'ada' } })
    expect((await run('weather', { location: 'Oslo' })).content).toMatchObject([{ data: { temperature: 72 } }])
    expect(seen).toEqual([['call_1', true, { user: 'ada' }]])
    expect((await run('weather', { location: 5 })).error?.code).toBe('E_INVALID_TOOL_ARGS')
    expect((await run('raw', { n: 1 })).content).toEqual([{ type: 'text', text: '2' }])
    expect((await run('raw', { n: 'x' })).error?.code).toBe('E_INVALID_TOOL_ARGS')
    expect((await run('even', { n: 4 })).content).toEqual([{ type: 'text', text: '2' }])
    expect((await run('even', { n: 3 })).error?.message).toContain('n has to be even')
    expect((await run('dynamic')).content).toEqual([{ type: 'text', text: 'dynamic' }])
    expect((await run('fails')).error).toMatchObject({ code: 'E_TOOL_DOWNSTREAM_ERROR' })
    const rows = await run('rows')
    expect(rows.content).toEqual([{ type: 'text', text: '3 rows' }])
    expect(await rows.artifact?.asString()).toBe('{"rows":[1,2,3]}')
    expect((await run('picture')).content).toEqual([
      { type: 'text', text: 'a picture' },
      { type: 'image', data: 'aGk=', mimeType: 'image/png' },
    ])
  })

  test('show the model their own schema and description', async () => {
    const [weather] = await fromAiSdk(theirs())
    expect(weather?.describe()).toMatchObject({
      name: 'weather',
      description: 'Get the weather in a location',
      inputSchema: { properties: { location: { description: 'The location to get the weather for' } } },
    })
  })

  test('tell the earlier values of a generator as progress, and give the last as the result', async () => {
    const executor = createExecutor({ tools: await fromAiSdk(theirs()) })
    const progress: ToolEventOf<'tool:progress'>[] = []
    executor.on('tool:progress', (event) => void progress.push(event))
    expect((await executor.execute({ name: 'steps' })).content).toMatchObject([{ data: { status: 'done' } }])
    expect(progress.map(({ data }) => data)).toEqual([{ status: 'loading' }, { status: 'nearly' }])
  })

  test('are cancelled by the signal that they know', async () => {
    const executor = createExecutor({ tools: await fromAiSdk(theirs()) })
    const leaving = new AbortController()
    executor.on('tool:start', () => void setImmediate(() => leaving.abort()))
    expect((await executor.execute({ name: 'waits' }, { signal: leaving.signal })).status).toBe('cancelled')
  })

  test('ask as they did, unless the application says more', async () => {
    const executor = createExecutor({ tools: await fromAiSdk(theirs()) })
    expect((await executor.execute({ name: 'pay', args: { cents: 5 } })).status).toBe('ok')
    expect((await executor.execute({ name: 'pay', args: { cents: 500 } })).status).toBe('waiting')
    const own = { pay: { requiresConfirmation: true, traits: { destructive: true }, secrets: ['/cents'] } }
    const tools = await fromAiSdk(theirs(), { tools: own })
    const strict = createExecutor({ tools })
    expect((await strict.execute({ name: 'pay', args: { cents: 5 } })).status).toBe('waiting')
    expect(tools.find(({ name }) => name === 'pay')?.traits).toMatchObject({ destructive: true })
  })

  test('with Zod 3 need a JSON Schema, from the SDK or from the application, and the error names the tool', async () => {
    const old = z3.object({ n: z3.number() })
    const make = (inputSchema: never) =>
      tool({ description: 'Old', inputSchema, execute: ({ n }: { n: number }) => n + 1 })
    const bare = await fromAiSdk({ old: make(old as never) })
    expect(() => createExecutor({ tools: bare })).toThrow(
      expect.objectContaining({ code: 'E_SCHEMA_CONVERSION', message: expect.stringContaining('"old"') as string }),
    )
    const own = { type: 'object', properties: { n: { type: 'number' } } } as const
    const described = await fromAiSdk({ old: make(old as never) }, { tools: { old: { jsonSchema: own } } })
    const wrapped = await fromAiSdk({ old: make(zodSchema(old) as never) })
    for (const tools of [described, wrapped]) {
      const executor = createExecutor({ tools })
      expect(executor.tools()[0]?.describe().inputSchema).toMatchObject({ properties: { n: { type: 'number' } } })
      expect((await executor.execute({ name: 'old', args: { n: 1 } })).content).toEqual([{ type: 'text', text: '2' }])
      expect((await executor.execute({ name: 'old', args: { n: 'x' } })).error?.code).toBe('E_INVALID_TOOL_ARGS')
    }
  })

  test('get the values of a call as their own schema of the context has them', async () => {
    const contexts: unknown[] = []
    const contextSchema = z.object({ user: z.string(), limit: z.number().default(3) })
    const look = tool({
      description: 'Looks',
      inputSchema: z.object({}),
      contextSchema,
      execute: (_input, { context }) => void contexts.push(context),
    })
    const pay = tool({
      description: 'Pays',
      inputSchema: z.object({}),
      contextSchema,
      needsApproval: (_input, { context }) => context.user === 'eve' || context.limit > 3,
      execute: () => 'paid',
    })
    const executor = createExecutor({ tools: await fromAiSdk({ look, pay }) })
    const run = (values: object, name = 'look') => executor.execute({ name }, { values })
    expect((await run({ user: 'ada', other: 1 })).status).toBe('ok')
    expect(contexts).toEqual([{ user: 'ada', limit: 3 }])
    const statuses = await Promise.all([{ user: 'ada' }, { user: 'eve' }, {}].map((values) => run(values, 'pay')))
    expect(statuses.map(({ status }) => status)).toEqual(['ok', 'waiting', 'waiting']) // what cannot be known is asked
    const { status, error } = await run({})
    expect(status).toBe('error')
    expect(error?.message).toMatch(/contextSchema.*"look": user: .*`values`/)
    expect(contexts).toHaveLength(1)
  })

  test('keep their title, and the options of the provider, on the way in and out', async () => {
    const providerOptions = { anthropic: { cacheControl: { type: 'ephemeral' } } }
    const look = tool({
      title: 'Look',
      description: 'Looks',
      strict: true,
      providerOptions,
      inputSchema: z.object({}),
      execute: () => 'seen',
    })
    const executor = createExecutor({ tools: await fromAiSdk({ look }) })
    expect(executor.tools()[0]?.title).toBe('Look')
    const { tools } = aiSdkTools({ executor, session: 'chat-1' })
    expect(tools['look']).toMatchObject({ title: 'Look', description: 'Looks', strict: true, providerOptions })
  })

  test('with a function as their description need its words from the application', async () => {
    const look = tool({ description: () => 'Looks', inputSchema: z.object({}), execute: () => 'seen' })
    await expect(fromAiSdk({ look })).rejects.toMatchObject({
      code: 'E_INVALID_INITIAL_TOOL_VALUE',
      message: expect.stringContaining('"look" is a function') as string,
    })
    const [made] = await fromAiSdk({ look }, { tools: { look: { description: 'Looks around' } } })
    expect(made?.description).toBe('Looks around')
  })

  test('without a function are answered by a client', async () => {
    const executor = createExecutor({ tools: await fromAiSdk(theirs()) })
    const { status, token = '' } = await executor.execute({ name: 'choose' })
    expect(status).toBe('waiting')
    expect((await executor.calls.respond(token, 'blue')).content).toEqual([{ type: 'text', text: 'blue' }])
  })

  test('of a provider stay its own, and keep their definition', async () => {
    const search = { type: 'provider', id: 'openai.web_search', args: { size: 1 }, inputSchema: z.object({}) } as const
    const [made] = await fromAiSdk({ search })
    expect([made?.type, made?.libraryOptions['ai-sdk']]).toMatchObject(['provider', { id: 'openai.web_search' }])
  })
})
