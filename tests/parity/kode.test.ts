// Kode lets hooks, permissions and people decide about each call of an agent that works on files and commands.
import { getEventListeners } from 'node:events'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import {
  createExecutor,
  tool,
  Tool,
  ToolRegistry,
  type ToolContext,
  type ToolEvent,
  type ToolExecutor,
  type ToolResult,
} from 'toolwright'
import { SealedError } from 'toolwright/errors'
import type { Approver, Policy, ToolCallState, ToolHooks } from 'toolwright/extension'
import { foldEvent, records } from 'toolwright/records'
import { anthropic } from 'toolwright/formats/anthropic'
import { memoryJournal } from 'toolwright/journals/memory'
import { localSandbox } from 'toolwright/builtins/local'
import { toolMethod, toolsOf } from 'toolwright/builtins/methods'
import { shellTools, taskTool, todoTools, workspaceTools } from 'toolwright/builtins/tools'
import { cache } from 'toolwright/middleware/cache'
import { argsRepair } from 'toolwright/repairs/args'
import { permissions, type PermissionsOptions } from 'toolwright/policies/permissions'
import { afterEach, expect, it, onTestFinished, vi } from 'vitest'
import { z } from 'zod'

interface Sandbox {
  readFile(path: string): Promise<string>
  exec(command: string): Promise<{ stdout: string; stderr: string; exitCode: number }>
}

/** A sandbox over a few files, which says how often it was asked. */
class MemorySandbox implements Sandbox {
  reads = 0
  readonly #files: ReadonlyMap<string, string>

  constructor(files: Readonly<Record<string, string>>) {
    this.#files = new Map(Object.entries(files))
  }

  readFile(path: string): Promise<string> {
    this.reads++
    const text = this.#files.get(path)
    return text === undefined ? Promise.reject(new Error(`ENOENT: ${path}`)) : Promise.resolve(text)
  }

  exec(command: string): Promise<{ stdout: string; stderr: string; exitCode: number }> {
    return Promise.resolve({ stdout: `ran ${command}\nPASSWORD=hunter2 done`, stderr: '', exitCode: 0 })
  }
}

function sandboxOf({ values }: ToolContext): Sandbox {
  return (values as { readonly sandbox: Sandbox }).sandbox
}

const fsRead = tool({
  name: 'fs_read',
  description: 'Reads a file',
  inputSchema: z.object({ path: z.string() }),
  traits: { readonly: true },
  handler: ({ path }, context) => sandboxOf(context).readFile(path),
})

const bashRun = tool({
  name: 'bash_run',
  description: 'Runs a command',
  inputSchema: z.object({ command: z.string(), background: z.boolean().optional() }),
  handler: ({ command }, context) => sandboxOf(context).exec(command),
})

const noArguments = { type: 'object', properties: {} } as const

/** A tool without arguments, with hooks of its own. */
function hooked(hooks: ToolHooks, handler: (input: unknown, context: ToolContext) => unknown = () => 'ran'): Tool {
  return new Tool({ name: 'hooked', description: 'Has hooks', inputSchema: noArguments, hooks, handler })
}

function run(tools: Tool | readonly Tool[], name: string, args: unknown = {}): Promise<ToolResult> {
  return createExecutor({ tools: Array.isArray(tools) ? tools : [tools as Tool] }).execute({ name, args })
}

function wordsOf({ content }: ToolResult): string {
  return content.map((block) => (block.type === 'text' ? block.text : `<${block.type}>`)).join('\n')
}

function dataOf({ content }: ToolResult): unknown {
  const [block] = content
  return block?.type === 'json' ? block.data : undefined
}

function recorded(executor: ToolExecutor): ToolEvent[] {
  const events: ToolEvent[] = []
  executor.on('*', (event) => events.push(event))
  return events
}

function answering(decision: 'allow' | 'deny', asked: unknown[] = []): Approver {
  return {
    ask: ({ prompt, meta }) => {
      asked.push({ prompt, meta })
      return Promise.resolve({ decision, decidedBy: 'ada', note: 'said ada' })
    },
  }
}

afterEach(() => {
  vi.useRealTimers()
})

it('KODE-01 tool(name, handler) is a whole tool: described as Execute <name>, taking any object', async () => {
  const myTool = tool('my_tool', async ({ path }: { path: string }, context) => ({
    content: await sandboxOf(context).readFile(path),
  }))
  expect(myTool.describe()).toMatchObject({ description: 'Execute my_tool', inputSchema: { type: 'object' } })
  const values = { sandbox: new MemorySandbox({ 'README.md': '# Hello' }) }
  const executor = createExecutor({ tools: [myTool] })
  expect(dataOf(await executor.execute({ name: 'my_tool', args: { path: 'README.md' } }, { values }))).toEqual({
    content: '# Hello',
  })
  expect((await executor.execute({ name: 'my_tool', args: ['README.md'] })).error?.code).toBe('E_INVALID_TOOL_ARGS')
})

it('KODE-02 tool(config) takes name, description, schema, handler, metadata and hooks', async () => {
  const asked: string[] = []
  const full = tool({
    name: 'fs_read_enhanced',
    description: 'Reads a file, and more',
    inputSchema: z.object({ path: z.string().describe('Where it is') }),
    metadata: { version: '1.0.0', tags: ['filesystem'] },
    hooks: { preToolUse: (call) => void asked.push(call.name) },
    handler: ({ path }) => path,
  })
  expect(wordsOf(await run(full, 'fs_read_enhanced', { path: 'a.txt' }))).toBe('a.txt')
  expect(asked).toEqual(['fs_read_enhanced'])
})

it('KODE-03 the handler gets validated args with their defaults, and the model gets the schema as JSON Schema', async () => {
  const read = tool({
    name: 'read',
    description: 'Reads a file',
    inputSchema: z.object({
      path: z.string().describe('Where it is'),
      encoding: z.enum(['utf8', 'base64']).optional().default('utf8'),
    }),
    handler: (input) => ({ ...input }),
  })
  expect(dataOf(await run(read, 'read', { path: 'a.txt' }))).toEqual({ path: 'a.txt', encoding: 'utf8' })
  expect((await run(read, 'read', { path: 'a.txt', encoding: 'latin1' })).error?.code).toBe('E_INVALID_TOOL_ARGS')
  const { properties, required } = read.describe().inputSchema
  expect(properties).toMatchObject({
    path: { type: 'string', description: 'Where it is' },
    encoding: { enum: ['utf8', 'base64'], default: 'utf8' },
  })
  expect(required).toEqual(['path'])
})

it('KODE-04 metadata carries a version and tags', () => {
  const versioned = tool({
    name: 'versioned',
    description: 'Has a version',
    metadata: { version: '1.0.0', tags: ['filesystem', 'read'] },
    handler: () => null,
  })
  expect(versioned.metadata).toEqual({ version: '1.0.0', tags: ['filesystem', 'read'] })
})

it('KODE-05 a tool’s timeout is kept, also against a handler that ignores its signal', async () => {
  const stuck = tool({ name: 'stuck', description: 'Hangs', timeout: 5, handler: () => new Promise<string>(() => {}) })
  const result = await run(stuck, 'stuck')
  expect(result).toMatchObject({ status: 'timed_out', effect: 'unknown', error: { code: 'E_TOOL_TIMEOUT' } })
})

it('KODE-06 tools run side by side, and one that says it is not concurrent has its session to itself', async () => {
  let running = 0
  const company: number[] = []
  const work = async (): Promise<void> => {
    company.push(++running)
    for (let turns = 0; turns < 5; turns++) await Promise.resolve()
    running--
  }
  const side = tool({ name: 'side', description: 'Has company', handler: work })
  const alone = tool({ name: 'alone', description: 'Has none', traits: { concurrent: false }, handler: work })
  expect([side.traits.concurrent, alone.traits.concurrent]).toEqual([true, false])
  const executor = createExecutor({ tools: [side, alone] })
  await executor.executeToolCalls([{ name: 'side' }, { name: 'side' }])
  expect(company.splice(0)).toEqual([1, 2])
  await executor.executeToolCalls([{ name: 'alone' }, { name: 'alone' }, { name: 'side' }])
  expect(company).toEqual([1, 1, 1])
})

