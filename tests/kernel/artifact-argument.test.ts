import { type } from 'arktype'
import {
  artifact,
  BinaryArtifact,
  createExecutor,
  JsonArtifact,
  SpooledArtifact,
  TextArtifact,
  Tool,
  tool,
  type Schema,
  type ToolExecutor,
  type ToolResult,
} from 'toolwright'
import { ArtifactError } from 'toolwright/errors'
import { valibot } from 'toolwright/validators/valibot'
import * as v from 'valibot'
import { describe, expect, test } from 'vitest'
import { z } from 'zod'
import { text, work } from './_calls.ts'
import { memoryJournal } from 'toolwright/journals/memory'
import { MemoryReader } from './_inside.ts'

const rows = Array.from({ length: 2_000 }, (_, id) => ({ id, name: `row ${id}` }))

class Report extends TextArtifact {
  title(): Promise<string> {
    return this.head(1)
  }
}

const sources = [
  work('rows', () => rows),
  work('report', () => `Title\n${'x'.repeat(20_000)}`, { artifact: Report }),
  work('prose', () => 'x\n'.repeat(20_000)),
  work('bytes', () => new Uint8Array(20_000)),
]

function counting(inputSchema: Schema): Tool {
  return new Tool({
    name: 'count_rows',
    description: 'Counts the rows of a JSON artifact',
    inputSchema,
    handler: (input) => (input as { rows: JsonArtifact }).rows.length(),
  })
}

async function handleOf(executor: ToolExecutor, name: string, session = 'a'): Promise<string> {
  const { handle } = await executor.execute({ name, args: {} }, { session })
  return handle ?? expect.fail('nothing was stored')
}

function ask(executor: ToolExecutor, args: unknown, session = 'a'): Promise<ToolResult> {
  return executor.execute({ name: 'count_rows', args }, { session })
}

const schemas: [string, Schema][] = [
  ['Zod', z.object({ rows: z.string().transform(artifact(JsonArtifact)) })],
  [
    'Valibot',
    valibot(
      v.object({
        rows: v.pipe(v.string(), v.transform(artifact(JsonArtifact))),
      }),
    ),
  ],
  ['ArkType', type({ rows: type('string').pipe(artifact(JsonArtifact)) })],
]

describe.each(schemas)('a schema of %s', (_, inputSchema) => {
  const executor = createExecutor({ tools: [...sources, counting(inputSchema)], report: () => {} })

  test('is shown to models as one that takes a string', () => {
    const { inputSchema: shown } = executor.tools().at(-1)?.describe() ?? expect.fail('it is not listed')
    expect(shown.properties?.['rows']).toMatchObject({ type: 'string' })
  })

  test('takes a handle, and the handler gets the artifact', async () => {
    const result = await ask(executor, { rows: await handleOf(executor, 'rows') })
    expect(result.status, text(result)).toBe('ok')
    expect(text(result)).toBe('2000')
  })

  test('takes JSON text with a handle in it', async () => {
    const result = await ask(executor, JSON.stringify({ rows: await handleOf(executor, 'rows') }))
    expect(text(result)).toBe('2000')
  })

  test('refuses the handle of an artifact of another class, at its path', async () => {
    const result = await ask(executor, { rows: await handleOf(executor, 'prose') })
    expect(result).toMatchObject({
      status: 'error',
      effect: 'none',
      error: {
        code: 'E_INVALID_TOOL_ARGS',
        issues: [{ path: ['rows'], message: expect.stringMatching(/json artifact.*text artifact/) }],
      },
    })
  })

  test('refuses a handle of another session, and one that never was, in the same words', async () => {
    const handle = await handleOf(executor, 'rows', 'b')
    const words: string[] = []
    for (const each of [handle, handle.replace(/.$/, (last) => (last === '0' ? '1' : '0'))]) {
      const result = await ask(executor, { rows: each })
      expect(result).toMatchObject({
        status: 'error',
        error: { code: 'E_INVALID_TOOL_ARGS', issues: [{ path: ['rows'] }] },
      })
      words.push(text(result).replace(each, 'X'))
    }
    expect(words[0]).toBe(words[1])
  })

  test('refuses what is no string', async () => {
    for (const value of [undefined, null, 7, {}, []]) {
      const result = await ask(executor, { rows: value })
      expect(result).toMatchObject({ status: 'error', error: { code: 'E_INVALID_TOOL_ARGS' } })
    }
  })
})

