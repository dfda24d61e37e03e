// What a hostile client, model or framework context tries at the hosts, without any framework.
import { createExecutor, tool, type Extension, type ToolExecutor } from 'toolwright'
import { aiSdkTools, fromAiSdk } from 'toolwright/frameworks/ai-sdk'
import { fromLangchain, langchainTools } from 'toolwright/frameworks/langchain'
import { memoryJournal } from 'toolwright/journals/memory'
import { describe, expect, onTestFinished, test } from 'vitest'
import { Visit, type FrameworkOptions } from '../../src/frameworks/_visit.ts'

interface Acting {
  readonly executor: ToolExecutor
  readonly ran: unknown[]
  readonly reports: unknown[]
  readonly createVisit: (options?: Partial<FrameworkOptions>) => Visit
}

function acting(use: readonly Extension[] = []): Acting {
  const ran: unknown[] = []
  const reports: unknown[] = []
  const wipe = tool({
    name: 'wipe',
    description: 'Wipes',
    requiresConfirmation: true,
    handler: (_, { values }) => (ran.push(values), 'wiped'),
  })
  const look = tool({ name: 'look', description: 'Looks', handler: (_, { values }) => (ran.push(values), 'seen') })
  const own = tool({ name: '__proto__', description: 'Has a name of objects', handler: () => 'own' })
  const executor = createExecutor({
    tools: [wipe, look, own],
    use: [...use],
    report: (error) => void reports.push(error),
  })
  onTestFinished(() => executor.close())
  const report = (error: unknown): void => void reports.push(error)
  const createVisit = (options: Partial<FrameworkOptions> = {}): Visit =>
    new Visit({ executor, session: 's', report, ...options }, 'test')
  return { executor, ran, reports, createVisit }
}

const allow = { decision: 'allow' } as const
const journals: [string, () => Extension[]][] = [
  ['without a journal', () => []],
  ['with a journal', () => [memoryJournal()]],
]

describe('the values of the application', () => {
  test('stand before those of the framework’s context, which a client may have sent', async () => {
    const { createVisit, ran } = acting()
    const visit = createVisit({ values: { user: 'ada', isAdmin: false } })
    await visit.run({ id: 'c1', name: 'look', args: {} }, { context: { user: 'root', isAdmin: true, page: 7 } })
    expect(ran).toEqual([{ user: 'ada', isAdmin: false, page: 7 }])
  })

  test('stand before a context with the names of objects', async () => {
    const { createVisit, ran } = acting()
    const context = JSON.parse('{"__proto__":{"isAdmin":true},"constructor":1}') as object
    await createVisit({ values: { user: 'ada' } }).run({ id: 'c1', name: 'look', args: {} }, { context })
    expect((ran[0] as { isAdmin?: unknown }).isAdmin).toBeUndefined()
    expect(ran[0]).toMatchObject({ user: 'ada' })
  })

  test('stand before what a caller of LangChain configures', async () => {
    const { executor, ran } = acting()
    class DynamicStructuredTool {
      call(input: unknown, config: unknown): Promise<unknown> {
        const iterate = async (): Promise<void> => {
          const events = (await (this as never as { _call: Function })._call(
            input,
            undefined,
            config,
          )) as AsyncGenerator // oxlint-disable-line
          while ((await events.next()).done !== true);
        }
        return iterate()
      }
    }
    const core = { DynamicStructuredTool, ToolMessage: class {} } as never
    const made = langchainTools<{ name?: string; call: DynamicStructuredTool['call'] }>({
      executor,
      session: 's',
      core,
      values: { user: 'ada' },
    })
    const hers = { toolCall: { id: 'c1' }, configurable: { toolwright: { user: 'root' } } }
    for (const each of made.slice(1, 2)) await each.call({}, hers)
    expect(ran).toEqual([{ user: 'ada' }])
  })
})

