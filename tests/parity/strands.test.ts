import 'toolwright/compat'
// Strands makes a tool with one function, and what it makes is both a tool for agents and a function for everybody else.
import { join } from 'node:path'
import {
  createExecutor,
  tool,
  Tool,
  ToolRegistry,
  type StandardJSONSchemaV1,
  type StandardSchemaV1,
  type ToolContext,
  type ToolEvent,
  type ToolHandler,
  type ToolResult,
} from 'toolwright'
import type { Middleware } from 'toolwright/extension'
import * as v from 'valibot'
import { type } from 'arktype'
import { toolMethod, toolsOf } from 'toolwright/builtins/methods'
import { caller, type DirectMessage } from 'toolwright/client/caller'
import { memoryJournal } from 'toolwright/journals/memory'
import { describe, expect, it } from 'vitest'
import { z } from 'zod'
import { covered } from './_coverage.ts'

const numbers = z.object({ operation: z.enum(['add', 'subtract']), a: z.number(), b: z.number() })

const calculator = tool({
  name: 'calculator',
  description: 'Performs arithmetic operations',
  inputSchema: numbers,
  handler: (input) => (input.operation === 'add' ? input.a + input.b : input.a - input.b),
})

const rawNumbers = {
  type: 'object',
  properties: { a: { type: 'number' }, b: { type: 'number' } },
  required: ['a', 'b'],
} as const

const counting = tool({
  name: 'counting',
  description: 'Counts down',
  inputSchema: z.object({ from: z.number() }),
  async *handler({ from }): AsyncGenerator<number, string> {
    for (let number = from; number > 0; number--) yield number
    await Promise.resolve()
    return 'lift-off'
  },
})

function execute(made: Tool, args: unknown = {}): Promise<ToolResult> {
  return createExecutor({ tools: [made] }).execute({ id: 'tooluse_1', name: made.name, args })
}

/** The result of a tool whose handler returns this value. */
function returned(value: unknown): Promise<ToolResult> {
  return execute(tool('returning', () => value))
}

function wordsOf({ content }: ToolResult): string {
  return content.map((block) => (block.type === 'text' ? block.text : `<${block.type}>`)).join('\n')
}

async function collect<Item, Result>(
  items: AsyncGenerator<Item, Result, undefined>,
): Promise<{ readonly items: Item[]; readonly result: Result }> {
  const all: Item[] = []
  for (;;) {
    const step = await items.next()
    if (step.done === true) return { items: all, result: step.value }
    all.push(step.value)
  }
}

