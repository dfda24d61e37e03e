import { createExecutor, tool, type ToolEvent, type ToolExecutor, type ToolResult } from 'toolwright'
import type { Repair } from 'toolwright/extension'
import { memoryJournal } from 'toolwright/journals/memory'
import { argsRepair, type ArgsRepairOptions } from 'toolwright/repairs/args'
import { describe, expect, test } from 'vitest'
import { z } from 'zod'

const text = { type: 'string' }
const schemas = {
  number: { type: 'number' },
  integer: { type: 'integer' },
  boolean: { type: 'boolean' },
  text,
  list: { type: 'array', items: { type: 'number' } },
  object: { type: 'object', properties: { n: { type: 'number' } }, required: ['n'], additionalProperties: false },
  either: { anyOf: [{ type: 'number' }, { type: 'string', pattern: '^x' }] },
  referred: { $ref: '#/$defs/count' },
  maybe: { type: ['number', 'null'] },
  one: { enum: [1, 2] },
}
const inputSchema = {
  type: 'object',
  properties: schemas,
  additionalProperties: false,
  $defs: { count: { type: 'integer' } },
} as const

/** What the handler got, and what was told of it. */
async function taken(args: unknown, options?: ArgsRepairOptions): Promise<{ input: unknown; steps: string[] }> {
  let input: unknown
  const echo = tool({
    name: 'echo',
    description: 'Echoes',
    inputSchema,
    handler: (value: unknown) => void (input = value),
  })
  const executor = createExecutor({ tools: [echo], use: [argsRepair(options)] })
  const steps: string[] = []
  executor.on('call:repaired', (event) => {
    steps.push(...event.steps.map(({ step, path }) => [step, ...path].join(' ')))
  })
  const { status } = await executor.execute({ name: 'echo', args })
  return { input: status === 'ok' ? input : status, steps }
}

