// A call through a bridge is the call of the tool that the bridge's args name, and tells beside it which bridge named it.
import {
  createExecutor,
  tool,
  ToolRegistry,
  type Extension,
  type Tool,
  type ToolCall,
  type ToolEvent,
  type ToolExecutor,
  type ToolResult,
} from 'toolwright'
import { memoryJournal } from 'toolwright/journals/memory'
import { cache } from 'toolwright/middleware/cache'
import { budget } from 'toolwright/policies/budget'
import { permissions } from 'toolwright/policies/permissions'
import { rateLimit } from 'toolwright/policies/rate-limit'
import { repeats } from 'toolwright/policies/repeats'
import { shadow } from 'toolwright/policies/shadow'
import { describe, expect, test } from 'vitest'
import { deferred, heard, names, outcome, sink, text, turn, work } from './_calls.ts'
import { places } from './_journals.ts'

const through = tool({
  name: 'tool_call',
  description: 'Calls a tool by its name',
  type: 'bridge',
  aliases: ['call_tool'],
  inputSchema: { type: 'object', properties: { name: { type: 'string' }, args: {} }, required: ['name', 'args'] },
})

interface Ran {
  readonly name: string
  readonly input: unknown
}

/** A tool of each kind. What ran is noted. */
function tools(ran: Ran[] = []): Tool[] {
  const noting =
    (name: string, answer: (input: never) => unknown) =>
    (input: never): unknown => {
      ran.push({ name, input })
      return answer(input)
    }
  const sum = {
    type: 'object',
    properties: { a: { type: 'number' }, b: { type: 'number', default: 2 } },
    required: ['a'],
    additionalProperties: false,
  }
  return [
    through,
    work(
      'echo',
      noting('echo', (input) => input),
      { aliases: ['say_again'] },
    ),
    work(
      'add',
      noting('add', ({ a, b = 2 }: { a: number; b?: number }) => a + b),
      { inputSchema: sum },
    ),
    work(
      'pay',
      noting('pay', () => 'paid'),
      { requiresConfirmation: true, secrets: ['/to'] },
    ),
    work(
      'wipe',
      noting('wipe', () => 'gone'),
      { traits: { destructive: true } },
    ),
    work(
      'boom',
      noting('boom', () => Promise.reject(new Error('it broke'))),
    ),
    work(
      'admin',
      noting('admin', () => 'done'),
      { audience: 'user' },
    ),
    work(
      'large',
      noting('large', () => 'line\n'.repeat(20_000)),
    ),
    work(
      'wrong',
      noting('wrong', () => 'text'),
      { outputSchema: { type: 'object' } },
    ),
    work(
      'late',
      noting('late', () => new Promise(() => {})),
      { timeout: 20 },
    ),
    tool({ name: 'ask', description: 'Asks', type: 'client', requiresResponse: true, inputSchema: { type: 'object' } }),
    tool({ name: 'show', description: 'Shows', type: 'client', inputSchema: { type: 'object' } }),
    tool({ name: 'answer', description: 'Answers', type: 'output', inputSchema: { type: 'object' } }),
    tool({ name: 'hosted', description: 'Is run by the provider', type: 'provider' }),
  ]
}

/** What differs from one run to the next of the same call. */
const ofOneRun = new Set(
  'timestamp durationMs createdAt updatedAt startedAt completedAt decidedAt expiresAt token digest previous'.split(' '),
)

/** Returns a value as JSON, without what differs from run to run, and without what only a bridged call has. */
function plain(value: unknown): unknown {
  const json = JSON.stringify(value, (key, member: unknown) => {
    if (ofOneRun.has(key) || key === 'via') return undefined
    return Array.isArray(member) ? member.filter((block) => !isSchemaBlock(block)) : member
  })
  return json === undefined ? undefined : (JSON.parse(json.replaceAll(/artifact_[0-9a-f]{40}/g, 'artifact')) as unknown)
}

