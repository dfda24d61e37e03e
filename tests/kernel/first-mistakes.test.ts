import { createExecutor, tool, ToolFailure, type ToolCall } from 'toolwright'
import { InvalidInitialToolValueError } from 'toolwright/errors'
import { memoryJournal } from 'toolwright/journals/memory'
import { describe, expect, test } from 'vitest'
import { z } from 'zod'

const now = tool('now', () => 'noon')
const session = 'one'

test("a call in OpenAI's form is refused with what to pass", async () => {
  const call = { id: 'call_1', type: 'function', function: { name: 'now', arguments: '{}' } }
  const { status, error } = await createExecutor({ tools: [now] }).execute(call as unknown as ToolCall)
  expect({ status, code: error?.code }).toEqual({ status: 'error', code: 'E_INVALID_TOOL_ARGS' })
  expect(error?.message).toContain('{ id, name: call.function.name, args: call.function.arguments }')
})

test.each<[unknown, string]>([
  ['now', 'string'],
  [undefined, 'undefined'],
  [null, 'null'],
  [[{ name: 'now' }], 'array'],
  [{ tool: 'now', args: {} }, 'undefined'],
  [{ name: ['now'] }, 'array'],
])('what is no call is refused with what a call is, and nothing is thrown: %j', async (call, kind) => {
  const executor = createExecutor({ tools: [now] })
  const message = `A call is an object { name, args } with text as \`name\`, and not ${kind}, so nothing was run.`
  const refused = { status: 'error', effect: 'none', toolName: '', error: { code: 'E_TOOL_NOT_FOUND', message } }
  expect(await executor.execute(call as ToolCall)).toMatchObject(refused)
  expect(await executor.executeToolCalls([call as ToolCall])).toMatchObject([refused])
})

test('args under the name of JSON-RPC are refused with what to pass, as those under the names of providers', async () => {
  const call = { name: 'now', params: { a: 1 } }
  const { error } = await createExecutor({ tools: [now] }).execute(call)
  expect(error?.message).toContain('The call has `params` and no `args`, so nothing was run.')
})

test.each<[unknown, string]>([
  ['toolExecutionStart', '"toolExecutionStart"'],
  ['toString', '"toString"'],
  [undefined, '"undefined"'],
])('a listener of no event is refused with the names of the events: %s', (name, shown) => {
  expect(() => createExecutor().on(name as never, () => {})).toThrow(
    `There is no event ${shown}. Listen to one of call:received, call:repaired, call:blocked, call:waiting, call:resumed, tool:start, tool:progress, tool:end, call:settled, *, tools:changed.`,
  )
})

test.each<unknown>(['human', 'assistant', 'toString', '', 5, null, true, {}, { app: 5 }, ['model']])(
  'a caller that there is none of is refused with those that there are: %j',
  async (caller) => {
    const executor = createExecutor({ tools: [now] })
    const call = { name: 'now', args: {} }
    const options = { caller: caller as never }
    const refused = expect.objectContaining({
      code: 'E_INVALID_CONFIGURATION',
      message: "`caller` is 'model', 'user' or { app: 'its server' }.",
    }) as Error
    await expect(executor.execute(call, options)).rejects.toThrow(refused)
    await expect(executor.invoke(now, {}, options)).rejects.toThrow(refused)
    await expect(executor.evaluate(call, options)).rejects.toThrow(refused)
    await expect(executor.executeToolCalls([call], options)).rejects.toThrow(refused)
    await expect(executor.stream(call, options).next()).rejects.toThrow(refused)
    expect(() => executor.tools(caller as never)).toThrow(refused)
    await expect(executor.execute(call, { caller: { app: 'none' } })).resolves.toMatchObject({ status: 'error' })
    expect(executor.tools({ app: 'none' })).toEqual([])
  },
)

test.each(['session', 'principal', 'invocationId'])(
  'a name of the application for a call that is no text is refused: %s',
  async (name) => {
    const executor = createExecutor({ tools: [now] })
    const call = { name: 'now', args: {} }
    const refused = expect.objectContaining({
      code: 'E_INVALID_CONFIGURATION',
      message:
        '`session`, `principal`, `invocationId` and the app of `caller` are text of at most 1024 characters each.',
    }) as Error
    for (const value of [5, null, true, {}, ['one'], Symbol('one')]) {
      const options = { [name]: value }
      await expect(executor.execute(call, options)).rejects.toThrow(refused)
      await expect(executor.evaluate(call, options)).rejects.toThrow(refused)
      await expect(executor.stream(call, options).next()).rejects.toThrow(refused)
      const ofTurn = name === 'invocationId' ? { invocationId: () => value as string } : options
      await expect(executor.executeToolCalls([call], ofTurn)).rejects.toThrow(refused)
    }
    expect(await executor.execute(call, { [name]: undefined })).toMatchObject({ status: 'ok' })
  },
)

