// oxlint-disable unicorn/no-thenable -- hostile thenables are what is tried here
import { createExecutor, tool, type Schema, type StandardSchemaV1, type Tool, type ToolResult } from 'toolwright'
import { describe, expect, test } from 'vitest'

type Validate = (value: unknown) => unknown

/** A Standard Schema that answers as it is told, however wrong that is. */
function schemaOf(validate: Validate, more: object = {}): StandardSchemaV1 {
  return { '~standard': { version: 1, vendor: 'hostile', validate, ...more } } as unknown as StandardSchemaV1
}

function toolOf(inputSchema: Schema, runs: unknown[]): Tool {
  return tool({
    name: 'probe',
    description: 'Remembers what it is given',
    jsonSchema: { type: 'object' },
    inputSchema,
    timeout: 20,
    handler: (input: unknown) => {
      runs.push(input)
      return 'done'
    },
  }) as Tool
}

async function run(inputSchema: Schema, args: unknown = { n: 1 }): Promise<ToolResult & { readonly runs: unknown[] }> {
  const runs: unknown[] = []
  const result = await createExecutor({ tools: [toolOf(inputSchema, runs)] }).execute({ name: 'probe', args })
  return { ...result, runs }
}

function throwing(this: { readonly thrown: unknown } | void): never {
  throw this === undefined || !('thrown' in this) ? new Error('no') : this.thrown
}
const unreadable = Object.create(null, {
  message: { get: throwing },
  toString: { value: throwing },
}) as object

describe('a validator that breaks does not let the call through', () => {
  test.each<[string, Validate]>([
    ['throws', throwing],
    ['throws null', throwing.bind({ thrown: null })],
    ['throws what cannot be read', throwing.bind({ thrown: unreadable })],
    ['rejects', () => Promise.reject(new Error('down'))],
    ['rejects with nothing', () => Promise.reject()], // oxlint-disable-line unicorn/prefer-promise-reject-errors
    ['rejects with what cannot be read', () => Promise.reject(unreadable)], // oxlint-disable-line unicorn/prefer-promise-reject-errors
    ['gives nothing', () => undefined],
    ['gives null', () => null],
    ['gives true', () => true],
    ['gives a text', () => 'ok'],
    ['gives a function', () => () => ({ value: 1 })],
    ['promises nothing', () => Promise.resolve(undefined)],
    ['promises null', () => Promise.resolve(null)],
    ['gives issues that are null', () => ({ value: {}, issues: null })],
    ['gives an issue whose message cannot be said', () => ({ issues: [{ message: unreadable }] })],
    ['gives issues that are texts', () => ({ issues: ['no'] })],
    ['gives a text as its issues', () => ({ issues: 'no' })],
    ['gives a path with null in it', () => ({ issues: [{ message: 'x', path: [null] }] })],
    [
      'gives a result whose issues cannot be read',
      () => Object.defineProperty({ value: {} }, 'issues', { get: throwing }),
    ],
    ['gives a result whose value cannot be read', () => Object.defineProperty({}, 'value', { get: throwing })],
    ['gives a thenable that throws', () => ({ then: throwing })],
    ['gives a then that cannot be read', () => Object.defineProperty({}, 'then', { get: throwing })],
    [
      'gives a revoked proxy',
      () => {
        const { proxy, revoke } = Proxy.revocable({}, {})
        revoke()
        return proxy
      },
    ],
  ])('%s', async (_title, validate) => {
    const { runs, ...result } = await run(schemaOf(validate))
    expect(runs).toEqual([])
    expect(result).toMatchObject({ status: 'error', effect: 'none', isError: true })
    expect(result.error).toMatchObject({ code: 'E_VALIDATOR_FAILED', retryable: true })
    expect(result.content).toEqual([{ type: 'text', text: expect.stringMatching(/^The validator \(hostile\) /) }])
  })

  test.each<[string, Validate]>([
    ['never settles', () => new Promise(() => {})],
    ['gives a thenable that never settles', () => ({ then: () => {} })],
    ['settles when it is too late', () => new Promise((resolve) => setTimeout(() => resolve({ value: {} }), 60))],
    [
      'rejects when it is too late',
      () => new Promise((_resolve, reject) => setTimeout(() => reject(new Error('late')), 60)),
    ],
  ])('%s: the deadline releases the caller', async (_title, validate) => {
    const { runs, ...result } = await run(schemaOf(validate))
    expect(result).toMatchObject({ status: 'timed_out', effect: 'none', error: { code: 'E_TOOL_TIMEOUT' } })
    await new Promise((resolve) => setTimeout(resolve, 80))
    expect(runs).toEqual([])
  })
})