it('KODE-07 that a tool only reads is part of its definition, and known to policies', async () => {
  const readersOnly: Policy = {
    name: 'readers only',
    decide: (call) => (call.tool.traits.readonly ? undefined : { decision: 'deny' }),
  }
  const executor = createExecutor({ tools: [fsRead, bashRun], use: [{ policies: [readersOnly] }] })
  const values = { sandbox: new MemorySandbox({ 'a.txt': 'A' }) }
  const read = await executor.execute({ name: 'fs_read', args: { path: 'a.txt' } }, { values })
  expect(read).toMatchObject({ status: 'ok', effect: 'none' })
  expect((await executor.execute({ name: 'bash_run', args: { command: 'ls' } }, { values })).status).toBe('denied')
})

it('KODE-08 the metadata of a tool says whether its results are cached, and for how long', async () => {
  let runs = 0
  const counted = (name: string, metadata: object): Tool =>
    new Tool({ name, description: 'Counts its runs', metadata, handler: () => ++runs })
  const tools = [
    counted('plain', {}),
    counted('cached', { cacheable: true }),
    counted('over', { cacheable: true, cacheTTL: 0 }),
  ]
  const executor = createExecutor({ tools, use: [cache({ ttl: 60_000 })] })
  const runsOf = async (name: string): Promise<number> => {
    runs = 0
    for (let call = 0; call < 3; call++) await executor.execute({ name })
    return runs
  }
  expect([await runsOf('plain'), await runsOf('cached'), await runsOf('over')]).toEqual([3, 1, 3])
})

it('KODE-09 a tool brings its own preToolUse and postToolUse', async () => {
  const order: string[] = []
  const both = hooked(
    {
      preToolUse: () => void order.push('pre'),
      postToolUse: () => void order.push('post'),
    },
    () => void order.push('run'),
  )
  await run(both, 'hooked')
  expect(order).toEqual(['pre', 'run', 'post'])
})

it('KODE-10 a tool has a name, a description, a schema, something to run, and hooks', async () => {
  const hooks: ToolHooks = {}
  const instance = hooked(hooks)
  expect(instance.name).toBe('hooked')
  expect(instance.description).toBe('Has hooks')
  expect(instance.inputSchema).toBe(noArguments)
  expect(instance.hooks).toEqual(hooks)
  expect(await instance.invoke({})).toBe('ran')
})

it('KODE-11 a registry takes tools in and gives them by name, refuses a second of the same name, and is nobody’s global', () => {
  const registry = new ToolRegistry()
  const remove = registry.add(fsRead)
  expect(registry.get('fs_read')?.description).toBe('Reads a file')
  expect(() => registry.add(fsRead)).toThrow(expect.objectContaining({ code: 'E_TOOL_ALREADY_REGISTERED' }))
  expect(new ToolRegistry().has('fs_read')).toBe(false)
  expect(createExecutor({ tools: registry }).tools()).toMatchObject([{ name: 'fs_read' }])
  remove()
  expect(registry.has('fs_read')).toBe(false)
})

it('KODE-12 a tool may be a class', async () => {
  class FsRead extends Tool<{ path: string }, string> {
    constructor() {
      super({
        name: 'fs_read',
        description: 'Reads a file',
        inputSchema: { type: 'object', properties: { path: { type: 'string' } }, required: ['path'] },
        handler: (input, context) => this.read(input, context),
      })
    }

    read({ path }: { path: string }, context: ToolContext): Promise<string> {
      return sandboxOf(context).readFile(path)
    }
  }
  const values = { sandbox: new MemorySandbox({ 'a.txt': 'A' }) }
  const executor = createExecutor({ tools: [new FsRead()] })
  expect(wordsOf(await executor.execute({ name: 'fs_read', args: { path: 'a.txt' } }, { values }))).toBe('A')
  expect((await executor.execute({ name: 'fs_read', args: {} }, { values })).error?.code).toBe('E_INVALID_TOOL_ARGS')
})

it('KODE-13 a returned { ok: false, error } is a failure without a throw', async () => {
  const missing = tool('missing', () => ({
    ok: false,
    error: 'Failed to read file: ENOENT',
    recommendations: ['Check the path'],
  }))
  const result = await run(missing, 'missing')
  expect(result).toMatchObject({ status: 'error', isError: true, error: { code: 'E_TOOL_DOWNSTREAM_ERROR' } })
  expect(wordsOf(result)).toBe('Failed to read file: ENOENT. Recommendations: Check the path')
})

it('KODE-15 the tool_use blocks of a message run side by side, and their results are one user message', async () => {
  const message = {
    role: 'assistant',
    content: [
      { type: 'text', text: 'I will read both' },
      { type: 'tool_use', id: 'toolu_01ABC', name: 'fs_read', input: { path: 'a.txt' } },
      { type: 'tool_use', id: 'toolu_02DEF', name: 'fs_read', input: { path: 'b.txt' } },
    ],
  }
  let release = (_text: string): void => {}
  const both = new Promise<string>((resolve) => (release = resolve))
  let started = 0
  const sandbox: Pick<Sandbox, 'readFile'> = {
    // Nobody is answered before both have been asked.
    readFile: () => {
      if (++started === 2) release('read')
      return both
    },
  }
  const format = anthropic()
  const executor = createExecutor({ tools: [fsRead] })
  const results = await executor.executeToolCalls(format.calls(message), { values: { sandbox } })
  expect(format.results(results, message)).toEqual({
    role: 'user',
    content: [
      { type: 'tool_result', tool_use_id: 'toolu_01ABC', content: 'read' },
      { type: 'tool_result', tool_use_id: 'toolu_02DEF', content: 'read' },
    ],
  })
})

it('KODE-16 a call is told of when it comes in, and every start has its end', async () => {
  const executor = createExecutor({ tools: [fsRead] })
  const events = recorded(executor)
  const values = { sandbox: new MemorySandbox({}) }
  await executor.execute({ id: 'toolu_1', name: 'fs_read', args: { path: 'no' } }, { values })
  await executor.execute({ id: 'toolu_2', name: 'missing', args: {} })
  await executor.execute({ id: 'toolu_3', name: 'fs_read', args: {} })
  expect(events.map(({ id, event }) => `${id} ${event}`)).toEqual([
    'toolu_1 call:received',
    'toolu_1 tool:start',
    'toolu_1 tool:end',
    'toolu_1 call:settled',
    'toolu_2 call:received',
    'toolu_2 call:settled',
    'toolu_3 call:received',
    'toolu_3 call:settled',
  ])
})

it('KODE-17 an unknown tool is an error result that names it, with two recommendations', async () => {
  const result = await run(fsRead, 'fs_reed', {})
  expect(result).toMatchObject({ status: 'error', effect: 'none', error: { code: 'E_TOOL_NOT_FOUND' } })
  expect(wordsOf(result)).toContain('"fs_reed"')
  expect(result.error?.recommendations).toHaveLength(2)
})

it('KODE-18 invalid args are an error result that says what is wrong where, with two recommendations', async () => {
  const raw = tool({
    name: 'raw',
    description: 'Has a raw schema',
    inputSchema: {
      type: 'object',
      properties: { path: { type: 'string' }, count: { type: 'integer' } },
      required: ['path'],
    },
    handler: () => 'ran',
  })
  const result = await run(raw, 'raw', { count: 'two' })
  expect(result).toMatchObject({ status: 'error', effect: 'none', error: { code: 'E_INVALID_TOOL_ARGS' } })
  expect(wordsOf(result)).toMatch(/path/)
  expect(wordsOf(result)).toMatch(/count/)
  expect(result.error?.issues).toHaveLength(2)
  expect(result.error?.recommendations).toHaveLength(2)
})

it('KODE-19 a policy that denies refuses the call before anything has run', async () => {
  const values = { sandbox: new MemorySandbox({}) }
  const executor = createExecutor({
    tools: [fsRead],
    use: [
      { policies: [{ name: 'policy', decide: () => ({ decision: 'deny', reason: 'Permission denied by policy' }) }] },
    ],
  })
  const result = await executor.execute({ name: 'fs_read', args: { path: 'a' } }, { values })
  expect(result).toMatchObject({ status: 'denied', effect: 'none', error: { code: 'E_TOOL_DENIED' } })
  expect(wordsOf(result)).toContain('Permission denied by policy')
  expect(values.sandbox.reads).toBe(0)
})