test.each<[string, unknown, string]>([
  ['call:settled', 'text', 'string'],
  ['*', undefined, 'undefined'],
  ['tool:progress', [() => {}], 'object'],
  ['tools:changed', null, 'object'],
])('a listener that is no function is refused at once, with what to write: %s', (name, listener, kind) => {
  expect(() => createExecutor().on(name as '*', listener as () => void)).toThrow(
    expect.objectContaining({
      code: 'E_INVALID_CONFIGURATION',
      message: `on('${name}', listener) takes a function, and not ${kind}.`,
    }),
  )
})

test.each([
  ['needsApproval', 'is called `requiresConfirmation` here'],
  ['schema', 'is called `inputSchema` here'],
  ['arguments', 'is called `inputSchema` here'],
  ['func', 'is called `handler` here'],
  ['id', 'is called `name` here'],
  ['annotations', 'is called `traits` here'],
  ['toModelOutput', 'return `shown(text, value)` from the handler'],
  ['contextSchema', 'the handler reads `context.values`'],
])('a field of another library is refused with what stands for it here: %s', (field, words) => {
  const make = () => tool({ name: 'pay', description: 'Pays', handler: () => 1, [field]: {} })
  expect(make).toThrow(InvalidInitialToolValueError)
  expect(make).toThrow(words)
})

test.each([undefined, null])('what a handler throws is told in the same form: %s', async (thrown) => {
  const executor = createExecutor({
    tools: [
      tool('t', () => {
        throw thrown
      }),
    ],
  })
  const { content } = await executor.execute({ name: 't' })
  expect(content).toEqual([{ type: 'text', text: `Error: ${thrown}` }])
})

test.each([[[now]], [null], [now]])('an executor of something else than options says what it takes: %#', (options) => {
  expect(() => createExecutor(options as never)).toThrow(/^`createExecutor` takes an object of options, not \w+\.$/)
})

test.each([
  ['There is none', 'There is none. Recommendations: Ask again. Or not.'],
  ['There is none!', 'There is none! Recommendations: Ask again. Or not.'],
  ['One\nTwo', 'One\nTwo\nRecommendations: Ask again. Or not.'],
])('what a model could do next stands apart from what was wrong: %j', async (message, text) => {
  const fails = tool('fails', () => {
    throw new ToolFailure(message, { recommendations: ['Ask again.', 'Or not.'] })
  })
  const { content } = await createExecutor({ tools: [fails] }).execute({ name: 'fails' })
  expect(content).toEqual([{ type: 'text', text }])
})

test.each([memoryJournal(), memoryJournal, 'journal'])(
  'extensions that are no array are refused in words: %#',
  (use) => {
    expect(() => createExecutor({ use: use as never })).toThrow(
      expect.objectContaining({ code: 'E_INVALID_CONFIGURATION', message: '`use` must be an array of extensions.' }),
    )
  },
)

test.each([
  { title: { type: 'string' }, body: { type: 'string' } },
  { description: { type: 'string' } },
  { type: { type: 'string' }, required: { type: 'boolean' } },
  { $id: { type: 'string' }, $comment: { type: 'string' } },
  { enum: { type: 'string' }, examples: { type: 'object' } },
])('fields in place of a schema are refused, also those with names of keywords: %j', (inputSchema) => {
  expect(() =>
    tool({ name: 'post', description: 'Posts', inputSchema: inputSchema as never, handler: () => 1 }),
  ).toThrow(
    '`inputSchema` must be a Standard Schema, such as z.object({ … }) of the fields, or a raw JSON Schema, whose fields stand in `properties`',
  )
})

test('raw JSON Schema may say nothing, or anything of an object', () => {
  const schemas = [
    {},
    { title: 'A', not: {} },
    { const: {} },
    { if: {} },
    { dependentSchemas: {} },
    { properties: {} },
    { additionalProperties: true },
    { $ref: '#' },
    { anyOf: [] },
    { minProperties: 1 },
    { 'x-a': 1 },
  ]
  for (const inputSchema of schemas) {
    expect(
      tool({ name: 'any', description: 'Takes it', inputSchema: inputSchema as never, handler: () => 1 }).name,
    ).toBe('any')
  }
})

