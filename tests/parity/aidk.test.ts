// AIDK makes a tool once, with its schema, and hands it to a model, to the caller, or to a page of components.
import { createElement } from 'react'
import {
  clientTool,
  createExecutor,
  tool,
  Tool,
  ToolExecutionType,
  ToolIntent,
  ToolRegistry,
  type Extension,
  type ToolCall,
  type ToolEvent,
  type ToolResult,
} from 'toolwright'
import { ToolDownstreamError, ToolNotFoundError } from 'toolwright/errors'
import type { Approver, ErasedConfig, Middleware } from 'toolwright/extension'
import { httpClients } from 'toolwright/client/http'
import type { CallPage } from 'toolwright/client/protocol'
import { anthropic } from 'toolwright/formats/anthropic'
import { openai } from 'toolwright/formats/openai'
import { openaiResponses } from 'toolwright/formats/openai-responses'
import { gemini } from 'toolwright/formats/gemini'
import { aiSdk } from 'toolwright/formats/ai-sdk'
import { component, createToolRoot } from 'toolwright/react/root'
import { expect, it } from 'vitest'
import { z } from 'zod'

const calculator = tool({
  name: 'calculator',
  description: 'Performs arithmetic calculations',
  inputSchema: z.object({ a: z.number().describe('First number'), b: z.number() }),
  handler: ({ a, b }) => [{ type: 'text' as const, text: String(a + b) }],
})

const deployApplication = tool({
  name: 'deploy_application',
  description: 'Deploys the application to a specified environment',
  inputSchema: z.object({ environment: z.enum(['staging', 'production']), version: z.string() }),
  requiresConfirmation: (input) => input.environment === 'production',
  confirmationMessage: (input) =>
    `Deploy version ${input.version} to ${input.environment}? ` +
    (input.environment === 'production' ? 'This will affect live users.' : 'This is a staging deployment.'),
  handler: ({ environment, version }) => [
    { type: 'text' as const, text: `Successfully deployed ${version} to ${environment}` },
  ],
})

const userForm = tool({
  name: 'user_form',
  description: 'Collects user information',
  inputSchema: z.object({ fields: z.array(z.string()) }),
  outputSchema: z.object({ email: z.string() }),
  type: ToolExecutionType.CLIENT,
  intent: ToolIntent.RENDER,
  requiresResponse: true,
  timeout: 60_000,
})

const production = { environment: 'production', version: '1.2.3' }

/** What nothing but a model reads of a result. */
function wordsOf({ content }: ToolResult): string {
  return content.map((block) => (block.type === 'text' ? block.text : `<${block.type}>`)).join('\n')
}

/** Makes a tool of fields that the types would refuse. */
function make(config: object): Tool {
  return new Tool(config as ErasedConfig)
}

function approving(decide: (prompt: string) => 'allow' | 'deny', prompts: string[] = []): Approver {
  return {
    ask: ({ prompt }) => {
      prompts.push(prompt)
      return Promise.resolve({ decision: decide(prompt) })
    },
  }
}

it('AIDK-01 one tool is shown to a model, run by an executor, run directly, and mounted as a component', async () => {
  const executor = createExecutor({ tools: [calculator] })
  const definitions = anthropic().definitions(executor.tools('model'))
  expect(definitions).toMatchObject([{ name: 'calculator', description: 'Performs arithmetic calculations' }])

  const result = await executor.execute({ id: 'call_1', name: 'calculator', args: { a: 2, b: 2 } })
  expect(result).toMatchObject({ status: 'ok', content: [{ type: 'text', text: '4' }] })

  expect(await calculator({ a: 2, b: 2 })).toEqual([{ type: 'text', text: '4' }])

  const root = createToolRoot()
  root.render(createElement(component(calculator)))
  const mounted = await createExecutor({ tools: root.registry }).execute({ name: 'calculator', args: { a: 2, b: 2 } })
  expect(mounted).toMatchObject({ status: 'ok', content: [{ type: 'text', text: '4' }] })
  root.unmount()
  expect(root.registry.has('calculator')).toBe(false)
})

it('AIDK-02 tool(config) makes a tool that carries all of its config', () => {
  const made = tool({ name: 'ping', description: 'Answers', title: 'Ping', trusted: true, handler: () => 'pong' })
  expect(Tool.isTool(made)).toBe(true)
  const { name, title, description, trusted } = made
  expect({ name, title, description, trusted }).toEqual({
    name: 'ping',
    title: 'Ping',
    description: 'Answers',
    trusted: true,
  })
})

it('AIDK-03 a tool without a name cannot be made', () => {
  const nameless = { description: 'Answers', handler: () => 'pong' }
  expect(() => make(nameless)).toThrow(expect.objectContaining({ code: 'E_INVALID_INITIAL_TOOL_VALUE' }))
  expect(() => make(nameless)).toThrow(/`name`/)
  expect(() => make({ ...nameless, name: '' })).toThrow(/`name`/)
})

it('AIDK-04 a tool without a description cannot be made, and the model is shown what it says', () => {
  const silent = { name: 'ping', handler: () => 'pong' }
  expect(() => make(silent)).toThrow(/`description`/)
  expect(() => make({ ...silent, description: '  ' })).toThrow(/`description`/)
  expect(make({ ...silent, description: 'Answers' }).describe().description).toBe('Answers')
})