it('KODE-20 preToolUse sees the name, the args as they came, the input as it was validated, and the id', async () => {
  const seen: unknown[] = []
  const watched = tool({
    name: 'watched',
    description: 'Is watched',
    inputSchema: z.object({ path: z.string(), encoding: z.string().default('utf8') }),
    hooks: {
      preToolUse: ({ name, args, input, id }, context) => void seen.push({ name, args, input, id, by: context.caller }),
    },
    handler: () => 'ran',
  })
  await createExecutor({ tools: [watched] }).execute({ id: 'toolu_1', name: 'watched', args: { path: 'a' } })
  expect(seen).toEqual([
    {
      name: 'watched',
      args: { path: 'a' },
      input: { path: 'a', encoding: 'utf8' },
      id: 'toolu_1',
      by: 'model',
    },
  ])
})

it('KODE-21 a hook’s deny returns its toolResult, else its reason', async () => {
  const toolResult = { ok: false, error: 'Permission denied: sensitive file' }
  const own = await run(hooked({ preToolUse: () => ({ decision: 'deny', reason: 'no', toolResult }) }), 'hooked')
  expect(own).toMatchObject({ status: 'denied', isError: true, effect: 'none' })
  expect(dataOf(own)).toEqual(toolResult)
  const reason = await run(hooked({ preToolUse: () => ({ decision: 'deny', reason: 'Not today' }) }), 'hooked')
  expect(wordsOf(reason)).toContain('Not today')
  const bare = await run(hooked({ preToolUse: () => ({ decision: 'deny' }) }), 'hooked')
  expect(wordsOf(bare)).toContain('Denied by preToolUse')
})

it('KODE-22 a hook’s ask waits for approval, with the meta of all who asked', async () => {
  const asked: unknown[] = []
  const policy: Policy = { name: 'careful', decide: () => ({ decision: 'ask', meta: { cost: 3 } }) }
  const executor = createExecutor({
    tools: [hooked({ preToolUse: () => ({ decision: 'ask', meta: { risk: 'high' } }) })],
    use: [{ policies: [policy], approver: answering('allow', asked) }],
  })
  const events = recorded(executor)
  expect(wordsOf(await executor.execute({ name: 'hooked' }))).toBe('ran')
  const meta = { cost: 3, risk: 'high' }
  expect(asked).toEqual([{ prompt: 'Allow hooked to execute?', meta }])
  expect(events.find(({ event }) => event === 'call:waiting')).toMatchObject({ reason: 'approval', meta })

  // With no approver at hand, the call waits as APPROVAL_REQUIRED until permission is given.
  let runs = 0
  const inbox = createExecutor({
    tools: [hooked({ preToolUse: () => ({ decision: 'ask', meta: { risk: 'high' } }) }, () => ++runs)],
    use: [{ policies: [policy] }, memoryJournal()],
  })
  const { status, invocationId } = await inbox.execute({ name: 'hooked' })
  expect(status).toBe('waiting')
  const approval = { required: true, prompt: 'Allow hooked to execute?', meta }
  expect(await inbox.calls.get(invocationId)).toMatchObject({ state: 'APPROVAL_REQUIRED', approval })
  const [call] = await inbox.calls.waiting({ invocationId })
  expect([call, runs]).toMatchObject([{ reason: 'approval', meta }, 0])
  expect((await inbox.calls.decide(call!, 'allow')).status).toBe('ok')
  expect(runs).toBe(1)
})

it('KODE-23 what a person denies is denied, with the person’s note', async () => {
  const executor = createExecutor({
    tools: [hooked({ preToolUse: () => ({ decision: 'ask' }) })],
    use: [{ approver: answering('deny') }],
  })
  const result = await executor.execute({ name: 'hooked' })
  expect(result).toMatchObject({ status: 'denied', effect: 'none' })
  expect(wordsOf(result)).toContain('Permission denied by user: said ada')
})

it('KODE-24 a hook’s result stands in for the run', async () => {
  let runs = 0
  const cached = hooked({ preToolUse: () => ({ result: { from: 'cache' } }) }, () => runs++)
  const executor = createExecutor({ tools: [cached] })
  const events = recorded(executor)
  const result = await executor.execute({ name: 'hooked' })
  expect(result).toMatchObject({ status: 'ok', skipped: true, effect: 'none' })
  expect(dataOf(result)).toEqual({ from: 'cache' })
  expect(runs).toBe(0)
  expect(events.map(({ event }) => event)).toEqual(['call:received', 'call:settled'])
})

it('KODE-25 a hook that says nothing lets the call go on', async () => {
  expect(await run(hooked({ preToolUse: () => undefined }), 'hooked')).toMatchObject({ status: 'ok' })
})

it('KODE-26 each call has a signal of its own', async () => {
  const signals: AbortSignal[] = []
  const waiting = tool({
    name: 'waiting',
    description: 'Waits',
    handler: (_input, { signal }) => {
      signals.push(signal)
      return new Promise<string>((resolve) => signal.addEventListener('abort', () => resolve('aborted')))
    },
  })
  const executor = createExecutor({ tools: [waiting] })
  const [first, second] = [new AbortController(), new AbortController()]
  const calls = [first, second].map(({ signal }) => executor.execute({ name: 'waiting' }, { signal }))
  await vi.waitFor(() => expect(signals).toHaveLength(2))
  first.abort()
  expect((await calls[0])?.status).toBe('cancelled')
  expect(signals.map(({ aborted }) => aborted)).toEqual([true, false])
  second.abort()
  expect((await calls[1])?.status).toBe('cancelled')
})

it('KODE-27 the deadline wins over the handler: the caller is released, and the signal aborts', async () => {
  let signal: AbortSignal | undefined
  const stuck = tool({
    name: 'stuck',
    description: 'Hangs',
    handler: (_input, context) => {
      signal = context.signal
      return new Promise<string>(() => {})
    },
  })
  const result = await createExecutor({ tools: [stuck], timeout: 5 }).execute({ name: 'stuck' })
  expect(result.status).toBe('timed_out')
  expect(signal?.aborted).toBe(true)
})

it('KODE-28 what the handler throws is a failure that says what kind of trouble it was', async () => {
  const executor = createExecutor({ tools: [fsRead] })
  const events = recorded(executor)
  const values = { sandbox: new MemorySandbox({}) }
  const result = await executor.execute({ name: 'fs_read', args: { path: 'no.txt' } }, { values })
  expect(result).toMatchObject({ status: 'error', isError: true, error: { category: 'application', retryable: false } })
  expect(events.filter(({ event }) => event === 'tool:end')).toMatchObject([{ isError: true }])
})

it('KODE-29 nothing of a call is left on the caller’s signal when it has settled', async () => {
  const { signal } = new AbortController()
  let during = 0
  const slow = tool({
    name: 'slow',
    description: 'Takes a moment',
    handler: async () => {
      await Promise.resolve()
      during = getEventListeners(signal, 'abort').length
      return 'done'
    },
  })
  await createExecutor({ tools: [slow] }).execute({ name: 'slow' }, { signal })
  expect(during).toBe(1)
  expect(getEventListeners(signal, 'abort')).toHaveLength(0)
})

it('KODE-30 postToolUse keeps the result, merges into it, or replaces it', async () => {
  const handler = (): unknown => ({ stdout: 'out', exitCode: 0 })
  const after = (said: unknown): Promise<ToolResult> =>
    run(hooked({ postToolUse: () => said as undefined }, handler), 'hooked')
  expect(dataOf(await after(undefined))).toEqual({ stdout: 'out', exitCode: 0 })
  expect(dataOf(await after({ update: { result: { stdout: '***' } } }))).toEqual({ stdout: '***', exitCode: 0 })
  expect(wordsOf(await after({ update: { result: 'other' } }))).toBe('other')
  expect(dataOf(await after({ replace: { content: { only: 'this' } } }))).toEqual({ only: 'this' })
})

it('KODE-31 a call that succeeds is completed, with its result and how long it took', async () => {
  const result = await run(hooked({}), 'hooked')
  expect(result).toMatchObject({ status: 'ok', effect: 'completed', isError: false, durationMs: expect.any(Number) })
  expect(await result.artifact?.asString()).toBe('ran')
})

