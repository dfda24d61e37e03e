import { createExecutor, tool, type StandardSchemaV1 } from 'toolwright'
import { zod } from 'toolwright/validators/zod'
import { describe, expect, test } from 'vitest'
import { z } from 'zod'
import { data, hostile, outcome, sink, text } from './_calls.ts'
import { issuesText, validatorOf } from './_inside.ts'

type Validate = (value: unknown) => unknown

function standard(validate: Validate, options: object = {}): StandardSchemaV1 {
  return { '~standard': { version: 1, vendor: 'own', validate, ...options } } as StandardSchemaV1
}

const refusing = { issues: [{ message: 'no' }] }

async function run(
  inputSchema: StandardSchemaV1,
  args: unknown = { a: 1 },
): Promise<{ line: string; words: string; seen: unknown }> {
  let seen: unknown = 'not called'
  const { report } = sink()
  const guarded = tool({
    name: 't',
    description: 'd',
    inputSchema,
    jsonSchema: { type: 'object' },
    handler: (input) => {
      seen = input
      return input
    },
  })
  const executor = createExecutor({ tools: [guarded], report, timeout: 60 })
  const result = await executor.execute({ name: 't', args })
  return { line: outcome(result), words: text(result), seen }
}

describe('a validator is asked in whatever form it comes', () => {
  test.each<[string, StandardSchemaV1]>([
    ['an object', standard((value) => ({ value }))],
    [
      'a function',
      Object.assign(
        () => {},
        standard((value) => ({ value })),
      ),
    ],
    [
      'an object without a prototype',
      Object.assign(
        Object.create(null) as object,
        standard((value) => ({ value })),
      ),
    ],
    ['one that answers with a promise', standard((value) => Promise.resolve({ value }))],
    [
      'one that answers with another thenable',
      standard((value) => ({ then: (done: (result: unknown) => void) => done({ value }) })),
    ],
    ['one whose success carries `issues: undefined`', standard((value) => ({ value, issues: undefined }))],
  ])('%s', async (_, schema) => {
    expect(await run(schema)).toMatchObject({ line: 'ok completed', seen: { a: 1 } })
  })

  test.each<[string, object]>([
    ['undefined', { value: undefined }],
    ['inherited', Object.create({ value: undefined }) as object],
  ])('and a value that is %s is a value', async (_, answer) => {
    expect(await run(standard(() => answer))).toMatchObject({ line: 'ok completed', seen: undefined })
  })

  test('and the handler gets what it gives back', async () => {
    const { seen } = await run(standard((value) => ({ value: { ...(value as object), added: new Date(0) } })))
    expect(seen).toEqual({ a: 1, added: new Date(0) })
  })
})

describe('a refusal', () => {
  test.each<[string, unknown]>([
    ['says why', refusing],
    ['also carries a value', { value: { a: 1 }, ...refusing }],
    ['comes later', Promise.resolve(refusing)],
    ['has no reasons', { issues: [] }],
    ['has a number for reasons', { issues: 5 }],
    ['has reasons that can only be iterated', { issues: new Set([{ message: 'no' }]) }],
  ])('is one if and only if there are issues: it %s', async (_, answer) => {
    expect(await run(standard(() => answer))).toMatchObject({
      line: 'error none E_INVALID_TOOL_ARGS',
      seen: 'not called',
    })
  })

  test('tells the place of each issue, however the path is written', async () => {
    const issues = [
      { message: 'one', path: ['a', 0, { key: 'b' }] },
      { message: 'two' },
      { message: 'three', path: undefined },
      { message: 'four', path: [Symbol('s')] },
    ]
    const { words } = await run(standard(() => ({ issues })))
    expect(words).toContain('args.a[0].b: one; two; three; args["Symbol(s)"]: four')
  })

  test('of a hundred reasons names eight', () => {
    const issues = Array.from({ length: 100 }, (_, index) => ({ message: `m${index}`, path: [] }))
    expect(issuesText(issues)).toBe('m0; m1; m2; m3; m4; m5; m6; m7; and 92 more')
  })

  test('keeps no path entry of a library, only its key', () => {
    const schema = standard(() => ({ issues: [{ message: 'no', path: [{ key: 'a', input: { canary: 1 } }] }] }))
    expect(validatorOf(schema).validate({})).toEqual({ issues: [{ message: 'no', path: ['a'] }] })
  })
})