it('AIDK-05 the schema of the input is called inputSchema, and another kernel’s word for it is refused with ours', () => {
  expect(calculator.inputSchema).toBeDefined()
  const theirs = { name: 'ping', description: 'Answers', handler: () => 'pong' }
  expect(() => make({ ...theirs, parameters: z.object({}) })).toThrow(/`parameters` is called `inputSchema` here/)
  expect(() => make({ ...theirs, input: z.object({}) })).toThrow(/`input` is called `inputSchema` here/)
})

it('AIDK-06 the schema guards the handler at run time, and is the JSON Schema that the model is shown', async () => {
  const seen: unknown[] = []
  const guarded = tool({
    name: 'guarded',
    description: 'Takes a city',
    inputSchema: z.object({ city: z.string().describe('Its name'), days: z.number().default(3) }),
    handler: (input) => {
      seen.push(input)
      return input.city.toUpperCase()
    },
  })
  const executor = createExecutor({ tools: [guarded] })
  const refused = await executor.execute({ name: 'guarded', args: { city: 7 } })
  expect(refused.error?.code).toBe('E_INVALID_TOOL_ARGS')
  expect(seen).toEqual([])

  await executor.execute({ name: 'guarded', args: { city: 'Oslo' } })
  expect(seen).toEqual([{ city: 'Oslo', days: 3 }])
  expect(guarded.describe().inputSchema).toMatchObject({
    type: 'object',
    properties: { city: { type: 'string', description: 'Its name' } },
    required: ['city'],
  })
})

it('AIDK-07 a tool is run by the server where nothing else is said, and needs a handler', () => {
  expect(calculator.type).toBe('server')
  expect(() => make({ name: 'idle', description: 'Does nothing' })).toThrow(/`handler` is required/)
  expect(() => make({ name: 'idle', description: 'Does nothing', type: 'server' })).toThrow(/`handler` is required/)
})

it('AIDK-08 a tool of type client is made without a handler', () => {
  expect(userForm.type).toBe('client')
  expect(userForm.describe()).toMatchObject({ name: 'user_form', type: 'client', intent: 'render' })
})

it('AIDK-09 a tool of type provider is made without a handler, and is an error here unless its result comes with the call', async () => {
  const hosted = tool({ name: 'web_search', description: 'Searches the web', type: ToolExecutionType.PROVIDER })
  expect(hosted.type).toBe('provider')

  const executor = createExecutor({ tools: [hosted] })
  const asked = await executor.execute({ name: 'web_search', args: {} })
  expect(asked).toMatchObject({ status: 'error', effect: 'none', error: { code: 'E_INVALID_EXECUTION_TYPE' } })

  const result = await executor.execute({ name: 'web_search', args: {}, result: { hits: 3 } })
  expect(result).toMatchObject({ status: 'ok', effect: 'completed', content: [{ type: 'json', data: { hits: 3 } }] })
})

it('AIDK-10 a tool of type mcp needs a handler, which asks its server', async () => {
  const asked: unknown[] = []
  const search = tool({
    name: 'github_search',
    description: 'Searches GitHub repositories',
    inputSchema: z.object({ query: z.string(), language: z.string().optional() }),
    type: ToolExecutionType.MCP,
    mcpConfig: { serverName: 'github-mcp', serverUrl: 'http://localhost:3001', transport: 'sse' },
    handler: ({ query }) => {
      asked.push(query)
      return { hits: [query] }
    },
  })
  const result = await createExecutor({ tools: [search] }).execute({ name: 'github_search', args: { query: 'cats' } })
  expect(result).toMatchObject({ status: 'ok', content: [{ type: 'json', data: { hits: ['cats'] } }] })
  expect(asked).toEqual(['cats'])
  expect(() => make({ name: 'github_search', description: 'Searches', type: 'mcp' })).toThrow(/`handler` is required/)
})

it('AIDK-11 the intent is compute where nothing else is said, and may be action or render', () => {
  const config = { name: 'chart', description: 'Draws', handler: () => 'drawn' }
  expect(tool(config).intent).toBe('compute')
  expect(tool({ ...config, intent: ToolIntent.ACTION }).describe().intent).toBe('action')
  expect(tool({ ...config, intent: ToolIntent.RENDER }).describe().intent).toBe('render')
  expect(() => make({ ...config, intent: 'paint' })).toThrow(/`intent`/)
})

it('AIDK-12 a handler returns content blocks, and they reach the model as they are', async () => {
  const data = { rows: 2 }
  const blocks = [
    { type: 'text' as const, text: 'Analysis complete' },
    { type: 'json' as const, text: JSON.stringify(data), data },
  ]
  const analyse = tool({ name: 'analyse', description: 'Analyses', handler: () => blocks })
  const result = await createExecutor({ tools: [analyse] }).execute({ name: 'analyse' })
  expect(result.status).toBe('ok')
  expect(result.content).toEqual(blocks)
})

it('AIDK-13 what a handler throws becomes an error result with plain text for the model', async () => {
  const broken = tool({
    name: 'broken',
    description: 'Fails',
    handler: (): string => {
      throw new RangeError('Tool failed\nbadly')
    },
  })
  const result = await createExecutor({ tools: [broken] }).execute({ name: 'broken' })
  expect(result).toMatchObject({ status: 'error', isError: true, effect: 'unknown' })
  expect(result.content).toEqual([{ type: 'text', text: 'RangeError: Tool failed\nbadly' }])
  expect(result.error).toBeInstanceOf(ToolDownstreamError)
})