it('KODE-32 a refused call is told of too: it has no start, and it settles', async () => {
  const executor = createExecutor({ tools: [hooked({ preToolUse: () => ({ decision: 'deny' }) })] })
  const events = recorded(executor)
  await executor.execute({ name: 'hooked' })
  expect(events).toMatchObject([{ event: 'call:received' }, { event: 'call:settled', status: 'denied' }])
})

it('KODE-33 a monitor hears what each call came to', async () => {
  const heard: unknown[] = []
  const executor = createExecutor({ tools: [hooked({})] })
  executor.on('call:settled', ({ toolName, status, effect }) => heard.push({ toolName, status, effect }))
  await executor.execute({ name: 'hooked' })
  expect(heard).toEqual([{ toolName: 'hooked', status: 'ok', effect: 'completed' }])
})

it('KODE-34 a failure that was returned and one that was thrown are both errors to the provider', async () => {
  const returned = tool('returned', () => ({ ok: false, error: 'File not found' }))
  const thrown = tool('thrown', (): string => {
    throw new Error('File not found')
  })
  const executor = createExecutor({ tools: [returned, thrown] })
  const results = await executor.executeToolCalls([
    { id: 'a', name: 'returned', args: {} },
    { id: 'b', name: 'thrown', args: {} },
  ])
  expect(anthropic().results(results)).toMatchObject({
    content: [
      { tool_use_id: 'a', is_error: true },
      { tool_use_id: 'b', is_error: true },
    ],
  })
})

it('KODE-35 three calls of a turn run at a time, the others in the order in which they came', async () => {
  let running = 0
  let most = 0
  const order: number[] = []
  const busy = tool('busy', async ({ number }: { number: number }) => {
    order.push(number)
    most = Math.max(most, ++running)
    for (let turns = 0; turns < 10 - number; turns++) await Promise.resolve()
    running--
    return number
  })
  const numbers = [0, 1, 2, 3, 4, 5, 6, 7]
  const calls = numbers.map((number) => ({ name: 'busy', args: { number } }))
  const results = await createExecutor({ tools: [busy] }).executeToolCalls(calls)
  expect(most).toBe(3)
  expect(order).toEqual(numbers)
  expect(results.map(wordsOf)).toEqual(numbers.map(String))

  most = 0
  await createExecutor({ tools: [busy], concurrency: 5 }).executeToolCalls(calls)
  expect(most).toBe(5)
  for (const concurrency of [0, -1, Number.NaN]) {
    expect(() => createExecutor({ concurrency })).toThrow(expect.objectContaining({ code: 'E_INVALID_CONFIGURATION' }))
  }
})

it('KODE-36 no result is dropped: a call that a hook stopped has one too', async () => {
  const executor = createExecutor({ tools: [hooked({ preToolUse: () => ({ decision: 'deny' }) })] })
  const results = await executor.executeToolCalls([
    { id: 'a', name: 'hooked' },
    { id: 'b', name: 'nothing' },
  ])
  expect(results.map(({ id, status }) => [id, status])).toEqual([
    ['a', 'denied'],
    ['b', 'error'],
  ])
})

it('KODE-40 an approval says who decided what, with a note', async () => {
  const executor = createExecutor({
    tools: [hooked({ preToolUse: () => ({ decision: 'ask', meta: { risk: 'high' } }) })],
  })
  const events = recorded(executor)
  const { token = '', status } = await executor.execute({ name: 'hooked' })
  expect(status).toBe('waiting')
  await executor.calls.decide(token, 'allow', { decidedBy: 'ada', note: 'go ahead' })
  expect(events.find(({ event }) => event === 'call:waiting')).toMatchObject({ meta: { risk: 'high' } })
  expect(events.find(({ event }) => event === 'call:resumed')).toMatchObject({
    decision: 'allow',
    decidedBy: 'ada',
    note: 'go ahead',
  })

  // The record has the whole of it, whoever decided: a person in the inbox, an approver, or nobody yet.
  const ask: ToolHooks = { preToolUse: () => ({ decision: 'ask', meta: { risk: 'high' } }) }
  const inbox = createExecutor({ tools: [hooked(ask)], use: [memoryJournal()] })
  const { invocationId } = await inbox.execute({ name: 'hooked' })
  const request = { required: true, prompt: 'Allow hooked to execute?', meta: { risk: 'high' } }
  expect((await inbox.calls.get(invocationId)).approval).toEqual(request)
  const before = Date.now()
  const [call] = await inbox.calls.waiting()
  await inbox.calls.decide(call!, 'deny', { decidedBy: 'bob', note: 'too risky' })
  const { state, approval } = await inbox.calls.get(invocationId)
  expect(state).toBe('DENIED')
  expect(approval).toEqual({
    ...request,
    decision: 'deny',
    decidedBy: 'bob',
    decidedAt: expect.any(Number),
    note: 'too risky',
  })
  expect(approval.decidedAt).toBeGreaterThanOrEqual(before)
  expect(approval.decidedAt).toBeLessThanOrEqual(Date.now())

  const asked = createExecutor({ tools: [hooked(ask)], use: [{ approver: answering('allow') }, memoryJournal()] })
  const allowed = await asked.calls.get((await asked.execute({ name: 'hooked' })).invocationId)
  expect(allowed.approval).toMatchObject({ ...request, decision: 'allow', decidedBy: 'ada', note: 'said ada' })
  const free = createExecutor({ tools: [hooked({})], use: [memoryJournal()] })
  const unasked = await free.calls.get((await free.execute({ name: 'hooked' })).invocationId)
  expect(unasked.approval).toEqual({ required: false })
})

it('KODE-45 hooks guard commands and files, cut long results, mask passwords, and keep what was read for five minutes', async () => {
  vi.useFakeTimers({ toFake: ['performance'] })
  const inputOf = (input: unknown): { path: string; command: string } => input as { path: string; command: string }
  const security: Policy = {
    name: 'security',
    decide({ name, input }) {
      const { command, path } = inputOf(input)
      const dangerous = ['rm -rf', 'dd if=', 'mkfs', '> /dev/']
      if (name === 'bash_run' && dangerous.some((pattern) => command.includes(pattern))) {
        return { decision: 'ask', reason: 'Potentially destructive command', meta: { risk: 'high' } }
      }
      if (name === 'fs_read' && ['/etc/passwd', '/.ssh/', '/.env'].some((pattern) => path.includes(pattern))) {
        const toolResult = { ok: false, error: 'Permission denied: sensitive file' }
        return { decision: 'deny', reason: 'Access to sensitive file denied', toolResult }
      }
      return undefined
    },
  }
  const kept = new Map<string, { readonly result: unknown; readonly until: number }>()
  const reading = new Tool({
    name: 'fs_read',
    description: 'Reads a file',
    inputSchema: z.object({ path: z.string() }),
    hooks: {
      preToolUse({ callId }) {
        const found = kept.get(callId)
        return found !== undefined && performance.now() < found.until ? { result: found.result } : undefined
      },
      postToolUse({ callId }, result) {
        kept.set(callId, { result, until: performance.now() + 300_000 })
        if (typeof result !== 'string' || result.length <= 100_000) return undefined
        const words = `${result.slice(0, 10_000)}\n\n...(truncated, total size: ${result.length} bytes)`
        return { update: { result: words } }
      },
    },
    handler: (input, context) => sandboxOf(context).readFile(inputOf(input).path),
  })
  const running = new Tool({
    name: 'bash_run',
    description: 'Runs a command',
    inputSchema: z.object({ command: z.string() }),
    hooks: {
      postToolUse(_call, result) {
        const { stdout } = result as { stdout: string }
        return { update: { result: { stdout: stdout.replace(/password[=:]\s*\S+/gi, 'password=***') } } }
      },
    },
    handler: (input, context) => sandboxOf(context).exec(inputOf(input).command),
  })
  const executor = createExecutor({ tools: [reading, running], use: [{ policies: [security] }] })
  const sandbox = new MemorySandbox({ 'small.txt': 'small', 'large.txt': 'x'.repeat(100_001) })
  const execute = (name: string, args: object): Promise<ToolResult> =>
    executor.execute({ name, args }, { values: { sandbox } })

  expect((await execute('bash_run', { command: 'sudo rm -rf /' })).status).toBe('waiting')
  const sensitive = await execute('fs_read', { path: '/home/ada/.ssh/id' })
  expect(sensitive.status).toBe('denied')
  expect(dataOf(sensitive)).toEqual({ ok: false, error: 'Permission denied: sensitive file' })
  expect(sandbox.reads).toBe(0)

  expect(dataOf(await execute('bash_run', { command: 'env' }))).toEqual({
    stdout: 'ran env\npassword=*** done',
    stderr: '',
    exitCode: 0,
  })
  const large = wordsOf(await execute('fs_read', { path: 'large.txt' }))
  expect(large).toBe(`${'x'.repeat(10_000)}\n\n...(truncated, total size: 100001 bytes)`)

  const first = await execute('fs_read', { path: 'small.txt' })
  const again = await execute('fs_read', { path: 'small.txt' })
  expect([first.skipped, again.skipped]).toEqual([undefined, true])
  expect(wordsOf(again)).toBe('small')
  expect(sandbox.reads).toBe(2)
  vi.advanceTimersByTime(299_999)
  expect((await execute('fs_read', { path: 'small.txt' })).skipped).toBe(true)
  vi.advanceTimersByTime(1)
  expect((await execute('fs_read', { path: 'small.txt' })).skipped).toBe(undefined)
  expect(sandbox.reads).toBe(3)

  // What the package brings keeps it as long by itself.
  const cached = createExecutor({ tools: [fsRead], use: [cache()] })
  const readAgain = async (): Promise<number> => {
    await cached.execute({ name: 'fs_read', args: { path: 'small.txt' } }, { values: { sandbox } })
    return sandbox.reads
  }
  expect([await readAgain(), await readAgain()]).toEqual([4, 4])
  vi.advanceTimersByTime(299_999)
  expect(await readAgain()).toBe(4)
  vi.advanceTimersByTime(1)
  expect(await readAgain()).toBe(5)
})

