import type { ToolSet, UIMessage } from 'ai'
import { content, createExecutor, json, shown, tool, ToolFailure, type Extension, type ToolExecutor } from 'toolwright'
import { InvalidConfigurationError, ToolDeniedError, ToolError, ToolNotFoundError } from 'toolwright/errors'
import { aiSdkTools, type AiSdkApproval } from 'toolwright/frameworks/ai-sdk'
import { sqliteJournal } from 'toolwright/journals/sqlite'
import { describe, expect, onTestFinished, test } from 'vitest'
import { z } from 'zod'
import { framework } from './_framework.ts'
import { missing } from './_installed.ts'
import { journalFile, type Call } from './_kit.ts'

const { convertToModelMessages, generateText, readUIMessageStream, stepCountIs, streamText } = await framework(
  () => import('ai'),
)
const six = await framework(() => import('ai-6'))
const { MockLanguageModelV3 } = await framework(() => import('ai-6/test'))
const { modelOf, toolOutputOf } = await framework(() => import('./_ai-model.ts'))

const get_order = tool({
  name: 'get_order',
  description: 'Reads an order',
  inputSchema: z.object({ id: z.string() }),
  handler: ({ id }) => {
    if (id === 'none') throw new ToolFailure('No such order.', { recommendations: ['List the orders.'] })
    return { id, total: 5 }
  },
})
const count = tool({
  name: 'count',
  description: 'Counts',
  handler: async function* () {
    yield 'one'
    return { counted: 2 }
  },
})
const quick = [
  tool('text', () => 'words'),
  tool('empty', () => ''),
  tool('number', () => json(5)),
  tool('quoted', () => json('words')),
  tool('rows', () => shown('2 orders, both paid', [{ order: 1 }, { order: 2 }])),
  tool('picture', () => [{ type: 'image', data: 'aGk=', mimeType: 'image/png' }]),
  tool('mixed', () =>
    content([
      { type: 'text', text: 'See:' },
      { type: 'image', data: 'aGk=', mimeType: 'image/png' },
    ]),
  ),
  tool('log', () => Array.from({ length: 4_000 }, (_, line) => `line ${line}`).join('\n')),
]
const values: Readonly<Record<string, unknown>> = {
  get_order: { id: '7', total: 5 },
  count: { counted: 2 },
  text: 'words',
  empty: '',
  number: 5,
  quoted: 'words',
  rows: [{ order: 1 }, { order: 2 }],
  picture: [{ type: 'image', data: 'aGk=', mimeType: 'image/png' }],
  mixed: [
    { type: 'text', text: 'See:' },
    { type: 'image', data: 'aGk=', mimeType: 'image/png' },
  ],
}
const named = { get_order, count }
const session = 'chat-1'
const stopWhen = missing === undefined ? stepCountIs(3) : undefined

function executorWith(...use: Extension[]): ToolExecutor {
  const executor = createExecutor({ tools: [get_order, count, ...quick], use })
  onTestFinished(() => executor.close())
  return executor
}

type Part = Extract<UIMessage['parts'][number], { toolCallId: string }>

/** What the front end has in the end, as its JSON, and what the model read in the second step. */
interface Conversation {
  readonly parts: readonly Part[]
  readonly stored: UIMessage
  readonly model: ReturnType<typeof modelOf>
}

/** Lets a model make calls, and reads the stream as a front end does. */
async function conversation(
  {
    tools,
    toolApproval,
  }: { readonly tools: ToolSet; readonly toolApproval: { readonly [name: string]: AiSdkApproval } },
  calls: readonly Call[],
): Promise<Conversation> {
  const model = modelOf({ calls }, { text: 'done' })
  const { stream } = streamText({ model, tools, toolApproval, prompt: 'go', stopWhen: stopWhen! })
  const { toUIMessageStream } = await import('ai')
  let stored: UIMessage | undefined
  for await (const message of readUIMessageStream({ stream: toUIMessageStream({ stream, tools }) })) stored = message
  stored = JSON.parse(JSON.stringify(stored)) as UIMessage
  return { parts: stored.parts.filter((part): part is Part => 'toolCallId' in part), stored, model }
}