const text = { type: 'string' }
test.each<[object, string]>([
  [{ type: 'object', city: text }, 'city'],
  [{ city: text, unit: { enum: ['C', 'F'] }, description: 'Where' }, 'city, unit'],
  [{ type: 'object', required: ['city'], additionalProperties: false, city: text }, 'city'],
  [{ type: 'object', title: { type: ['string', 'null'] }, minProperties: 1 }, 'title'],
  [{ type: { type: 'string' }, title: { type: 'string' } }, 'type, title'],
  [{ city: 'string', unit: 5 }, 'city, unit'],
  [{ type: 'object', place: { properties: { city: text } }, size: { anyOf: [text] } }, 'place, size'],
  [
    { $schema: 'https://json-schema.org/draft/2020-12/schema', kind: { const: 1 }, to: { $ref: '#/$defs/a' } },
    'kind, to',
  ],
  [{ type: 'object', city: z.string(), note: 'x' }, 'city'],
  [{ city: z.string(), propertyId: text, dependents: text }, 'city, propertyId, dependents'],
])('fields beside the keywords of a schema that checks none are refused by their names: %j', (schema, names) => {
  const make = () => tool({ name: 'post', description: 'Posts', inputSchema: schema as never, handler: () => 1 })
  expect(make).toThrow(
    `\`inputSchema\` must be a Standard Schema, such as z.object({ … }) of the fields, or a raw JSON Schema, whose fields stand in \`properties\`: put ${names} there.`,
  )
})

test.each<[object, string]>([
  [{ type: 'object', celsius: { type: 'number' } }, 'celsius'],
  [{ celsius: { type: 'number' }, sky: { enum: ['clear', 'grey'] } }, 'celsius, sky'],
  [{ celsius: { type: 'number' }, sky: z.string() }, 'celsius'],
])('fields in a schema of results that checks none are refused by their names: %j', (outputSchema, names) => {
  const make = () => tool({ name: 'sky', description: 'Sky', outputSchema, handler: () => 1 } as never)
  expect(make).toThrow(`\`outputSchema\` must be a Standard Schema`)
  expect(make).toThrow(`whose fields stand in \`properties\`: put ${names}`)
})

test('a schema of results may be of anything', () => {
  const schemas: object[] = [
    {},
    { type: 'object' },
    { type: 'object', properties: { celsius: text } },
    { type: 'array', items: text },
    { items: text },
    { prefixItems: [text] },
    { unevaluatedItems: text },
    { contains: { type: 'string' } },
    { contentSchema: { type: 'object' } },
    { minimum: 1 },
    { type: ['object', 'null'], properties: {} },
    { title: 'A', type: 'string', 'x-a': text },
    { anyOf: [text] },
  ]
  for (const outputSchema of schemas) {
    const made = tool({ name: 'sky', description: 'Sky', outputSchema, handler: () => 1 } as never)
    expect(made.name).toBe('sky')
  }
})

test('what stands beside the keywords of a schema passes if it is no field, or if the schema checks fields', () => {
  const schemas: object[] = [
    ...['properties', 'patternProperties', 'dependentSchemas', 'definitions', '$defs', 'examples'].map((name) => ({
      [name]: { city: text, type: text, enum: { type: 'array' } },
    })),
    ...['default', 'example', 'x-origin', '$extra'].map((name) => ({ [name]: text })),
    ...[
      { properties: {} },
      { patternProperties: {} },
      { additionalProperties: text },
      { unevaluatedProperties: {} },
      { propertyNames: {} },
      { $ref: '#/definitions/a' },
      { $dynamicRef: '#a' },
      { allOf: [] },
      { anyOf: [] },
      { oneOf: [] },
      { not: { required: ['a'] } },
      { if: {} },
      { enum: [{}] },
      { const: {} },
      { dependencies: {} },
    ].map((keyword) => ({ ...keyword, city: text })),
    {
      discriminator: { propertyName: 'type', mapping: { type: 'string' } },
      xml: { name: 'a' },
      externalDocs: { url: 'https://a.example', description: 'More' },
      nullable: true,
      extra: { of: { type: 'string' }, kind: 'card' },
      list: [text],
      name: 'string',
    },
  ]
  for (const schema of schemas.map((each) => ({ type: 'object', ...each }))) {
    const made = tool({ name: 'any', description: 'Takes it', inputSchema: schema as never, handler: () => 1 })
    expect(made.describe().inputSchema).toMatchObject(schema)
  }
})