describe.each(journals)('%s', (_, use) => {
  test('ids of two sessions never meet, however the sessions and ids are named', async () => {
    const { createVisit, ran, executor } = acting(use())
    const [outer, inner] = [createVisit({ session: 'acme' }), createVisit({ session: 'acme/ada' })]
    const theirs = { id: 'ada/c1', name: 'wipe', args: {} }
    const hers = { id: 'c1', name: 'wipe', args: {} }
    expect(outer.invocationOf(theirs.id, 'wipe')).not.toBe(inner.invocationOf(hers.id, 'wipe'))
    expect(await outer.asks(theirs)).toBeDefined()
    expect(await inner.asks(hers)).toBeDefined()
    expect((await inner.run(hers, { answer: allow })).status).toBe('ok')
    expect(ran).toHaveLength(1)
    expect((await executor.calls.waiting()).map(({ session }) => session)).toEqual(['acme'])
  })

  test('an approval goes to no call of another tool under the same id', async () => {
    const { createVisit, ran } = acting(use())
    const visit = createVisit()
    await visit.asks({ id: 'c1', name: 'wipe', args: {} })
    const other = { id: 'c1', name: 'look', args: {} }
    expect(await visit.asks(other)).toBeUndefined()
    const { toolName, content } = await visit.run(other, { answer: allow })
    expect([toolName, JSON.stringify(content)]).toEqual(['look', expect.not.stringContaining('wiped')])
    expect(ran.length).toBeLessThanOrEqual(1)
  })

  test.each(['__proto__', 'constructor', '\ud800', '\u0000', '../../x', 'x'.repeat(1_000_000), '🦊'.repeat(300), ' '])(
    'an id of any kind neither throws nor runs what was not asked: %.20j',
    async (id) => {
      const { createVisit, ran } = acting(use())
      const visit = createVisit()
      const call = { id, name: 'wipe', args: {} }
      expect((await visit.run(call, { answer: allow })).isError).toBe(true)
      expect(ran).toEqual([])
      const asked = await visit.asks(call)
      const { status } = await visit.run(call, { answer: allow })
      expect([status, ran.length]).toEqual(asked === undefined ? ['error', 0] : ['ok', 1])
      await visit.answer([{ id, name: 'wipe', answer: { decision: 'deny' } }])
    },
  )

  test.each([10n, Symbol('x'), () => 1, '{"a":1,"a":2}', '\ud800', Object.assign([], { own: 1 })])(
    'args of any kind run nothing that a person was not asked about: %s',
    async (args) => {
      const { createVisit, ran } = acting(use())
      const visit = createVisit()
      const call = { id: 'c1', name: 'wipe', args }
      await visit.asks(call)
      expect((await visit.run({ ...call, args: {} }, { answer: allow })).isError).toBe(true)
      expect((await visit.run(call, { answer: allow })).isError).toBe(true)
      expect(ran).toEqual([])
    },
  )

  test('twenty requests with different answers at once run a call at most once', async () => {
    const { createVisit, ran } = acting(use())
    const call = { id: 'c1', name: 'wipe', args: {} }
    await createVisit().asks(call)
    const answers = Array.from({ length: 20 }, (__, index) =>
      createVisit().run(call, { answer: { decision: index % 2 === 0 ? 'deny' : 'allow' } }),
    )
    const results = await Promise.all(answers)
    expect(ran).toEqual([])
    expect(results.map(({ status }) => status)).not.toContain('ok')
  })

  test('a denial is not overturned by a later approval in the same history', async () => {
    const { createVisit, ran } = acting(use())
    const call = { id: 'c1', name: 'wipe', args: {} }
    await createVisit().asks(call)
    await createVisit().run(call, { answer: { decision: 'deny' } })
    for (let turn = 0; turn < 3; turn++) await createVisit().run(call, { answer: allow })
    expect(ran).toEqual([])
  })
})

test('evaluating a call tells, keeps and counts nothing', async () => {
  const { executor, ran } = acting([memoryJournal()])
  const events: unknown[] = []
  executor.on('*', (event) => void events.push(event))
  const options = { session: 's', invocationId: 'x' }
  for (let turn = 0; turn < 50; turn++) {
    const signal = AbortSignal.timeout(60_000)
    expect((await executor.evaluate({ name: 'wipe', args: {} }, { ...options, signal })).decision).toBe('ask')
  }
  expect([events, ran, await executor.calls.waiting(), await executor.calls.list()]).toEqual([[], [], [], []])
  expect((await executor.execute({ name: 'wipe' }, options)).status).toBe('waiting')
})

test('a held call waits whatever its policies, middleware and approver say', async () => {
  const ran: unknown[] = []
  const wipe = tool({
    name: 'wipe',
    description: 'Wipes',
    middleware: [async (_call: unknown, next: () => unknown) => (ran.push('middleware'), next())] as never,
    handler: () => (ran.push('handler'), 'wiped'),
  })
  const asked: unknown[] = []
  const executor = createExecutor({
    tools: [wipe],
    use: [
      { policies: [{ name: 'all', decide: () => undefined }] },
      { approver: { ask: async () => (asked.push(1), { decision: 'allow' as const }) } },
    ],
  })
  const { status } = await executor.execute({ name: 'wipe' }, { requireApproval: true })
  expect([status, ran, asked]).toEqual(['waiting', [], []])
  await executor.close()
})

test('a tool named as a member of all objects is a tool of the AI SDK like others', async () => {
  const { executor } = acting()
  const { tools } = aiSdkTools({ executor, session: 's' })
  expect(Object.keys(tools).toSorted()).toEqual(['__proto__', 'look', 'wipe'])
  expect(Object.getPrototypeOf(tools)).toBe(Object.prototype)
})

test('a schema that a framework has of a server passes, whatever words it has beside its keywords', async () => {
  const schema = { type: 'object', city: { type: 'string' } } as const
  const [ofLangchain] = fromLangchain([{ name: 'look', description: 'Looks', schema, invoke: async () => 'seen' }])
  const [ofAiSdk] = await fromAiSdk({ look: { inputSchema: { jsonSchema: schema }, execute: () => 'seen' } })
  for (const made of [ofLangchain!, ofAiSdk!]) {
    expect(made.describe().inputSchema).toEqual({ ...schema, properties: {} })
    expect(await createExecutor({ tools: [made] }).execute({ name: 'look', args: { city: 5 } })).toMatchObject({
      status: 'ok',
    })
  }
  const [plain] = fromLangchain([
    { name: 'any', description: 'Any', schema: { type: 'object' }, invoke: async () => 1 },
  ])
  expect(plain!.describe().inputSchema).toEqual({ type: 'object' })
})