describe('Strands', () => {
  it('STR-01 tool(config) takes a name, a description, a schema and a handler', async () => {
    expect(calculator.name).toBe('calculator')
    expect(calculator.description).toBe('Performs arithmetic operations')
    expect(calculator.inputSchema).toBe(numbers)
    expect(wordsOf(await execute(calculator, { operation: 'add', a: 1, b: 2 }))).toBe('3')
  })

  it('STR-02 a schema is a validator’s or raw JSON Schema, and without one the tool takes no arguments', async () => {
    const raw = tool({ name: 'raw', description: 'Adds', inputSchema: rawNumbers, handler: ({ a, b }) => a + b })
    expect(wordsOf(await execute(raw, { a: 1, b: 2 }))).toBe('3')

    const bare = tool({ name: 'bare', description: 'Takes nothing', handler: () => 'done' })
    expect(bare.describe().inputSchema).toEqual({ type: 'object', properties: {}, additionalProperties: false })
    expect((await execute(bare, { extra: 1 })).error?.code).toBe('E_INVALID_TOOL_ARGS')
  })

  it('STR-03 a validator’s schema is shown as JSON Schema of draft 2020-12, without $schema and without $ref', () => {
    const point = z.object({ x: z.number() })
    const line = tool({
      name: 'line',
      description: 'Draws a line',
      inputSchema: z.object({ from: point, to: point, style: z.tuple([z.string(), z.number()]) }),
      handler: () => null,
    })
    const { inputSchema } = line.describe()
    expect(JSON.stringify(inputSchema)).not.toMatch(/\$(schema|ref|defs)/)
    expect(inputSchema.properties).toMatchObject({
      from: { type: 'object', properties: { x: { type: 'number' } } },
      to: { type: 'object', properties: { x: { type: 'number' } } },
      // In draft 07 these would be `items`.
      style: { prefixItems: [{ type: 'string' }, { type: 'number' }] },
    })
  })

  it('STR-04 args are validated before the handler runs, also by a schema that needs time', async () => {
    let runs = 0
    const slow = tool({
      name: 'slow',
      description: 'Asks a database',
      inputSchema: z.object({
        user: z.string().refine(async (user) => Promise.resolve(user === 'ada'), 'no such user'),
      }),
      handler: () => ++runs,
    })
    expect((await execute(slow, { user: 'bob' })).error?.code).toBe('E_INVALID_TOOL_ARGS')
    expect(runs).toBe(0)
    expect(wordsOf(await execute(slow, { user: 'ada' }))).toBe('1')
  })

  it('STR-05 args that are not valid give an error result that says what is wrong, and where', async () => {
    const result = await execute(calculator, { operation: 'multiply', a: 'one', b: 2 })
    expect(result).toMatchObject({ id: 'tooluse_1', status: 'error', isError: true, effect: 'none' })
    expect(wordsOf(result)).toContain('operation')
    expect(wordsOf(result)).toMatch(/\ba\b.*number/)
    expect(result.error?.issues?.map(({ path }) => path)).toEqual([['operation'], ['a']])
  })

  it('STR-06 raw JSON Schema is shown as it is, and validates too', async () => {
    let runs = 0
    const raw = tool({ name: 'raw', description: 'Adds', inputSchema: rawNumbers, handler: () => ++runs })
    expect(raw.describe().inputSchema).toEqual(rawNumbers)
    expect((await execute(raw, { a: 'one', b: 2 })).error?.code).toBe('E_INVALID_TOOL_ARGS')
    expect(runs).toBe(0)
  })

  it('STR-07 a schema is known by the standard that it keeps, not by its class or by fields of one library', async () => {
    const foreign: StandardSchemaV1 & StandardJSONSchemaV1 = {
      '~standard': {
        version: 1,
        vendor: 'another copy',
        validate: (value) =>
          typeof (value as { a?: unknown }).a === 'number' ? { value } : { issues: [{ message: 'a is not a number' }] },
        jsonSchema: { input: () => ({ type: 'object' }), output: () => ({ type: 'object' }) },
      },
    }
    const kept = tool({ name: 'kept', description: 'Keeps it', inputSchema: foreign, handler: () => 'ran' })
    expect(wordsOf(await execute(kept, { a: 1 }))).toBe('ran')
    expect(wordsOf(await execute(kept, { a: 'x' }))).toContain('a is not a number')

    // The schemas of ArkType are functions.
    const called = tool({
      name: 'called',
      description: 'Is one',
      inputSchema: type({ a: 'number' }),
      handler: () => 'ran',
    })
    expect(wordsOf(await execute(called, { a: 1 }))).toBe('ran')
    expect((await execute(called, { a: 'x' })).error?.code).toBe('E_INVALID_TOOL_ARGS')

    let parsed = 0
    const lookalike = { _def: {}, parse: () => ++parsed, type: 'object' }
    const raw = new Tool({ name: 'raw', description: 'Is raw', inputSchema: lookalike, handler: () => 'ran' })
    await execute(raw, {})
    expect(parsed).toBe(0)
  })

  it('STR-08 the context is always there, for handlers that take it', async () => {
    const seen: number[] = []
    const config = { description: 'Counts what it is given', inputSchema: rawNumbers }
    const one = tool({
      ...config,
      name: 'one',
      handler: (...parameters: unknown[]) => void seen.push(parameters.length),
    })
    await execute(one, { a: 1, b: 2 })
    await one({ a: 1, b: 2 })
    expect(seen).toEqual([2, 2])
  })

  it('STR-10 the context has toolUse and invocationState', async () => {
    const contexts: ToolContext[] = []
    const email = tool({
      name: 'send_email',
      description: 'Sends an email',
      inputSchema: z.object({ to: z.string(), body: z.string().default('') }),
      handler: ({ to }, context) => {
        contexts.push(context)
        return `Email sent to ${to}`
      },
    })
    const state = { user: 'ada' }
    const result = await createExecutor({ tools: [email] }).execute(
      { id: 'tooluse_7', name: 'send_email', args: { to: 'bob@example.com' } },
      { values: state },
    )
    expect(wordsOf(result)).toBe('Email sent to bob@example.com')
    expect(contexts[0]?.toolUse).toEqual({
      name: 'send_email',
      toolUseId: 'tooluse_7',
      input: { to: 'bob@example.com', body: '' },
    })
    expect(contexts[0]?.invocationState).toBe(state)
  })

  it('STR-11 a handler is a plain function, an async one or an async generator, with or without the context', async () => {
    const handlers: ToolHandler<{ a: number; b: number }, unknown>[] = [
      ({ a, b }) => a + b,
      ({ a, b }, { toolName }) => (toolName === 'adding' ? a + b : 0),
      async ({ a, b }) => Promise.resolve(a + b),
      async ({ a, b }, { signal }) => ((await Promise.resolve(signal.aborted)) ? 0 : a + b),
      async function* ({ a, b }) {
        yield 'adding'
        return Promise.resolve(a + b)
      },
      async function* ({ a, b }, { toolUse }) {
        yield toolUse.name
        return Promise.resolve(a + b)
      },
    ]
    for (const handler of handlers) {
      const adding = tool({ name: 'adding', description: 'Adds', inputSchema: rawNumbers, handler })
      expect(wordsOf(await execute(adding, { a: 1, b: 2 }))).toBe('3')
      expect(await adding({ a: 1, b: 2 })).toBe(3)
    }
  })

  it('STR-12 what a plain function returns is wrapped in a result', async () => {
    const result = await execute(calculator, { operation: 'subtract', a: 5, b: 3 })
    expect(result).toMatchObject({ id: 'tooluse_1', status: 'ok', content: [{ type: 'text', text: '2' }] })
  })

  it('STR-13 a promise is awaited, and so is anything else with then', async () => {
    const promised = tool('promised', () => Promise.resolve('in time'))
    expect(wordsOf(await execute(promised as Tool))).toBe('in time')
    const thenable = new Tool({
      name: 'thenable',
      description: 'Gives a thenable',
      // oxlint-disable-next-line unicorn/no-thenable -- this is what is tested
      handler: (): unknown => ({ then: (resolve: (value: string) => void) => resolve('in time too') }),
    })
    expect(wordsOf(await execute(thenable))).toBe('in time too')
  })

  it('STR-14 what a generator yields is streamed, and what it returns is the result', async () => {
    const executor = createExecutor({ tools: [counting] })
    const { items, result } = await collect(executor.stream({ name: 'counting', args: { from: 3 } }))
    const progress = items.filter((event) => event.event === 'tool:progress')
    expect(progress.map(({ data }) => data)).toEqual([3, 2, 1])
    expect(wordsOf(result)).toBe('lift-off')
  })

  it('STR-15 what tool() makes is a Tool, and goes wherever tools go', async () => {
    expect(calculator).toBeInstanceOf(Tool)
    const registry = new ToolRegistry([calculator, counting])
    expect(registry.list().map(({ name }) => name)).toEqual(['calculator', 'counting'])
    expect((await createExecutor({ tools: registry }).execute({ name: 'counting', args: { from: 1 } })).status).toBe(
      'ok',
    )
  })

  it('STR-16 a tool can be called as a function', async () => {
    expect(typeof calculator).toBe('function')
    expect(await calculator({ operation: 'add', a: 1, b: 2 })).toBe(3)
    await expect(calculator({ operation: 'add', a: 1, b: 'two' } as never)).rejects.toMatchObject({
      code: 'E_INVALID_TOOL_ARGS',
    })
  })

  it('STR-17 a direct call gives the handler’s own value, a generator’s last one, and throws what went wrong', async () => {
    const value = { rows: [1, 2] }
    const giving = tool('giving', () => value)
    expect(await giving({})).toBe(value)
    expect(await counting({ from: 2 })).toBe('lift-off')
    const broken = tool('broken', (): string => {
      throw new TypeError('not today')
    })
    await expect(broken({})).rejects.toMatchObject({
      code: 'E_TOOL_DOWNSTREAM_ERROR',
      cause: expect.objectContaining({ message: 'not today' }),
    })
  })

  it('STR-18 a direct call is a promise, also where the handler is a plain function', async () => {
    const called = calculator({ operation: 'add', a: 1, b: 1 })
    expect(called).toBeInstanceOf(Promise)
    expect(await called).toBe(2)
  })

  it('STR-19 executor.stream yields events and returns the result, tool.stream yields progress and returns the value', async () => {
    const executor = createExecutor({ tools: [counting] })
    const streamed = await collect(executor.stream({ name: 'counting', args: { from: 1 } }))
    expect(streamed.items.map(({ event }: ToolEvent) => event)).toEqual([
      'call:received',
      'tool:start',
      'tool:progress',
      'tool:end',
      'call:settled',
    ])
    expect(streamed.result).toMatchObject({ status: 'ok', content: [{ type: 'text', text: 'lift-off' }] })
    expect(await collect(counting.stream({ from: 2 }))).toEqual({ items: [2, 1], result: 'lift-off' })
  })

  it('STR-20 what a handler throws gives an error result with its message and its type', async () => {
    const broken = tool('broken', (): string => {
      throw new RangeError('out of bounds')
    })
    const result = await execute(broken as Tool)
    expect(result.status).toBe('error')
    expect(wordsOf(result)).toBe('RangeError: out of bounds')
    expect(result.error?.cause).toBeInstanceOf(RangeError)
  })

  it('STR-22 name and description can be overridden in the config', async () => {
    const config = { name: 'add', description: 'Adds', inputSchema: rawNumbers, handler: () => 'ran' }
    const renamed = tool({ ...config, name: 'plus', description: 'Adds up' })
    expect(renamed.describe()).toMatchObject({ name: 'plus', description: 'Adds up', inputSchema: rawNumbers })
    expect(wordsOf(await execute(renamed, { a: 1, b: 2 }))).toBe('ran')
    expect((await execute(renamed, {})).error?.code).toBe('E_INVALID_TOOL_ARGS')
  })

  it('STR-23 a tool is an instance of its class and a function at once, with no proxy between', async () => {
    class Loud extends Tool<{ text: string }, string> {
      shout(text: string): Promise<string> {
        return this({ text: text.toUpperCase() })
      }
    }
    const loud = new Loud({
      name: 'loud',
      description: 'Repeats',
      inputSchema: { type: 'object', properties: { text: { type: 'string' } } },
      handler: ({ text }) => text,
    })
    expect(loud).toBeInstanceOf(Loud)
    expect(loud).toBeInstanceOf(Function)
    expect(await loud.shout('hi')).toBe('HI')
    expect(await loud({ text: 'hi' })).toBe('hi')
  })

  it('STR-25 tools of every kind run side by side, and at least 80 % of the lines that make tools run with them', async () => {
    const sources = ['tool/tool', 'tool/checks', 'tool/options', 'tool/definition', 'direct'].map((name) =>
      join(import.meta.dirname, '..', '..', 'src', 'kernel', `${name}.ts`),
    )
    const { stdout, shares } = await covered(join(import.meta.dirname, '_every-kind.ts'), sources)
    expect(JSON.parse(stdout)).toEqual({
      results: [
        '-1',
        '7',
        'informed',
        'lift-off',
        'E_TOOL_DOWNSTREAM_ERROR',
        'E_INVALID_TOOL_RESULT',
        'LOUD',
        '0',
        'E_INVALID_TOOL_ARGS',
        'E_INVALID_TOOL_ARGS',
      ],
      direct: [
        3,
        2,
        'lift-off',
        [2, 1, 'lift-off'],
        'E_TOOL_DOWNSTREAM_ERROR',
        'E_INVALID_TOOL_ARGS',
        'E_INVALID_TOOL_RESULT',
        { operation: 'add', a: 1, b: 2 },
        'E_INVALID_INITIAL_TOOL_VALUE',
        'E_INVALID_INITIAL_TOOL_VALUE',
      ],
      bound: ['4', 'E_INVALID_TOOL_ARGS'],
      heard: ['call:received', 'tool:start', 'tool:end', 'call:settled', 'call:received', 'call:settled'],
      isTool: [true, false, true],
    })
    expect(shares.size).toBe(sources.length)
    for (const [file, share] of shares) expect(share, file).toBeGreaterThanOrEqual(0.8)
  })

  it('STR-27 a result of any kind is wrapped: text, numbers and booleans as text, null and nothing in words, the rest as JSON', async () => {
    const shown: [value: unknown, block: object][] = [
      ['words', { type: 'text', text: 'words' }],
      [42, { type: 'text', text: '42' }],
      [false, { type: 'text', text: 'false' }],
      [null, { type: 'text', text: 'null' }],
      [undefined, { type: 'text', text: '(no output)' }],
      ['', { type: 'text', text: '(no output)' }],
      [{ a: [1] }, { type: 'json', data: { a: [1] } }],
      [[1, 'two'], { type: 'json', data: [1, 'two'] }],
      [[], { type: 'json', data: [] }],
      [[{ type: 'text', text: 'a block' }], { type: 'text', text: 'a block' }],
      [[{ type: 'text', text: 'a row', id: 1 }], { type: 'json', data: [{ type: 'text', text: 'a row', id: 1 }] }],
    ]
    for (const [value, block] of shown) {
      const result = await returned(value)
      expect(result.status, JSON.stringify(value)).toBe('ok')
      expect(result.content).toMatchObject([block])
    }

    const held = { a: [1] }
    const result = await returned(held)
    held.a.push(2)
    expect(result.content).toMatchObject([{ data: { a: [1] } }])

    const cycle: { self?: unknown } = {}
    cycle.self = cycle
    for (const value of [1n, new Map([[1, 2]]), new Set([1]), new Error('x'), cycle, () => 1, { a: { b: 1n } }]) {
      const refused = await returned(value)
      expect(refused, Object.prototype.toString.call(value)).toMatchObject({
        status: 'error',
        error: { code: 'E_INVALID_TOOL_RESULT' },
      })
    }
  })

  it('STR-28 names are checked, two that are too alike are refused, and a call finds a tool exactly or by alias', async () => {
    const named = (name: string, aliases: readonly string[] = []): Tool =>
      new Tool({ name, description: 'Has a name', aliases, handler: () => name })
    for (const name of ['', 'has space', 'dot.ted', 'x'.repeat(65), 'ä']) {
      expect(() => named(name), name).toThrow(expect.objectContaining({ code: 'E_INVALID_INITIAL_TOOL_VALUE' }))
    }
    const registry = new ToolRegistry([named('read_file', ['cat'])])
    for (const name of ['read-file', 'Read_File', 'CAT']) {
      expect(() => registry.add(named(name)), name).toThrow(
        expect.objectContaining({ code: 'E_TOOL_ALREADY_REGISTERED' }),
      )
    }
    const executor = createExecutor({ tools: registry })
    expect((await executor.execute({ name: 'read_file' })).status).toBe('ok')
    expect(await executor.execute({ name: 'cat' })).toMatchObject({ status: 'ok', toolName: 'read_file' })
    expect((await executor.execute({ name: 'read-file' })).error?.code).toBe('E_TOOL_NOT_FOUND')
  })

  it('STR-29 tools are methods of a caller, which tells three messages of each call unless it is asked not to', async () => {
    const records: (readonly DirectMessage[])[] = []
    const executor = createExecutor({ tools: [calculator, counting] })
    const tools = caller<'calculator' | 'counting'>(executor, { record: (messages) => void records.push(messages) })
    expect(wordsOf(await tools.calculator.invoke({ operation: 'add', a: 1, b: 2 }))).toBe('3')
    await tools.calculator.invoke({ operation: 'add', a: 1, b: 2 }, { record: false })
    expect(records.map((messages) => messages.map(({ role }) => role))).toEqual([['user', 'assistant', 'user']])
    expect(records[0]?.[1]?.content).toMatchObject([
      { toolUse: { name: 'calculator', toolUseId: expect.stringMatching(/^tooluse_[\da-f-]{36}$/) as string } },
    ])
    const yielded: unknown[] = []
    for await (const event of tools.counting.stream({ from: 2 })) {
      if (event.event === 'tool:progress') yielded.push(event.data)
    }
    expect(yielded).toEqual([2, 1])
    expect(Object.is(await Promise.resolve(tools), tools)).toBe(true)
  })

  it('STR-30 calls run side by side or one after another, each tells its events in order, and each has its result in its place', async () => {
    let release = (): void => {}
    const second = new Promise<void>((resolve) => (release = resolve))
    const racing = tool('racing', async ({ name }: { name: string }, { emit }) => {
      emit('step', name)
      if (name === 'first') await second
      else release()
      return name
    })
    const events: ToolEvent[] = []
    const use = [{ observers: [(event: ToolEvent) => void events.push(event)] }]
    const calls = ['first', 'second'].map((name) => ({ id: name, name: 'racing', args: { name } }))
    const own = ['call:received', 'tool:start', 'tool:progress', 'tool:end', 'call:settled']
    const namesOf = (id?: string): string[] =>
      events.filter((event) => id === undefined || event.id === id).map(({ event }) => event)

    const results = await createExecutor({ tools: [racing], use }).executeToolCalls(calls)
    expect(results.map(wordsOf)).toEqual(['first', 'second'])
    expect([namesOf('first'), namesOf('second')]).toEqual([own, own])
    const ends = events.filter(({ event }) => event === 'tool:end').map(({ id }) => id)
    expect(ends).toEqual(['second', 'first'])

    events.length = 0
    release()
    const oneByOne = await createExecutor({ tools: [racing], use, concurrency: 1 }).executeToolCalls(calls)
    expect(oneByOne.map(wordsOf)).toEqual(['first', 'second'])
    const started = events.filter(({ event }) => event === 'tool:start' || event === 'tool:end')
    expect(started.map(({ event, id }) => `${event} ${String(id)}`)).toEqual([
      'tool:start first',
      'tool:end first',
      'tool:start second',
      'tool:end second',
    ])

    const controller = new AbortController()
    const stuck = tool('stuck', ({ done }: { done: boolean }) => {
      if (done) return 'done'
      controller.abort()
      return new Promise<string>(() => {})
    })
    const turn = [true, false, false, true].map((done, index) => ({
      id: `call ${index}`,
      name: 'stuck',
      args: { done },
    }))
    const interrupted = await createExecutor({ tools: [stuck], timeout: 0, concurrency: 1 }).executeToolCalls(turn, {
      signal: controller.signal,
    })
    expect(interrupted.map(({ id, status }) => `${String(id)} ${status}`)).toEqual([
      'call 0 ok',
      'call 1 cancelled',
      'call 2 cancelled',
      'call 3 cancelled',
    ])
    for (const { isError, content } of interrupted.slice(1)) expect([isError, content.length]).toEqual([true, 1])
  })

  it('STR-31 a host hears of each turn before and after it, a hook may cancel a call, and what wraps a run may try again and change the result, but not the input that was validated', async () => {
    const log: string[] = []
    const deleting = tool({
      name: 'deleting',
      description: 'Deletes a file',
      inputSchema: z.object({ path: z.string() }),
      hooks: {
        preToolUse: ({ input }) =>
          input.path === 'keep.txt' ? { decision: 'deny', reason: 'It is needed.' } : undefined,
      },
      handler: ({ path }) => void log.push(`deleted ${path}`),
    })
    const turn = await createExecutor({ tools: [deleting] }).executeToolCalls(
      ['keep.txt', 'old.txt'].map((path) => ({ name: 'deleting', args: { path } })),
      {
        beforeTurn: (calls) => void log.push(`before ${calls.length} calls`),
        afterTurn: (results) => void log.push(`after ${results.map(({ status }) => status).join(' and ')}`),
      },
    )
    expect(log).toEqual(['before 2 calls', 'deleted old.txt', 'after denied and ok'])
    expect(turn.map(({ effect }) => effect)).toEqual(['none', 'completed'])
    expect(turn[0]?.error?.message).toContain('It is needed.')

    const ran: unknown[] = []
    const meddling: Middleware = async (call, _context, next) => {
      const swapped = { path: '/etc/passwd' }
      const open = call as { input: unknown }
      try {
        open.input = swapped
      } catch {
        // it may also be refused
      }
      const give = next as (input: unknown) => Promise<unknown>
      try {
        return await give(swapped)
      } catch {
        return { again: await give(swapped) }
      }
    }
    const reading = tool({
      name: 'reading',
      description: 'Reads a file',
      inputSchema: z.object({ path: z.string() }),
      handler: ({ path }) => {
        ran.push(path)
        if (ran.length === 1) throw new Error('busy')
        return path
      },
    })
    const robot = new Tool({ name: 'robot', description: 'Moves', type: 'robot', inputSchema: { type: 'object' } })
    const executor = createExecutor({
      tools: [reading, robot],
      use: [{ middleware: [meddling], runners: [{ type: 'robot', run: ({ input }) => input }] }],
    })
    const result = await executor.execute({ name: 'reading', args: { path: 'a.txt' } })
    expect(result.content).toMatchObject([{ data: { again: 'a.txt' } }])
    expect(ran).toEqual(['a.txt', 'a.txt'])
    const moved = await executor.execute({ name: 'robot', args: { path: 'b.txt' } })
    expect(moved.content).toMatchObject([{ data: { path: 'b.txt' } }])
  })

  it('STR-32 a question is no error, goes on by its token, and what is done meanwhile stays done', async () => {
    const ran: string[] = []
    const asking = tool({
      name: 'asking',
      description: 'Asks first',
      inputSchema: z.object({}),
      requiresConfirmation: true,
      handler: () => void ran.push('asking'),
    })
    const doing = tool({
      name: 'doing',
      description: 'Does it at once',
      inputSchema: z.object({}),
      handler: () => void ran.push('doing'),
    })
    const executor = createExecutor({ tools: [asking, doing], use: [memoryJournal()] })
    const turn = [
      { id: 'a', name: 'asking', args: {} },
      { id: 'd', name: 'doing', args: {} },
    ]
    const options = { session: 's', invocationId: ({ id }: { readonly id?: unknown }) => `turn 1 ${String(id)}` }
    const [asked, done] = await executor.executeToolCalls(turn, options)
    expect(asked).toMatchObject({ status: 'waiting', isError: false })
    expect(asked).not.toHaveProperty('error')
    expect((await executor.calls.decide(asked?.token ?? '', 'allow')).status).toBe('ok')
    const again = await executor.executeToolCalls(turn, options)
    expect(again.map(({ status }) => status)).toEqual(['ok', 'ok'])
    expect(again[1]?.content).toEqual(done?.content)
    expect(ran).toEqual(['doing', 'asking'])
  })

  it('STR-33 a schema that says no JSON Schema of itself is refused on entering a registry or an executor, and works without one', async () => {
    const bare = tool({
      name: 'bare',
      description: 'Has a schema that only validates',
      inputSchema: v.object({ a: v.number() }),
      handler: ({ a }) => a,
    })
    const refusal = expect.objectContaining({
      code: 'E_SCHEMA_CONVERSION',
      message: expect.stringContaining('toolwright/validators/valibot'),
    })
    expect(() => createExecutor({ tools: [bare] })).toThrow(refusal)
    expect(() => new ToolRegistry().add(bare)).toThrow(refusal)

    expect(await bare({ a: 1 })).toBe(1)
    await expect(bare({ a: 'x' } as never)).rejects.toMatchObject({ code: 'E_INVALID_TOOL_ARGS' })
    const described = tool({
      name: 'described',
      description: 'Says its own',
      inputSchema: v.object({ a: v.number() }),
      jsonSchema: { type: 'object', properties: { a: { type: 'number' } } },
      handler: ({ a }) => a,
    })
    expect(wordsOf(await execute(described, { a: 1 }))).toBe('1')
  })

  // The row names plans. Overridden: a version is metadata, since a lock file notices each change of a definition; a schema is
  // converted once, when its tool is first listed, and not by a build.
  it('STR-26 methods of a class are tools, with a decorator that is also a plain function', async () => {
    const inputSchema = z.object({ name: z.string() })
    const options = { description: 'Greets', inputSchema, metadata: { version: '2' } }
    class Greeter {
      readonly #greeting = 'Hello'
      readonly greet = toolMethod(options)(({ name }: { name: string }) => `${this.#greeting}, ${name}!`)
    }
    const [greet] = toolsOf(new Greeter())
    expect(await greet?.invoke({ name: 'Ann' })).toBe('Hello, Ann!')
    expect(greet?.metadata).toEqual({ version: '2' })
  })
})