it('AIDK-14 requiresResponse is false where nothing is said, and the default result is given at once', async () => {
  const chart = tool({
    name: 'render_chart',
    description: 'Renders a chart in the UI',
    inputSchema: z.object({ type: z.string(), data: z.array(z.any()) }),
    type: ToolExecutionType.CLIENT,
    intent: ToolIntent.RENDER,
    defaultResult: [{ type: 'text', text: '[Chart rendered]' }],
  })
  expect(chart.requiresResponse).toBe(false)
  const result = await createExecutor({ tools: [chart] }).execute({
    name: 'render_chart',
    args: { type: 'bar', data: [] },
  })
  expect(result).toMatchObject({ status: 'ok', effect: 'unknown' })
  expect(result.content).toEqual([{ type: 'text', text: '[Chart rendered]' }])
})

it('AIDK-15 with requiresResponse the call waits for the client, whose answer is its result', async () => {
  const executor = createExecutor({ tools: [userForm] })
  const waiting = await executor.execute({ id: 'call_1', name: 'user_form', args: { fields: ['email'] } })
  expect(waiting).toMatchObject({ id: 'call_1', status: 'waiting', isError: false })

  const answered = await executor.calls.respond(waiting.token ?? '', { email: 'ada@example.com' })
  expect(answered).toMatchObject({ id: 'call_1', status: 'ok', invocationId: waiting.invocationId })
  expect(answered.content).toMatchObject([{ type: 'json', data: { email: 'ada@example.com' } }])
})

it('AIDK-16 a client has 30,000 ms to answer, or as long as its tool says', async () => {
  const quick = clientTool({ name: 'quick_form', description: 'Asks quickly', requiresResponse: true })
  const executor = createExecutor({ tools: [userForm, quick] })
  const patienceOf = async (name: string): Promise<[least: number, most: number]> => {
    const before = Date.now()
    const { expiresAt = 0 } = await executor.execute({ name, args: { fields: [] } })
    return [expiresAt - Date.now(), expiresAt - before]
  }
  const [least, most] = await patienceOf('user_form')
  expect(least).toBeLessThanOrEqual(60_000)
  expect(most).toBeGreaterThanOrEqual(60_000)
  const [leastOfQuick, mostOfQuick] = await patienceOf('quick_form')
  expect(leastOfQuick).toBeLessThanOrEqual(30_000)
  expect(mostOfQuick).toBeGreaterThanOrEqual(30_000)

  const config = { description: 'Asks in vain', requiresResponse: true, timeout: 20 } as const
  const silent = createExecutor({ tools: [clientTool({ ...config, name: 'silent_form' })] })
  const timedOut = { status: 'timed_out', isError: true, effect: 'unknown', error: { code: 'E_CLIENT_TOOL' } }
  const silence = await silent.calls.settled(await silent.execute({ id: 'call_1', name: 'silent_form' }))
  expect(silence).toMatchObject({ ...timedOut, id: 'call_1', toolName: 'silent_form' })
  expect(wordsOf(silence)).toContain('did not answer in time')
  const { token = '', expiresAt = 0 } = await silent.execute({ id: 'call_2', name: 'silent_form' })
  while (Date.now() <= expiresAt) await new Promise((resolve) => setTimeout(resolve, 5))
  expect(await silent.calls.respond(token, { email: 'late@example.com' })).toMatchObject({ ...timedOut, id: 'call_2' })
})

it('AIDK-17 a client tool that names no default result says that it was rendered', async () => {
  const chart = clientTool({ name: 'render_chart', description: 'Renders a chart' })
  expect(chart.defaultResult).toEqual([{ type: 'text', text: '[render_chart rendered on client]' }])
  const result = await createExecutor({ tools: [chart] }).execute({ name: 'render_chart', args: { type: 'pie' } })
  expect(wordsOf(result)).toBe('[render_chart rendered on client]')
})

it('AIDK-19 requiresConfirmation is false, true or a predicate, and one that breaks means that somebody is asked', async () => {
  expect(calculator.requiresConfirmation).toBe(false)
  const config = { description: 'Removes a file', inputSchema: z.object({ path: z.string() }), handler: () => 'gone' }
  const always = tool({ ...config, name: 'always', requiresConfirmation: true })
  const dangerous = tool({
    ...config,
    name: 'dangerous',
    requiresConfirmation: async ({ path }) => Promise.resolve(path.startsWith('/etc')),
  })
  const broken = tool({
    ...config,
    name: 'broken',
    requiresConfirmation: () => {
      throw new Error('the rules are down')
    },
  })
  const executor = createExecutor({ tools: [always, dangerous, broken] })
  const statusOf = async (name: string, path: string): Promise<string> =>
    (await executor.execute({ name, args: { path } })).status
  expect(await statusOf('always', '/tmp/a')).toBe('waiting')
  expect(await statusOf('dangerous', '/tmp/a')).toBe('ok')
  expect(await statusOf('dangerous', '/etc/a')).toBe('waiting')
  expect(await statusOf('broken', '/tmp/a')).toBe('waiting')
})