it('KODE-51 a policy that asks makes the call wait for approval', async () => {
  const policy: Policy = { name: 'careful', decide: () => ({ decision: 'ask', reason: 'It writes' }) }
  const executor = createExecutor({ tools: [hooked({})], use: [{ policies: [policy] }] })
  const waiting = await executor.execute({ name: 'hooked' })
  expect(waiting).toMatchObject({ status: 'waiting', effect: 'none', isError: false })
  expect(wordsOf(await executor.calls.decide(waiting.token ?? '', 'allow'))).toBe('ran')
})

it('KODE-52 what a handler needs of its host comes in values, beside a signal and emit', async () => {
  const seen: ToolContext[] = []
  const services = { todo: ['write tests'] }
  const looking = tool('looking', (_input: object, context) => void seen.push(context))
  await createExecutor({ tools: [looking] }).execute(
    { name: 'looking' },
    { values: { agentId: 'agent_1', services }, session: 'chat_1' },
  )
  expect(seen[0]?.values).toEqual({ agentId: 'agent_1', services })
  expect(seen[0]).toMatchObject({ session: 'chat_1', toolName: 'looking' })
  expect(seen[0]?.signal).toBeInstanceOf(AbortSignal)
  expect(seen[0]?.emit).toBeInstanceOf(Function)
})

it('KODE-53 what a handler emits is heard as progress, with the name of the tool and the id of the call', async () => {
  const longTask = tool('long_task', ({ steps }: { steps: number }, { emit }) => {
    emit('task_started', { steps })
    for (let step = 1; step <= steps; step++) emit('progress', { percent: (step / steps) * 100 })
    emit('task_completed')
    return { success: true }
  })
  const executor = createExecutor({ tools: [longTask] })
  const heard: ToolEvent[] = []
  executor.on('tool:progress', (event) => heard.push(event))
  const { callId } = await executor.execute({ name: 'long_task', args: { steps: 2 } })
  expect(heard).toMatchObject([
    { type: 'task_started', data: { steps: 2 } },
    { type: 'progress', data: { percent: 50 } },
    { type: 'progress', data: { percent: 100 } },
    { type: 'task_completed' },
  ])
  for (const event of heard) {
    expect(event).toMatchObject({ toolName: 'long_task', callId, timestamp: expect.any(Number) })
  }
})

it('KODE-54 a success may have any shape, and only { ok: false, error, recommendations } is a failure', async () => {
  const giving = (value: unknown): Promise<ToolResult> =>
    run(
      tool('giving', () => value),
      'giving',
    )
  const successes = [
    { content: '...', status: 'success' },
    { ok: true, error: 'none' },
    { ok: false },
    { ok: false, error: 'x', rows: [] },
    { ok: false, error: 7 },
    [{ ok: false, error: 'x' }],
  ]
  for (const value of successes) {
    const result = await giving(value)
    expect(result.status, JSON.stringify(value)).toBe('ok')
    expect(dataOf(result)).toEqual(value)
  }
  const failure = await giving({
    ok: false,
    error: 'File not found',
    recommendations: ['Check the path', 'List files'],
  })
  expect(failure.status).toBe('error')
  expect(failure.error?.recommendations).toEqual(['Check the path', 'List files'])
})

it('KODE-55 a result is a tool_result block with the id of its call, the content and is_error', async () => {
  const executor = createExecutor({ tools: [fsRead] })
  const values = { sandbox: new MemorySandbox({ 'a.txt': 'contents' }) }
  const results = await executor.executeToolCalls(
    [
      { id: 'toolu_01ABC', name: 'fs_read', args: { path: 'a.txt' } },
      { id: 'toolu_01XYZ', name: 'fs_read', args: { path: 'b.txt' } },
    ],
    { values },
  )
  expect(anthropic().results(results)).toEqual({
    role: 'user',
    content: [
      { type: 'tool_result', tool_use_id: 'toolu_01ABC', content: 'contents' },
      { type: 'tool_result', tool_use_id: 'toolu_01XYZ', content: 'Error: ENOENT: b.txt', is_error: true },
    ],
  })
})

it('KODE-57 a page shows executing from the start of a call, then success or failure', async () => {
  const page = new Map<string, string>()
  const executor = createExecutor({ tools: [fsRead] })
  executor.on('tool:start', ({ invocationId }) => page.set(invocationId, 'executing'))
  executor.on('tool:end', ({ invocationId, isError }) => page.set(invocationId, isError ? 'failed' : 'success'))
  const shown: (string | undefined)[] = []
  const values = {
    sandbox: {
      readFile: (path: string) => {
        shown.push(page.get(path))
        return path === 'good' ? Promise.resolve('A') : Promise.reject(new Error('no such file'))
      },
    },
  }
  for (const path of ['good', 'bad']) {
    await executor.execute({ name: 'fs_read', args: { path } }, { values, invocationId: path })
  }
  expect(shown).toEqual(['executing', 'executing'])
  expect([...page]).toEqual([
    ['good', 'success'],
    ['bad', 'failed'],
  ])
})

it('KODE-58 a page is told that approval is wanted, decides by the token, and is told of the decision', async () => {
  const executor = createExecutor({ tools: [hooked({ preToolUse: () => ({ decision: 'ask' }) })] })
  const requests: string[] = []
  const decisions: unknown[] = []
  executor.on('call:waiting', ({ token = '' }) => requests.push(token))
  executor.on('call:resumed', ({ decision, decidedBy, note }) => decisions.push({ decision, decidedBy, note }))
  await executor.execute({ id: 'toolu_1', name: 'hooked' })

  const [token = ''] = requests
  const result = await executor.calls.decide(token, 'deny', { note: 'not now', decidedBy: 'ada' })
  expect(result).toMatchObject({ id: 'toolu_1', status: 'denied' })
  expect(decisions).toEqual([{ decision: 'deny', decidedBy: 'ada', note: 'not now' }])
  await expect(executor.calls.decide(token, 'allow')).rejects.toMatchObject({ code: 'E_APPROVAL_INVALID' })
})

