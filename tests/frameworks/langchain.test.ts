// LangChain and LangGraph, the packages themselves. The model is a node that says what it was told to say.
import type { ToolMessage } from '@langchain/core/messages'
import type { StructuredToolInterface } from '@langchain/core/tools'
import { computeCallId, createExecutor, shown, tool } from 'toolwright'
import { fromLangchain, langchainTools } from 'toolwright/frameworks/langchain'
import { describe, expect, test, vi } from 'vitest'
import { z } from 'zod'
import { framework } from './_framework.ts'
import { missing } from './_installed.ts'
import { createKit, inProcess, journalFile } from './_kit.ts'
import { runsOf } from './_tools.ts'

const { graphOf, toolsOf } = await framework(() => import('./drivers/langgraph.ts'))
const { Command, INTERRUPT, interrupt, isInterrupted, MemorySaver } = await framework(
  () => import('@langchain/langgraph'),
)
const { createReactAgent } = await framework(() => import('@langchain/langgraph/prebuilt'))
const { fakeModel } = await framework(() => import('@langchain/core/testing'))
const {
  DynamicStructuredTool,
  DynamicTool,
  StructuredTool,
  tool: theirTool,
} = await framework(() => import('@langchain/core/tools'))
const messages = await framework(() => import('@langchain/core/messages'))

const call = (id: string, args: object, name = 'pay') => ({ id, name, args: { ...args }, type: 'tool_call' as const })

async function invoke(
  tools: StructuredToolInterface[],
  wish: ReturnType<typeof call>,
  config?: object,
): Promise<ToolMessage> {
  const found = tools.find(({ name }) => name === wish.name)
  return (await found?.invoke(wish, config)) as ToolMessage
}