it('AIDK-20 the question is the tool’s own message, made of the input, or a plain one', async () => {
  const prompts: string[] = []
  const plain = tool({ name: 'plain', description: 'Asks', requiresConfirmation: true, handler: () => 'done' })
  const fixed = tool({
    name: 'fixed',
    description: 'Asks',
    requiresConfirmation: true,
    confirmationMessage: 'Are you sure you want to delete this file?',
    handler: () => 'done',
  })
  const executor = createExecutor({
    tools: [plain, fixed, deployApplication],
    use: [{ approver: approving(() => 'allow', prompts) }],
  })
  await executor.execute({ name: 'plain' })
  await executor.execute({ name: 'fixed' })
  await executor.execute({ name: 'deploy_application', args: production })
  expect(prompts).toEqual([
    'Allow plain to execute?',
    'Are you sure you want to delete this file?',
    'Deploy version 1.2.3 to production? This will affect live users.',
  ])
})

it('AIDK-21 a deployment to staging runs at once, one to production asks, and runs or is refused by the answer', async () => {
  const events: string[] = []
  const executor = createExecutor({
    tools: [deployApplication],
    use: [
      { approver: approving((prompt) => (prompt.includes('1.2.3') ? 'allow' : 'deny')) },
      { observers: [({ event }) => events.push(event)] },
    ],
  })
  const staging = await executor.execute({
    name: 'deploy_application',
    args: { environment: 'staging', version: '9.9.9' },
  })
  expect(wordsOf(staging)).toBe('Successfully deployed 9.9.9 to staging')
  expect(events.splice(0)).toEqual(['call:received', 'tool:start', 'tool:end', 'call:settled'])

  const allowed = await executor.execute({ name: 'deploy_application', args: production })
  expect(wordsOf(allowed)).toBe('Successfully deployed 1.2.3 to production')
  expect(events.splice(0)).toEqual([
    'call:received',
    'call:waiting',
    'call:resumed',
    'tool:start',
    'tool:end',
    'call:settled',
  ])

  const denied = await executor.execute({ name: 'deploy_application', args: { ...production, version: '6.6.6' } })
  expect(denied).toMatchObject({ status: 'denied', effect: 'none' })
  expect(events).toEqual(['call:received', 'call:waiting', 'call:resumed', 'call:settled'])
})

it('AIDK-22 a confirmation may depend on the role of the user and the amount', async () => {
  const transferFunds = tool({
    name: 'transfer_funds',
    description: 'Transfer money between accounts',
    inputSchema: z.object({ amount: z.number(), to: z.string() }),
    requiresConfirmation: async ({ amount }, context) => {
      const { getUser } = context.values as { getUser: () => Promise<{ role: string }> }
      return (await getUser()).role !== 'admin' && amount >= 100
    },
    confirmationMessage: ({ amount, to }) => `Transfer $${amount} to ${to}? This cannot be undone.`,
    handler: ({ amount, to }) => `Transferred $${amount} to ${to}`,
  })
  const prompts: string[] = []
  const executor = createExecutor({
    tools: [transferFunds],
    use: [{ approver: approving(() => 'allow', prompts) }],
  })
  const transfer = (role: string, amount: number): Promise<ToolResult> =>
    executor.execute(
      { name: 'transfer_funds', args: { amount, to: 'Bob' } },
      { values: { getUser: () => Promise.resolve({ role }) } },
    )
  await transfer('admin', 5_000)
  await transfer('clerk', 99)
  expect(prompts).toEqual([])
  expect(wordsOf(await transfer('clerk', 100))).toBe('Transferred $100 to Bob')
  expect(prompts).toEqual(['Transfer $100 to Bob? This cannot be undone.'])
})

it('AIDK-23 other tools run while some calls wait for a person', async () => {
  let answer = (): void => {}
  let open = 0
  const asked = new Promise<void>((resolve) => (answer = resolve))
  let hasRun = false
  // The answer comes only once all four are asked and the free one has run.
  const look = (): void => void (open === 4 && hasRun && answer())
  const approver: Approver = { ask: () => (open++, look(), asked.then(() => ({ decision: 'allow' as const }))) }
  const guarded = tool({ name: 'guarded', description: 'Waits', requiresConfirmation: true, handler: () => 'allowed' })
  // Four calls wait, and only three may run at a time: the last one runs nevertheless, and lets the others go.
  const free = tool({
    name: 'free',
    description: 'Runs',
    handler: () => {
      hasRun = true
      look()
      return 'ran'
    },
  })
  const executor = createExecutor({ tools: [guarded, free], use: [{ approver }] })
  const names = ['guarded', 'guarded', 'guarded', 'guarded', 'free']
  const results = await executor.executeToolCalls(names.map((name) => ({ name })))
  expect(results.map(wordsOf)).toEqual(['allowed', 'allowed', 'allowed', 'allowed', 'ran'])

  // Without an approver they all wait in the inbox, and are answered in any order, at once.
  const inbox = createExecutor({ tools: [guarded, free] })
  const turn = await inbox.executeToolCalls(names.map((name, id) => ({ id, name })))
  expect(turn.map(({ status }) => status)).toEqual(['waiting', 'waiting', 'waiting', 'waiting', 'ok'])
  const waiting = await inbox.calls.waiting()
  const decided = await Promise.all(
    waiting.map((call, index) => inbox.calls.decide(call, index === 1 ? 'deny' : 'allow')),
  )
  expect(decided.map(({ status }) => status)).toEqual(['ok', 'denied', 'ok', 'ok'])
  expect(new Set(decided.map(({ id }) => id))).toEqual(new Set([0, 1, 2, 3]))
  expect(await inbox.calls.waiting()).toEqual([])
})