describe('args that are nearly right', () => {
  test.each<[unknown, unknown, string[]]>([
    [{ number: '5' }, { number: 5 }, ['number-from-text number']],
    [{ number: '-0.25' }, { number: -0.25 }, ['number-from-text number']],
    [{ integer: '42' }, { integer: 42 }, ['number-from-text integer']],
    [{ maybe: '5' }, { maybe: 5 }, ['number-from-text maybe']],
    [{ one: '2' }, { one: 2 }, ['number-from-text one']],
    [{ referred: '7' }, { referred: 7 }, ['number-from-text referred']],
    [{ boolean: 'true' }, { boolean: true }, ['boolean-from-text boolean']],
    [{ list: '[1,2]' }, { list: [1, 2] }, ['double-encoded list']],
    [{ list: ['1', 2] }, { list: [1, 2] }, ['number-from-text list 0']],
    [{ object: '{"n":"5"}' }, { object: { n: 5 } }, ['double-encoded object', 'number-from-text object n']],
    ['"{\\"number\\":5}"', { number: 5 }, ['double-encoded']],
    ['{"number":5,}', { number: 5 }, ['trailing-comma']],
    ['{"list":[1,2 , ],\n}', { list: [1, 2] }, ['trailing-comma']],
    ['```json\n{"number":5}\n```', { number: 5 }, ['fence']],
    ['```\n{"number":"5",}\n```', { number: 5 }, ['fence', 'trailing-comma', 'number-from-text number']],
    ['{"text":"a,}",}', { text: 'a,}' }, ['trailing-comma']],
  ])('%j are taken as %j', async (args, input, steps) => {
    expect(await taken(args)).toEqual({ input, steps })
  })

  test.each<[string, unknown]>([
    ['text that was cut off', '{"text":"half of a fi'],
    ['an object that was cut off', '{"number":5'],
    ['a fence that was cut off', '```json\n{"number":5}'],
    ['a number with zeros before it', { number: '007' }],
    ['a number in another notation', { number: '1e3' }],
    ['a number with zeros after it', { number: '1.0' }],
    ['a number that a double cannot hold', { number: '9007199254740993' }],
    ['a whole number beyond 2^53', { integer: '90071992547409920' }],
    ['a number with blanks', { number: ' 5' }],
    ['a hexadecimal number', { number: '0x10' }],
    ['minus zero', { number: '-0' }],
    ['no text', { number: '' }],
    ['infinity', { number: 'Infinity' }],
    ['true for a number', { number: true }],
    ['a number for a boolean', { boolean: 1 }],
    ['another word for a boolean', { boolean: 'yes' }],
    ['a list for a number', { number: ['5'] }],
    ['a number for a text', { text: 5 }],
    ['prose around an object', 'Here it is: {"number":5}'],
    ['single quotes', `{'number':5}`],
    ['two objects', '{"number":5}{"number":6}'],
    ['a list of nothing', '{"list":[,]}'],
    ['two commas', '{"list":[1,,]}'],
    ['duplicate keys', '{"number":5,"number":6,}'],
    ['a union that takes text', { either: '5' }],
    ['text within text', '"\\"{}\\""'],
    ['an unknown member', { other: '5' }],
    ['one of two that cannot be read', { number: '5', integer: 'five' }],
    ['an object for a list', { list: '{"n":5}' }],
  ])('%s is never guessed', async (_, args) => {
    expect(await taken(args)).toEqual({ input: 'error', steps: [] })
  })

  test('that are valid are not touched, and nothing is asked about them', async () => {
    expect(await taken({ text: '5', number: 5 })).toEqual({ input: { text: '5', number: 5 }, steps: [] })
    const asked: unknown[] = []
    const executor = createExecutor({
      tools: [tool('any', () => 1)],
      use: [{ repair: (refused) => void asked.push(refused) }],
    })
    expect((await executor.execute({ name: 'any', args: { n: '5' } })).status).toBe('ok')
    expect(asked).toEqual([])
  })

  test('are repaired by the steps and for the tools that are chosen', async () => {
    const steps = ['boolean-from-text'] as const
    expect((await taken({ number: '5' }, { steps })).input).toBe('error')
    expect((await taken({ boolean: 'false' }, { steps })).input).toEqual({ boolean: false })
    expect((await taken({ number: '5' }, { tools: () => false })).input).toBe('error')
    expect(() => argsRepair({ steps: ['guess'] as never })).toThrow(/no step "guess"/)
    expect(() => argsRepair({ tools: 1 as never })).toThrow(/tools/)
  })

  test('are repaired for a schema of a validator too', async () => {
    const echo = tool({
      name: 'echo',
      description: 'Echoes',
      inputSchema: z.object({
        n: z.number(),
        of: z.object({ all: z.array(z.boolean()) }),
        id: z.union([z.number(), z.string().min(2)]).optional(),
      }),
      handler: (input) => input,
    })
    const executor = createExecutor({ tools: [echo], use: [argsRepair()] })
    const result = await executor.execute({ name: 'echo', args: { n: '5', of: '{"all":["true"]}' } })
    expect(result.value).toEqual({ n: 5, of: { all: [true] } })
    expect((await executor.execute({ name: 'echo', args: { n: 5, of: { all: [] }, id: '5' } })).status).toBe('error')
  })

  test('of 256 kB of blanks, commas and brackets are refused in time', async () => {
    for (const part of [' ', ',', '[', '","', '\\', ', ']) {
      expect((await taken(`{"text":${part.repeat(262_000 / part.length)}`)).input).toBe('error')
      expect((await taken('```\n' + part.repeat(200_000 / part.length))).input).toBe('error')
    }
  })
})

const pay = tool({
  name: 'pay',
  description: 'Pays',
  inputSchema: { type: 'object', properties: { n: { type: 'number' }, card: { type: 'number' } }, required: ['n'] },
  handler: ({ n }, { callId }) => [n, callId],
})

async function events(executor: ToolExecutor, args: unknown): Promise<{ result: ToolResult; events: ToolEvent[] }> {
  const heard: ToolEvent[] = []
  const undo = executor.on('*', (event) => void heard.push(event))
  const result = await executor.execute({ name: 'pay', args })
  undo()
  return { result, events: heard }
}