function isSchemaBlock(block: unknown): boolean {
  const words = typeof block === 'object' && block !== null && 'text' in block ? block.text : undefined
  return typeof words === 'string' && /^The args of \w+ fit this schema: \{/.test(words)
}

const denials = permissions({ mode: 'auto', autoDenyTools: ['wipe'] })

function sample(args: unknown): string {
  try {
    return (JSON.stringify(args) ?? 'nothing').slice(0, 30)
  } catch {
    return 'what JSON cannot hold'
  }
}

interface Story {
  readonly result: ToolResult
  readonly later: ToolResult | undefined
  readonly events: readonly ToolEvent[]
  readonly record: unknown
  readonly evaluation: unknown
  readonly ran: readonly Ran[]
}

/** Makes one call in an executor of its own, and answers it if it waits. */
async function storyOf(call: ToolCall, hasJournal: boolean): Promise<Story> {
  const ran: Ran[] = []
  const use: Extension[] = [denials, ...(hasJournal ? [memoryJournal()] : [])]
  const executor = createExecutor({ tools: tools(ran), use })
  const events = heard(executor)
  const options = { session: 's', invocationId: 'mine', principal: 'ada' }
  const evaluation = await executor.evaluate(call, options)
  const result = await executor.execute(call, options)
  const { token } = result
  let later: ToolResult | undefined
  if (token !== undefined) {
    const isAsked = events.some((event) => event.event === 'call:waiting' && event.reason === 'client')
    later = isAsked ? await executor.calls.respond(token, { said: 'yes' }) : await executor.calls.decide(token, 'allow')
  }
  const record = hasJournal ? await executor.calls.get('mine') : undefined
  await executor.close()
  return { result, later, events, record, evaluation, ran }
}

const cases: readonly (readonly [string, unknown, Partial<ToolCall>?])[] = [
  ['echo', {}],
  ['echo', undefined],
  ['echo', null],
  ['echo', []],
  ['echo', 'no JSON'],
  ['echo', '{"a":1}'],
  ['echo', '{"a":1,"a":2}'],
  ['echo', ''],
  ['echo', '[1]'],
  ['echo', { z: 1, a: [1, { b: null }], 'é\u2028': '\\' }],
  ['echo', { n: 1e21, m: -0, f: 0.1 }],
  ['echo', JSON.parse('{"__proto__":{"polluted":true}}')],
  ['echo', { x: 'y'.repeat(250_000) }],
  ['echo', { name: 'add', args: { a: 1 } }],
  ['say_again', { by: 'alias' }],
  ['add', { a: 1 }],
  ['add', { b: 3, a: 1 }],
  ['add', { a: '1' }],
  ['add', { a: 1, c: 2 }],
  ['add', {}],
  ['add', '{"a":40}'],
  ['pay', { to: 'iban-secret-77', cents: 5 }],
  ['pay', '{"to":"iban-secret-77"}'],
  ['wipe', {}],
  ['boom', {}],
  ['admin', {}],
  ['large', {}],
  ['wrong', {}],
  ['late', {}],
  ['ask', { question: 'sure?' }],
  ['show', { text: 'hello' }],
  ['answer', { sum: 3 }],
  ['hosted', {}],
  ['hosted', {}, { result: 'what the provider found' }],
  ['no_such_tool', {}],
  ['no_such_tool', { to: 'iban-secret-77' }],
  ['x'.repeat(10_000), {}],
  ['toString', {}],
  ['constructor', {}],
  ['__proto__', {}],
]

/** Args that are refused as a value, and as a part of a text are no text. */
const refused: typeof cases = [
  ['echo', { x: 'y'.repeat(300_000) }],
  ['echo', { lone: '\ud800' }],
  ['echo', { big: 1n }],
  ['echo', { date: new Date(0) }],
  ['pay', Object.defineProperty({}, 'to', { enumerable: true, get: () => { throw new Error('unreadable') } })], // prettier-ignore
]

const forms: readonly (readonly [string, (name: string, args: unknown) => unknown])[] = [
  ['an object', (name, args) => ({ name, args })],
  ['JSON text', (name, args) => JSON.stringify({ name, args })],
]

describe.each([
  ['with a journal', true],
  ['without a journal', false],
])('a call through a bridge, %s, is that of the tool', (_journal, hasJournal) => {
  const pairs = forms.flatMap(([form, wrap]) =>
    [...cases, ...(form === 'an object' ? refused : [])].map(([name, args, rest = {}]) => {
      const title = [name.slice(0, 20), sample(args), ...Object.keys(rest), 'in', form].join(' ')
      return { title, direct: { id: 'c1', name, args, ...rest }, wrapped: wrap(name, args), rest }
    }),
  )

  test.each(pairs)('in result, events, record and evaluation: $title', async ({ direct, wrapped, rest }) => {
    const [plainly, bridged] = await Promise.all([
      storyOf(direct, hasJournal),
      storyOf({ id: 'c1', name: 'tool_call', args: wrapped, ...rest }, hasJournal),
    ])
    expect(plain(bridged)).toEqual(plain(plainly))
    expect(bridged.result).toMatchObject({ via: 'tool_call', callId: plainly.result.callId })
    expect(plainly.result).not.toHaveProperty('via')
    const [first, ...others] = bridged.events
    expect(first).toMatchObject({ event: 'call:received', via: 'tool_call' })
    expect(others.filter((event) => 'via' in event)).toEqual([])
    expect(plainly.events.filter((event) => 'via' in event)).toEqual([])
    if (bridged.later !== undefined) expect(bridged.later.via).toBe('tool_call')
    if (hasJournal) expect(bridged.record).toMatchObject({ via: 'tool_call', name: bridged.result.toolName })
    expect(JSON.stringify([bridged.events, bridged.record, bridged.result])).not.toContain('iban-secret-77')
  })
})

describe('wrong args through a bridge', () => {
  const wrongArgs = { name: 'tool_call', args: { name: 'add', args: { a: 'x' } } }

  test('carry the schema of the tool in a second block; right ones carry nothing', async () => {
    const executor = createExecutor({ tools: tools() })
    const { content } = await executor.execute(wrongArgs)
    expect(content).toHaveLength(2)
    expect(text({ content: content.slice(1) })).toBe(
      'The args of add fit this schema: {"type":"object","properties":{"a":{"type":"number"},"b":{"type":"number","default":2}},"required":["a"],"additionalProperties":false}',
    )
    expect((await executor.execute({ name: 'add', args: { a: 'x' } })).content).toHaveLength(1)
    expect(text(await executor.execute({ name: 'tool_call', args: { name: 'add', args: { a: 1 } } }))).toBe('3')
  })

  test('carry no schema of more than 8,192 characters', async () => {
    const properties = (count: number): object => ({
      type: 'object',
      properties: Object.fromEntries(
        Array.from({ length: count }, (_, index) => [`field_${index}`, { type: 'string' }]),
      ),
    })
    const sizes = [200, 300].map((count) => work(`of_${count}`, () => 1, { inputSchema: properties(count) }))
    const executor = createExecutor({ tools: [through, ...sizes] })
    const lines = await Promise.all(
      sizes.map(async ({ name }) => {
        const { content } = await executor.execute({ name: 'tool_call', args: { name, args: { field_0: 1 } } })
        return text({ content: content.slice(1) })
      }),
    )
    expect(lines[0]).toMatch(/^The args of of_200 fit this schema: \{/)
    expect(lines[0]?.length).toBeLessThan(8_192 + 50)
    expect(lines[1]).toBe('The schema of of_300 is not shown here: search for the tool by its name.')
  })
})

describe('the args of a bridge', () => {
  const getter = { get name() { throw new Error('unreadable') }, args: {} } // prettier-ignore
  const proxy = new Proxy({}, { getOwnPropertyDescriptor: () => { throw new Error('unreadable') } }) // prettier-ignore

  test.each([
    ['nothing', undefined],
    ['null', null],
    ['an array', []],
    ['an array with a name', Object.assign([], { names: 'add' })],
    ['a text that is no JSON', 'add'],
    ['a text with one key twice', '{"name":"add","name":"wipe","args":{}}'],
    ['no name', { args: { a: 1 } }],
    ['an empty name', { name: '', args: {} }],
    ['a name that is no text', { name: ['wipe'], args: {} }],
    ['a getter that throws', getter],
    ['a proxy that throws', proxy],
    ['a name that is not its own', Object.create({ name: 'add', args: { a: 1 } })],
    ['a prototype for a carrier', JSON.parse('{"__proto__":{"name":"add"},"args":{"a":1}}')],
    ['args of another name', { name: 'add', arguments: { a: 1 } }],
    ['args of another name in JSON text', '{"name":"echo","input":{"a":1}}'],
    ['a text that is far too long', JSON.stringify({ name: 'echo', args: 'x'.repeat(400_000) })],
  ])('run nothing if they are %s', async (_title, args) => {
    const ran: Ran[] = []
    const executor = createExecutor({ tools: tools(ran) })
    const result = await executor.execute({ name: 'tool_call', args })
    expect(result).toMatchObject({ status: 'error', effect: 'none', toolName: 'tool_call' })
    expect(result).not.toHaveProperty('via')
    expect(['E_INVALID_TOOL_ARGS', 'E_UNCANONICAL_ARGS']).toContain(result.error?.code)
    expect(ran).toEqual([])
  })

  test('say how it is called', async () => {
    const executor = createExecutor({ tools: tools() })
    expect(text(await executor.execute({ name: 'tool_call', args: {} }))).toBe(
      'The args of tool_call have no `name`, so nothing was run. Call it with { "name": "name_of_a_tool", "args": { … } }.',
    )
    expect(text(await executor.execute({ name: 'tool_call', args: { name: 'add', input: {} } }))).toMatch(/no `args`/)
  })

  test('may lack args for a tool that needs none', async () => {
    const executor = createExecutor({ tools: tools() })
    expect(await executor.execute({ name: 'tool_call', args: { name: 'echo' } })).toMatchObject({ status: 'ok' })
  })

  test('are read once: a name that changes between reads is the first one in all parts', async () => {
    const ran: Ran[] = []
    let reads = 0
    const args = Object.defineProperties(
      {},
      {
        name: { enumerable: true, get: () => (reads++ === 0 ? 'echo' : 'wipe') },
        args: { enumerable: true, value: { a: 1 } },
      },
    )
    const executor = createExecutor({ tools: tools(ran), use: [denials, memoryJournal()] })
    const events = heard(executor)
    const result = await executor.execute({ name: 'tool_call', args }, { invocationId: 'mine' })
    expect([result.status, result.toolName, reads]).toEqual(['ok', 'echo', 1])
    expect(ran).toEqual([{ name: 'echo', input: { a: 1 } }])
    expect(new Set(events.map(({ toolName }) => toolName))).toEqual(new Set(['echo']))
  })

  test('that name no tool are not told if any tool has secrets', async () => {
    const executor = createExecutor({ tools: tools(), use: [memoryJournal()] })
    const events = heard(executor)
    const args = { nam: 'pay', args: { to: 'iban-secret-77' } }
    await executor.execute({ name: 'tool_call', args }, { invocationId: 'mine' })
    expect(names(events)).toBe('call:received call:settled')
    expect(JSON.stringify([events, await executor.calls.get('mine')])).not.toContain('iban-secret-77')
  })
})

describe('a bridge', () => {
  test('leads to no bridge', async () => {
    const ran: Ran[] = []
    const executor = createExecutor({ tools: tools(ran) })
    const inner = { name: 'echo', args: {} }
    for (const name of ['tool_call', 'call_tool']) {
      const result = await executor.execute({ name: 'tool_call', args: { name, args: inner } })
      expect(outcome(result)).toBe('error none E_TOOL_NOT_FOUND')
    }
    expect(ran).toEqual([])
  })

  test('may be called by its alias, and tells its name', async () => {
    const executor = createExecutor({ tools: tools() })
    const result = await executor.execute({ name: 'call_tool', args: { name: 'echo', args: {} } })
    expect(result).toMatchObject({ status: 'ok', toolName: 'echo', via: 'tool_call' })
  })

  test('gives no right to a caller who may not see the tool, or the bridge', async () => {
    const ran: Ran[] = []
    const forPeople = tool({ name: 'people_call', description: 'Calls', type: 'bridge', audience: 'user' })
    const executor = createExecutor({ tools: [...tools(ran), forPeople] })
    const call = (name: string, target: string): ToolCall => ({ name, args: { name: target, args: {} } })
    expect(outcome(await executor.execute(call('tool_call', 'admin')))).toBe('error none E_TOOL_NOT_FOUND')
    expect(outcome(await executor.execute(call('people_call', 'echo')))).toBe('error none E_TOOL_NOT_FOUND')
    const app = { caller: { app: 'page' } } as const
    expect(outcome(await executor.execute(call('tool_call', 'echo'), app))).toBe('error none E_TOOL_NOT_FOUND')
    expect(ran).toEqual([])
    const person = { caller: 'user' } as const
    expect(await executor.execute(call('people_call', 'admin'), person)).toMatchObject({
      status: 'ok',
      toolName: 'admin',
    })
  })

  test('calls tools that are hidden, and none that are gone', async () => {
    const registry = new ToolRegistry(tools())
    const executor = createExecutor({ tools: registry })
    const call = { name: 'tool_call', args: { name: 'echo', args: {} } }
    registry.hide('echo')
    expect((await executor.execute(call)).status).toBe('ok')
    registry.remove('echo')
    expect(outcome(await executor.execute(call))).toBe('error none E_TOOL_NOT_FOUND')
  })

  test('runs nothing without an executor', async () => {
    await expect(through({ name: 'echo', args: {} })).rejects.toMatchObject({ code: 'E_INVALID_EXECUTION_TYPE' })
  })

  test('may be invoked by the application, as the call of a person', async () => {
    const executor = createExecutor({ tools: tools() })
    const result = await executor.invoke(through, { name: 'admin', args: {} })
    expect(result).toMatchObject({ status: 'ok', toolName: 'admin', via: 'tool_call' })
  })

  test('that takes the name of a tool whose call waits gets none of its args', async () => {
    const ran: Ran[] = []
    const registry = new ToolRegistry([...tools(ran), work('later', () => 1, { requiresConfirmation: true })])
    const executor = createExecutor({ tools: registry })
    const { token = '' } = await executor.execute({ name: 'later', args: { name: 'wipe', args: {} } })
    registry.add(through.with({ name: 'later', aliases: [] }), { onCollision: 'replace' })
    await expect(executor.calls.decide(token, 'allow')).rejects.toMatchObject({ code: 'E_APPROVAL_INVALID' })
    expect(ran).toEqual([])
  })
})

describe.each(places)('an invocation that was called directly and through a bridge (%s)', (_journal, place) => {
  test('runs once, and each answer says how that call came', async () => {
    const ran: Ran[] = []
    const storage = place()
    const open = (): ToolExecutor => createExecutor({ tools: tools(ran), use: [storage.open()] })
    const calls: ToolCall[] = [
      { id: '1', name: 'tool_call', args: { name: 'add', args: { a: 1 } } },
      { id: '2', name: 'add', args: { a: 1 } },
      { id: '3', name: 'call_tool', args: '{"args":"{\\"a\\":1.0}","name":"add"}' },
      { id: '4', name: 'add', args: '{"a":1}' },
    ]
    const results: ToolResult[] = []
    for (const call of calls) results.push(await open().execute(call, { session: 's', invocationId: 'mine' }))
    expect(ran).toEqual([{ name: 'add', input: { a: 1 } }])
    expect(results.map(({ id, status, via, toolName }) => [id, status, via, toolName])).toEqual([
      ['1', 'ok', 'tool_call', 'add'],
      ['2', 'ok', undefined, 'add'],
      ['3', 'ok', 'tool_call', 'add'],
      ['4', 'ok', undefined, 'add'],
    ])
    expect(results.map((result) => 'via' in result)).toEqual([true, false, true, false])
    const other = { name: 'tool_call', args: { name: 'add', args: { a: 2 } } }
    expect(outcome(await open().execute(other, { session: 's', invocationId: 'mine' }))).toBe(
      'error none E_DUPLICATE_INVOCATION',
    )
  })

  test('is the same call again if its args named no tool', async () => {
    const executor = createExecutor({ tools: [through, work('echo', () => 1)], use: [place().open()] })
    const options = { session: 's', invocationId: 'mine' }
    const results = [
      await executor.execute({ name: 'tool_call', args: { nam: 'echo' } }, options),
      await executor.execute({ name: 'tool_call', args: { nam: 'echo' } }, options),
    ]
    expect(results.map(({ error }) => error?.code)).toEqual(['E_INVALID_TOOL_ARGS', 'E_INVALID_TOOL_ARGS'])
  })

  test('waits in a process that has the bridge, and goes on in one that has not', async () => {
    const ran: Ran[] = []
    const storage = place()
    const call = { id: 'c1', name: 'tool_call', args: { name: 'pay', args: { cents: 5 } } }
    const asking = createExecutor({ tools: tools(ran), use: [storage.open()] })
    const first = await asking.execute(call, { session: 's', invocationId: 'mine' })
    expect(first).toMatchObject({ status: 'waiting', toolName: 'pay', via: 'tool_call' })
    const again = await asking.execute(call, { session: 's', invocationId: 'mine' })
    expect(again).toMatchObject({ status: 'waiting', toolName: 'pay', via: 'tool_call' })
    const deciding = createExecutor({ tools: tools(ran).filter((each) => each !== through), use: [storage.open()] })
    const [listed] = await deciding.calls.waiting()
    expect(listed).toMatchObject({ toolName: 'pay', args: { cents: 5 } })
    const result = await deciding.calls.decide(first.token ?? '', 'allow', { editedArgs: { cents: 4 } })
    expect(result).toMatchObject({ id: 'c1', status: 'ok', toolName: 'pay', via: 'tool_call' })
    expect(ran).toEqual([{ name: 'pay', input: { cents: 4 } }])
    // Without the bridge, the same call names another tool.
    const elsewhere = await deciding.execute(call, { session: 's', invocationId: 'mine' })
    expect(elsewhere.error?.code).toBe('E_DUPLICATE_INVOCATION')
    expect(await asking.execute(call, { session: 's', invocationId: 'mine' })).toMatchObject({ status: 'ok' })
    expect(ran).toHaveLength(1)
  })

  test('tells the bridge when it is closed for its dead process', async () => {
    const storage = place()
    const asking = createExecutor({ tools: tools(), use: [storage.open()], approvalTimeout: 1 })
    const call = { id: 'c1', name: 'tool_call', args: { name: 'pay', args: {} } }
    await asking.execute(call, { session: 's', invocationId: 'mine' })
    await new Promise((resolve) => setTimeout(resolve, 5))
    const [expired] = await asking.calls.expire()
    expect(expired).toMatchObject({ toolName: 'pay', via: 'tool_call' })
    expect(await asking.calls.settled('mine')).toMatchObject({ id: 'c1', via: 'tool_call', toolName: 'pay' })
  })
})

describe('what counts calls counts those of the tool', () => {
  const add = { name: 'add', args: { a: 1 } }
  const bridged: ToolCall = { name: 'tool_call', args: add }

  async function statuses(use: Extension[], calls: readonly ToolCall[], options = {}): Promise<string[]> {
    const executor = createExecutor({ tools: tools(), use, ...options })
    const results: string[] = []
    for (const call of calls) results.push((await executor.execute(call, { session: 's' })).status)
    return results
  }

  test.each([
    ['a budget', budget({ calls: 3, per: 'tool' })],
    ['a budget that names it', budget({ calls: 3, tools: ['add'] })],
    ['a rate limit', rateLimit({ calls: 3, interval: 60_000 })],
    ['a rate limit that names it', rateLimit({ calls: 3, interval: 60_000, tools: ['add'] })],
    ['repeats', repeats({ max: 3 })],
  ])('%s', async (_title, limit) => {
    expect(await statuses([limit], [add, bridged, add, bridged, add])).toEqual(['ok', 'ok', 'ok', 'denied', 'denied'])
  })

  test('a cache has one entry for both', async () => {
    const runs: Ran[] = []
    const own = work('read', () => runs.push({ name: 'read', input: 1 }), { traits: { readonly: true } })
    const executor = createExecutor({ tools: [through, own], use: [cache()] })
    for (const call of [
      { name: 'tool_call', args: { name: 'read', args: {} } },
      { name: 'read', args: {} },
    ]) {
      expect(text(await executor.execute(call, { session: 's' }))).toBe('1')
    }
    expect(runs).toHaveLength(1)
  })

  test('a tool that runs alone waits for its bridged call, and the turn keeps its order', async () => {
    const order: string[] = []
    const gate = deferred()
    const own = work(
      'alone',
      async ({ n }: { n: number }) => {
        order.push(`begin ${n}`)
        if (n === 1) await gate.promise
        order.push(`end ${n}`)
        return n
      },
      { traits: { concurrent: false } },
    )
    const executor = createExecutor({ tools: [through, own] })
    const settled = executor.executeToolCalls([
      { id: '1', name: 'tool_call', args: { name: 'alone', args: { n: 1 } } },
      { id: '2', name: 'alone', args: { n: 2 } },
      { id: '3', name: 'tool_call', args: { name: 'alone', args: { n: 3 } } },
    ])
    await turn()
    await turn()
    expect(order).toEqual(['begin 1'])
    gate.resolve()
    expect((await settled).map(({ via, toolName }) => [via, toolName])).toEqual([
      ['tool_call', 'alone'],
      [undefined, 'alone'],
      ['tool_call', 'alone'],
    ])
    expect(order).toEqual(['begin 1', 'end 1', 'begin 2', 'end 2', 'begin 3', 'end 3'])
  })

  test('calls that touch the same thing run one after the other', async () => {
    let running = 0
    let most = 0
    const own = work(
      'write',
      async () => {
        most = Math.max(most, ++running)
        await turn()
        running--
      },
      { conflicts: () => ['file:a'] },
    )
    const executor = createExecutor({ tools: [through, own] })
    await Promise.all(
      [0, 1, 2, 3].map((index) =>
        executor.execute(
          index % 2 ? { name: 'write', args: {} } : { name: 'tool_call', args: { name: 'write', args: {} } },
        ),
      ),
    )
    expect(most).toBe(1)
  })

  test('a policy that denies the tool denies it through the bridge, by each of its names', async () => {
    const { reports, report } = sink()
    const deny = permissions({ mode: 'auto', autoDenyTools: ['say_again'] })
    const calls = ['echo', 'say_again'].map((name) => ({ name: 'tool_call', args: { name, args: {} } }))
    expect(await statuses([deny], calls, { report })).toEqual(['denied', 'denied'])
    expect(reports).toEqual([])
  })
})

describe('a policy that names a bridge', () => {
  const words =
    'The policy "permissions" names "tool_call", and decides about no call of it: that is a bridge, and a call through it is the call of another tool. Name that tool.'

  function reportsOf(use: Extension[], own: Tool[] = []): { executor: ToolExecutor; words: () => unknown[] } {
    const { reports, report } = sink()
    const executor = createExecutor({ tools: [...own, work('add', () => 1)], use, report })
    return { executor, words: () => reports.map((error) => (error as Error).message) }
  }

  test('is reported when the executor is made', () => {
    const { words: messages } = reportsOf(
      [permissions({ mode: 'auto', autoDenyTools: ['tool_call', 'add'] })],
      [through],
    )
    expect(messages()).toEqual([words])
  })

  test('is reported once, when the tools are listed, if an extension brings the bridge', async () => {
    const own = [through]
    const { executor, words: messages } = reportsOf([
      permissions({ mode: 'ask', autoAllowTools: ['call_tool'] }),
      { tools: () => own },
    ])
    expect(messages()).toEqual([])
    for (const session of ['s', 't']) executor.tools('model', session)
    executor.tools('user')
    expect(messages()).toEqual([words])
  })

  test.each<readonly [string, Extension]>([
    ['a budget', budget({ calls: 1, tools: ['tool_call'] })],
    ['a rate limit', rateLimit({ calls: 1, interval: 1_000, tools: ['tool_call'] })],
    ['repeats', repeats({ max: 1, tools: ['tool_call'] })],
    ['a policy on trial', shadow(permissions({ mode: 'auto', requireApprovalTools: ['tool_call'] }), () => {})],
  ])('is reported of %s', (_title, extension) => {
    expect(reportsOf([extension], [through]).words()).toEqual([expect.stringMatching(/ names "tool_call", /)])
  })

  test.each<readonly [string, Extension]>([
    ['names another tool', permissions({ mode: 'auto', autoDenyTools: ['add'] })],
    ['names the tool of a server', permissions({ mode: 'auto', autoDenyTools: [{ server: 'a', name: 'tool_call' }] })],
    ['names none', budget({ calls: 1 })],
  ])('is not reported if it %s', (_title, extension) => {
    const { executor, words: messages } = reportsOf([extension], [through])
    executor.tools()
    expect(messages()).toEqual([])
  })
})