function callsOf(names: readonly string[]): Call[] {
  return names.map((name) => ({ id: name, name, args: name === 'get_order' ? { id: '7' } : {} }))
}

/** Each executor gives a large result a handle of its own. */
function withoutHandle(words: unknown): unknown {
  return JSON.parse(JSON.stringify(words).replace(/artifact_\w+/g, 'artifact_…'))
}

describe.skipIf(missing !== undefined)('a front end of the AI SDK', () => {
  describe('with the values of tools', () => {
    test('gets what the handlers returned, and the model reads what it read before', async () => {
      const names = [...Object.keys(values), 'log']
      const before = await conversation(aiSdkTools({ executor: executorWith(), session }), callsOf(names))
      const { tools, toolApproval, results } = aiSdkTools({ executor: executorWith(), session, output: 'value' })
      const { parts, model } = await conversation({ tools, toolApproval }, callsOf(names))
      const shownValues = Object.fromEntries(parts.map(({ toolCallId, output }) => [toolCallId, output]))
      const { log, ...rest } = shownValues
      expect(rest).toEqual(values)
      expect(log).toMatch(/^line 0\n[^]*artifact_/)
      for (const name of names) {
        const words = toolOutputOf(model.doStreamCalls[1]?.prompt, name)
        expect(withoutHandle(words)).toEqual(withoutHandle(toolOutputOf(before.model.doStreamCalls[1]?.prompt, name)))
      }
      expect(results.get('get_order')).toMatchObject({ status: 'ok', toolName: 'get_order', effect: 'completed' })
      expect([...results.keys()].toSorted()).toEqual(names.toSorted())
    })

    test('sends stored values back, and the model reads the same words with a journal, in a later process too', async () => {
      const file = journalFile()
      const names = [...Object.keys(values), 'log']
      const first = aiSdkTools({ executor: executorWith(sqliteJournal(file)), session, output: 'value' })
      const { stored, model } = await conversation(first, callsOf(names))
      const later = aiSdkTools({ executor: executorWith(sqliteJournal(file)), session, output: 'value' })
      const messages = await convertToModelMessages([stored], { tools: later.tools })
      for (const name of names)
        expect(toolOutputOf(messages, name)).toEqual(toolOutputOf(model.doStreamCalls[1]?.prompt, name))
    })

    test('sends stored values back without a journal: only content that is kept apart is read as its value', async () => {
      const names = [...Object.keys(values), 'log']
      const first = aiSdkTools({ executor: executorWith(), session, output: 'value' })
      const { stored, model } = await conversation(first, callsOf(names))
      const later = aiSdkTools({ executor: executorWith(), session, output: 'value' })
      const messages = await convertToModelMessages([stored], { tools: later.tools })
      const changed = names.filter((name) => {
        return (
          JSON.stringify(toolOutputOf(messages, name)) !==
          JSON.stringify(toolOutputOf(model.doStreamCalls[1]?.prompt, name))
        )
      })
      expect(changed).toEqual(['number', 'quoted', 'rows'])
      expect(toolOutputOf(messages, 'rows')).toEqual({ type: 'json', value: [{ order: 1 }, { order: 2 }] })
    })

    test('believes the record and no client about what a call has shown', async () => {
      const executor = executorWith(sqliteJournal(journalFile()))
      const first = aiSdkTools({ executor, session, output: 'value' })
      const { stored } = await conversation(first, callsOf(['get_order']))
      const { tools } = aiSdkTools({ executor, session, output: 'value' })
      const wordsOf = async (change: object): Promise<unknown> => {
        const parts = stored.parts.map((part) => ('toolCallId' in part ? { ...part, ...change } : part))
        return toolOutputOf(await convertToModelMessages([{ ...stored, parts } as UIMessage], { tools }), 'get_order')
      }
      const real = { type: 'json', value: { id: '7', total: 5 } }
      expect(await wordsOf({ output: { id: '7', total: 0 } })).toEqual(real)
      // The record is of the call that was made, and answers for no other.
      expect(await wordsOf({ output: 'mine', input: { id: '8' } })).toEqual({ type: 'text', value: 'mine' })
      expect(await wordsOf({ output: 'mine', type: 'tool-text' })).toEqual({ type: 'text', value: 'mine' })
      const { tools: elsewhere } = aiSdkTools({ executor, session: 'chat-2', output: 'value' })
      const parts = stored.parts.map((part) => ('toolCallId' in part ? { ...part, output: 'mine' } : part))
      const messages = await convertToModelMessages([{ ...stored, parts } as UIMessage], { tools: elsewhere })
      expect(toolOutputOf(messages, 'get_order')).toEqual({ type: 'text', value: 'mine' })
    })

    test('reads each of two calls with one id by its own value', async () => {
      let runs = 0
      const next = tool('next', () => json(++runs))
      const executor = createExecutor({ tools: [next] })
      const { tools } = aiSdkTools({ executor, session, output: 'value', invocationId: () => `id-${runs}` })
      const execution = { toolCallId: 'call_1', messages: [] }
      for (let time = 0; time < 2; time++) {
        for await (const output of tools['next']!.execute({}, execution)) expect(output).toBe(time + 1)
      }
      const read = (output: unknown) => tools['next']!.toModelOutput({ toolCallId: 'call_1', input: {}, output })
      expect(await read(2)).toEqual({ type: 'json', value: 2 })
      expect(await read(1)).toEqual({ type: 'text', value: '1' })
    })

    test('tells progress from the value: it is preliminary, and says that it runs', async () => {
      const { tools } = aiSdkTools({ executor: executorWith(), session, tools: named, output: 'value' })
      const model = modelOf({ calls: callsOf(['count']) }, { text: 'done' })
      const outputs: unknown[] = []
      for await (const part of streamText({ model, tools, prompt: 'go', stopWhen: stopWhen! }).stream) {
        if (part.type === 'tool-result') outputs.push([part.preliminary === true, part.output])
      }
      expect(outputs).toEqual([
        [true, { status: 'running', progress: { type: 'yield', data: 'one' } }],
        [true, { counted: 2 }],
        [false, { counted: 2 }],
      ])
    })

    test('reads what was stored before as the results that they are, and values that only look so as values', async () => {
      const executor = executorWith()
      const before = await conversation(aiSdkTools({ executor, session }), callsOf(['get_order', 'rows', 'picture']))
      const { tools } = aiSdkTools({ executor, session, output: 'value' })
      const messages = await convertToModelMessages([before.stored], { tools })
      for (const name of ['get_order', 'rows', 'picture']) {
        expect(toolOutputOf(messages, name)).toEqual(toolOutputOf(before.model.doStreamCalls[1]?.prompt, name))
      }
      const output = { content: ['a page'], status: 'draft' }
      const words = await tools['text']!.toModelOutput({ toolCallId: 'x', input: {}, output })
      expect(words).toEqual({ type: 'json', value: output })
    })

    test('renders outputs of any shape, and none throws', async () => {
      const { tools } = aiSdkTools({ executor: executorWith(sqliteJournal(journalFile())), session, output: 'value' })
      const self: Record<string, unknown> = {}
      self['self'] = self
      const outputs = [undefined, null, 5, true, '', {}, [], [null], [{ type: 'image' }], [{ type: 'resource' }], [5]]
      for (const output of [...outputs, { content: [null], status: 'ok', invocationId: 'x', toolName: 'x' }]) {
        const words = await tools['text']!.toModelOutput({ toolCallId: 'c', input: self, output })
        expect(words.type).toMatch(/^(?:text|json)$/)
      }
    })

    test('keeps the results of the newest 256 calls', async () => {
      const { tools, results } = aiSdkTools({ executor: executorWith(), session, output: 'value' })
      for (let index = 0; index < 260; index++) {
        for await (const _ of tools['text']!.execute({}, { toolCallId: `c${index}`, messages: [] }));
      }
      expect([results.size, results.has('c3'), results.has('c4'), results.has('c259')]).toEqual([
        256,
        false,
        true,
        true,
      ])
    })

    test('has a client’s own value as its output, as before', async () => {
      const choose = tool({ name: 'choose', description: 'Asks', type: 'client', requiresResponse: true })
      const executor = createExecutor({ tools: [choose] })
      const { tools } = aiSdkTools({ executor, session, tools: { choose }, output: 'value', errors: 'output-error' })
      expect(tools.choose).not.toHaveProperty('execute')
      const words = await tools.choose.toModelOutput({ toolCallId: 'c', input: {}, output: { chosen: 'blue' } })
      expect(words).toEqual({ type: 'json', value: { chosen: 'blue' } })
    })
  })

  describe('with errors in parts of their own', () => {
    const deny: Extension = { policies: [{ name: 'no', decide: () => ({ decision: 'deny', reason: 'Not today.' }) }] }
    const orders = [
      { id: 'bad', name: 'get_order', args: { id: 'none' } },
      { id: 'good', name: 'get_order', args: { id: '7' } },
      { id: 'wrong', name: 'get_order', args: { id: 7 } },
    ]

    test.each(['envelope', 'value'] as const)('has the words that the model reads, with output %s', async (output) => {
      const before = await conversation(aiSdkTools({ executor: executorWith(), session }), orders)
      const set = aiSdkTools({ executor: executorWith(), session, output, errors: 'output-error' })
      const { parts, stored, model } = await conversation(set, orders)
      expect(parts.map(({ state }) => state)).toEqual(['output-error', 'output-available', 'output-error'])
      expect(parts[0]?.errorText).toBe('No such order. Recommendations: List the orders.')
      expect(parts[2]?.errorText).toContain('expected string')
      const later = await convertToModelMessages([stored], { tools: set.tools })
      for (const { id } of orders) {
        const words = toolOutputOf(model.doStreamCalls[1]?.prompt, id)
        expect(words).toEqual(toolOutputOf(before.model.doStreamCalls[1]?.prompt, id))
        expect(toolOutputOf(later, id)).toEqual(words)
      }
      expect(set.results.get('bad')).toMatchObject({ status: 'error', error: { code: 'E_TOOL_DOWNSTREAM_ERROR' } })
      expect(set.results.get('wrong')).toMatchObject({ status: 'error', error: { code: 'E_INVALID_TOOL_ARGS' } })
    })

    test('throws the typed error to the server, with the first error as its cause', async () => {
      const { tools } = aiSdkTools({ executor: executorWith(), session, tools: named, errors: 'output-error' })
      const request = { tools, prompt: 'go', stopWhen: stopWhen! }
      const { steps } = await generateText({ ...request, model: modelOf({ calls: orders }, { text: 'done' }) })
      const [failure] = steps[0]!.content.filter((part) => part.type === 'tool-error')
      const error = failure?.error as ToolError
      expect(error).toBeInstanceOf(ToolError)
      expect([error.code, error.invocationId]).toEqual(['E_TOOL_DOWNSTREAM_ERROR', 'chat-1/bad'])
      expect(error.recommendations).toEqual(['List the orders.'])
      expect((error.cause as ToolError).message).toContain('Tool "get_order" failed')
    })

    test('has the words of a denial, and of a call that waits, which have no value either', async () => {
      const calls = callsOf(['get_order'])
      const set = aiSdkTools({ executor: executorWith(deny), session, output: 'value', errors: 'output-error' })
      const denied = await conversation(set, calls)
      expect(denied.parts[0]).toMatchObject({ state: 'output-error', errorText: expect.stringContaining('Not today.') })
      expect(set.results.get('get_order')).toMatchObject({ status: 'denied' })

      const pay = tool({ name: 'pay', description: 'Pays', requiresConfirmation: true, handler: () => 'paid' })
      const executor = createExecutor({ tools: [pay] })
      const { tools, results } = aiSdkTools({
        executor,
        session,
        tools: { pay },
        output: 'value',
        errors: 'output-error',
      })
      // Without `toolApproval` the SDK asks no person.
      const waiting = await conversation({ tools, toolApproval: {} }, callsOf(['pay']))
      expect(waiting.parts[0]).toMatchObject({ state: 'output-error', errorText: expect.stringMatching(/approval/i) })
      const output = toolOutputOf(waiting.model.doStreamCalls[1]?.prompt, 'pay')
      expect(output).toEqual({ type: 'error-text', value: waiting.parts[0]?.errorText })
      expect(results.get('pay')?.isError).toBe(false)
      expect(JSON.stringify(results.get('pay'))).not.toContain('token')
      const execution = { toolCallId: 'again', messages: [] }
      await expect(tools.pay.execute({}, execution).next()).rejects.toBeInstanceOf(ToolDeniedError)
    })

    test('asks a person as before: a yes gives the value in the next request, a no the SDK’s own part', async () => {
      const pay = tool({ name: 'pay', description: 'Pays', requiresConfirmation: true, handler: () => ({ paid: 5 }) })
      const executor = createExecutor({ tools: [pay] })
      for (const approved of [true, false]) {
        const options = { executor, session: `chat-${approved}`, output: 'value', errors: 'output-error' } as const
        const { stored } = await conversation(aiSdkTools(options), callsOf(['pay']))
        const parts = stored.parts.map((part) => {
          if (!('toolCallId' in part) || part.state !== 'approval-requested') return part
          return { ...part, state: 'approval-responded', approval: { ...part.approval, approved } }
        })
        const next = aiSdkTools(options)
        const messages = await convertToModelMessages([{ ...stored, parts } as UIMessage], { tools: next.tools })
        await next.answer(messages)
        const model = modelOf({ text: 'done' })
        const outputs: unknown[] = []
        const { stream } = streamText({ model, tools: next.tools, toolApproval: next.toolApproval, messages })
        for await (const part of stream) if (part.type === 'tool-result' && !part.preliminary) outputs.push(part.output)
        expect(outputs).toEqual(approved ? [{ paid: 5 }] : [])
        const words = toolOutputOf(model.doStreamCalls[0]?.prompt, 'pay')
        expect(words).toMatchObject(approved ? { type: 'json', value: { paid: 5 } } : { type: 'execution-denied' })
      }
    })

    test('shows nothing of an error that the model is not shown', async () => {
      const secret = tool({
        name: 'secret',
        description: 'Fails',
        exposeErrors: false,
        handler: () => {
          throw new Error('password is hunter2')
        },
      })
      const executor = createExecutor({ tools: [secret] })
      const { tools } = aiSdkTools({ executor, session, tools: { secret }, errors: 'output-error' })
      const { parts } = await conversation({ tools, toolApproval: {} }, callsOf(['secret']))
      expect(parts[0]?.errorText).toBe('The tool failed; the reason is not shown.')
    })

    test('still has the result of a call without success as its output by default', async () => {
      const { tools, toolApproval } = aiSdkTools({ executor: executorWith(), session, output: 'value' })
      const { parts, stored, model } = await conversation({ tools, toolApproval }, orders)
      expect(parts[0]).toMatchObject({ state: 'output-available', output: { status: 'error', isError: true } })
      expect(parts[1]).toMatchObject({ output: { id: '7', total: 5 } })
      const words = toolOutputOf(model.doStreamCalls[1]?.prompt, 'bad')
      expect(words).toEqual({ type: 'error-text', value: 'No such order. Recommendations: List the orders.' })
      const { tools: later } = aiSdkTools({ executor: executorWith(), session, output: 'value' })
      expect(toolOutputOf(await convertToModelMessages([stored], { tools: later }), 'bad')).toEqual(words)
    })
  })

  test('has version 6 with the same values and errors', async () => {
    const { tools, results } = aiSdkTools({
      executor: executorWith(),
      session,
      tools: named,
      version: 6,
      output: 'value',
      errors: 'output-error',
    })
    const calls = [...callsOf(['get_order', 'count']), { id: 'bad', name: 'get_order', args: { id: 'none' } }]
    const said = modelOf({ calls }, { text: 'done' })
    const model = new MockLanguageModelV3({ doGenerate: (options) => said.doGenerate(options as never) as never })
    const { steps } = await six.generateText({ model, tools, prompt: 'go', stopWhen: six.stepCountIs(3) })
    const [first, second] = steps[0]!.toolResults
    expect([first?.output, second?.output]).toEqual([{ id: '7', total: 5 }, { counted: 2 }])
    const text = 'No such order. Recommendations: List the orders.'
    expect(toolOutputOf(model.doGenerateCalls[1]?.prompt, 'bad')).toEqual({ type: 'error-text', value: text })
    expect(toolOutputOf(model.doGenerateCalls[1]?.prompt, 'count')).toEqual({ type: 'json', value: { counted: 2 } })
    expect(results.get('bad')?.status).toBe('error')
  })

  describe('that names its tools', () => {
    test('is offered all the tools of the executor', () => {
      const { tools, toolApproval, results } = aiSdkTools({ executor: executorWith(), session, tools: named })
      const all = aiSdkTools({ executor: executorWith(), session })
      expect(Object.keys(tools)).toEqual(Object.keys(all.tools))
      expect(Object.keys(toolApproval)).toEqual(Object.keys(all.toolApproval))
      expect(results.size).toBe(0)
    })

    test.each<[string, object, new (message: string) => ToolError, RegExp]>([
      [
        'a tool under another name',
        { order: get_order },
        InvalidConfigurationError,
        /tools\["order"\].*is the tool "get_order".*write \{ "get_order": … \}/,
      ],
      [
        'a tool that the executor lacks',
        { lost: tool('lost', () => 1) },
        ToolNotFoundError,
        /tools\["lost"\].*createExecutor\(\{ tools \}\)/,
      ],
      [
        'another definition',
        { get_order: get_order.with({ description: 'x' }) },
        InvalidConfigurationError,
        /another definition.*`with` makes another/,
      ],
      [
        'what is no tool',
        { get_order: { name: 'get_order' } },
        InvalidConfigurationError,
        /tools\["get_order"\].*no tool of Toolwright/,
      ],
      ['a name without a tool', { get_order: undefined }, InvalidConfigurationError, /no tool of Toolwright/],
      ['a list', [get_order], InvalidConfigurationError, /tools by their names.*not an array/],
      ['null', null as never, InvalidConfigurationError, /not null/],
    ])('is told of %s', (_, tools, Class, words) => {
      const executor = executorWith()
      const make = (): unknown => aiSdkTools({ executor, session, tools: tools as never })
      expect(make).toThrow(Class)
      expect(make).toThrow(words)
    })

    test('is told of a tool that models may not call', () => {
      const hidden = tool({ name: 'hidden', description: 'For people', audience: 'user', handler: () => 1 })
      const executor = createExecutor({ tools: [hidden] })
      expect(() => aiSdkTools({ executor, session, tools: { hidden } })).toThrow(ToolNotFoundError)
    })

    test.each([
      [{ output: 'values' }, /takes "envelope" or "value" as `output`, not "values"/],
      [{ errors: 'throw' }, /takes "output-available" or "output-error" as `errors`, not "throw"/],
      [{ errors: true }, /as `errors`, not true/],
      [{ version: 5 }, /takes 6 or 7, .* \(for 5 there is `aiSdk` of .*\), as `version`, not 5\.$/],
      [{ version: 8 }, /as `version`, not 8\.$/],
      [{ version: '7' }, /as `version`, not "7"\.$/],
    ])('is told of options that do not exist: %o', (options, words) => {
      expect(() => aiSdkTools({ executor: executorWith(), session, ...(options as object) })).toThrow(words)
    })
  })
})