describe.skipIf(missing !== undefined)('langchainTools', () => {
  test('gives tools of LangChain’s own class, with the schema of the tool', () => {
    const [pay] = toolsOf(createKit().executor)
    expect(pay).toBeInstanceOf(DynamicStructuredTool)
    expect(pay).toMatchObject({ name: 'pay', description: 'Pays', schema: { required: ['cents'] } })
  })

  test('uses the id of the tool call, and the values of the run', async () => {
    const { executor, runs } = createKit()
    const tools = toolsOf(executor)
    const ada = await invoke(tools, call('c1', { cents: 5 }), { configurable: { toolwright: { user: 'ada' } } })
    const bob = await invoke(tools, call('c2', { cents: 6 }), { context: { user: 'bob' } })
    expect([ada.content, bob.content]).toEqual(['{"paid":5,"by":"ada"}', '{"paid":6,"by":"bob"}'])
    expect(await executor.calls.get('thread-1/c1')).toMatchObject({ status: 'ok', toolCallId: 'c1' })
    const again = await invoke(tools, call('c1', { cents: 5 }))
    expect(again.content).toBe(ada.content)
    expect(runs()).toEqual(['pay 5', 'pay 6'])
  })

  test('answers with a message whose artifact says which call it was', async () => {
    const message = await invoke(toolsOf(createKit().executor), call('c1', { cents: 5 }))
    expect(message).toBeInstanceOf(messages.ToolMessage)
    expect(message).toMatchObject({
      status: 'success',
      tool_call_id: 'c1',
      name: 'pay',
      artifact: { callId: computeCallId('pay', { cents: 5 }), invocationId: 'thread-1/c1', status: 'ok' },
    })
  })

  test('gives the values of a call what the run has, without the keys of LangGraph', async () => {
    const values: unknown[] = []
    const look = tool('look', (_, context) => void values.push(context.values))
    const [looking] = toolsOf(createExecutor({ tools: [look] }))
    const configurable = { thread_id: 't', user: 'ada', checkpoint_ns: 'tools', __pregel_task_id: '1' }
    const context = { user: 'bob', tenant: 'x' }
    const configs = [
      { configurable },
      { configurable, context },
      { configurable: { ...configurable, toolwright: { user: 'eve' } }, context },
    ]
    for (const [index, config] of configs.entries()) {
      await looking?.invoke({ ...call(`c${index}`, {}, 'look') }, config)
    }
    expect(values).toEqual([
      { thread_id: 't', user: 'ada' },
      { thread_id: 't', user: 'bob', tenant: 'x' },
      { user: 'eve' },
    ])
  })

  test('gives its message what the handler kept as its artifact, large or not, if it should', async () => {
    const rows = Array.from({ length: 4_000 }, (_, row) => ({ row }))
    const few = tool('few', () => shown('2 rows', rows.slice(0, 2)))
    const many = tool('many', () => shown('4,000 rows', rows))
    const plain = tool('plain', () => ({ rows: 2 }))
    const fails = tool('fails', () => Promise.reject(new Error('no disk')))
    const executor = createExecutor({ tools: [few, many, plain, fails] })
    const tools = toolsOf(executor, { artifact: 'value' })
    const answered = async (name: string) => invoke(tools, call(name, {}, name))
    expect(await answered('few')).toMatchObject({ content: '2 rows', artifact: [{ row: 0 }, { row: 1 }] })
    expect((await answered('many')).artifact).toEqual(rows)
    expect(await answered('plain')).toMatchObject({ content: '{"rows":2}', artifact: { rows: 2 } })
    expect(await answered('fails')).toMatchObject({ status: 'error', artifact: undefined })
    expect(() => toolsOf(executor, { artifact: 'values' as never })).toThrow(
      expect.objectContaining({
        code: 'E_INVALID_CONFIGURATION',
        message: expect.stringContaining('"values"') as string,
      }),
    )
  })

  test('gives the model pictures if it should, and a note otherwise', async () => {
    const { executor } = createKit()
    const core = { DynamicStructuredTool, ToolMessage: messages.ToolMessage }
    const contentOf = async (id: string, name: string, args: object, pictures?: boolean) => {
      const tools = langchainTools({ executor, session: 'thread-1', core, ...(pictures !== undefined && { pictures }) })
      return (await invoke(tools, call(id, args, name))).content
    }
    const url = 'data:image/png;base64,aGk='
    expect(await contentOf('c1', 'picture', {}, true)).toEqual([{ type: 'image_url', image_url: { url } }])
    expect(await contentOf('c2', 'picture', {})).toContain('image left out')
    expect(await contentOf('c3', 'pay', { cents: 5 }, true)).toBe('{"paid":5,"by":"unknown"}')
  })

  test('gives LangChain the options that a tool has for it, and keeps its own', () => {
    const libraryOptions = {
      langchain: { returnDirect: true, extras: { defer: 1 }, responseFormat: 'none' },
    }
    const hand = tool({ name: 'hand', description: 'Hands over', libraryOptions, handler: () => 'done' })
    const [handed, plain] = toolsOf(createExecutor({ tools: [hand, tool('plain', () => 'x')] }))
    expect(handed).toMatchObject({ returnDirect: true, extras: { defer: 1 }, responseFormat: 'content' })
    expect(plain).toMatchObject({ returnDirect: false, extras: undefined })
    const [again] = fromLangchain([handed!])
    expect(again?.libraryOptions['langchain']).toEqual({ returnDirect: true, extras: { defer: 1 } })
    expect(fromLangchain([plain!])[0]?.libraryOptions).toEqual({})
  })

  test('answers a call without an id with a text, and throws its error', async () => {
    const [pay] = toolsOf(createKit().executor)
    expect(await pay?.invoke({ cents: 5 })).toBe('{"paid":5,"by":"unknown"}')
    await expect(pay?.invoke({ cents: 'x' })).rejects.toMatchObject({ code: 'E_INVALID_TOOL_ARGS' })
  })

  test('tells the callbacks of the run, and the writer of the graph its progress', async () => {
    const notices: unknown[] = []
    const writer = (chunk: unknown): void => void notices.push(['writer', chunk])
    const callbacks = [
      {
        handleToolStart: () => void notices.push('start'),
        handleToolEvent: (chunk: unknown) => void notices.push(['event', chunk]),
        handleToolEnd: (output: ToolMessage) => void notices.push(['end', output.content]),
      },
    ]
    await invoke(toolsOf(createKit().executor), call('c1', {}, 'count'), { writer, callbacks })
    const [one, two] = ['one', 'two'].map((data) => {
      return { type: 'tool-progress', toolCallId: 'c1', toolName: 'count', progress: { type: 'yield', data } }
    })
    const progress = [
      ['writer', one],
      ['event', one],
      ['writer', two],
      ['event', two],
    ]
    expect(notices).toEqual(['start', ...progress, ['end', '{"counted":3}']])
  })

  test('leaves out tools that a provider runs, and says so', () => {
    const report = vi.fn()
    const search = tool({ type: 'provider', name: 'web_search', description: 'Searches', inputSchema: {} })
    expect(toolsOf(createExecutor({ tools: [search] }), { report })).toEqual([])
    expect(report).toHaveBeenCalledWith(expect.objectContaining({ code: 'E_INVALID_CONFIGURATION' }))
  })

  test('says that a call waits if there is no interrupt, and decide answers it', async () => {
    const { executor, runs } = createKit()
    const message = await invoke(toolsOf(executor), call('c1', { cents: 500 }))
    expect(message.artifact).toMatchObject({ status: 'waiting' })
    for (const waiting of await executor.calls.waiting({ session: 'thread-1' }))
      await executor.calls.decide(waiting, 'allow')
    expect(runs()).toEqual(['pay 500'])
  })
})

