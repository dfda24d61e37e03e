import 'toolwright/compat'
import { createExecutor, json, Tool, tool, type ToolContext, type ToolEvent } from 'toolwright'
import { InvalidToolArgsError, ToolFailure } from 'toolwright/errors'
import { describe, expect, test } from 'vitest'
import { z } from 'zod'
import type * as Tools from '../../src/kernel/tool/tool.ts'
import { names, never, outcome, pause, soon, turn, work } from './_calls.ts'

const add = tool({
  name: 'add',
  description: 'Adds',
  inputSchema: z.object({ a: z.number(), b: z.number().default(10) }),
  handler: ({ a, b }) => a + b,
})

describe('a tool is a function', () => {
  test('which runs it, with its input validated and its defaults filled in', async () => {
    expect(await add({ a: 1 })).toBe(11)
    expect(await add({ a: 1, b: 2 })).toBe(3)
    expect(await add.invoke({ a: 1 })).toBe(11)
    await expect(add({ a: 'x' } as never)).rejects.toThrow(InvalidToolArgsError)
  })

  test('of its own name, that is a Tool and says what it is', () => {
    expect(typeof add).toBe('function')
    expect(add.name).toBe('add')
    expect(add).toBeInstanceOf(Tool)
    expect(add).toBeInstanceOf(Function)
    expect(Tool.isTool(add)).toBe(true)
    for (const other of [() => 1, {}, null, 'add', Tool]) expect(Tool.isTool(other)).toBe(false)
    expect([add.description, add.type, add.intent, add.audience]).toEqual(['Adds', 'server', 'compute', 'model'])
    expect('handler' in add).toBe(false)
  })

  test('that has everything a function has', async () => {
    expect(await add.call(undefined, { a: 1 })).toBe(11)
    expect(await add.apply(undefined, [{ a: 1 }])).toBe(11)
  })

  test('of another copy of the package is a tool too', async () => {
    const secondCopy: string = '../../src/kernel/tool/tool.ts?copy'
    const copy = (await import(secondCopy)) as typeof Tools
    const theirs = copy.tool('theirs', () => 'ran')
    expect(copy.Tool).not.toBe(Tool)
    expect(Tool.isTool(theirs)).toBe(true)
    expect(outcome(await createExecutor({ tools: [theirs as never] }).execute({ name: 'theirs' }))).toBe('ok completed')
  })

  test('may be subclassed', async () => {
    class Billed extends Tool<{ a: number }, number> {
      readonly price = 5
      override describe(): ReturnType<Tool['describe']> {
        return { ...super.describe(), description: `${this.description} for ${this.price}` }
      }
    }
    const billed = new Billed({
      name: 'billed',
      description: 'Bills',
      inputSchema: { type: 'object' },
      handler: () => 1,
    })
    expect(billed).toBeInstanceOf(Billed)
    expect(billed.describe().description).toBe('Bills for 5')
    expect(await billed({ a: 1 })).toBe(1)
    expect(outcome(await createExecutor({ tools: [billed] }).execute({ name: 'billed' }))).toBe('ok completed')
  })

  test('validates without running', async () => {
    expect(await add.validate({ a: 1 })).toEqual({ a: 1, b: 10 })
    await expect(add.validate({})).rejects.toMatchObject({ code: 'E_INVALID_TOOL_ARGS', issues: [{ path: ['a'] }] })
  })
})