it('AIDK-24 a refusal is a failed result that the model can read', async () => {
  const executor = createExecutor({
    tools: [deployApplication],
    use: [{ approver: { ask: () => Promise.resolve({ decision: 'deny', note: 'not on a Friday' }) } }],
  })
  const denied = await executor.execute({ id: 'toolu_1', name: 'deploy_application', args: production })
  expect(denied).toMatchObject({ status: 'denied', isError: true, error: { code: 'E_TOOL_DENIED' } })
  expect(wordsOf(denied)).toContain('Permission denied by user: not on a Friday')
  expect(anthropic().results([denied])).toMatchObject({ content: [{ tool_use_id: 'toolu_1', is_error: true }] })
})

it('AIDK-25 that a person said "always" is told to whoever watches, and remembered by nobody here', async () => {
  const executor = createExecutor({ tools: [deployApplication] })
  const decisions: unknown[] = []
  executor.on('call:resumed', ({ decision, always, decidedBy }) => decisions.push({ decision, always, decidedBy }))
  const waiting = await executor.execute({ name: 'deploy_application', args: production })
  await executor.calls.decide(waiting.token ?? '', 'allow', { always: true, decidedBy: 'ada' })
  expect(decisions).toEqual([{ decision: 'allow', always: true, decidedBy: 'ada' }])
  expect((await executor.execute({ name: 'deploy_application', args: production })).status).toBe('waiting')
})

it('AIDK-26 middleware takes the call, its context and next, and may wrap the result or throw again', async () => {
  const seen: unknown[] = []
  const watch: Middleware = async (call, context, next) => {
    seen.push(call.input, context.toolName)
    try {
      return { wrapped: await next() }
    } catch (error) {
      throw new Error('the database is down', { cause: error })
    }
  }
  const query = tool({
    name: 'database_query',
    description: 'Executes a database query',
    inputSchema: z.object({ query: z.string() }),
    middleware: [watch],
    handler: ({ query: text }) => {
      if (text === 'boom') throw new Error('ECONNREFUSED')
      return [text]
    },
  })
  const executor = createExecutor({ tools: [query] })
  const good = await executor.execute({ name: 'database_query', args: { query: 'select 1' } })
  expect(good.content).toMatchObject([{ type: 'json', data: { wrapped: ['select 1'] } }])
  expect(seen).toEqual([{ query: 'select 1' }, 'database_query'])

  const bad = await executor.execute({ name: 'database_query', args: { query: 'boom' } })
  expect(bad.error?.code).toBe('E_TOOL_DOWNSTREAM_ERROR')
  expect(wordsOf(bad)).toBe('Error: the database is down')
})

it('AIDK-27 options of one provider reach that provider’s definitions and no other', () => {
  const interpreter = tool({
    name: 'code_interpreter',
    description: 'Executes Python code in a sandboxed environment',
    inputSchema: z.object({ code: z.string() }),
    type: ToolExecutionType.PROVIDER,
    providerOptions: { openai: { type: 'code_interpreter' } },
  })
  const strict = tool({
    name: 'add',
    description: 'Adds',
    providerOptions: { openai: { strict: true } },
    handler: () => 0,
  })
  const tools = createExecutor({ tools: [interpreter, strict] }).tools()
  expect(openaiResponses().definitions(tools)).toMatchObject([
    { type: 'code_interpreter' },
    { type: 'function', name: 'add', strict: true },
  ])
  // Chat completions have no interpreter, and refuse a request that asks for one.
  const reports: unknown[] = []
  expect(openai({ report: (error) => reports.push(error) }).definitions(tools)).toMatchObject([
    { type: 'function', function: { name: 'add', strict: true } },
  ])
  expect(String(reports)).toContain('"code_interpreter"')
  expect(JSON.stringify(anthropic().definitions(tools))).not.toMatch(/strict|code_interpreter/)
})

it('AIDK-28 options of one library are kept, and reach the format of that library', () => {
  const strict = tool({
    name: 'add',
    description: 'Adds',
    libraryOptions: { 'ai-sdk': { strict: true }, langchain: { returnDirect: true } },
    handler: () => 0,
  })
  expect(strict.libraryOptions).toEqual({ 'ai-sdk': { strict: true }, langchain: { returnDirect: true } })
  expect(aiSdk().definitions(createExecutor({ tools: [strict] }).tools())).toMatchObject([
    { name: 'add', strict: true },
  ])
})

it('AIDK-39 a tool is a class instance with its metadata on it and a way to run it', async () => {
  expect(calculator).toBeInstanceOf(Tool)
  expect(calculator.name).toBe('calculator')
  expect(await calculator.invoke({ a: 1, b: 2 })).toEqual([{ type: 'text', text: '3' }])
})

