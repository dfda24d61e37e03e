import { readdirSync, readFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { inspect } from 'node:util'
import {
  content,
  createExecutor,
  json,
  ToolFailure,
  type Extension,
  type StandardSchemaV1,
  type Tool,
  type ToolContext,
  type ToolResult,
} from 'toolwright'
import type { ApprovalRequest, Policy } from 'toolwright/extension'
import { aiSdk } from 'toolwright/formats/ai-sdk'
import { anthropic } from 'toolwright/formats/anthropic'
import { gemini } from 'toolwright/formats/gemini'
import { mcp } from 'toolwright/formats/mcp'
import { openai } from 'toolwright/formats/openai'
import { openaiResponses } from 'toolwright/formats/openai-responses'
import { consoleObserver } from 'toolwright/observers/console'
import { openTelemetry } from 'toolwright/observers/open-telemetry'
import { describe, expect, test } from 'vitest'
import { z } from 'zod'
import { processorTime } from '../_processor-time.ts'
import { connect, eras, start } from '../mcp/_server.ts'
import { telemetry } from '../observers/_telemetry.ts'
import { data, heard, text, work } from './_calls.ts'
import { places, recordIn, type Place } from './_journals.ts'

const canary = 'canary-4f1c'
/** With characters that JSON, addresses and engines of patterns write in another way. */
const secret = `${canary} "ü"/\\.x`
/** Long enough that no time, id or checksum has it by chance. */
const pin = 4_815_162_342_108
const args = { user: 'ada', password: secret, deep: { token: secret, other: 'kept' }, list: [{ pin }] }
const quoted = JSON.stringify(args)
const secrets = ['/password', '/deep/token', '/list/pin', '/branch']

/** Everything of a value that code in this process could read, causes and hidden fields included. */
function all(value: unknown): string {
  return inspect(value, { depth: Infinity, showHidden: true, maxStringLength: null, maxArrayLength: null })
}

function leaks(everything: string): readonly string[] {
  // What stands around is cut out afterwards: as part of the pattern it would be tried at every character.
  const found = everything.matchAll(new RegExp(`${canary}|${pin}`, 'g'))
  return Array.from(found, ({ index }) => everything.slice(Math.max(0, index - 100), index + 30))
}

const formats = [anthropic(), openai(), openaiResponses(), gemini(), aiSdk(), mcp()]

/** What is said of a result wherever it goes; the token is the application's own. */
async function modelTextOf(result: ToolResult): Promise<string> {
  const { token: _, artifact, ...rest } = result
  const kept = artifact === undefined ? '' : await artifact.asString()
  const replies = formats.map((format) => JSON.stringify(format.results([result])))
  return [all(rest), kept, ...replies, JSON.stringify(result.error), text(result)].join('\n')
}

interface Way {
  readonly options?: object
  readonly handler?: (input: never, context: ToolContext) => unknown
  readonly args?: unknown
  readonly name?: string
  readonly editedArgs?: unknown
  readonly reply?: unknown
  readonly signal?: AbortSignal
}

/** Quotes all that it is given, as a careless author might. */
const policy: Policy = {
  name: 'quoting',
  decide({ tool: { name }, input }) {
    const said = JSON.stringify(input)
    if (name === 'asked') return { decision: 'ask', reason: `because of ${said}`, meta: { input, said } }
    if (name === 'denied') return { decision: 'deny', reason: `no ${said}`, toolResult: { input, said } }
    return name === 'replaced' ? { result: { password: secret, said } } : undefined
  },
}

function toolsOf({ options, handler = () => 'done' }: Way): Tool[] {
  const asking = { requiresConfirmation: true, confirmationMessage: (input: unknown) => `Do ${JSON.stringify(input)}?` }
  const each = { secrets, ...options }
  return [
    ...['t', 'asked', 'denied', 'replaced'].map((name) => work(name, handler, each)),
    work('confirmed', handler, { ...each, ...asking }),
    work('for_people', handler, { ...each, audience: 'user' }),
    work('form', handler, { ...each, type: 'client', requiresResponse: true, timeout: 60_000, handler: undefined }),
  ]
}

/** Makes the call in every way in which it can go, and gives all that anybody was told of it. */
async function everythingOf(
  way: Way,
  place: Place,
): Promise<{ readonly words: string; readonly results: ToolResult[] }> {
  const mounted = place.open()
  const lines: string[] = []
  const write = (line: string): void => void lines.push(line)
  const spans = telemetry()
  const requests: ApprovalRequest[] = []
  const observers = [
    consoleObserver({ write }),
    consoleObserver({ write, format: 'json' }),
    openTelemetry({ ...spans.providers, recordArgs: true, recordResult: true }),
  ]
  const approver: Extension = {
    approver: {
      async ask(request) {
        requests.push(request)
        return { decision: 'allow' }
      },
    },
  }
  const use = [mounted, ...observers, { policies: [policy] }]
  const inProcess = createExecutor({ tools: toolsOf(way), use: [...use, approver], report: () => {} })
  const executor = createExecutor({ tools: toolsOf(way), use, report: () => {} })
  const events = [heard(inProcess), heard(executor)]
  const results: ToolResult[] = []
  const refusals: string[] = []
  const names = way.name === undefined ? ['t', 'asked', 'denied', 'replaced', 'confirmed', 'form'] : [way.name]
  const argsOfCall = 'args' in way ? way.args : args
  for (const name of names) {
    for (const each of [inProcess, executor]) {
      const result = await each.execute({ id: 1, name, args: argsOfCall }, { signal: way.signal })
      results.push(result)
      const { token } = result
      if (token === undefined) continue
      const answered =
        name === 'form'
          ? each.calls.respond(token, way.reply ?? args)
          : each.calls.decide(token, 'allow', 'editedArgs' in way ? { editedArgs: way.editedArgs } : {})
      try {
        results.push(await answered)
      } catch (refusal) {
        await each.calls.cancel(result.invocationId) // it waits for another answer, and keeps its args till then
        refusals.push(String(refusal), JSON.stringify(refusal), inspect(refusal, { depth: 9 }))
      }
    }
  }
  const records = await Promise.all(results.map(({ invocationId }) => recordIn(mounted, invocationId)))
  const snapshots = await Promise.all(results.map(({ invocationId }) => executor.calls.get(invocationId)))
  await inProcess.close()
  await executor.close()
  const folder = place.file === undefined ? undefined : dirname(place.file)
  const rows = folder === undefined ? [] : readdirSync(folder).map((name) => readFileSync(join(folder, name), 'latin1'))
  const traces = spans
    .calls()
    .map(({ name, attributes, events: spanEvents, status }) => [name, attributes, spanEvents, status])
  const texts = [
    all([events, requests, snapshots, traces]),
    JSON.stringify([events, records]),
    ...refusals,
    ...lines,
    ...rows,
  ]
  return { words: [...texts, ...(await Promise.all(results.map(modelTextOf)))].join('\n'), results }
}

const renamed = z
  .object({ password: z.string(), deep: z.object({ token: z.string() }) })
  .transform(({ password, deep }) => ({ login: { word: password }, again: [deep.token], text: `token=${deep.token}` }))

/** A validator that quotes what it refuses, at a place of one's choice. */
function refusing(...path: PropertyKey[]): StandardSchemaV1 {
  const validate = (value: unknown): never => ({ issues: [{ message: `not ${JSON.stringify(value)}`, path }] }) as never
  return { '~standard': { version: 1, vendor: 'quoting', validate } }
}

const jsonSchema = { type: 'object' }

class Account {
  user = 'ada'
  readonly #word = secret
  toJSON(): unknown {
    return { user: this.user, password: this.#word }
  }
}

class Plain {
  password = secret
  deep = { toJSON: () => ({ token: secret, other: 'kept' }) }
}

const ways: readonly (readonly [string, Way])[] = [
  ['given as a value', {}],
  ['given as text', { args: quoted }],
  ['given as text with other spacing', { args: ` ${JSON.stringify(args, null, 2)} ` }],
  ['encoded twice', { args: JSON.stringify(quoted) }],
  ['encoded three times', { args: JSON.stringify(JSON.stringify(quoted)) }],
  ['of which a member is encoded twice', { args: { ...args, deep: JSON.stringify(args.deep) } }],
  ['given as a list of objects', { args: [args] }],
  ['given as a list of values', { args: [secret, pin] }],
  ['given as a list within a list', { args: [[args, secret]] }],
  ['that is a branch', { args: { branch: { any: [secret, { thing: pin }] } } }],
  ['that a transform moves', { options: { inputSchema: renamed, jsonSchema } }],
  [
    'that a transform moves and the handler throws',
    { options: { inputSchema: renamed, jsonSchema }, handler: throwing },
  ],
  ['before text that is no JSON', { args: `${quoted}}` }],
  ['in text that is no JSON just there', { args: `{"password": ${canary}}` }],
  ['in text that is cut', { args: quoted.slice(0, quoted.indexOf(canary) + 11) }],
  ['in a key that comes twice', { args: `{"branch":{"${canary}":1,"${canary}":2}}` }],
  ['beside what has no canonical form', { args: { password: secret, branch: { [canary]: 1n } } }],
  ['that is too large', { args: { ...args, more: 'x'.repeat(300_000) } }],
  ['refused where it stands', { options: { inputSchema: refusing('password'), jsonSchema } }],
  ['refused within a branch', { options: { inputSchema: refusing('branch', canary, 'x'), jsonSchema } }],
  ['refused at its parent', { options: { inputSchema: refusing('deep'), jsonSchema } }],
  ['refused at the root', { options: { inputSchema: refusing(), jsonSchema } }],
  ['refused in a list', { args: [args], options: { inputSchema: refusing(0, 'password'), jsonSchema } }],
  ['refused in an issue about something else', { options: { inputSchema: refusing('user'), jsonSchema } }],
  ['that the schema of Zod refuses', { options: { inputSchema: z.object({ password: z.literal('x') }) } }],
  ['that the schema throws', { options: { inputSchema: throwingSchema(), jsonSchema } }],
  ['that the handler throws', { handler: throwing }],
  ['that the handler rejects with', { handler: async (input: never) => throwing(input) }],
  ['that the handler throws as a failure', { handler: failing }],
  ['that the handler throws as an object', { handler: () => Promise.reject({ ...args, message: secret }) }],
  [
    'that the handler returns as a failure',
    { handler: () => ({ ok: false, error: secret, recommendations: [secret] }) },
  ],
  ['that the handler returns', { handler: (input) => input }],
  ['that the handler returns as a list', { handler: (input) => [input, input] }],
  ['that the handler returns as marked JSON', { handler: (input) => json([input]) }],
  ['that the handler returns as JSON text', { handler: (input) => JSON.stringify(input) }],
  ['that the handler returns within words', { handler: () => `ada has ${secret} and ${pin}` }],
  [
    'that the handler returns in an address',
    { handler: () => `https://x/?p=${encodeURIComponent(secret)}&pin=${pin}` },
  ],
  ['that the handler returns elsewhere', { handler: () => ({ echo: [secret], [secret]: pin }) }],
  [
    'that the handler returns as a JSON block',
    { handler: () => content([{ type: 'json', data: args, text: quoted }]) },
  ],
  [
    'that the handler returns as blocks',
    {
      handler: () => [
        { type: 'json', data: args, text: quoted },
        { type: 'text', text: quoted },
      ],
    },
  ],
  [
    'that the handler returns as a resource',
    { handler: () => content([{ type: 'resource', resource: { uri: 'x:y', text: `${secret} ${pin}` } }]) },
  ],
  ['that the handler returns as an instance', { handler: () => new Plain() }],
  ['that the handler returns as what makes JSON of itself', { handler: () => new Account() }],
  ['that the handler returns as a bigint', { handler: () => ({ branch: { [canary]: BigInt(pin) } }) }],
  [
    'that the handler returns in a large result',
    { handler: (input) => ({ ...(input as object), x: 'x'.repeat(50_000) }) },
  ],
  ['that the handler returns in a large text', { handler: () => `${secret}${pin}${'x'.repeat(50_000)}` }],
  ['that does not fit the output schema', { options: { outputSchema: refusing() }, handler: (input) => input }],
  [
    'that the handler tells on the way',
    {
      async *handler(input, { emit }) {
        yield input
        yield `${secret} ${pin}`
        emit(secret, [new Account(), new Plain(), input])
        emit('log', { level: 'info', data: input })
        return 'done'
      },
    },
  ],
  ['that the handler tells in what is too large for an event', { handler: tellingMuch }],
  ['in a stream that breaks', { handler: () => ReadableStream.from(breaking()) }],
  ['that the handler takes out of its input', { handler: takingOut }],
  ['of a call that is given up at once', { signal: AbortSignal.abort() }],
  ['for a tool that is not there', { name: 'no_such_tool' }],
  ['for a tool that is not there, as text that is no JSON', { name: 'no_such_tool', args: `${quoted}}` }],
  ['for a tool that is not to be seen', { name: 'for_people' }],
  ['that somebody edited in', { args: { user: 'ada' }, editedArgs: args }],
  ['that a client answers', { args: { user: 'ada' }, name: 'form', options: { outputSchema: refusing('deep') } }],
]

function throwing(input: unknown): never {
  const error = new TypeError(`wrong: ${JSON.stringify(input)}`, { cause: new Error(secret) })
  throw Object.assign(error, { config: input, name: canary })
}

function failing(): never {
  throw new ToolFailure(`wrong: ${secret}`, { recommendations: [`Try another than ${secret}`, `or than ${pin}.`] })
}

function tellingMuch(input: unknown, { emit }: ToolContext): void {
  emit('much', { password: secret, branch: { [canary]: pin }, more: 'x'.repeat(100_000), input })
}

async function* breaking(): AsyncGenerator<string> {
  yield `{"branch":{"${canary}":"${'x'.repeat(20_000)}"`
  throw new Error(canary)
}

function takingOut(input: { password?: string }): never {
  const { password } = input
  delete input.password
  throw new ToolFailure(`wrong: ${password}`)
}

function throwingSchema(): StandardSchemaV1 {
  const validate = (value: unknown): never => throwing(value)
  return { '~standard': { version: 1, vendor: 'throwing', validate } }
}

describe.each(places)('a secret (%s)', (_, place) => {
  test.each(ways)('%s is told nowhere', async (__, way) => {
    const { words } = await everythingOf(way, place())
    expect(leaks(words)).toEqual([])
  })
})

describe.each(eras)('over MCP %s a secret', (_, mode) => {
  test.each(ways.filter(([, { args: value = args }]) => !Array.isArray(value) && typeof value === 'object'))(
    '%s is told to no client',
    async (__, way) => {
      const use = [{ policies: [policy] }]
      const { url } = await start({ tools: toolsOf(way), use, report: () => {} })
      const client = await connect(url, mode, { capabilities: { elicitation: { form: {} } } })
      const messages: unknown[] = []
      client.setRequestHandler('elicitation/create', ({ params }) => {
        messages.push(params)
        return { action: 'accept', content: { approve: true } } as never
      })
      for (const name of ['t', 'asked', 'denied', 'replaced', 'confirmed', 'no_such_tool']) {
        try {
          const call = { name, arguments: (way.args ?? args) as Record<string, unknown> }
          messages.push(await client.callTool(call, { onprogress: (progress) => void messages.push(progress) }))
        } catch (error) {
          messages.push(String(error))
        }
      }
      expect(messages.length).toBeGreaterThan(5)
      expect(leaks(all(messages))).toEqual([])
    },
  )
})

describe('a tool with secrets', () => {
  const memory = places[0]![1]

  test('runs with what it was given, and the rest of the args is told', async () => {
    const inputs: unknown[] = []
    const { words, results } = await everythingOf({ handler: (input) => void inputs.push(input) }, memory())
    expect(inputs).toHaveLength(6)
    for (const input of inputs) expect(input).toEqual(args)
    expect(results.filter(({ status }) => status === 'ok').length).toBeGreaterThan(6)
    expect(words).toContain('"password":"[secret]","user":"ada"')
    expect(words).toContain('kept')
  })

  test('masks a secret that the model repeats in another member of the args', async () => {
    const executor = createExecutor({ tools: [work('t', () => 1, { secrets, requiresConfirmation: true })] })
    const events = heard(executor)
    const repeated = { password: secret, user: 'ada', note: `the password is ${secret}`, list: [{ pin, code: pin }] }
    const { status } = await executor.execute({ name: 't', args: repeated })
    const [waiting] = await executor.calls.waiting()
    expect(status).toBe('waiting')
    expect(waiting?.args).toEqual({
      password: '[secret]',
      user: 'ada',
      note: 'the password is [secret]',
      list: [{ pin: '[secret]', code: '[secret]' }],
    })
    expect(leaks(all([events, waiting]))).toEqual([])
  })

  test('lets the model read a failure, but for the secret', async () => {
    const executor = createExecutor({ tools: [work('t', failing, { secrets })] })
    const result = await executor.execute({ name: 't', args })
    expect(text(result)).toContain('wrong: [secret]. Recommendations: Try another than [secret] or than [secret].')
    expect(result.error?.cause).toBeInstanceOf(ToolFailure)
  })

  test('keeps what it throws to itself, and says so', async () => {
    const executor = createExecutor({ tools: [work('t', throwing, { secrets })] })
    const { error, content: shown } = await executor.execute({ name: 't', args })
    expect(shown).toEqual([{ type: 'text', text: 'The tool failed; the reason is not shown.' }])
    expect(error).toMatchObject({ code: 'E_TOOL_DOWNSTREAM_ERROR', message: expect.stringContaining('ToolFailure') })
    expect(error?.cause).toBeUndefined()
  })

  test('still tells where args are no JSON', async () => {
    const executor = createExecutor({ tools: [work('t', () => 1, { secrets })] })
    const { error } = await executor.execute({ name: 't', args: `{"password": ${canary}}` })
    expect(error?.message).toBe('The args are not valid JSON: expected a value at position 13 (line 1, column 14).')
  })

  test('makes the text of a JSON block anew from its masked data', async () => {
    const blocks = [{ type: 'json' as const, data: { password: secret, a: 1 }, text: 'a text of the handler' }]
    for (const returned of [blocks, content(blocks), content([...blocks, { type: 'text', text: 'and' }])]) {
      const executor = createExecutor({ tools: [work('t', () => returned, { secrets })] })
      const { content: shown } = await executor.execute({ name: 't' })
      expect({ ...shown[0] }).toEqual({
        type: 'json',
        data: { password: '[secret]', a: 1 },
        text: '{"password":"[secret]","a":1}',
      })
    }
  })

  test('gives results without secrets as they are', async () => {
    for (const returned of ['plain words', ['a', 'b'], { a: [1, 'x'] }, '["a"]', '{"a":1}']) {
      const executor = createExecutor({ tools: [work('t', () => returned, { secrets })] })
      const result = await executor.execute({ name: 't', args })
      expect(typeof returned === 'string' ? text(result) : data(result)).toEqual(returned)
    }
  })

  test('with more hidden values than can be looked for has the words of others masked whole', async () => {
    const branch = Array.from({ length: 5_000 }, (_, index) => `value-${index}`)
    const executor = createExecutor({ tools: [work('t', () => `it has ${branch[4_999]}`, { secrets })] })
    expect(text(await executor.execute({ name: 't', args: { branch } }))).toBe('[secret]')
  })

  const branch = Array.from({ length: 330 }, (_, index) => `a "${index}" z`)
  const rows = (length: number): string[] => Array.from({ length }, (_, index) => `r${index}`)

  test('with many hidden values masks each of them in each form, and leaves the rest of the data', async () => {
    const found = [branch[3], JSON.stringify({ of: branch[300] }), encodeURIComponent(branch[7] ?? '')]
    const executor = createExecutor({ tools: [work('t', () => ({ rows: [...rows(100), ...found] }), { secrets })] })
    const masked = ['[secret]', '{"of":"[secret]"}', '[secret]']
    expect(data(await executor.execute({ name: 't', args: { branch } }))).toEqual({ rows: [...rows(100), ...masked] })
  })

  test.each([
    ['short texts', rows],
    ['short texts in an object', (length: number) => ({ rows: rows(length) })],
    ['one long text', (length: number) => 'a "'.repeat(length * 25)],
  ])('with many hidden values holds up no other work, whatever its result is: %s', async (_what, result) => {
    const executor = createExecutor({ tools: [work('t', () => result(200_000), { secrets })] })
    const time = await processorTime(() => executor.execute({ name: 't', args: { branch } }), 0)
    expect(time).toBeLessThan(4_000) // it was twice as long at least
  })
})

test('an event masks what its emitter passes raw, also if a schema renames the secret', async () => {
  const login = work(
    'login',
    ({ phrase }: { phrase: string }, { emit }: ToolContext) => {
      emit(`as ${phrase}`, { phrase, list: [phrase] })
      return 'in'
    },
    {
      inputSchema: z.object({ password: z.string() }).transform(({ password }) => ({ phrase: password })),
      secrets: ['/password'],
      requiresConfirmation: true,
      confirmationMessage: () => `Log in with ${secret}?`,
    },
  )
  const policies: Policy[] = [
    { name: 'p', decide: () => ({ decision: 'ask', reason: `because of ${secret}`, meta: { phrase: secret } }) },
  ]
  const executor = createExecutor({ tools: [login], use: [{ policies }] })
  const events = heard(executor)
  const { token = '' } = await executor.execute({ name: 'login', args: { password: secret } })
  const { status } = await executor.calls.decide(token, 'allow', { note: `yes, ${secret}` })
  expect(status).toBe('ok')
  expect(events.map(({ event }) => event)).toEqual([
    'call:received',
    'call:waiting',
    'call:resumed',
    'tool:start',
    'tool:progress',
    'tool:end',
    'call:settled',
  ])
  expect(leaks(events.map(all).join('\n'))).toEqual([])
  const { input } = events[3] as unknown as { input: unknown }
  expect(input).toEqual({ password: '[secret]' })
})