it('KODE-63 a call has 30,000 ms where nothing else is said', async () => {
  vi.useFakeTimers()
  const stuck = tool('stuck', () => new Promise<string>(() => {}))
  const settled: ToolResult[] = []
  void createExecutor({ tools: [stuck] })
    .execute({ name: 'stuck' })
    .then((result) => settled.push(result))
  await vi.advanceTimersByTimeAsync(29_999)
  expect(settled).toEqual([])
  await vi.advanceTimersByTimeAsync(1)
  expect(settled).toMatchObject([{ status: 'timed_out' }])
})

/** Every event that makes a record, in the words of the record's states. */
async function trailOf(tools: readonly Tool[], decision?: 'allow' | 'deny', timeout = 30_000): Promise<string> {
  const use = [memoryJournal(), ...(decision === undefined ? [] : [{ approver: answering(decision) }])]
  const executor = createExecutor({ tools, use, timeout })
  const { invocationId } = await executor.execute({ name: 'hooked' })
  return (await executor.calls.get(invocationId)).auditTrail.map(({ state }) => state).join(' ')
}

const asksFirst = { preToolUse: () => ({ decision: 'ask' }) as const }

it('KODE-37 a record has the fourteen fields of a call, under the id of its invocation', async () => {
  const { journal } = memoryJournal()
  const executor = createExecutor({ tools: [hooked({}, () => 'ran')], use: [records(journal)] })
  const result = await executor.execute({ id: 'toolu_1', name: 'hooked' })
  const record = (await journal.read(result.invocationId))?.record
  expect(record).toMatchObject({
    id: result.invocationId,
    name: 'hooked',
    input: {},
    state: 'COMPLETED',
    approval: { required: false },
    isError: false,
    startedAt: expect.any(Number),
    completedAt: expect.any(Number),
    durationMs: expect.any(Number),
    createdAt: expect.any(Number),
    updatedAt: expect.any(Number),
    auditTrail: expect.any(Array),
    toolCallId: 'toolu_1',
  })
  expect(record?.journal?.result).toEqual([{ type: 'text', text: 'ran' }])
  const fails = createExecutor({ tools: [hooked({}, () => Promise.reject(new Error('no')))], use: [records(journal)] })
  const failed = await fails.execute({ name: 'hooked' })
  expect((await journal.read(failed.invocationId))?.record).toMatchObject({
    isError: true,
    error: expect.stringContaining('no'),
  })
})

it('KODE-38 a call is in one of eight states', async () => {
  const seen = new Set<string>()
  const trails = [
    await trailOf([hooked(asksFirst)], 'allow'),
    await trailOf([hooked(asksFirst)], 'deny'),
    await trailOf([hooked({}, () => Promise.reject(new Error('no')))]),
  ]
  for (const state of trails.join(' ').split(' ')) seen.add(state)
  const journal = memoryJournal()
  const executor = createExecutor({ tools: [hooked(asksFirst)], use: [journal] })
  const { invocationId } = await executor.execute({ name: 'hooked' })
  await executor.calls.recover({ approvals: 'seal' })
  seen.add((await executor.calls.get(invocationId)).state)
  expect([...seen].toSorted()).toEqual(
    'APPROVAL_REQUIRED APPROVED COMPLETED DENIED EXECUTING FAILED PENDING SEALED'.split(' '),
  )
})

it('KODE-39 states follow one another as they are drawn, and in no other way', async () => {
  expect(await trailOf([hooked({}, () => 1)])).toBe('PENDING EXECUTING COMPLETED')
  expect(await trailOf([hooked({}, () => Promise.reject(new Error('no')))])).toBe('PENDING EXECUTING FAILED')
  expect(await trailOf([hooked(asksFirst)], 'allow')).toBe('PENDING APPROVAL_REQUIRED APPROVED EXECUTING COMPLETED')
  expect(await trailOf([hooked(asksFirst)], 'deny')).toMatch(/^PENDING (APPROVAL_REQUIRED ){1,2}DENIED$/)
  expect(await trailOf([hooked({ preToolUse: () => ({ decision: 'deny' }) })])).toBe('PENDING DENIED')
  expect(await trailOf([hooked({ preToolUse: () => ({ result: 1 }) })])).toBe('PENDING COMPLETED')

  const drawn: Readonly<Record<ToolCallState, string>> = {
    PENDING: 'APPROVAL_REQUIRED EXECUTING COMPLETED FAILED DENIED SEALED',
    APPROVAL_REQUIRED: 'APPROVED FAILED DENIED SEALED',
    APPROVED: 'EXECUTING COMPLETED FAILED DENIED SEALED',
    EXECUTING: 'COMPLETED FAILED SEALED',
    COMPLETED: '',
    FAILED: '',
    DENIED: '',
    SEALED: '',
  }
  const states = Object.keys(drawn) as ToolCallState[]
  const envelope = { callId: null, invocationId: 'i', toolName: 't', session: 's', timestamp: 1, seq: 1 }
  const settled = { ...envelope, event: 'call:settled', effect: 'none', durationMs: 1 } as const
  const paused = { ...envelope, event: 'call:waiting', prompt: '?', input: {}, expiresAt: 2 } as const
  const events: readonly ToolEvent[] = [
    { ...paused, reason: 'approval' },
    { ...paused, reason: 'client' },
    { ...envelope, event: 'call:resumed', decision: 'allow' },
    { ...envelope, event: 'call:resumed', decision: 'deny' },
    { ...envelope, event: 'tool:start', input: {} },
    { ...envelope, event: 'tool:end', isError: false, durationMs: 1 },
    ...(['ok', 'error', 'denied', 'timed_out', 'cancelled'] as const).map((status) => ({ ...settled, status })),
    { ...settled, status: 'error', error: new SealedError('It was closed.') },
  ]
  const first = foldEvent(undefined, { ...envelope, event: 'call:received', args: {}, seq: 0 })
  for (const state of states) {
    const reached = new Set<string>()
    for (const event of events) {
      try {
        reached.add(foldEvent({ ...first, state }, event).state)
      } catch (error) {
        expect(error).toMatchObject({ code: 'E_ILLEGAL_TRANSITION' })
      }
    }
    reached.delete(state)
    expect([...reached].toSorted().join(' '), `after ${state}`).toBe(drawn[state].split(' ').toSorted().join(' '))
  }
})

it('KODE-41 the audit trail has a line for each transition, with its time and a note', async () => {
  const executor = createExecutor({ tools: [hooked(asksFirst)], use: [memoryJournal()] })
  const { token = '', invocationId } = await executor.execute({ name: 'hooked' })
  await executor.calls.decide(token, 'allow', { note: 'looks fine' })
  const { auditTrail } = await executor.calls.get(invocationId)
  expect(auditTrail).toMatchObject([
    { state: 'PENDING' },
    { state: 'APPROVAL_REQUIRED' },
    { state: 'APPROVED', note: 'looks fine' },
    { state: 'EXECUTING' },
    { state: 'COMPLETED' },
  ])
  const times = auditTrail.map(({ timestamp }) => timestamp)
  expect(times).toEqual(times.toSorted((one, other) => one - other))
})

it('KODE-42 a snapshot is a copy of a record with 200 characters of its input', async () => {
  const executor = createExecutor({
    tools: [tool('wordy', (_text: { text: string }) => 'read')],
    use: [memoryJournal()],
  })
  const { invocationId } = await executor.execute({ name: 'wordy', args: { text: 'x'.repeat(500) } })
  const snapshot = await executor.calls.get(invocationId)
  expect(snapshot.inputPreview).toBe(`{"text":"${'x'.repeat(191)}…`)
  expect(snapshot).toMatchObject({ id: invocationId, name: 'wordy', state: 'COMPLETED', isError: false })
  expect(snapshot.result).toEqual([{ type: 'text', text: 'read' }])
  ;(snapshot.auditTrail as unknown[]).length = 0
  expect((await executor.calls.get(invocationId)).auditTrail).toHaveLength(3)

  expect(snapshot).toMatchObject({
    approval: { required: false },
    durationMs: expect.any(Number),
    startedAt: expect.any(Number),
    completedAt: expect.any(Number),
  })
  expect([snapshot.error, 'input' in snapshot]).toEqual([undefined, false])
  const { invocationId: short } = await executor.execute({ name: 'wordy', args: { text: 'x'.repeat(189) } })
  expect((await executor.calls.get(short)).inputPreview).toBe(`{"text":"${'x'.repeat(189)}"}`) // 200 in all
  const failing = createExecutor({
    tools: [
      tool('fails', () => {
        throw new Error('out of disk')
      }),
    ],
    use: [memoryJournal()],
  })
  const failed = await failing.calls.get((await failing.execute({ name: 'fails' })).invocationId)
  expect(failed).toMatchObject({ state: 'FAILED', isError: true, error: expect.stringContaining('out of disk') })
})