it('AIDK-40 the metadata of a tool has every field that its author gave', () => {
  const config = {
    name: 'everything',
    description: 'Has every field',
    inputSchema: z.object({ path: z.string() }),
    type: 'client' as const,
    intent: 'action' as const,
    requiresResponse: true,
    timeout: 5_000,
    defaultResult: [{ type: 'text' as const, text: 'shown' }],
    providerOptions: { openai: { strict: true } },
    libraryOptions: { langchain: { returnDirect: true } },
    mcpConfig: { serverName: 'files', region: 'eu' },
    requiresConfirmation: ({ path }: { path: string }) => path === '/',
    confirmationMessage: ({ path }: { path: string }) => `Open ${path}?`,
  }
  const everything = tool(config)
  for (const field of Object.keys(config) as (keyof typeof config)[]) {
    expect(everything[field], field).toEqual(config[field])
  }
})

it('AIDK-41 anything with a tool’s definition can be executed', async () => {
  const definition = new ToolRegistry([calculator]).get('calculator')
  expect(definition).toBeDefined()
  const executor = createExecutor({ tools: definition === undefined ? [] : [definition] })
  expect(wordsOf(await executor.execute({ name: 'calculator', args: { a: 3, b: 4 } }))).toBe('7')
})

it('AIDK-42 Tool.isTool tells tools from everything else, also tools of a subclass', () => {
  class Special extends Tool {}
  const special = new Special({ name: 'special', description: 'Special', handler: () => 1 })
  expect(Tool.isTool(calculator)).toBe(true)
  expect(Tool.isTool(special)).toBe(true)
  const others = [undefined, null, 'calculator', () => 1, Tool, { name: 'calculator', handler: () => 1 }, z.object({})]
  expect(others.map((other) => Tool.isTool(other))).toEqual(others.map(() => false))
})

it('AIDK-43 a tool needs no conversion to be executed: executors and registries take it as it is', async () => {
  const registry = new ToolRegistry()
  registry.add(calculator)
  for (const tools of [[calculator], registry]) {
    const result = await createExecutor({ tools }).execute({ name: 'calculator', args: { a: 1, b: 1 } })
    expect(wordsOf(result)).toBe('2')
  }
})

it('AIDK-44 a tool that a client describes becomes a full one: run by the client, meant to render, waiting for nothing', () => {
  const chart = clientTool({ name: 'chart', description: 'Draws', inputSchema: { type: 'object' } })
  expect(chart.describe()).toMatchObject({
    name: 'chart',
    type: 'client',
    intent: 'render',
    requiresResponse: false,
    inputSchema: { type: 'object' },
    timeout: 30_000,
    defaultResult: [{ type: 'text', text: '[chart rendered on client]' }],
  })
  expect(clientTool({ name: 'copy', description: 'Copies', intent: 'action' }).intent).toBe('action')
})

it('AIDK-45 middleware of the executor wraps that of the tool', async () => {
  const order: string[] = []
  const named =
    (name: string): Middleware =>
    async (_call, _context, next) => {
      order.push(`${name} in`)
      const result = await next()
      order.push(`${name} out`)
      return result
    }
  const ping = tool({ name: 'ping', description: 'Answers', middleware: [named('tool')], handler: () => 'pong' })
  const use: Extension[] = [{ middleware: [named('first')] }, { middleware: [named('second')] }]
  await createExecutor({ tools: [ping], use }).execute({ name: 'ping' })
  expect(order).toEqual(['first in', 'second in', 'tool in', 'tool out', 'second out', 'first out'])
})

it('AIDK-47 the calls of a turn are resolved, validated, wrapped and run, and each has its result', async () => {
  const wrapped: string[] = []
  const middleware: Middleware[] = [
    (call, _context, next) => {
      wrapped.push(call.name)
      return next()
    },
  ]
  const executor = createExecutor({ tools: [calculator], use: [{ middleware }] })
  const calls: ToolCall[] = [
    { id: 'a', name: 'calculator', args: { a: 1, b: 2 } },
    { id: 'b', name: 'missing', args: {} },
    { id: 'c', name: 'calculator', args: '{"a":"one"}' },
    { id: 'd', name: 'calculator', args: '{"a":3,"b":4}' },
  ]
  const results = await executor.executeToolCalls(calls)
  expect(results.map(({ id, status }) => [id, status])).toEqual([
    ['a', 'ok'],
    ['b', 'error'],
    ['c', 'error'],
    ['d', 'ok'],
  ])
  expect(results.flatMap(({ error }) => error?.code ?? [])).toEqual(['E_TOOL_NOT_FOUND', 'E_INVALID_TOOL_ARGS'])
  expect(wrapped).toEqual(['calculator', 'calculator'])
})

it('AIDK-48 a mounted tool comes before a configured one, and what neither has is not found', async () => {
  const named = (name: string, answer: string): Tool =>
    tool({ name, description: 'Answers', handler: () => answer }) as Tool
  const configured = new ToolRegistry([named('both', 'configured'), named('configured_only', 'configured')])
  const mounted = new ToolRegistry([named('both', 'mounted')], { parent: configured })
  const executor = createExecutor({ tools: mounted })
  const answers = await executor.executeToolCalls([{ name: 'both' }, { name: 'configured_only' }, { name: 'neither' }])
  expect(answers.slice(0, 2).map(wordsOf)).toEqual(['mounted', 'configured'])
  expect(answers[2]?.error).toBeInstanceOf(ToolNotFoundError)
  mounted.remove('both')
  expect(wordsOf(await executor.execute({ name: 'both' }))).toBe('configured')
})