describe('artifact(Class) as a schema', () => {
  test('says of itself that it takes a string', () => {
    const standard = artifact(JsonArtifact)['~standard']
    expect(standard.jsonSchema.input({ target: 'draft-2020-12' })).toEqual({
      type: 'string',
      description: 'The handle of a json artifact',
    })
  })

  test('takes strings and artifacts, and nothing else', async () => {
    const { validate } = artifact(TextArtifact)['~standard']
    const live = new TextArtifact({ reader: new MemoryReader('x') })
    expect(await validate(live)).toEqual({ value: live })
    for (const value of [undefined, null, 7, {}, Object.create(null)]) {
      expect(await validate(value)).toMatchObject({ issues: [{ message: 'must be the handle of a text artifact' }] })
    }
  })

  test('is nested in a schema that knows nothing of artifacts', async () => {
    const one = artifact(SpooledArtifact)
    const many = tool({
      name: 'sizes',
      description: 'The sizes of artifacts',
      inputSchema: z.object({
        all: z.array(z.object({ of: z.string().transform(one) })),
        either: z.string().transform(one).optional(),
      }),
      handler: ({ all, either }) => [...all.map(({ of }) => of.byteLength()), either?.byteLength() ?? 0],
    })
    const executor = createExecutor({ tools: [...sources, many] })
    const [prose, bytes] = [await handleOf(executor, 'prose'), await handleOf(executor, 'bytes')]
    const args = { all: [{ of: prose }, { of: bytes }, { of: prose }] }
    const result = await executor.execute({ name: 'sizes', args }, { session: 'a' })
    expect(text(result)).toContain('[40000,20000,40000,0]')
    const wrong = await executor.execute(
      { name: 'sizes', args: { all: [{ of: prose }, { of: 'artifact_x' }] } },
      { session: 'a' },
    )
    expect(wrong.error?.issues).toMatchObject([{ path: ['all', 1, 'of'] }])
  })
})

describe('which classes are taken', () => {
  const takes = (Class: typeof SpooledArtifact): Tool =>
    tool({
      name: 'take',
      description: 'Takes one',
      inputSchema: z.object({ it: z.string().transform(artifact(Class)) }),
      handler: ({ it }) => it.constructor.name,
    }) as Tool

  test.each([
    ['any', SpooledArtifact, ['rows', 'report', 'prose', 'bytes'], []],
    ['text and what extends it', TextArtifact, ['report', 'prose'], ['rows', 'bytes']],
    ['bytes', BinaryArtifact, ['bytes'], ['rows', 'prose']],
    ['a subclass that has no kind of its own', Report, ['report'], ['prose', 'rows']],
  ] as const)('%s', async (_, Class, taken, refused) => {
    const executor = createExecutor({ tools: [...sources, takes(Class)] })
    const statuses = async (names: readonly string[]): Promise<string[]> =>
      Promise.all(
        names.map(
          async (name) =>
            (await executor.execute({ name: 'take', args: { it: await handleOf(executor, name) } }, { session: 'a' }))
              .status,
        ),
      )
    expect(await statuses(taken)).toEqual(taken.map(() => 'ok'))
    expect(await statuses(refused)).toEqual(refused.map(() => 'error'))
  })

  test('the handler gets the subclass with its own methods', async () => {
    const executor = createExecutor({
      tools: [
        ...sources,
        tool({
          name: 'title',
          description: 'Its title',
          inputSchema: z.object({ of: z.string().transform(artifact(Report)) }),
          handler: ({ of }) => of.title(),
        }),
      ],
    })
    const result = await executor.execute(
      { name: 'title', args: { of: await handleOf(executor, 'report') } },
      { session: 'a' },
    )
    expect(text(result)).toBe('Title')
  })
})

describe('what the handler did not ask for', () => {
  test('args that merely look like a reference stay what they are', async () => {
    const seen: unknown[] = []
    const executor = createExecutor({ tools: [...sources, work('see', (input) => void seen.push(input))] })
    const args = {
      rows: { handle: 'artifact_x', Class: 'JsonArtifact' },
      '@@toolwright.artifact-reference': { handle: 'x' },
    }
    await executor.execute({ name: 'see', args }, { session: 'a' })
    expect(seen).toEqual([args])
  })

  test('the store is not asked before the whole schema agrees', async () => {
    const opened: string[] = []
    const executor = createExecutor({
      tools: [...sources, counting(z.object({ rows: z.string().transform(artifact(JsonArtifact)), n: z.number() }))],
      use: [
        {
          store: {
            write: () => expect.fail('nothing is written'),
            open(handle) {
              opened.push(handle)
              throw new Error('gone')
            },
            delete: () => Promise.resolve(),
          },
        },
      ],
    })
    await ask(executor, { rows: 'artifact_x', n: 'one' })
    expect(opened).toEqual([])
  })

  test('a store that breaks is no fault of the args', async () => {
    const executor = createExecutor({
      tools: [counting(z.object({ rows: z.string().transform(artifact(JsonArtifact)) }))],
      use: [
        {
          store: {
            write: () => expect.fail('unused'),
            open: () => Promise.reject(new Error('disk on fire')),
            delete: () => Promise.resolve(),
          },
        },
      ],
      report: () => {},
    })
    const result = await ask(executor, { rows: 'artifact_x' })
    expect(result.status).toBe('error')
    expect(result.error?.code).toBe('E_ARTIFACT')
  })
})