describe('a validator that breaks is not the fault of the args', () => {
  const throwing: Validate = () => {
    throw new Error('database down')
  }
  test.each<[string, Validate]>([
    ['throws', throwing],
    [
      'throws something hostile',
      () => {
        throw hostile()
      },
    ],
    ['rejects', () => Promise.reject(new Error('database down'))],
    ['rejects with nothing', () => Promise.reject()],
    ['answers with nothing', () => undefined],
    ['answers with null', () => null],
    ['answers with a word', () => 'ok'],
    ['answers later with nothing', () => Promise.resolve()],
    ['gives issues that are null', () => ({ issues: null })],
    ['gives neither a value nor issues', () => ({})],
    ['gives neither, later', () => Promise.resolve({})],
    ['gives no value, and issues that are undefined', () => ({ issues: undefined })],
    ['gives an array', () => []],
    [
      'gives issues that throw',
      () => ({
        get issues() {
          throw new Error('no')
        },
      }),
    ],
    ['gives an issue that is null', () => ({ issues: [null] })],
    ['answers with something hostile', () => hostile()],
    ['gives a path that is none', () => ({ issues: [{ message: 'x', path: [null] }] })],
    [
      'has a then that throws',
      () => ({
        get then() {
          throw new Error('no')
        },
      }),
    ],
  ])('%s', async (_, validate) => {
    const { line, seen } = await run(standard(validate))
    expect(line).toBe('error none E_VALIDATOR_FAILED')
    expect(seen).toBe('not called')
  })

  test('and the same call may succeed later', async () => {
    const flaky = tool({
      name: 't',
      description: 'd',
      inputSchema: standard(throwing),
      jsonSchema: {},
      handler: () => 1,
    })
    const { error } = await createExecutor({ tools: [flaky] }).execute({ name: 't' })
    expect(error).toMatchObject({ retryable: true, category: 'application' })
  })

  test('one that never answers is given up at the deadline', async () => {
    expect(await run(standard(() => new Promise(() => {})))).toMatchObject({
      line: 'timed_out none E_TOOL_TIMEOUT',
      seen: 'not called',
    })
  })
})

test('a validator that changes what it is given changes no record of the call', async () => {
  const args = { a: 1 }
  const schema = standard((value) => {
    ;(value as { a: number }).a = 2
    return { value }
  })
  const changed = tool({
    name: 't',
    description: 'd',
    inputSchema: schema,
    jsonSchema: {},
    requiresConfirmation: true,
    handler: (input) => input,
  })
  const executor = createExecutor({
    tools: [changed],
    use: [{ approver: { ask: async () => ({ decision: 'allow' }) } }],
  })
  const before = await executor.execute({ name: 't', args: '{"a":1}' })
  const result = await executor.execute({ name: 't', args })
  expect(args).toEqual({ a: 1 })
  expect(result.callId).toBe(before.callId)
  expect(data(result)).toEqual({ a: 2 })
})