describe('an id that is taken', () => {
  const refusalOf = async (first: object, second: object, call: object = {}): Promise<string | undefined> => {
    const add = tool('add', ({ a }: { a: number }) => a)
    const executor = createExecutor({ tools: [add], use: [memoryJournal()] })
    await executor.execute({ name: 'add', args: { a: 1 } }, { session, invocationId: 'i', ...first })
    const again = await executor.execute(
      { name: 'add', args: { a: 1 }, ...call },
      { session, invocationId: 'i', ...second },
    )
    return again.error?.message
  }

  test('says what differs to a call of the same session, and not to another', async () => {
    expect(await refusalOf({}, {})).toBeUndefined()
    expect(await refusalOf({}, {}, { args: { a: 2 } })).toContain(
      'it was made with a different tool or different args. Give each call an id of its own.',
    )
    expect(await refusalOf({}, { caller: { app: 'x' } })).toContain('it was made with another caller. Give each call')
    expect(await refusalOf({}, { session: 'two' })).toContain('arguments, session or caller. Retry later;')
  })

  test('says that the call still runs', async () => {
    const gate = Promise.withResolvers<string>()
    const executor = createExecutor({ tools: [tool('slow', () => gate.promise)] })
    const first = executor.execute({ name: 'slow' }, { session, invocationId: 'i' })
    const same = await executor.execute({ name: 'slow' }, { session, invocationId: 'i' })
    const other = await executor.execute({ name: 'slow' }, { session: 'two', invocationId: 'i' })
    expect(same.error?.message).toContain('already exists: it is still running.')
    expect(other.error?.message).toContain('it is still running, or was made with')
    gate.resolve('done')
    expect((await first).status).toBe('ok')
  })
})

const strange = Object.create(null) as unknown
test('a date in a schema is refused with what to do, and text that is transformed gives the handler a date', async () => {
  const make = (when: z.ZodType<Date>) =>
    tool({
      name: 'book',
      description: 'Books',
      inputSchema: z.object({ when }),
      handler: (input) => input.when.getTime(),
    })
  expect(() => make(z.date()).describe()).toThrow(
    /Date cannot be represented in JSON Schema\. Take text and transform it, or/,
  )
  const book = make(z.iso.datetime().transform((written) => new Date(written)))
  const call = { name: 'book', args: { when: '1970-01-01T00:00:01Z' } }
  expect((await createExecutor({ tools: [book] }).execute(call)).value).toBe(1_000)
})

const bad: unknown[] = [null, 5, Symbol('x'), strange]
test.each<[string, (value: never) => unknown]>([
  ['the options of execute', (value) => createExecutor().execute({ name: 'x' }, value)],
  ['the options of stream', (value) => createExecutor().stream({ name: 'x' }, value).next()],
  ['the options of evaluate', (value) => createExecutor().evaluate({ name: 'x' }, value)],
  ['the options of executeToolCalls', (value) => createExecutor().executeToolCalls([], value)],
  ['the options of decide', (value) => createExecutor().calls.decide('x.y', 'allow', value)],
  ['the options of respond', (value) => createExecutor().calls.respond('x.y', 1, value)],
  ['the options of run', (value) => createExecutor().queue.run('x', value)],
  ['the options of settled', (value) => value !== strange && createExecutor().calls.settled('x', value)],
  ['the call of settled', (value) => value !== strange && createExecutor().calls.settled(value)],
  ['the id of run', (value) => createExecutor().queue.run(value)],
  ['the id of cancel', (value) => createExecutor().calls.cancel(value)],
  ['the id of snapshot', (value) => createExecutor().calls.get(value)],
  ['the query of calls', (value) => createExecutor().calls.list(value)],
  ['the query of waiting', (value) => createExecutor().calls.waiting(value)],
  ['the limit of calls', (limit) => createExecutor().calls.list({ limit })],
  ['the options of close', (value) => createExecutor().close(value)],
  ['the call of lease', (value) => createExecutor().calls.lease(value, 'me', 5)],
  ['the holder of lease', (value) => createExecutor().calls.lease({} as never, value, 5)],
  ['the time of lease', (value) => createExecutor().calls.lease({} as never, 'me', value)],
])('nothing but an error of the table reaches a caller who passes the wrong thing: %s', async (_, use) => {
  for (const value of bad) {
    const thrown: unknown = await (async () => use(value as never))().then(
      () => undefined,
      (error: unknown) => error,
    )
    if (thrown !== undefined) expect(thrown).toMatchObject({ code: expect.stringMatching(/^E_/) as string })
  }
})