describe('a refusal is a refusal', () => {
  test.each<[string, unknown, readonly { message: string; path: readonly unknown[] }[]]>([
    ['with a value beside it', { value: {}, issues: [{ message: 'no' }] }, [{ message: 'no', path: [] }]],
    ['with issues that are a number', { value: {}, issues: 1 }, [{ message: expect.any(String) as string, path: [] }]],
    ['with a path that is no list', { issues: [{ message: 'no', path: 5 }] }, [{ message: 'no', path: [] }]],
    ['without a reason', { issues: [] }, [{ message: expect.any(String) as string, path: [] }]],
    [
      'without a reason, with a value',
      { value: {}, issues: [] },
      [{ message: expect.any(String) as string, path: [] }],
    ],
    [
      'with steps that are objects',
      { issues: [{ message: 'no', path: [{ key: 'a' }, 2, { key: 'b', value: 'secret' }] }] },
      [{ message: 'no', path: ['a', 2, 'b'] }],
    ],
    [
      'with more in its issues',
      { issues: [{ message: 'no', path: ['a'], input: 'secret', code: 1 }] },
      [{ message: 'no', path: ['a'] }],
    ],
    [
      'in an object without a prototype',
      Object.assign(Object.create(null), { issues: [{ message: 'no' }] }),
      [{ message: 'no', path: [] }],
    ],
    ['with issues from its prototype', Object.create({ issues: [{ message: 'no' }] }), [{ message: 'no', path: [] }]],
    ['with issues in a set', { issues: new Set([{ message: 'no' }]) }, [{ message: 'no', path: [] }]],
  ])('%s', async (_title, answer, issues) => {
    for (const validate of [() => answer, () => Promise.resolve(answer), async () => answer]) {
      const { runs, ...result } = await run(schemaOf(validate))
      expect(runs).toEqual([])
      expect(result).toMatchObject({ status: 'error', effect: 'none', error: { code: 'E_INVALID_TOOL_ARGS' } })
      expect(result.error?.issues).toEqual(issues)
      expect(JSON.stringify(result)).not.toContain('secret')
    }
  })

  test('with a symbol in its path', async () => {
    const key = Symbol('inside')
    const { runs, ...result } = await run(schemaOf(() => ({ issues: [{ message: 'no', path: [key, { key }] }] })))
    expect(runs).toEqual([])
    expect(result.error?.issues).toEqual([{ message: 'no', path: [key, key] }])
    expect(result.error?.message).toContain('no')
  })

  test('with more issues than anybody reads', async () => {
    const issues = Array.from({ length: 10_000 }, (_, index) => ({ message: 'no', path: [index] }))
    const result = await run(schemaOf(() => ({ issues })))
    expect(result.error?.message.length).toBeLessThan(1_000)
    expect(JSON.stringify(result.content).length).toBeLessThan(1_200)
  })

  test('with a message that would write on a terminal', async () => {
    const result = await run(schemaOf(() => ({ issues: [{ message: '\u001B[31m\u202Eno\n' }] })))
    const [block] = result.content
    expect(block).toMatchObject({ type: 'text', text: expect.stringContaining('\\u001b[31m\\u202eno\n') })
    expect((block as { readonly text: string }).text).not.toMatch(/[\u0000-\u0009\u000B-\u001F\u202E]/) // oxlint-disable-line eslint/no-control-regex
  })
})