describe.skipIf(missing !== undefined)('langchainTools in a graph', () => {
  const pay = (cents: number) => ({ id: `c${cents}`, name: 'pay', args: { cents } })

  test('interrupt before a call that needs approval, and go on with the answer', async () => {
    const { executor, runs } = createKit()
    const graph = graphOf(toolsOf(executor, { interrupt }), [pay(5), pay(500)])
    expect(await graph.start()).toEqual({ asked: ['c500: Pay 500?'], said: {} })
    expect(runs()).toEqual(['pay 5'])
    const { said } = await graph.resume({ approved: true, note: 'fine' })
    expect(Object.keys(said)).toEqual(['c5', 'c500'])
    expect(runs()).toEqual(['pay 5', 'pay 500']) // LangGraph ran the node twice, and the call beside it ran once
    const { approval } = await executor.calls.get('thread-1/c500')
    expect(approval).toMatchObject({ decidedBy: 'langchain', note: 'fine' })
  })

  test('run calls twice without a journal, as LangGraph does, and say so once', async () => {
    const { executor, runs } = createKit()
    const report = vi.fn()
    const bare = createExecutor({ tools: executor.tools() })
    const graph = graphOf(toolsOf(bare, { interrupt, report }), [pay(5), pay(500)])
    await graph.start()
    await graph.resume(true)
    expect(runs()).toEqual(['pay 5', 'pay 5', 'pay 500'])
    expect(report.mock.calls).toEqual([
      [expect.objectContaining({ message: expect.stringContaining('journal') as string })],
    ])
  })

  test.each([
    ['the first', [true, false], ['pay 500']],
    ['the second', [false, true], ['pay 600']],
    ['both', [true, true], ['pay 500', 'pay 600']],
  ])('give each of two calls its own answer: a yes to %s', async (_, [first, second], paid) => {
    const { executor, runs } = createKit()
    const graph = graphOf(toolsOf(executor, { interrupt }), [pay(500), pay(600)])
    expect((await graph.start()).asked).toEqual(['c500: Pay 500?'])
    expect((await graph.resume({ approved: first })).asked).toEqual(['c600: Pay 600?'])
    await graph.resume({ approved: second })
    expect(runs()).toEqual(paid)
  })

  test.each([[false], ['true'], [1], [{ approved: 'true' }], [{}]])('take %j for no', async (answer) => {
    const { executor, runs } = createKit()
    const graph = graphOf(toolsOf(executor, { interrupt }), [pay(500)])
    await graph.start()
    const { said } = await graph.resume(answer)
    expect(said['c500']).toContain('Permission denied')
    expect(runs()).toEqual([])
  })

  test('give each question its own answer by its id, if an agent asks several at once', async () => {
    const { executor, runs } = createKit()
    const llm = fakeModel()
      .respondWithTools([pay(500), pay(700)])
      .respond(new messages.AIMessage('done'))
    const checkpointer = new MemorySaver()
    const agent = createReactAgent({ llm, tools: toolsOf(executor, { interrupt }), checkpointer, version: 'v2' })
    const config = { configurable: { thread_id: 'thread-1' } }
    const asked = await agent.invoke({ messages: [new messages.HumanMessage('go')] }, config)
    const questions = isInterrupted<{ toolCallId: string }>(asked) ? asked[INTERRUPT] : []
    const answers = questions.map(({ id = '', value }) => [id, { approved: value?.toolCallId === 'c700' }] as const)
    expect(answers).toHaveLength(2)
    const { messages: history } = await agent.invoke(new Command({ resume: Object.fromEntries(answers) }), config)
    expect(runs()).toEqual(['pay 700'])
    const results = history.filter((message) => message instanceof messages.ToolMessage)
    expect(results.map(({ tool_call_id: id, status }) => [id, status])).toEqual([
      ['c500', 'error'],
      ['c700', 'success'],
    ])
  })

  test('do not run other args than the person was shown, nor a call of another session', async () => {
    const { executor, runs } = createKit()
    await graphOf(toolsOf(executor, { interrupt }), [pay(500)]).start()
    const forged = graphOf(toolsOf(executor, { interrupt }), [{ ...pay(500), args: { cents: 90_000 } }])
    await forged.start()
    expect((await forged.resume({ approved: true })).said['c500']).toContain('already exists')
    const other = graphOf(toolsOf(executor, { interrupt, session: 'thread-2' }), [pay(500)])
    expect((await other.start()).asked).toEqual(['c500: Pay 500?'])
    expect((await executor.calls.waiting()).map(({ session }) => session)).toEqual(['thread-2', 'thread-1'])
    expect(runs()).toEqual([])
  })

  test('go on in another process, from their journal and their checkpoints', async () => {
    const file = journalFile()
    expect(await inProcess('_langgraph-child.ts', { file })).toEqual({ asked: ['c500: Pay 500?'], said: {} })
    expect(runsOf(file)).toEqual(['pay 5'])
    const turn = await inProcess('_langgraph-child.ts', { file, answer: { approved: true } })
    expect(turn).toMatchObject({ asked: [], said: { c500: '{"paid":500,"by":"unknown"}' } })
    expect(runsOf(file)).toEqual(['pay 5', 'pay 500'])
  })
})