describe('a tool with other options', () => {
  test('has its own name, description and rules, and the schemas and the handler of the first', async () => {
    const other = add.with({ name: 'plus', description: 'Adds two', requiresConfirmation: true, aliases: ['sum'] })
    expect(other).toBeInstanceOf(Tool)
    expect(other.describe()).toEqual({ ...add.describe(), name: 'plus', description: 'Adds two' })
    expect(await other({ a: 1 })).toBe(11)
    const executor = createExecutor({ tools: [add, other] })
    expect(await executor.execute({ name: 'sum', args: { a: 1 } })).toMatchObject({ status: 'waiting' })
    expect(await executor.execute({ name: 'add', args: { a: 1 } })).toMatchObject({ status: 'ok' })
    expect([add.name, add.requiresConfirmation, add.aliases]).toEqual(['add', false, []])
  })

  test('still takes any object if the first does, and no other type, schema or handler', async () => {
    const echo = tool('echo', (args: { word: string }) => args.word)
    expect(await echo.with({ title: 'Echo' })({ word: 'hi' })).toBe('hi')
    const forced = { type: 'client', inputSchema: { type: 'object', required: ['c'] }, handler: () => 0 } as object
    expect(await add.with(forced)({ a: 1 })).toBe(11)
    expect(add.with({}).type).toBe('server')
  })

  test('is refused with words if an option is wrong', () => {
    expect(() => add.with({ name: 'a b', runs: true } as object)).toThrow(/`name` must be .*; `runs` is not a field/)
  })
})

describe('a direct call', () => {
  test("gives the handler's own value, whatever it is", async () => {
    const map = new Map()
    expect(await work('t', () => map)({})).toBe(map)
    expect(await tool({ name: 't', description: 'd', handler: () => 1n })()).toBe(1n)
  })

  test('may take any value as args', async () => {
    const when = tool({
      name: 't',
      description: 'd',
      inputSchema: z.object({ at: z.date() }),
      jsonSchema: { type: 'object' },
      handler: ({ at }) => at,
    })
    const at = new Date(0)
    expect(await when({ at })).toBe(at)
  })

  test('has its result checked', async () => {
    const checked = tool({
      name: 't',
      description: 'd',
      outputSchema: z.object({ a: z.number().default(1) }),
      handler: (): { a?: number } => ({}),
    })
    expect(await checked()).toEqual({ a: 1 })
    const wrong = tool({ name: 't', description: 'd', outputSchema: z.number(), handler: () => 'x' as never })
    await expect(wrong()).rejects.toMatchObject({ code: 'E_INVALID_TOOL_RESULT' })
    const marked = tool({ name: 't', description: 'd', outputSchema: z.number(), handler: () => json(1) as never })
    expect(await marked()).toBe(1)
  })

  test.each<[string, () => unknown, string]>([
    [
      'throws',
      () => {
        throw new Error('no')
      },
      'Tool "t" failed: Error: no',
    ],
    ['rejects', () => Promise.reject(new Error('no')), 'Tool "t" failed: Error: no'],
    [
      'fails on purpose',
      () => {
        throw new ToolFailure('no')
      },
      'Tool "t" failed: ToolFailure: no',
    ],
    ['returns a failure', () => ({ ok: false, error: 'no' }), 'Tool "t" failed: ToolFailure: no'],
  ])('rejects with a typed error where the handler %s', async (_, handler, message) => {
    await expect(work('t', handler)({})).rejects.toMatchObject({ code: 'E_TOOL_DOWNSTREAM_ERROR', message })
  })

  test('has a context, with what the application says of it', async () => {
    let context: ToolContext | undefined
    const t = work('t', (_, contextOfCall) => {
      context = contextOfCall
      contextOfCall.emit('nobody hears this')
    })
    const values = { tenant: 'x' }
    await t({ a: 1 }, { session: 's', values, invocationId: 'i' })
    expect(context).toMatchObject({ toolName: 't', session: 's', invocationId: 'i', caller: 'user', attempt: 1 })
    expect([context?.values, context?.invocationState]).toEqual([values, values])
    expect(context?.callId).toMatch(/^[0-9a-f]{64}$/)
    expect(context?.toolUse).toMatchObject({ name: 't', input: { a: 1 } })
  })

  test("has the tool's own timeout, and can be given up", async () => {
    await expect(soon(work('t', () => never, { timeout: 10 })({}))).rejects.toMatchObject({ code: 'E_TOOL_TIMEOUT' })
    expect(await work('t', () => pause(10))({})).toBeUndefined()
    const leaving = new AbortController()
    const running = work('t', () => never)({}, { signal: leaving.signal })
    leaving.abort()
    await expect(soon(running)).rejects.toMatchObject({ code: 'E_TOOL_CANCELLED' })
    await expect(work('t', () => 1)({}, { signal: leaving.signal })).rejects.toMatchObject({ code: 'E_TOOL_CANCELLED' })
  })

  test('of a tool that nobody here can run says so', async () => {
    await expect(work('t', undefined as never, { type: 'provider' })({})).rejects.toMatchObject({
      code: expect.stringMatching(/^E_/),
    })
    const ask = tool({ name: 't', description: 'd', type: 'client', requiresResponse: true })
    await expect(ask()).rejects.toMatchObject({ code: 'E_TOOL_NO_HANDLER' })
  })

  test('asks no policy and tells no observer', async () => {
    const events: ToolEvent[] = []
    const deny = { name: 'deny', decide: () => ({ decision: 'deny' as const }) }
    createExecutor({ tools: [add], use: [{ policies: [deny], observers: [(event) => void events.push(event)] }] })
    expect(await add({ a: 1 })).toBe(11)
    expect(events).toEqual([])
  })
})