describe('a call that waits', () => {
  const asks = tool({
    name: 'count_rows',
    description: 'Counts rows, if somebody agrees',
    inputSchema: z.object({ rows: z.string().transform(artifact(JsonArtifact)) }),
    requiresConfirmation: true,
    handler: ({ rows: artifactOfRows }) => artifactOfRows.length(),
  })

  test.each([
    ['without a journal', []],
    ['with a journal', [memoryJournal()]],
  ])('opens its artifact anew when it goes on, %s', async (_, use) => {
    const executor = createExecutor({ tools: [...sources, asks], use })
    const rowsHandle = await handleOf(executor, 'rows')
    const paused = await ask(executor, { rows: rowsHandle })
    expect(paused.status).toBe('waiting')
    const result = await executor.calls.decide(paused.token ?? '', 'allow')
    expect(text(result)).toBe('2000')
  })

  test('is refused when the artifact has gone meanwhile', async () => {
    const stored = new Map<string, Uint8Array>()
    const executor = createExecutor({
      tools: [...sources, asks],
      use: [
        {
          store: {
            async write(source) {
              stored.set('artifact_1', new TextEncoder().encode(source as string))
              return { handle: 'artifact_1', sha256: '', byteLength: 1 }
            },
            open: (handle) => {
              const bytes = stored.get(handle)
              if (bytes === undefined) throw new ArtifactError('It has gone.')
              return new MemoryReader(bytes)
            },
            delete: () => Promise.resolve(),
          },
        },
      ],
    })
    await handleOf(executor, 'rows')
    const paused = await ask(executor, { rows: 'artifact_1' })
    expect(paused.status).toBe('waiting')
    stored.clear()
    const result = await executor.calls.decide(paused.token ?? '', 'allow')
    expect(result).toMatchObject({ status: 'error', error: { code: 'E_INVALID_TOOL_ARGS' } })
  })

  test('edited args are opened like any others', async () => {
    const executor = createExecutor({ tools: [...sources, asks] })
    const paused = await ask(executor, { rows: await handleOf(executor, 'rows') })
    const result = await executor.calls.decide(paused.token ?? '', 'allow', {
      editedArgs: { rows: await handleOf(executor, 'prose') },
    })
    expect(result).toMatchObject({ status: 'error', error: { code: 'E_INVALID_TOOL_ARGS' } })
  })

  test('another session cannot be reached by editing the args', async () => {
    const executor = createExecutor({ tools: [...sources, asks] })
    const theirs = await handleOf(executor, 'rows', 'b')
    const paused = await ask(executor, { rows: await handleOf(executor, 'rows') })
    const result = await executor.calls.decide(paused.token ?? '', 'allow', { editedArgs: { rows: theirs } })
    expect(result).toMatchObject({ status: 'error', error: { code: 'E_INVALID_TOOL_ARGS' } })
  })
})

test('the calls of one turn each get their own artifact', async () => {
  const executor = createExecutor({ tools: [...sources, counting(schemas[0]?.[1] ?? true)] })
  const [good, bad] = [await handleOf(executor, 'rows'), await handleOf(executor, 'prose')]
  const results = await executor.executeToolCalls(
    [good, bad, good, 'artifact_x', good].map((rowsHandle) => ({ name: 'count_rows', args: { rows: rowsHandle } })),
    { session: 'a' },
  )
  expect(results.map(({ status }) => status)).toEqual(['ok', 'error', 'ok', 'error', 'ok'])
})

describe('a direct call', () => {
  const inSchema = tool({
    name: 'count_rows',
    description: 'Counts rows',
    inputSchema: { '~standard': artifact(JsonArtifact)['~standard'] },
    jsonSchema: { type: 'object' },
    handler: (artifactOfRows) => artifactOfRows.length(),
  })

  test('takes a live artifact', async () => {
    const live = new JsonArtifact({ reader: new MemoryReader('[1,2,3]') })
    expect(await inSchema(live)).toBe(3)
  })

  test('refuses a live artifact of another class, as it refuses a handle of one', async () => {
    const live = new BinaryArtifact({ reader: new MemoryReader('[1,2,3]') })
    await expect(inSchema(live as never)).rejects.toMatchObject({ code: 'E_INVALID_TOOL_ARGS' })
  })

  test('has no artifacts of its own to open', async () => {
    await expect(inSchema('artifact_x')).rejects.toMatchObject({ code: 'E_INVALID_TOOL_ARGS' })
  })
})

test('those who watch are told which artifact it was, and cannot read it', async () => {
  const executor = createExecutor({ tools: [...sources, counting(schemas[0]?.[1] ?? true)] })
  const inputs: unknown[] = []
  executor.on('tool:start', ({ toolName, input }) => void (toolName === 'count_rows' && inputs.push(input)))
  const handle = await handleOf(executor, 'rows')
  await ask(executor, { rows: handle })
  expect(inputs).toMatchObject([{ rows: { handle } }])
  expect((inputs[0] as { rows: object }).rows).not.toBeInstanceOf(SpooledArtifact)
})