describe.skipIf(missing !== undefined)('fromLangchain', () => {
  const finder = () =>
    theirTool(({ q }: { q: string }) => [`found ${q}`, { hits: [1, 2, 3] }], {
      name: 'find',
      description: 'Finds',
      schema: z.object({ q: z.string().min(2) }),
      responseFormat: 'content_and_artifact',
    })

  test('validates, runs, and keeps the artifact beside the words for the model', async () => {
    const tools = fromLangchain([finder()], { tools: { find: { traits: { readonly: true } } } })
    const executor = createExecutor({ tools })
    const result = await executor.execute({ id: 'x1', name: 'find', args: { q: 'abc' } })
    expect(result).toMatchObject({ status: 'ok', effect: 'none', content: [{ type: 'text', text: 'found abc' }] })
    expect(await result.artifact?.cat()).toBe('{"hits":[1,2,3]}')
    const refused = await executor.execute({ name: 'find', args: { q: 'a' } })
    expect(refused.error?.code).toBe('E_INVALID_TOOL_ARGS')
  })

  test('passes on errors, progress, values and the signal', async () => {
    const seen: unknown[] = []
    const slow = theirTool(
      async function* (_input: object, config: { configurable?: unknown; signal?: AbortSignal }) {
        yield { step: 1 }
        seen.push(config.configurable)
        await new Promise((_resolve, reject) =>
          config.signal?.addEventListener('abort', () => reject(new Error('stopped'))),
        )
      } as never,
      { name: 'slow', description: 'Is slow', schema: { type: 'object', properties: { x: { type: 'number' } } } },
    )
    const broken = theirTool(() => Promise.reject(new Error('no disk')), {
      name: 'broken',
      description: 'Breaks',
      schema: z.object({}),
    })
    const executor = createExecutor({ tools: fromLangchain([slow, broken]) })
    const leaving = new AbortController()
    executor.on('tool:progress', ({ data }) => {
      seen.push(data)
      setImmediate(() => leaving.abort())
    })
    const result = await executor.execute({ name: 'slow' }, { signal: leaving.signal, values: { user: 'ada' } })
    expect(result.status).toBe('cancelled')
    expect(seen).toEqual([{ step: 1 }, { user: 'ada' }])
    expect((await executor.execute({ name: 'broken' })).error).toMatchObject({
      code: 'E_TOOL_DOWNSTREAM_ERROR',
      message: expect.stringContaining('no disk') as string,
    })
  })

  test('takes tools that take a text, pictures, and messages that are errors', async () => {
    const shout = new DynamicTool({
      name: 'shout',
      description: 'Shouts',
      func: (text) => Promise.resolve(text.toUpperCase()),
    })
    const url = 'data:image/png;base64,iVBORw=='
    const parts = [
      { type: 'text', text: 'a dot' },
      { type: 'image_url', image_url: { url } },
    ]
    const draw = theirTool(() => parts, { name: 'draw', description: 'Draws', schema: z.object({}) })
    const refuse = theirTool(
      (_input: object, config: { toolCall?: { id?: string } }) =>
        new messages.ToolMessage({ content: 'not today', status: 'error', tool_call_id: config.toolCall?.id ?? '' }),
      { name: 'refuse', description: 'Refuses', schema: z.object({}) },
    )
    const executor = createExecutor({ tools: fromLangchain([shout, draw, refuse]) })
    expect((await executor.execute({ name: 'shout', args: { input: 'hey' } })).content).toEqual([
      { type: 'text', text: 'HEY' },
    ])
    expect((await executor.execute({ name: 'draw' })).content).toEqual([
      { type: 'text', text: 'a dot' },
      { type: 'image', data: 'iVBORw==', mimeType: 'image/png' },
    ])
    expect(await executor.execute({ name: 'refuse' })).toMatchObject({
      status: 'error',
      content: [{ text: expect.stringContaining('not today') as string }],
    })
  })

  test('parses args once, so that a transform gets what the model sent', async () => {
    const schema = z.object({ day: z.iso.date().transform((day) => new Date(day)), days: z.string().transform(Number) })
    class Report extends StructuredTool<typeof schema> {
      override name = 'report'
      override description = 'Reports'
      override schema = schema
      #made = 0
      protected override _call({ day, days }: z.output<typeof schema>) {
        return Promise.resolve(`${++this.#made}: ${day.getUTCFullYear()}, ${days + 1} days`)
      }
    }
    const plain = theirTool(({ day, days }) => `${day.getUTCFullYear()}, ${days + 1} days`, {
      name: 'plain',
      description: 'Is plain',
      schema,
    })
    const executor = createExecutor({ tools: fromLangchain([new Report(), plain]) })
    const args = { day: '2026-05-01', days: '2' }
    const texts: unknown[] = []
    for (const name of ['report', 'report', 'plain']) texts.push((await executor.execute({ name, args })).value)
    expect(texts).toEqual(['1: 2026, 3 days', '2: 2026, 3 days', '2026, 3 days'])
    expect((await executor.execute({ name: 'plain', args: { ...args, days: 2 } })).error?.code).toBe(
      'E_INVALID_TOOL_ARGS',
    )
  })

  test('says what to do with a tool that needs its graph', async () => {
    const schema = z.object({})
    const asks = theirTool(() => String(interrupt('Sure?')), { name: 'asks', description: 'Asks', schema })
    const moves = theirTool(() => new Command({ goto: 'end' }), { name: 'moves', description: 'Moves', schema })
    const executor = createExecutor({ tools: fromLangchain([asks, moves]) })
    const graph = graphOf(toolsOf(executor, { interrupt }), [
      { id: 'c1', name: 'asks', args: {} },
      { id: 'c2', name: 'moves', args: {} },
    ])
    const { asked, said } = await graph.start()
    expect(asked).toEqual([])
    expect(said['c1']).toContain('requiresConfirmation')
    expect(said['c2']).toContain('returned a Command')
  })

  test('gives tools that go out again as they came in', async () => {
    const tools = toolsOf(createExecutor({ tools: fromLangchain([finder()]) }))
    expect(await invoke(tools, call('c1', { q: 'abc' }, 'find'))).toMatchObject({
      content: 'found abc',
      status: 'success',
    })
  })
})