describe('JSON Schema for a model', () => {
  function described(options: object): unknown {
    const base = { name: 't', description: 'd', handler: () => 1 }
    return tool({ ...base, ...options } as never).describe().inputSchema
  }
  const converting = (input: (options: { target: string }) => unknown): StandardSchemaV1 =>
    standard((value) => ({ value }), { jsonSchema: { input, output: input } })

  test('is the one that the author wrote, before all others', () => {
    const inputSchema = converting(() => ({ type: 'object', title: 'converted' }))
    expect(described({ inputSchema, jsonSchema: { type: 'object', title: 'own' } })).toEqual({
      type: 'object',
      title: 'own',
    })
    expect(described({ inputSchema })).toEqual({ type: 'object', title: 'converted' })
  })

  test('is no promise, which would read as a schema that takes anything', () => {
    const inputSchema = converting(async () => ({ type: 'object' }))
    expect(() => described({ inputSchema })).toThrow(/converted to JSON Schema: none came at once/)
  })

  test('is no promise that is rejected, and its rejection does not end the process', async () => {
    const rejections: unknown[] = []
    const listen = (reason: unknown): void => void rejections.push(reason)
    process.on('unhandledRejection', listen)
    const inputSchema = converting(() => Promise.reject(new Error('no network')))
    expect(() => described({ inputSchema })).toThrow(/: none came at once\./)
    await new Promise((resolve) => setTimeout(resolve)) // rejections are told behind the promises that are settled
    process.off('unhandledRejection', listen)
    expect(rejections).toEqual([])
  })

  test('is not nothing', () => {
    for (const nothing of [undefined, null, true, '{}', []])
      expect(() => described({ inputSchema: converting(() => nothing) })).toThrow(/: none came at once\./)
  })

  test('is asked for in 2020-12 first, then in draft 07', () => {
    const targets: string[] = []
    const inputSchema = converting(({ target }) => {
      targets.push(target)
      if (target !== 'draft-07') throw new Error(`no ${target}`)
      return { $schema: 'http://json-schema.org/draft-07/schema#', type: 'object' }
    })
    expect(described({ inputSchema })).toEqual({ $schema: 'http://json-schema.org/draft-07/schema#', type: 'object' })
    expect(targets).toEqual(['draft-2020-12', 'draft-07'])
  })

  test('of Zod has no bounds that only say what a double holds', () => {
    const fields = { any: z.int(), above: z.number().int().min(3), byte: z.int().max(255), small: z.int32() }
    const properties = {
      any: { type: 'integer' },
      above: { type: 'integer', minimum: 3 },
      byte: { type: 'integer', maximum: 255 },
      small: { type: 'integer', minimum: -2_147_483_648, maximum: 2_147_483_647 },
    }
    expect(described({ inputSchema: z.object(fields) })).toMatchObject({ properties })
    expect(described({ inputSchema: zod(z.object(fields)) })).toMatchObject({ properties })
    const { any, byte } = (described({ inputSchema: z.object(fields) }) as { properties: Record<string, object> })
      .properties
    expect([any, byte]).toEqual([properties.any, properties.byte])
  })

  test.each([
    ['effect', 'The effect schema', 'Schema.toStandardJSONSchemaV1'],
    ['yup', 'The yup schema', '`jsonSchema` of its own'],
  ])('that %s does not give is refused with what to write', (vendor, subject, next) => {
    const inputSchema = standard((value) => ({ value }), { vendor })
    expect(() => described({ inputSchema })).toThrow(subject)
    expect(() => described({ inputSchema })).toThrow(next)
  })

  test('has an object at its root', () => {
    expect(described({ inputSchema: { anyOf: [{ required: ['a'] }] } })).toEqual({
      type: 'object',
      anyOf: [{ required: ['a'] }],
    })
    expect(described({ inputSchema: { type: ['object', 'null'] } })).toEqual({ type: 'object' })
    expect(described({ inputSchema: true })).toEqual({ type: 'object' })
    expect(() => described({ inputSchema: { type: 'string' } })).toThrow(/field of an object/)
  })

  test('is a copy that nobody else can change', () => {
    const inputSchema = { type: 'object', properties: { a: { type: 'string' } } }
    const shown = described({ inputSchema })
    inputSchema.properties.a.type = 'number'
    expect(shown).toEqual({ type: 'object', properties: { a: { type: 'string' } } })
  })

  test.each<[string, unknown]>([
    [
      'throws',
      () => {
        throw new Error('cannot')
      },
    ],
    ['gives nothing', () => undefined],
    ['gives text', () => 'schema'],
    ['gives an array', () => []],
    ['gives a bigint within', () => ({ const: 1n })],
  ])('that %s sets its tool aside, reports it, and the rest of the list stands', (_, input) => {
    const { report, reports } = sink()
    const bad = tool({ name: 'bad', description: 'd', inputSchema: converting(input as never), handler: () => 1 })
    const executor = createExecutor({ tools: [bad, tool('good', () => 1)], report })
    expect(executor.tools().map(({ name }) => name)).toEqual(['good'])
    expect(reports).toMatchObject([{ code: 'E_SCHEMA_CONVERSION' }])
    expect(String(reports[0])).toContain('"bad"')
  })

  test('of the result only informs: what JSON Schema cannot say is left out, and validates all the same', async () => {
    const outputSchema = standard((value) => (value === 1 ? { value } : refusing))
    const made = tool({ name: 't', description: 'd', outputSchema, handler: (): unknown => 2 })
    expect('outputSchema' in made.describe()).toBe(false)
    expect(outcome(await createExecutor({ tools: [made] }).execute({ name: 't' }))).toBe(
      'error completed E_INVALID_TOOL_RESULT',
    )
  })
})