describe('a repaired call', () => {
  test('is the call of the repaired args: one callId, however it was written', async () => {
    const executor = createExecutor({ tools: [pay], use: [argsRepair()] })
    const all = [{ n: 5 }, { n: '5' }, '"{\\"n\\":5}"', '{"n":5,}', '```json\n{"n":"5"}\n```']
    const results = await Promise.all(all.map((args) => executor.execute({ name: 'pay', args })))
    const [first] = results
    expect(new Set(results.map(({ callId }) => callId)).size).toBe(1)
    expect(results.map(({ value }) => value)).toEqual(all.map(() => [5, first?.callId]))
  })

  test('tells what came in, then what it was repaired to', async () => {
    const executor = createExecutor({ tools: [pay], use: [argsRepair()] })
    const { events: emitted, result } = await events(executor, { n: '5' })
    expect(emitted.map(({ event, seq }) => `${event} ${seq}`)).toEqual([
      'call:received 0',
      'call:repaired 1',
      'tool:start 2',
      'tool:end 3',
      'call:settled 4',
    ])
    expect(emitted[0]).toMatchObject({ args: { n: '5' } })
    expect(emitted[1]).toMatchObject({
      args: { n: 5 },
      from: emitted[0]?.callId,
      callId: result.callId,
      steps: [{ step: 'number-from-text', path: ['n'] }],
    })
    const unread = await events(executor, '{"n":5,}')
    expect(unread.events[0]).toMatchObject({ event: 'call:received', args: '{"n":5,}', callId: null, seq: 0 })
    expect(unread.events[1]).toMatchObject({ event: 'call:repaired', callId: result.callId, seq: 1 })
  })

  test('that cannot be repaired fails with the first error, and as it came', async () => {
    const bare = createExecutor({ tools: [pay] })
    const executor = createExecutor({ tools: [pay], use: [argsRepair()] })
    for (const args of [{ n: 'five' }, '{"n":5', 'no', { n: ['5'] }]) {
      const [mine, plain] = [await events(executor, args), await events(bare, args)]
      expect(JSON.parse(JSON.stringify(mine.result))).toEqual({
        ...(JSON.parse(JSON.stringify(plain.result)) as object),
        invocationId: mine.result.invocationId,
        error: { ...plain.result.error?.toJSON(), invocationId: mine.result.invocationId },
      })
      const shape = ({ event, seq, callId }: ToolEvent): unknown => [event, seq, callId]
      expect(mine.events.map(shape)).toEqual(plain.events.map(shape))
    }
  })

  test('keeps in its record how it came, and replays for the same text', async () => {
    const executor = createExecutor({ tools: [pay], use: [argsRepair(), memoryJournal()] })
    for (const args of [{ n: '5' }, '{"n":5,}', '```\n{"n":"5"}\n```']) {
      const invocationId = crypto.randomUUID()
      const first = await executor.execute({ name: 'pay', args }, { invocationId })
      const snapshot = await executor.calls.get(invocationId)
      expect(snapshot).toMatchObject({ args: { n: 5 }, callId: first.callId, repairs: expect.any(Array) })
      expect(snapshot.repairedFrom).toMatch(/^[0-9a-f]{64}$/)
      expect(snapshot.auditTrail[1]).toMatchObject({ state: 'PENDING', note: expect.stringMatching(/^repaired: /) })
      for (const again of [args, { n: 5 }]) {
        const replayed = await executor.execute({ name: 'pay', args: again }, { invocationId })
        expect([replayed.status, replayed.content]).toEqual(['ok', first.content])
      }
      const other = await executor.execute({ name: 'pay', args: { n: '6' } }, { invocationId })
      expect(other.error?.code).toBe('E_DUPLICATE_INVOCATION')
    }
  })

  test('says so to the person who approves it, and is not repaired again', async () => {
    const asked: unknown[] = []
    const repair: Repair = ({ args }) => {
      asked.push(args)
      return { args: { n: 5 }, steps: [{ step: 'model', path: [] }] }
    }
    const careful = pay.with({ requiresConfirmation: true })
    const steps = [{ step: 'model', path: [] }]
    for (const use of [[{ repair }], [{ repair }, memoryJournal()]]) {
      const executor = createExecutor({ tools: [careful], use })
      const { result, events: emitted } = await events(executor, { n: 'five' })
      expect(emitted.at(-1)).toMatchObject({ event: 'call:waiting', repaired: steps })
      const [waiting] = await executor.calls.waiting()
      expect(waiting).toMatchObject({ args: { n: 5 }, callId: result.callId, repaired: steps })
      expect((await executor.calls.decide(waiting!, 'allow')).value).toEqual([5, result.callId])
      const second = await executor.execute({ name: 'pay', args: { n: 'six' } })
      const edited = executor.calls.decide(second.token ?? '', 'allow', { editedArgs: { n: 'seven' } })
      await expect(edited).rejects.toMatchObject({ code: 'E_INVALID_TOOL_ARGS' })
    }
    expect(asked).toEqual([{ n: 'five' }, { n: 'six' }, { n: 'five' }, { n: 'six' }])
    let request: unknown
    const approver = { ask: async (question: unknown) => ((request = question), { decision: 'allow' as const }) }
    const executor = createExecutor({ tools: [careful], use: [{ repair, approver }] })
    await executor.execute({ name: 'pay', args: { n: 'five' } })
    expect(request).toMatchObject({ repaired: steps, input: { n: 5 } })
  })

  test('tells no secret', async () => {
    const secret = pay.with({ secrets: ['/card'] })
    const executor = createExecutor({ tools: [secret], use: [argsRepair(), memoryJournal()] })
    for (const args of [{ n: '5', card: '4111222233' }, '{"n":5,"card":4111222233,}']) {
      const { result, events: emitted } = await events(executor, args)
      expect(result.status).toBe('ok')
      expect(JSON.stringify(emitted)).not.toContain('4111222233')
      expect(JSON.stringify(await executor.calls.list())).not.toContain('4111222233')
      expect(emitted[1]).toMatchObject({ event: 'call:repaired', args: { n: 5, card: '[secret]' } })
    }
  })

  test('is evaluated as it would run', async () => {
    const executor = createExecutor({ tools: [pay], use: [argsRepair()] })
    const { decision, callId } = await executor.evaluate({ name: 'pay', args: '{"n":"5",}' })
    expect([decision, callId]).toEqual(['allow', (await executor.evaluate({ name: 'pay', args: { n: 5 } })).callId])
  })
})