it('AIDK-49 a tool that has nothing to run is refused with a code of its own', async () => {
  await expect(Promise.resolve(userForm({ fields: [] }))).rejects.toMatchObject({ code: 'E_TOOL_NO_HANDLER' })
  const custom = make({ name: 'robot', description: 'Moves', type: 'robot' })
  const result = await createExecutor({ tools: [custom] }).execute({ name: 'robot' })
  expect(result).toMatchObject({ status: 'error', effect: 'none', error: { code: 'E_INVALID_EXECUTION_TYPE' } })
})

it('AIDK-50 a definition goes from the validator through JSON Schema to each provider', () => {
  const { inputSchema } = calculator.describe()
  expect(inputSchema).toMatchObject({ type: 'object', properties: { a: { description: 'First number' } } })
  const tools = createExecutor({ tools: [calculator] }).tools()
  expect(anthropic().definitions(tools)).toMatchObject([{ name: 'calculator', input_schema: inputSchema }])
  expect(openai().definitions(tools)).toMatchObject([{ function: { name: 'calculator', parameters: inputSchema } }])
  expect(gemini().definitions(tools)).toMatchObject([{ functionDeclarations: [{ parametersJsonSchema: inputSchema }] }])
  expect(aiSdk().definitions(tools)).toMatchObject([{ name: 'calculator', inputSchema }])
})

it('AIDK-51 a call has id, name, args and perhaps a result, and its result has id, name, status, content and error', async () => {
  const executor = createExecutor({ tools: [calculator] })
  const good = await executor.execute({ id: 7, name: 'calculator', args: { a: 1, b: 2 } })
  expect(good).toMatchObject({ id: 7, toolName: 'calculator', status: 'ok', isError: false })
  expect(good.error).toBeUndefined()
  expect(good.durationMs).toBeGreaterThanOrEqual(0)
  const bad = await executor.execute({ name: 'calculator', args: { a: 1 } })
  expect('id' in bad).toBe(false)
  expect(bad).toMatchObject({ toolName: 'calculator', status: 'error', isError: true })
  expect(bad.error).toMatchObject({ code: 'E_INVALID_TOOL_ARGS', toolName: 'calculator', callId: bad.callId })
})

it('AIDK-52 failures are classified by types and codes, never by the words of a message', async () => {
  const withFields = (fields: object): Error => Object.assign(new Error('a timeout of the network'), fields)
  const cases: [thrown: unknown, category: string][] = [
    [withFields({ code: 'ETIMEDOUT' }), 'network'],
    [withFields({ code: 'ECONNRESET' }), 'network'],
    [withFields({ code: 'ENOTFOUND' }), 'network'],
    [withFields({ status: 429 }), 'rate_limit'],
    [withFields({ statusCode: 401 }), 'auth'],
    [withFields({ status: 403 }), 'auth'],
    [withFields({ name: 'ZodError' }), 'validation'],
    [withFields({ name: 'TimeoutError' }), 'timeout'],
    [withFields({}), 'application'],
    ['just words', 'unknown'],
  ]
  for (const [thrown, category] of cases) {
    const broken = tool({
      name: 'broken',
      description: 'Fails',
      handler: (): string => {
        throw thrown
      },
    })
    const { error } = await createExecutor({ tools: [broken] }).execute({ name: 'broken' })
    expect(error?.category).toBe(category)
  }
})

it('AIDK-53 applications add execution types, options of providers and libraries, and middleware', async () => {
  const robot = make({
    name: 'move_arm',
    description: 'Moves the arm',
    type: 'robot',
    inputSchema: z.object({ degrees: z.number() }),
    providerOptions: { ours: { speed: 'slow' } },
    libraryOptions: { ours: { callbacks: true } },
  })
  const executor = createExecutor({
    tools: [robot],
    use: [
      { runners: [{ type: 'robot', run: ({ input }) => ({ moved: input }) }] },
      { middleware: [async (_call, _context, next) => ({ logged: await next() })] },
    ],
  })
  const result = await executor.execute({ name: 'move_arm', args: { degrees: 90 } })
  expect(result.content).toMatchObject([{ type: 'json', data: { logged: { moved: { degrees: 90 } } } }])
  expect(robot.providerOptions['ours']).toEqual({ speed: 'slow' })
  expect(robot.libraryOptions['ours']).toEqual({ callbacks: true })
})

it('AIDK-54 executor, registry, model, adapter and client each take their own part of a tool', async () => {
  const adding = tool({
    name: 'adding',
    description: 'Adds',
    inputSchema: z.object({ a: z.number(), b: z.number() }),
    providerOptions: { anthropic: { cache_control: { type: 'ephemeral' } } },
    handler: ({ a, b }) => a + b,
  })
  const registry = new ToolRegistry([adding])
  const executor = createExecutor({ tools: registry })
  expect(wordsOf(await executor.execute({ name: 'adding', args: { a: 1, b: 2 } }))).toBe('3')
  const definitions = anthropic().definitions(registry.list('model'))
  expect(definitions).toMatchObject([{ name: 'adding', cache_control: { type: 'ephemeral' } }])

  const described: unknown = JSON.parse('{"name":"chart","description":"Draws","inputSchema":{"type":"object"}}')
  registry.add(clientTool(described as Parameters<typeof clientTool>[0]))
  expect(wordsOf(await executor.execute({ name: 'chart', args: {} }))).toBe('[chart rendered on client]')

  const clients = httpClients({ executor, authorize: () => ({ session: 'ada' }) })
  const page = (await (await clients.fetch(new Request('http://localhost/calls'))).json()) as CallPage
  expect(page.hello.tools).toEqual([
    { name: 'adding', type: 'server' },
    { name: 'chart', type: 'client' },
  ])
  await clients.close()
})