it('KODE-43 a snapshot of an unknown id throws Tool record not found', async () => {
  const executor = createExecutor({ use: [memoryJournal()] })
  await expect(executor.calls.get('toolu_9')).rejects.toThrow('Tool record not found: toolu_9')
})

/** What permissions make of a call of a tool, in the words of the seed. */
async function evaluated(options: PermissionsOptions, name = 'fs_read'): Promise<string> {
  const [policy] = permissions(options).policies
  const executor = createExecutor({ tools: [tool(name, () => 'ran')], use: [{ policies: [policy] }] })
  const { status } = await executor.execute({ name })
  return status === 'ok' ? 'auto' : status === 'waiting' ? 'ask' : 'deny'
}

it('KODE-46 permissions have the modes auto, ask, deny and custom, and no other', async () => {
  expect(await evaluated({ mode: 'auto' })).toBe('auto')
  expect(await evaluated({ mode: 'ask' })).toBe('ask')
  expect(await evaluated({ mode: 'deny' })).toBe('deny')
  expect(await evaluated({ mode: 'custom', decide: (name) => (name === 'fs_read' ? 'ask' : 'deny') })).toBe('ask')
  expect(() => permissions({ mode: 'readonly' as never })).toThrow(/mode/)
})

it('KODE-47 permissions have lists of tools to ask about, to allow and to deny', async () => {
  expect(await evaluated({ mode: 'auto', requireApprovalTools: ['fs_read'] })).toBe('ask')
  expect(await evaluated({ mode: 'deny', autoAllowTools: ['fs_read'] })).toBe('auto')
  expect(await evaluated({ mode: 'auto', autoDenyTools: ['fs_read'] })).toBe('deny')
  expect(await evaluated({ mode: 'auto', autoDenyTools: ['fs_read'] }, 'fs_glob')).toBe('auto')
})

it('KODE-48 denying comes before allowing, allowing before asking, asking before the mode', async () => {
  const all = { autoDenyTools: ['fs_read'], autoAllowTools: ['fs_read'], requireApprovalTools: ['fs_read'] }
  const { autoDenyTools: _denied, ...allowed } = all
  const { autoAllowTools: _allowed, ...asked } = allowed
  for (const mode of ['auto', 'ask', 'deny'] as const) {
    expect(await evaluated({ mode, ...all })).toBe('deny')
    expect(await evaluated({ mode, ...allowed })).toBe('auto')
    expect(await evaluated({ mode, ...asked })).toBe('ask')
    expect(await evaluated({ mode })).toBe(mode)
  }
})

it('KODE-49 custom needs its function, and a mode that is unknown allows nothing', async () => {
  expect(() => permissions({ mode: 'custom' } as never)).toThrow(/decide/)
  expect(() => permissions({ mode: 'whatever' } as never)).toThrow(/mode/)
  expect(() => permissions({} as never)).toThrow(/mode/)
  expect(await evaluated({ mode: 'custom', decide: () => 'whatever' as never })).toBe('deny')
  const breaks = (): never => {
    throw new Error('broken')
  }
  expect(await evaluated({ mode: 'custom', decide: breaks })).toBe('deny')
})

it('KODE-50 a decision is auto, ask or deny, at once or later', async () => {
  for (const decision of ['auto', 'ask', 'deny'] as const) {
    expect(await evaluated({ mode: 'custom', decide: () => decision })).toBe(decision)
    expect(await evaluated({ mode: 'custom', decide: () => Promise.resolve(decision) })).toBe(decision)
  }
})