describe('a repair of an application', () => {
  test.each<[string, Repair]>([
    ['throws', () => Promise.reject(new Error('no model'))],
    ['returns nothing', () => undefined],
    ['returns what does not fit', () => ({ args: { n: 'six' }, steps: [] })],
    ['returns no args', () => ({ steps: [] }) as never],
    ['returns no steps', () => ({ args: { n: 5 }, steps: 5 }) as never],
    ['returns what has no JSON', () => ({ args: { n: 5n }, steps: [] })],
    [
      'returns what refers to itself',
      () => ({
        args: Object.assign({ n: 5 } as object, {
          get own() {
            return this
          },
        }),
        steps: [],
      }),
    ],
    ['returns a proxy', () => Proxy.revocable({}, {}).proxy as never],
  ])('that %s leaves the first error', async (_, repair) => {
    const executor = createExecutor({ tools: [pay], use: [{ repair }], report: () => {} })
    const { result, events: emitted } = await events(executor, { n: 'five' })
    expect([result.status, result.error?.code]).toEqual(['error', 'E_INVALID_TOOL_ARGS'])
    expect(emitted.map(({ event }) => event)).not.toContain('call:repaired')
  })

  test('is asked within the deadline, once, and there is one', async () => {
    let count = 0
    const repair: Repair = () => (count++, new Promise(() => {}))
    const executor = createExecutor({ tools: [pay.with({ timeout: 20 })], use: [{ repair }] })
    expect((await executor.execute({ name: 'pay', args: { n: 'five' } })).error?.code).toBe('E_TOOL_TIMEOUT')
    expect((await executor.execute({ name: 'pay', args: '{' })).error?.code).toBe('E_TOOL_TIMEOUT')
    expect(count).toBe(2)
    expect(() => createExecutor({ use: [argsRepair(), argsRepair()] })).toThrow(/repair/)
  })

  test('checks what it makes', async () => {
    const repair: Repair = async ({ args, issues, check, tool: { name } }) => {
      expect([name, args, issues?.[0]?.path]).toEqual(['pay', { n: 'five' }, ['n']])
      expect((await check({ n: 'six' }))?.[0]?.path).toEqual(['n'])
      expect(await check({ n: 5 })).toBe(undefined)
      return { args: { n: 5 }, steps: [{ step: 'x'.repeat(300), path: ['n', ...Array.from({ length: 99 }, () => 0)] }] }
    }
    const executor = createExecutor({ tools: [pay], use: [{ repair }] })
    const { result, events: emitted } = await events(executor, { n: 'five' })
    expect(result.status).toBe('ok')
    const { steps } = emitted[1] as ToolEvent & { event: 'call:repaired' }
    expect([steps[0]?.step.length, steps[0]?.path.length]).toEqual([64, 16])
  })
})