it('AIDK-55 what wraps a run sees how long it took and what went wrong', async () => {
  const log: { name: string; took: number; said: string }[] = []
  const trace: Middleware = async (call, _context, next) => {
    const start = performance.now()
    const tell = (said: string): void => void log.push({ name: call.name, took: performance.now() - start, said })
    try {
      const result = await next()
      tell('completed')
      return result
    } catch (error) {
      tell((error as Error).message)
      throw error
    }
  }
  const flaky = tool({
    name: 'flaky',
    description: 'Fails on demand',
    inputSchema: z.object({ fail: z.boolean() }),
    middleware: [trace],
    handler: async ({ fail }) => {
      await new Promise((resolve) => setTimeout(resolve, fail ? 60 : 30))
      if (fail) throw new Error('out of luck')
      return 'fine'
    },
  })
  const ends: { isError: boolean; durationMs: number }[] = []
  const executor = createExecutor({ tools: [flaky] })
  executor.on('tool:end', ({ isError, durationMs }) => ends.push({ isError, durationMs }))
  const whole: number[] = []
  for (const fail of [false, true]) {
    const start = performance.now()
    await executor.execute({ name: 'flaky', args: { fail } })
    whole.push(performance.now() - start)
  }
  expect(log).toMatchObject([
    { name: 'flaky', said: 'completed' },
    { name: 'flaky', said: expect.stringContaining('out of luck') },
  ])
  expect(ends.map(({ isError }) => isError)).toEqual([false, true])
  // A timer may be a millisecond early, and no measure is longer than that of what it is a part of.
  for (const [index, least] of [29, 59].entries()) {
    for (const took of [log[index]?.took, ends[index]?.durationMs]) {
      expect(took).toBeGreaterThanOrEqual(least)
      expect(took).toBeLessThanOrEqual((whole[index] ?? 0) + 1)
    }
  }
})

it('AIDK-18 a client posts its answer by a token, nobody else’s answer counts, and calls are given up one by one or all', async () => {
  const form = tool({
    name: 'form',
    description: 'Asks the user',
    type: 'client',
    requiresResponse: true,
    inputSchema: z.object({ question: z.string() }),
  })
  const endless = tool({
    name: 'endless',
    description: 'Never ends',
    inputSchema: z.object({}),
    handler: () => new Promise<string>(() => {}),
  })
  const executor = createExecutor({ tools: [form, endless] })
  const shown: ToolEvent[] = []
  executor.on('call:waiting', (event) => shown.push(event))
  const { token = '', status } = await executor.execute({ name: 'form', args: { question: 'Why?' } })
  expect([status, shown.length]).toEqual(['waiting', 1])
  expect(wordsOf(await executor.calls.respond(token, 'Because.'))).toBe('Because.')
  await expect(executor.calls.respond(token, 'Again.')).rejects.toMatchObject({ code: 'E_APPROVAL_INVALID' })
  await expect(executor.calls.respond('nobody.waits', 'Hello?')).rejects.toMatchObject({ code: 'E_APPROVAL_INVALID' })

  // The same at /tool-results, where no token is needed, and the page of another session finds no call.
  const clients = httpClients({ executor, authorize: ({ headers }) => ({ session: headers.get('x-session') ?? '' }) })
  const asked = await executor.execute({ name: 'form', args: { question: 'Who?' } }, { session: 'ada' })
  const post = async (session: string, value: string): Promise<number> => {
    const body = JSON.stringify({ invocationId: asked.invocationId, value })
    const headers = { 'content-type': 'application/json', 'x-session': session, prefer: 'wait=20' }
    return (await clients.fetch(new Request('http://localhost/tool-results', { method: 'POST', headers, body }))).status
  }
  const answered = executor.calls.settled(asked)
  expect([await post('eve', 'Eve.'), await post('ada', 'Ada.'), await post('ada', 'Bob.')]).toEqual([404, 200, 409])
  expect(wordsOf(await answered)).toBe('Ada.')
  await clients.close()

  const giveUp = new AbortController()
  const one = executor.execute({ name: 'endless', args: {} }, { signal: giveUp.signal })
  const others = [1, 2].map(() => executor.execute({ name: 'endless', args: {} }))
  giveUp.abort()
  expect((await one).status).toBe('cancelled')
  await executor.close()
  for (const other of others) expect((await other).status).toBe('cancelled')
})

it('AIDK-46 what wraps a run is middleware: of the executor outside, of the tool inside, once around each run', async () => {
  const order: string[] = []
  const around =
    (name: string): Middleware =>
    async (_call, _context, next) => {
      order.push(`${name} before`)
      const result = await next()
      order.push(`${name} after`)
      return result
    }
  const wrapped = tool({
    name: 'wrapped',
    description: 'Is wrapped',
    inputSchema: z.object({}),
    middleware: [around('instance')],
    handler: () => void order.push('run'),
  })
  const executor = createExecutor({ tools: [wrapped], use: [{ middleware: [around('global')] }] })
  await executor.execute({ name: 'wrapped', args: {} })
  expect(order).toEqual(['global before', 'instance before', 'run', 'instance after', 'global after'])
})
