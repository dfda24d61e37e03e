// What all hosts share, without any framework.
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { clientTool, createExecutor, tool, type Extension, type ToolExecutor } from 'toolwright'
import { memoryJournal } from 'toolwright/journals/memory'
import { sqliteJournal } from 'toolwright/journals/sqlite'
import { describe, expect, onTestFinished, test } from 'vitest'
import { resultJson, Visit, type FrameworkOptions } from '../../src/frameworks/_visit.ts'

interface Paying {
  readonly executor: ToolExecutor
  readonly visit: Visit
  readonly runs: { readonly cents: number; readonly values: unknown }[]
  readonly reports: unknown[]
}

function paying(use: readonly Extension[] = [], options: Partial<FrameworkOptions> = {}): Paying {
  const runs: Paying['runs'] = []
  const reports: unknown[] = []
  const pay = tool({
    name: 'pay',
    description: 'Pays',
    inputSchema: {
      type: 'object',
      properties: { cents: { type: 'integer' } },
      required: ['cents'],
      additionalProperties: false,
    },
    requiresConfirmation: ({ cents }) => cents > 100,
    confirmationMessage: ({ cents }) => `Pay ${cents}?`,
    handler: ({ cents }, { values, emit }) => {
      emit('paying')
      runs.push({ cents, values })
      return { paid: cents }
    },
  })
  const confirm = clientTool({ name: 'confirm', description: 'Asks in the page', requiresResponse: true })
  const executor = createExecutor({ tools: [pay, confirm], use })
  onTestFinished(() => executor.close())
  const report = (error: unknown): void => void reports.push(error)
  return { executor, visit: new Visit({ executor, session: 'chat-1', report, ...options }, 'test'), runs, reports }
}

function journalFile(): string {
  const directory = mkdtempSync(join(tmpdir(), 'toolwright-'))
  onTestFinished(() => rmSync(directory, { recursive: true, force: true }))
  return join(directory, 'calls.db')
}

const large = { id: 'c1', name: 'pay', args: { cents: 500 } }
const allow = { decision: 'allow', note: 'fine' } as const
const deny = { decision: 'deny', note: 'too much' } as const

describe('a call of a framework', () => {
  test('runs in the session, under an identity made of the framework’s id', async () => {
    const { visit, executor } = paying([memoryJournal()])
    const result = await visit.run({ ...large, args: '{"cents":5}' })
    expect(result).toMatchObject({ status: 'ok', id: 'c1', invocationId: 'chat-1/c1' })
    expect(await executor.calls.get('chat-1/c1')).toMatchObject({ session: 'chat-1', status: 'ok' })
  })

  test('runs once, however often the same request comes', async () => {
    const { visit, runs } = paying([memoryJournal()])
    const call = { ...large, args: { cents: 5 } }
    const results = [await visit.run(call), await visit.run(call), await visit.run(call)]
    expect(results.map(({ content }) => content)).toEqual([
      results[0]?.content,
      results[0]?.content,
      results[0]?.content,
    ])
    expect(runs.length).toBe(1)
    expect(await visit.run({ ...call, args: { cents: 6 } })).toMatchObject({
      error: { code: 'E_DUPLICATE_INVOCATION' },
    })
  })

  test('has an identity of bounded length, and that of the application if it gives one', () => {
    const { visit } = paying()
    expect(visit.invocationOf('x'.repeat(100_000), 'pay')?.length).toBe('chat-1/'.length + 64)
    expect(visit.invocationOf(undefined, 'pay')).toBeUndefined()
    const other = paying([], { invocationId: (id, name) => `turn-7/${name}/${id}` })
    expect(other.visit.invocationOf('c1', 'pay')).toBe('turn-7/pay/c1')
  })

  test.each<[string, FrameworkOptions['values'], unknown, unknown]>([
    ['the framework’s context', undefined, { user: 'ada' }, { user: 'ada' }],
    ['those of the application', { tenant: 't' }, undefined, { tenant: 't' }],
    ['both', { tenant: 't', user: 'x' }, { user: 'ada', page: 7 }, { tenant: 't', user: 'x', page: 7 }],
    ['what the host makes of the context', (context) => ({ of: context }), 'run 5', { of: 'run 5' }],
    ['none', undefined, 'no object', {}],
  ])('has as values %s', async (_, values, context, expected) => {
    const { visit, runs } = paying([], values === undefined ? {} : { values })
    await visit.run({ ...large, args: { cents: 5 } }, { context })
    expect(runs).toEqual([{ cents: 5, values: expected }])
  })

  test('tells its own progress, and no longer than it runs', async () => {
    const { visit, executor } = paying()
    const events: unknown[] = []
    await Promise.all([
      visit.run({ ...large, args: { cents: 5 } }, { tell: ({ type, id }) => void events.push([id, type]) }),
      visit.run({ ...large, id: 'c2', args: { cents: 5 } }),
    ])
    await executor.execute({ name: 'pay', args: { cents: 5 } })
    expect(events).toEqual([['c1', 'paying']])
  })

  test('leaves out progress that is not read after 1,000 events, and says how many it has left out', async () => {
    const [flooded, last] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()]
    const flood = tool('flood', async (_input, { emit }) => {
      for (let index = 0; index < 50_000; index++) emit('step', index)
      flooded.resolve()
      await last.promise
      emit('last')
      return 'done'
    })
    const visit = new Visit({ executor: createExecutor({ tools: [flood] }), session: 'chat-1' }, 'test')
    const stream = visit.stream({ id: 'c1', name: 'flood', args: {} })
    const events = [(await stream.next()).value]
    await flooded.promise
    for (let index = 1; index < 1_000; index++) events.push((await stream.next()).value)
    last.resolve()
    let step = await stream.next()
    for (; step.done !== true; step = await stream.next()) events.push(step.value)
    expect(events.length).toBeLessThanOrEqual(2_001)
    expect(events.at(-1)).toMatchObject({ type: 'last', omitted: 50_001 - events.length })
    expect(step.value).toMatchObject({ status: 'ok' })
  })

  test('gives the words of what goes wrong, and never rejects', async () => {
    const { visit, reports } = paying([], {
      invocationId: () => {
        throw new Error('no id')
      },
    })
    expect(await visit.run(large)).toMatchObject({ status: 'error', isError: true, toolName: 'pay' })
    expect(await visit.run({ ...large, args: { cents: 'x' } })).toMatchObject({ isError: true })
    expect(reports).toMatchObject([{ message: 'no id' }, { message: 'no id' }])
  })
})