describe('a validator of another shape', () => {
  test('may be a function', async () => {
    const schema = Object.assign(
      () => 'not me',
      schemaOf((value) => ({ value: [value] })),
    )
    expect(await run(schema)).toMatchObject({ status: 'ok', runs: [[{ n: 1 }]] })
  })

  test('may be a function that refuses', async () => {
    const schema = Object.assign(
      () => 'not me',
      schemaOf(() => ({ issues: [{ message: 'no' }] })),
    )
    expect(await run(schema)).toMatchObject({ error: { code: 'E_INVALID_TOOL_ARGS' }, runs: [] })
  })

  test('may give a thenable that is no promise', async () => {
    const schema = schemaOf((value) => ({ then: (resolve: (result: unknown) => void) => resolve({ value }) }))
    expect(await run(schema)).toMatchObject({ status: 'ok', runs: [{ n: 1 }] })
  })

  test('may give undefined as its value', async () => {
    expect(await run(schemaOf(() => ({ value: undefined })))).toMatchObject({ status: 'ok', runs: [undefined] })
    expect(await run(schemaOf(() => ({ value: 1, issues: undefined })))).toMatchObject({ status: 'ok', runs: [1] })
  })

  test('may change its mind: each call goes by its own answer', async () => {
    let count = 0
    const runs: unknown[] = []
    const probe = toolOf(
      schemaOf((value) => (++count % 2 === 1 ? { value } : { issues: [{ message: 'no' }] })),
      runs,
    )
    const executor = createExecutor({ tools: [probe] })
    const statuses: string[] = []
    for (let index = 0; index < 4; index++) {
      statuses.push((await executor.execute({ name: 'probe', args: { index } })).status)
    }
    expect(statuses).toEqual(['ok', 'error', 'ok', 'error'])
    expect(runs).toEqual([{ index: 0 }, { index: 2 }])
  })

  test.each<[string, unknown]>([
    ['of another version', { '~standard': { version: 2, vendor: 'x', validate: throwing } }],
    ['without a validate', { '~standard': { version: 1, vendor: 'x' } }],
    ['with a null standard', { '~standard': null }],
  ])('%s is no Standard Schema, and refuses every call', async (_title, inputSchema) => {
    let result: ToolResult & { readonly runs: unknown[] }
    try {
      result = await run(inputSchema as Schema)
    } catch (error) {
      return expect(error).toMatchObject({ code: 'E_INVALID_INITIAL_TOOL_VALUE' })
    }
    expect(result).toMatchObject({ isError: true, runs: [] })
  })

  test.each([
    ['a text', 'string'],
    ['a number', 5],
    ['a function without a standard', () => true],
    ['a list', []],
  ])('%s is no schema', (_title, inputSchema) => {
    expect(() => toolOf(inputSchema as never, [])).toThrow(
      expect.objectContaining({
        code: 'E_INVALID_INITIAL_TOOL_VALUE',
        message: expect.stringContaining('inputSchema'),
      }),
    )
  })
})

describe('a conversion that breaks', () => {
  test.each<[string, () => unknown]>([
    ['throws', throwing],
    ['gives nothing', () => undefined],
    ['gives a list', () => []],
    ['gives true', () => true],
    ['gives a promise', () => Promise.resolve({ type: 'object' })],
    ['gives what JSON cannot hold', () => ({ type: 'object', default: 1n })],
    [
      'gives what turns in a circle',
      () => {
        const schema: Record<string, unknown> = { type: 'object' }
        schema['properties'] = schema
        return schema
      },
    ],
    ['gives something else than an object’s schema', () => ({ type: 'string' })],
  ])('%s: its tool is set aside and reported, and the rest of the list stands', (_title, convert) => {
    const reports: unknown[] = []
    const jsonSchema = { input: convert, output: convert }
    const inputSchema = schemaOf((value) => ({ value }), { jsonSchema })
    const broken = tool({ name: 'broken', description: 'x', inputSchema, handler: () => 1 })
    const executor = createExecutor({
      tools: [tool('first', () => 1), broken, tool('last', () => 1)],
      report: (error) => reports.push(error),
    })
    const names = executor.tools().map(({ name }) => name)
    if (names.includes('broken')) expect(broken.describe().inputSchema).toEqual({ type: 'object' })
    else expect(reports).toEqual([expect.objectContaining({ code: 'E_SCHEMA_CONVERSION' })])
    expect(names.filter((name) => name !== 'broken')).toEqual(['first', 'last'])
  })
})

describe('an output schema that breaks', () => {
  test.each<[string, Validate, string]>([
    ['throws', throwing, 'E_VALIDATOR_FAILED'],
    ['rejects', () => Promise.reject(new Error('down')), 'E_VALIDATOR_FAILED'],
    ['gives nothing', () => undefined, 'E_VALIDATOR_FAILED'],
    ['refuses', () => ({ issues: [] }), 'E_INVALID_TOOL_RESULT'],
    ['never settles', () => new Promise(() => {}), 'E_TOOL_TIMEOUT'],
  ])('%s: nothing leaves, and the effect is told', async (_title, validate, code) => {
    const outputSchema = schemaOf(validate)
    const probe = tool({ name: 'probe', description: 'x', outputSchema, timeout: 20, handler: () => 'the result' })
    const result = await createExecutor({ tools: [probe] }).execute({ name: 'probe', args: {} })
    expect(result).toMatchObject({ isError: true, error: { code } })
    expect(result.effect).not.toBe('none')
    expect(JSON.stringify(result.content)).not.toContain('the result')
  })
})