describe('an option that there is not is refused with those that there are', () => {
  const executor = createExecutor({ tools: [now], use: [memoryJournal()] })
  const [call, options] = [{ name: 'now' }, { sesion: session } as object]

  test.each<[owner: string, work: () => unknown]>([
    ['execute', () => executor.execute(call, options)],
    ['executeToolCalls', () => executor.executeToolCalls([call], options)],
    ['evaluate', () => executor.evaluate(call, options)],
    ['invoke', () => executor.invoke(now, {}, options)],
    ['stream', () => executor.stream(call, options).next()],
    ['stream', () => now.executor({ ...options, executor })({})],
    ['calls.list', () => executor.calls.list(options)],
    ['calls.waiting', () => executor.calls.waiting(options)],
    ['calls.decide', () => executor.calls.decide('token', 'allow', options)],
    ['calls.respond', () => executor.calls.respond('token', 1, options)],
  ])('of `%s`', async (owner, work) => {
    const refused = (async () => work())()
    await expect(refused).rejects.toMatchObject({ code: 'E_INVALID_CONFIGURATION' })
    await expect(refused).rejects.toThrow(new RegExp(`^\`${owner}\` has no option "sesion"; its options are .*session`))
  })

  test.each<[owner: string, names: string, work: () => unknown]>([
    ['calls.settled', 'signal', () => executor.calls.settled('id', { a: 1 } as object)],
    ['calls.prune', 'settledBefore, limit', () => executor.calls.prune({ a: 1 } as never)],
    [
      'calls.recover',
      'strategy, approvals, staleAfter, rerun, attempts, reconcile',
      () => executor.calls.recover({ a: 1 } as object),
    ],
    ['close', 'drain', () => executor.close({ a: 1 } as object)],
  ])('of `%s`, which takes %s', async (owner, names, work) => {
    const message = `\`${owner}\` has no option "a"; its options are ${names}.`
    await expect((async () => work())()).rejects.toMatchObject({ message })
  })

  test('edited args under another name do not run the args that were not edited', async () => {
    let ran = 0
    const pay = tool({ name: 'pay', description: 'Pays', requiresConfirmation: true, handler: () => ran++ })
    const asking = createExecutor({ tools: [pay] })
    const { token = '' } = await asking.execute({ name: 'pay' })
    const slip = asking.calls.decide(token, 'allow', { args: { cents: 1 } } as object)
    await expect(slip).rejects.toThrow(/no option "args"; .*editedArgs/)
    expect(ran).toBe(0)
    expect(await asking.calls.decide(token, 'allow')).toMatchObject({ status: 'ok' })
  })

  test('an option of an executor is none of a call, and a signal in place of options is refused too', async () => {
    const other = createExecutor({ tools: [now] })
    await expect(other.execute(call, { timeout: 5 } as object)).rejects.toThrow(/Your own data goes into `values`/)
    await expect(other.execute(call, new AbortController().signal as never)).rejects.toThrow(
      /`execute` has no option "/,
    )
  })

  test('values that are `null` are no values', async () => {
    const reads = tool({ name: 'reads', description: 'Reads', handler: (_input, { values }) => Object.keys(values) })
    const other = createExecutor({ tools: [reads] })
    const result = await other.execute({ name: 'reads' }, { values: null as never })
    expect(result).toMatchObject({ status: 'ok', value: [] })
  })

  test('all options that the error names are taken, and what a program gives to all objects is none', async () => {
    const other = createExecutor({ tools: [now] })
    const error = (await other.execute(call, { a: 1 } as object).catch((each: unknown) => each)) as Error
    const names = /options are ([\w, ]+)\./.exec(error.message)?.[1]?.split(', ') ?? []
    const whole = { caller: 'user', session, principal: 'ada', values: {}, signal: new AbortController().signal }
    const rest = { invocationId: 'i', parent: undefined, requireApproval: false }
    expect(names).toEqual(Object.keys({ ...whole, ...rest }))
    // oxlint-disable-next-line no-extend-native
    Object.defineProperty(Object.prototype, 'everywhere', {
      value: 1,
      enumerable: true,
      configurable: true,
      writable: true,
    })
    try {
      expect(await other.execute(call, { ...whole, ...rest } as never)).toMatchObject({ status: 'ok' })
    } finally {
      Reflect.deleteProperty(Object.prototype, 'everywhere')
    }
  })
})