describe.each<[string, () => Extension[]]>([
  ['without a journal', () => []],
  ['with a journal', () => [memoryJournal()]],
])('a call to be asked about, %s', (title, use) => {
  const isRecorded = title === 'with a journal'

  test('waits, and runs with the answer, once', async () => {
    const { visit, runs, executor } = paying(use())
    expect(await visit.asks({ ...large, args: { cents: 5 } })).toBeUndefined()
    expect(await visit.asks(large)).toMatchObject({ prompt: 'Pay 500?' })
    expect(await visit.asks(large)).toMatchObject({ prompt: 'Pay 500?' }) // asked again, still one call
    expect((await executor.calls.waiting()).length).toBe(1)
    expect(runs).toEqual([])
    expect(await visit.run(large, { answer: allow })).toMatchObject({ status: 'ok' })
    expect(runs.length).toBe(1)
    const again = await visit.run(large, { answer: allow })
    expect(again.status).toBe(isRecorded ? 'ok' : 'error')
    expect(runs.length).toBe(1)
    if (isRecorded) expect((await executor.calls.get('chat-1/c1')).approval).toMatchObject({ decidedBy: 'test' })
  })

  test.each<[string, object]>([
    ['was not asked about', { ...large, id: 'c9' }],
    ['has other args than those shown', { ...large, args: { cents: 501 } }],
    ['has no id', { ...large, id: undefined }],
  ])('does not run with an answer if it %s, nor at a second try', async (_, forged) => {
    const { visit, runs, executor } = paying(use())
    await visit.asks(large)
    for (let time = 0; time < 3; time++) {
      const result = await visit.run(forged as never, { answer: allow })
      expect(result.isError).toBe(true)
      expect(result.error?.code).toMatch(/^E_(?:APPROVAL_INVALID|DUPLICATE_INVOCATION)$/)
    }
    expect(runs).toEqual([])
    expect((await executor.calls.waiting()).map(({ invocationId }) => invocationId)).toEqual(['chat-1/c1'])
  })

  test('does not run with an answer of another session', async () => {
    const { visit, runs, executor } = paying(use())
    await visit.asks(large)
    const other = new Visit({ executor, session: 'chat-2', invocationId: (id) => `chat-1/${id}` }, 'test')
    expect(await other.run(large, { answer: allow })).toMatchObject({ isError: true })
    expect(runs).toEqual([])
  })

  test('runs with the server’s own answer although it was not asked about, and says who decided', async () => {
    const { visit, runs } = paying(use(), { decidedBy: 'ada' })
    expect(await visit.run(large, { answer: allow, isVouched: true })).toMatchObject({ status: 'ok' })
    expect(runs.length).toBe(1)
    expect(await visit.run({ ...large, id: 'c2' }, { answer: deny, isVouched: true })).toMatchObject({
      status: 'denied',
    })
    expect(runs.length).toBe(1)
  })

  test('is denied in words, whether it waits or not', async () => {
    const { visit, runs, executor } = paying(use())
    await visit.asks(large)
    const denied = { status: 'denied', content: [{ text: expect.stringContaining('too much') as string }] }
    expect(await visit.run(large, { answer: deny })).toMatchObject(denied)
    expect(await visit.run({ ...large, id: 'c2' }, { answer: deny })).toMatchObject(denied)
    expect(await visit.run({ id: 'c3', name: 'pay', args: { cents: 5 } }, { answer: deny })).toMatchObject(denied)
    expect([runs.length, (await executor.calls.waiting()).length]).toEqual([0, 0])
  })

  test('is left to the approver of the executor, if it has one', async () => {
    let asked = 0
    const approver = { ask: async () => (asked++, { decision: 'allow' as const }) }
    const { visit, runs } = paying([...use(), { approver }])
    expect(await visit.asks(large)).toBeUndefined()
    expect([asked, runs.length]).toEqual([0, 0])
    await visit.run(large)
    expect([asked, runs.length]).toEqual([1, 1])
  })

  test('is heard of when it is denied elsewhere, and a client’s answer reaches it', async () => {
    const { visit, runs, executor } = paying(use())
    await visit.asks(large)
    expect((await visit.run({ id: 'c2', name: 'confirm' })).status).toBe('waiting')
    const heard = await visit.answer([
      { id: 'c1', name: 'pay', answer: deny },
      { id: 'c2', name: 'confirm', answer: { value: { yes: true } } },
      { id: 'c3', name: 'pay', answer: deny },
      { id: 'c1', name: 'pay', answer: { value: 'an answer to a question for a person' } },
    ])
    expect(heard.map(({ status }) => status)).toEqual(['denied', 'ok'])
    expect([runs.length, (await executor.calls.waiting()).length]).toEqual([0, 0])
  })

  test('is not approved by what is only heard', async () => {
    const { visit, runs, executor } = paying(use())
    await visit.asks(large)
    expect(await visit.answer([{ id: 'c1', name: 'pay', answer: allow }])).toEqual([])
    expect([runs.length, (await executor.calls.waiting()).length]).toEqual([0, 1])
  })
})