describe('a direct stream', () => {
  const counting = tool({
    name: 'count',
    description: 'd',
    inputSchema: z.object({ to: z.number() }),
    async *handler({ to }) {
      for (let number = 1; number <= to; number++) yield number
      return 'done'
    },
  })

  test('yields progress and returns the result', async () => {
    const stream = counting.stream({ to: 3 })
    const steps: unknown[] = []
    let step = await stream.next()
    while (step.done !== true) {
      steps.push(step.value)
      step = await stream.next()
    }
    expect([steps, step.value]).toEqual([[1, 2, 3], 'done'])
    expect(await counting({ to: 3 })).toBe('done')
  })

  test('closes its generator when it is left', async () => {
    let isClosed = false
    const endless = tool({
      name: 't',
      description: 'd',
      async *handler() {
        try {
          for (;;) yield 1
        } finally {
          isClosed = true
        }
      },
    })
    for await (const _ of endless.stream()) break
    await turn()
    expect(isClosed).toBe(true)
  })

  test('rejects where the args do not fit, before anything runs', async () => {
    await expect(counting.stream({ to: 'x' } as never).next()).rejects.toThrow(InvalidToolArgsError)
  })
})

describe('a tool bound to the pipeline', () => {
  test('resolves to the artifact, and tells its events', async () => {
    const events: ToolEvent[] = []
    const run = add.executor({ on: (event) => void events.push(event) })
    const artifact = await run({ a: 1 })
    expect(await artifact.asString()).toBe('11')
    expect(names(events)).toBe('call:received tool:start tool:end call:settled')
  })

  test('rejects with the typed error', async () => {
    await expect(add.executor()({ a: 'x' } as never)).rejects.toThrow(InvalidToolArgsError)
    const failing = work('t', () => {
      throw new Error('no')
    })
    await expect(failing.executor()({})).rejects.toMatchObject({ code: 'E_TOOL_DOWNSTREAM_ERROR' })
    await expect(work('t', () => 1, { requiresConfirmation: true }).executor()({})).rejects.toMatchObject({
      code: expect.stringMatching(/^E_/),
    })
  })

  test('goes through the executor that it is given', async () => {
    const seen: unknown[] = []
    const executor = createExecutor({
      tools: [add],
      use: [{ policies: [{ name: 'p', decide: ({ session, caller }) => void seen.push(session, caller) }] }],
    })
    await add.executor({ executor, session: 's', caller: 'model' })({ a: 1 })
    expect(seen).toEqual(['s', 'model'])
  })
})