// Channels are overridden by names: a channel is a choice of names, which a listener makes. The page of the observers has them.
it('KODE-59 the names of events take the place of channels, as their page says: who listens to those of a channel hears all of it, and nothing else', async () => {
  const page = readFileSync(join(import.meta.dirname, '..', '..', 'src', 'observers', 'README.md'), 'utf8')
  const rows = [...page.matchAll(/^\| (progress|control|monitor) +\| ([^|]+)\|/gm)]
  const channels = Object.fromEntries(
    rows.map(([, channel = '', names = '']) => [
      channel,
      Array.from(names.matchAll(/`([^`]+)`/g), ([, name]) => name as ToolEvent['event']),
    ]),
  )
  expect(Object.keys(channels)).toEqual(['progress', 'control', 'monitor'])
  const conflicts = (): string[] => ['thing']
  const telling = hooked(asksFirst, (_input, { emit }) => emit('step', { done: 1 })).with({ conflicts })
  const [began, released] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()]
  const holding = tool('holding', () => (began.resolve(), released.promise)).with({ conflicts })
  const use = [{ approver: answering('allow') }, argsRepair()]
  const executor = createExecutor({ tools: [telling, holding], use })
  const held = executor.execute({ name: 'holding' })
  await began.promise
  const events = recorded(executor)
  const heard = Object.entries(channels).map(([channel, names]) => {
    const channelEvents: ToolEvent[] = []
    for (const name of names)
      executor.on(name, (event) => void (event.toolName === 'hooked' && channelEvents.push(event)))
    return [channel, channelEvents] as const
  })
  const executed = executor.execute({ name: 'hooked', args: '{"n":1,}' })
  await vi.waitFor(() => expect(events.at(-1)).toMatchObject({ event: 'call:blocked' }))
  released.resolve()
  await Promise.all([held, executed])
  expect(
    Object.fromEntries(heard.map(([channel, channelEvents]) => [channel, channelEvents.map(({ event }) => event)])),
  ).toEqual(channels)
  const own = events.filter(({ toolName }) => toolName === 'hooked')
  expect(heard.flatMap(([, channelEvents]) => channelEvents).toSorted((one, other) => one.seq - other.seq)).toEqual(own)
  expect(own.map(({ seq }) => seq)).toEqual([0, 1, 2, 3, 4, 5, 6, 7, 8])
})

it('KODE-61 after a crash what was unfinished is sealed with advice for its state, and by hand nothing is', async () => {
  const { journal } = memoryJournal()
  let runs = 0
  const tools = [hooked({}, () => (runs++, new Promise(() => {})))]
  const dead = createExecutor({ tools, use: [records(journal)], timeout: 0 })
  void dead.execute({ id: 'toolu_1', name: 'hooked' }, { session: 's', invocationId: 'i' })
  await vi.waitFor(() => expect(runs).toBe(1))

  const executor = createExecutor({ tools, use: [records(journal)] })
  const byHand = await executor.calls.recover({ strategy: 'manual', staleAfter: 0 })
  expect([byHand.sealed, byHand.kept.map(({ id, state }) => `${id} ${state}`)]).toEqual([[], ['i EXECUTING']])

  const { sealed } = await executor.calls.recover({ strategy: 'crash', staleAfter: 0 })
  expect(sealed).toMatchObject([{ id: 'toolu_1', invocationId: 'i', isError: true, error: { code: 'E_SEALED' } }])
  expect(sealed[0]?.error?.recommendations).toHaveLength(2)
  expect(sealed[0]?.error?.recommendations?.[0]).toMatch(/side effects/)
  expect(await executor.calls.get('i')).toMatchObject({
    state: 'SEALED',
    isError: true,
    completedAt: expect.any(Number),
  })
  const replayed = await executor.execute({ id: 'toolu_1', name: 'hooked' }, { session: 's', invocationId: 'i' })
  expect([replayed.error?.code, runs]).toEqual(['E_SEALED', 1])
  await expectAdviceForEachState()
})

/** Expects that each unfinished state is sealed with two pieces of advice of its own, and no settled one. */
async function expectAdviceForEachState(): Promise<void> {
  const { journal } = memoryJournal()
  const ask = hooked({ preToolUse: () => ({ decision: 'ask' }) })
  const asking = createExecutor({ tools: [ask], use: [records(journal)] })
  const { invocationId } = await asking.execute({ id: 'toolu_0', name: 'hooked' }, { session: 's' })
  const { record } = (await journal.read(invocationId))!
  const { awaits: _answered, ...journaled } = record.journal!
  const states: readonly ToolCallState[] = ['PENDING', 'APPROVED', 'EXECUTING', 'COMPLETED', 'FAILED', 'DENIED']
  for (const state of [...states, 'SEALED'] as const) {
    const left = { ...record, id: state, toolCallId: `toolu_${state}`, state, journal: journaled }
    await journal.claim(left, 'an executor that died')
  }

  const executor = createExecutor({ tools: [ask], use: [records(journal)] })
  const events = recorded(executor)
  const { sealed } = await executor.calls.recover({ staleAfter: 0, approvals: 'seal' })
  const advice = new Map(sealed.map(({ invocationId: id, error }) => [id, error?.recommendations ?? []]))
  expect(new Set(advice.keys())).toEqual(new Set([invocationId, 'PENDING', 'APPROVED', 'EXECUTING']))
  for (const two of advice.values()) expect(two).toHaveLength(2)
  expect(new Set([...advice.values()].map(String)).size).toBe(4)
  for (const id of advice.keys()) {
    const { state, isError, completedAt, error } = await executor.calls.get(id)
    expect({ state, isError, completedAt, error }).toEqual({
      state: 'SEALED',
      isError: true,
      completedAt: expect.any(Number),
      error: expect.stringContaining('SealedError'),
    })
  }
  for (const state of ['COMPLETED', 'FAILED', 'DENIED']) expect((await executor.calls.get(state)).state).toBe(state)
  const settled = events.filter((event) => event.event === 'call:settled' && event.error?.code === 'E_SEALED')
  expect(settled).toHaveLength(4)
  const { content } = anthropic().results(sealed) as { content: { tool_use_id: string; is_error: boolean }[] }
  expect(new Set(content.map(({ tool_use_id }) => tool_use_id))).toEqual(
    new Set(['toolu_0', 'toolu_PENDING', 'toolu_APPROVED', 'toolu_EXECUTING']),
  )
  expect(content.every(({ is_error }) => is_error)).toBe(true)
  expect((await executor.calls.recover({ staleAfter: 0, approvals: 'seal' })).sealed).toEqual([])
}

it('KODE-62 closing an executor aborts what is under way, and every call of it is settled and recorded', async () => {
  const { journal } = memoryJournal()
  const signals: AbortSignal[] = []
  const endless = hooked({}, (_input, { signal }) => {
    signals.push(signal)
    return new Promise(() => {})
  })
  const executor = createExecutor({ tools: [endless], use: [records(journal)], concurrency: 2, timeout: 0 })
  const running = executor.executeToolCalls(Array.from({ length: 5 }, (_, id) => ({ id, name: 'hooked' })))
  await vi.waitFor(() => expect(signals).toHaveLength(2))
  await executor.close()
  const results = await running
  expect(results.map(({ status, effect }) => `${status} ${effect}`)).toEqual([
    'cancelled unknown',
    'cancelled unknown',
    'cancelled none',
    'cancelled none',
    'cancelled none',
  ])
  expect(signals.map(({ aborted }) => aborted)).toEqual([true, true])
  for (const { invocationId } of results) expect((await journal.read(invocationId))?.record.state).toBe('FAILED')
  expect((await executor.execute({ name: 'hooked' })).status).toBe('cancelled')
})

/** The built-in tools over a directory of their own. */
async function builtins(): Promise<{ readonly executor: ToolExecutor; readonly root: string }> {
  const root = mkdtempSync(join(tmpdir(), 'toolwright-kode-'))
  const sandbox = await localSandbox({ root, report: () => {} })
  const use = [
    workspaceTools(sandbox),
    shellTools(sandbox, { requiresConfirmation: false }),
    todoTools(),
    taskTool({ run: ({ task, context }) => ({ did: task, with: context }) }),
  ]
  const executor = createExecutor({ use })
  onTestFinished(async () => {
    await executor.close()
    await sandbox.close()
    rmSync(root, { recursive: true })
  })
  return { executor, root }
}

it('KODE-14 a command in the background gives { pid, status }, and one in the foreground its streams and exit code', async () => {
  const { executor } = await builtins()
  const bash = async (args: object): Promise<unknown> => dataOf(await executor.execute({ name: 'bash_run', args }))
  expect(await bash({ command: 'echo out; echo err >&2; exit 3' })).toEqual({
    stdout: 'out\n',
    stderr: 'err\n',
    exitCode: 3,
  })
  expect(await bash({ command: 'sleep 60', background: true })).toEqual({ pid: expect.any(String), status: 'running' })
})

it('KODE-56 the twelve built-in tools work with their args', async () => {
  const { executor } = await builtins()
  const call = async (name: string, args: object): Promise<unknown> => {
    const result = await executor.execute({ name, args })
    expect(result.status, wordsOf(result)).toBe('ok')
    return result.content[0]?.type === 'json' ? dataOf(result) : wordsOf(result)
  }
  expect(await call('fs_write', { path: 'src/a.ts', content: 'const a = 1\n' })).toMatchObject({ created: true })
  expect(await call('fs_read', { path: 'src/a.ts' })).toBe('const a = 1\n')
  expect(await call('fs_edit', { path: 'src/a.ts', edits: [{ old: '1', new: '2' }] })).toMatchObject({ replaced: 1 })
  const edits = [{ path: 'src/a.ts', old: 'const', new: 'let' }]
  expect(await call('fs_multi_edit', { edits })).toMatchObject({ files: [{ replaced: 1 }] })
  expect(await call('fs_glob', { pattern: '**/*.ts', exclude: 'b.ts' })).toBe('src/a.ts')
  expect(await call('fs_grep', { pattern: '^LET', path: 'src', flags: 'i' })).toBe('src/a.ts:1:let a = 2')
  expect(await call('bash_run', { command: 'cat src/a.ts' })).toMatchObject({ stdout: 'let a = 2\n' })
  const { pid } = (await call('bash_run', { command: 'echo up; sleep 60', background: true })) as { pid: string }
  await expect.poll(() => call('bash_logs', { pid }), { timeout: 20_000 }).toMatchObject({ output: 'up\n' })
  expect(await call('bash_kill', { pid })).toMatchObject({ status: 'killed' })
  const todos = [{ content: 'rest', status: 'pending', id: 'a' }]
  expect(await call('todo_write', { todos })).toEqual({ todos })
  expect(await call('todo_read', {})).toEqual({ todos })
  expect(await call('task_run', { task: 'look', context: 'here' })).toEqual({ did: 'look', with: 'here' })
})

it('KODE-60 a sandbox reads, writes, and runs commands in the foreground and background', async () => {
  const { root } = await builtins()
  const sandbox = await localSandbox({ root, report: () => {} })
  await sandbox.writeFile('f', new TextEncoder().encode('x'))
  expect(new TextDecoder().decode((await sandbox.readFile('f')).bytes)).toBe('x')
  expect((await sandbox.exec('cat f')).stdout.text).toBe('x')
  expect(await (await sandbox.execBackground('exit 2')).done).toMatchObject({ exitCode: 2 })
  await sandbox.close()
})

// Overridden: the short notation of parameters and `inferFromExample`, since a schema that is guessed checks nothing that a
// validator of the project does not check better; `noEffect` is the trait `idempotent`, by which `retry` repeats a call.
it('KODE-64 methods are tools with attributes: what only reads, and what is safe to repeat', async () => {
  const sum = { total: 1 }
  const kit = {
    read: toolMethod({ description: 'Reads the total', traits: { readonly: true, idempotent: true } })(() => sum.total),
    add: toolMethod({ description: 'Adds', inputSchema: z.object({ by: z.number() }) })(
      ({ by }: { by: number }) => (sum.total += by),
    ),
  }
  const executor = createExecutor({ tools: toolsOf(kit) })
  expect(executor.tools().map(({ name, traits }) => [name, traits.readonly, traits.idempotent])).toEqual([
    ['read', true, true],
    ['add', false, false],
  ])
  await executor.execute({ name: 'add', args: { by: 2 } })
  expect(wordsOf(await executor.execute({ name: 'read' }))).toBe('3')
  expect((await executor.execute({ name: 'add', args: {} })).error?.code).toBe('E_INVALID_TOOL_ARGS')
})