test('ten requests with the same answer at once, in two executors on one file, run the call once and all get its result', async () => {
  const file = journalFile()
  const both = [paying([sqliteJournal(file)]), paying([sqliteJournal(file)])]
  await both[0]?.visit.asks(large)
  const results = await Promise.all(
    Array.from({ length: 10 }, (_, index) => both[index % 2]!.visit.run(large, { answer: allow })),
  )
  expect(results.map(({ status }) => status)).toEqual(results.map(() => 'ok'))
  expect(both.flatMap(({ runs }) => runs).length).toBe(1)
})

test('args that were written for a lowered schema are those of the tool, with its callId', async () => {
  const find = tool({
    name: 'find',
    description: 'Finds',
    inputSchema: {
      anyOf: [
        { type: 'object', properties: { id: { type: 'integer' } }, required: ['id'], additionalProperties: false },
        { type: 'object', properties: { name: { type: 'string' } }, required: ['name'], additionalProperties: false },
      ],
    },
    handler: (input: unknown) => input,
  } as never)
  const executor = createExecutor({ tools: [find] })
  const plain = new Visit({ executor, session: 's' }, 'test')
  const lowered = new Visit({ executor, session: 's', dialect: 'anthropic' }, 'test')
  const [definition] = lowered.tools
  expect(definition && lowered.schemaOf(definition)).toMatchObject({ type: 'object', required: ['input'] })
  const results = [
    await plain.run(plain.callOf('a', 'find', { id: 5 })),
    await lowered.run(lowered.callOf('b', 'find', { input: { id: 5 } })),
    await lowered.run(lowered.callOf('c', 'find', '{"input":{"id":5}}')),
  ]
  expect(results.map(({ status }) => status)).toEqual(['ok', 'ok', 'ok'])
  expect(new Set(results.map(({ callId }) => callId)).size).toBe(1)
})

test('the JSON of a result has no token and no duration, and is the same each time', async () => {
  const { visit } = paying([memoryJournal()])
  const held = await visit.run(large)
  expect(held.status).toBe('waiting')
  expect(Object.keys(resultJson(held))).not.toContain('token')
  const call = { ...large, id: 'c2', args: { cents: 5 } }
  expect(resultJson(await visit.run(call))).toEqual(resultJson(await visit.run(call)))
})
