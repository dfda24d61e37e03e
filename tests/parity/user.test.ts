// Its users want one small kernel: any validator, one identity for every call, typed errors, results kept whole, and proof.
import { execFile } from 'node:child_process'
import { createHash } from 'node:crypto'
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { Type as SinclairType } from '@sinclair/typebox'
import { type } from 'arktype'
import canonicalize from 'canonicalize'
import {
  BinaryArtifact,
  computeCallId,
  createExecutor,
  JsonArtifact,
  SpooledArtifact,
  TextArtifact,
  tool,
  Tool,
  type Schema,
} from 'toolwright'
import {
  InvalidToolArgsError,
  InvalidToolResultError,
  ToolDeniedError,
  ToolDownstreamError,
  ToolNotFoundError,
  ToolTimeoutError,
  UncanonicalArgsError,
  ValidatorFailedError,
  ToolError,
} from 'toolwright/errors'
import type { ErasedConfig } from 'toolwright/extension'
import { arktype } from 'toolwright/validators/arktype'
import { jsonSchema } from 'toolwright/validators/json-schema'
import { sinclairTypebox } from 'toolwright/validators/sinclair-typebox'
import { typebox } from 'toolwright/validators/typebox'
import { valibot } from 'toolwright/validators/valibot'
import { zod } from 'toolwright/validators/zod'
import { Type } from 'typebox'
import * as v from 'valibot'
import { expect, it } from 'vitest'
import { z } from 'zod'

const root = join(import.meta.dirname, '..', '..')

function packageJson(): Readonly<Record<string, unknown>> {
  return JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')) as Record<string, unknown>
}

const rawSchema = {
  type: 'object',
  properties: { city: { type: 'string' }, days: { type: 'integer', minimum: 1 } },
  required: ['city', 'days'],
} as const

/** The same schema by each library: as it is where that will do, and in its wrapper. */
const schemas: Readonly<Record<string, Schema>> = {
  'raw JSON Schema': rawSchema,
  'jsonSchema()': jsonSchema(rawSchema),
  Zod: z.object({ city: z.string(), days: z.int().min(1) }),
  'zod()': zod(z.object({ city: z.string(), days: z.int().min(1) })),
  ArkType: type({ city: 'string', days: 'number.integer >= 1' }),
  'arktype()': arktype(type({ city: 'string', days: 'number.integer >= 1' })),
  'valibot()': valibot(v.object({ city: v.string(), days: v.pipe(v.number(), v.integer(), v.minValue(1)) })),
  TypeBox: Type.Object({ city: Type.String(), days: Type.Integer({ minimum: 1 }) }),
  'typebox()': typebox(Type.Object({ city: Type.String(), days: Type.Integer({ minimum: 1 }) })),
  'TypeBox 0.34': SinclairType.Object({ city: SinclairType.String(), days: SinclairType.Integer({ minimum: 1 }) }),
  'sinclairTypebox()': sinclairTypebox(
    SinclairType.Object({ city: SinclairType.String(), days: SinclairType.Integer({ minimum: 1 }) }),
  ),
}

function make(fields: Partial<ErasedConfig> = {}): Tool {
  return new Tool({ name: 'forecast', description: 'Weather for a city', handler: () => 'clear', ...fields })
}

it('USR-01 a tool takes any Standard Schema and raw JSON Schema, and they all guard and show it alike', async () => {
  for (const [library, inputSchema] of Object.entries(schemas)) {
    const made = make({ inputSchema, handler: (input) => ({ got: input }) })
    const executor = createExecutor({ tools: [made] })
    const good = await executor.execute({ name: 'forecast', args: { city: 'Oslo', days: 3 } })
    expect(good.content, library).toMatchObject([{ data: { got: { city: 'Oslo', days: 3 } } }])
    for (const args of [
      { city: 'Oslo' },
      { city: 7, days: 3 },
      { city: 'Oslo', days: 0 },
      { city: 'Oslo', days: 1.5 },
    ]) {
      const refused = await executor.execute({ name: 'forecast', args })
      expect(refused.error?.code, `${library} ${JSON.stringify(args)}`).toBe('E_INVALID_TOOL_ARGS')
    }
    const [shown] = executor.tools()
    expect(shown?.describe().inputSchema, library).toMatchObject({
      type: 'object',
      properties: { city: { type: 'string' }, days: { type: 'integer', minimum: 1 } },
      required: ['city', 'days'],
    })
  }
})

it('USR-02 a validator may ask a database, and one that breaks is not the caller’s fault', async () => {
  const users = new Map([['ada', { active: true }]])
  let isDown = false
  const lookUp = async (name: string): Promise<boolean> => {
    await Promise.resolve()
    if (isDown) throw new Error('the database is down')
    return users.get(name)?.active === true
  }
  const asking: Record<string, Schema> = {
    // Without its wrapper, Zod asks twice, and drops the first answer: one that rejects would be nobody's.
    Zod: zod(z.object({ user: z.string().refine(lookUp, 'no such user') })),
    Valibot: valibot(v.objectAsync({ user: v.pipeAsync(v.string(), v.checkAsync(lookUp, 'no such user')) })),
  }
  for (const [library, inputSchema] of Object.entries(asking)) {
    isDown = false
    let runs = 0
    const greet = make({ inputSchema, handler: () => ++runs })
    expect(await greet.validate({ user: 'ada' }), library).toEqual({ user: 'ada' })
    await expect(greet.validate({ user: 'bob' }), library).rejects.toMatchObject({
      code: 'E_INVALID_TOOL_ARGS',
      issues: [{ message: 'no such user', path: ['user'] }],
    })
    isDown = true
    await expect(greet.validate({ user: 'ada' }), library).rejects.toMatchObject({
      code: 'E_VALIDATOR_FAILED',
      retryable: true,
    })
    const failed = await createExecutor({ tools: [greet] }).execute({ name: 'forecast', args: { user: 'ada' } })
    expect(failed, library).toMatchObject({ status: 'error', effect: 'none', error: { code: 'E_VALIDATOR_FAILED' } })
    expect(runs).toBe(0)
  }
})

it('USR-03 the callId is a stable sha256 over the canonical args, which anybody can compute again', async () => {
  const executor = createExecutor({ tools: [make({ inputSchema: { type: 'object' } })] })
  const idOf = async (args: unknown): Promise<string | null> =>
    (await executor.execute({ name: 'forecast', args })).callId
  const args = { list: [3, 1e21, 0.1, -0], text: 'a "quoted" é € 😀 line\n', nested: { z: null, a: true, é: 1 } }
  const expected = createHash('sha256')
    .update(canonicalize({ tool: 'forecast', args }) ?? '')
    .digest('hex')
  expect(await idOf(args)).toBe(expected)
  expect(await idOf(JSON.stringify(args, undefined, 2))).toBe(expected)
  expect(await idOf(Object.fromEntries(Object.entries(args).toReversed()))).toBe(expected)
  expect(computeCallId('forecast', args)).toBe(expected)

  const different = [{ a: 1 }, { a: '1' }, { a: null }, {}, { a: [] }, { a: {} }, { a: [1] }]
  expect(new Set(await Promise.all(different.map(idOf))).size).toBe(different.length)
})

it('USR-04 whatever goes wrong is of a typed class, with a code of its own and the call that it belongs to', async () => {
  const executor = createExecutor({
    tools: [
      make({ name: 'throws', handler: () => Promise.reject(new Error('no')) }),
      make({ name: 'hangs', timeout: 1, handler: () => new Promise(() => {}) }),
      make({ name: 'lies', outputSchema: { type: 'number' }, handler: () => 'three' }),
      make({ name: 'refused', hooks: { preToolUse: () => ({ decision: 'deny' }) } }),
      make({ name: 'picky', inputSchema: { type: 'object', required: ['a'] } }),
      make({
        name: 'broken',
        jsonSchema: { type: 'object' },
        inputSchema: {
          '~standard': {
            version: 1,
            vendor: 'broken',
            validate: () => {
              throw new Error('broken')
            },
          },
        } as Schema,
      }),
    ],
  })
  const cases: [name: string, args: unknown, Class: new (...parameters: never[]) => Error, code: string][] = [
    ['throws', {}, ToolDownstreamError, 'E_TOOL_DOWNSTREAM_ERROR'],
    ['hangs', {}, ToolTimeoutError, 'E_TOOL_TIMEOUT'],
    ['lies', {}, InvalidToolResultError, 'E_INVALID_TOOL_RESULT'],
    ['refused', {}, ToolDeniedError, 'E_TOOL_DENIED'],
    ['picky', {}, InvalidToolArgsError, 'E_INVALID_TOOL_ARGS'],
    ['picky', '{"a":1,"a":2}', UncanonicalArgsError, 'E_UNCANONICAL_ARGS'],
    ['broken', {}, ValidatorFailedError, 'E_VALIDATOR_FAILED'],
    ['nothing', {}, ToolNotFoundError, 'E_TOOL_NOT_FOUND'],
  ]
  for (const [name, args, Class, code] of cases) {
    const { error, callId, invocationId } = await executor.execute({ name, args })
    expect(error, name).toBeInstanceOf(Class)
    expect(error, name).toBeInstanceOf(ToolError)
    expect(error, name).toMatchObject({ code, callId, invocationId, toolName: name })
  }
})

it('USR-05 results are kept whole in subclasses of the artifact, by what they are or as the tool says', async () => {
  class LogArtifact extends TextArtifact {
    errors(): Promise<{ line: number; text: string }[]> {
      return this.grep('ERROR')
    }
  }
  const log = Array.from({ length: 5_000 }, (_, line) => `${line === 4_321 ? 'ERROR' : 'INFO'} ${line}`).join('\n')
  const cases: [fields: Partial<ErasedConfig>, Class: typeof SpooledArtifact][] = [
    [{ handler: () => 'words' }, TextArtifact],
    [{ handler: () => ({ rows: [1, 2] }) }, JsonArtifact],
    [{ handler: () => new Uint8Array([1, 2, 3]) }, BinaryArtifact],
    [{ handler: () => log, artifact: LogArtifact }, LogArtifact],
  ]
  for (const [fields, Class] of cases) {
    const result = await createExecutor({ tools: [make(fields)] }).execute({ name: 'forecast' })
    expect(result.artifact, Class.name).toBeInstanceOf(Class)
    expect(result.artifact).toBeInstanceOf(SpooledArtifact)
    expect(result.artifact?.constructor).toBe(Class)
    expect(JSON.stringify(result.content).length, Class.name).toBeLessThan(3_000)
    expect(result.handle !== undefined, Class.name).toBe(Class === LogArtifact)
    if (result.artifact instanceof LogArtifact) {
      expect(await result.artifact.errors()).toEqual([{ line: 4_321, text: 'ERROR 4321' }])
      expect(await result.artifact.asString()).toBe(log)
    }
  }
})

it('USR-06 there is one adapter for each validator in validators/, and each can be imported by its path', async () => {
  const leaves = readdirSync(join(root, 'validators'))
    .filter((file) => file.endsWith('.ts') && !file.startsWith('_'))
    .map((file) => file.slice(0, -'.ts'.length))
  expect(leaves).toEqual(expect.arrayContaining(['arktype', 'json-schema', 'typebox', 'valibot', 'zod']))
  for (const leaf of leaves) {
    const exported = (await import(`../../validators/${leaf}.ts`)) as Record<string, unknown>
    const camelCase = leaf.replace(/-(\w)/g, (_, letter: string) => letter.toUpperCase())
    expect(exported[camelCase], leaf).toBeInstanceOf(Function)
  }
})

it('USR-07 a pipeline hears the start and the end of every run by callId', async () => {
  const spans = new Map<string, { starts: number; ends: { isError: boolean; durationMs: number }[] }>()
  const spanOf = (callId: string | null): { starts: number; ends: { isError: boolean; durationMs: number }[] } => {
    const span = spans.get(callId ?? '') ?? { starts: 0, ends: [] }
    spans.set(callId ?? '', span)
    return span
  }
  const picky = tool({
    name: 'picky',
    description: 'Takes even numbers',
    inputSchema: z.object({ number: z.number() }),
    handler: ({ number }) => {
      if (number % 2 === 1) throw new RangeError('odd')
      return number / 2
    },
  })
  const executor = createExecutor({ tools: [picky] })
  executor.on('tool:start', ({ callId }) => spanOf(callId).starts++)
  executor.on('tool:end', ({ callId, isError, durationMs }) => spanOf(callId).ends.push({ isError, durationMs }))
  const numbers = [1, 2, 3, 2]
  const results = await executor.executeToolCalls(numbers.map((number) => ({ name: 'picky', args: { number } })))
  await executor.execute({ name: 'picky', args: { number: 'four' } })

  expect(spans.size).toBe(3)
  for (const number of [1, 2, 3]) {
    const span = spans.get(computeCallId('picky', { number }))
    const times = number === 2 ? 2 : 1
    expect(span?.starts).toBe(times)
    expect(span?.ends).toHaveLength(times)
    for (const { isError, durationMs } of span?.ends ?? []) {
      expect(isError).toBe(number % 2 === 1)
      expect(durationMs).toBeGreaterThanOrEqual(0)
    }
  }
  for (const { callId } of results) expect(spans.has(callId ?? '')).toBe(true)
})

it('USR-08 a bench measures what validation costs with each validator, and one command runs it', async () => {
  const run = async (file: string, ...words: string[]): Promise<string> => {
    const flags = ['-C', '@toolwright/source', '--expose-gc', '--disable-warning=ExperimentalWarning']
    const env = { ...process.env, BENCH_QUICK: '1' }
    return (await promisify(execFile)(process.execPath, [...flags, join(root, 'bench', file), ...words], { env }))
      .stdout
  }
  const { scripts } = packageJson() as { readonly scripts: Record<string, string> }
  expect(scripts['bench']).toContain('bench/index.ts')
  expect(await run('index.ts')).toMatch(/^ *validation +\S/m)
  for (const validator of ['zod()', 'valibot()', 'arktype()', 'typebox()', 'sinclairTypebox()', 'jsonSchema()']) {
    expect(Number(await run('validation.ts', validator, 'once')), validator).toBeGreaterThan(0)
  }
  const [zodTakes, jsonSchemaTakes] = (await run('validation.ts', 'jsonSchema()')).split(' ').map(Number)
  expect(Math.min(zodTakes ?? 0, jsonSchemaTakes ?? 0)).toBeGreaterThan(0)
})

it('USR-09 the packages that were named are in use', () => {
  const { devDependencies, dependencies } = packageJson()
  const named = ['@standard-schema/spec', 'valibot', 'zod', 'arktype', '@sinclair/typebox', 'vitest', 'tsup']
  expect(Object.keys(devDependencies as object)).toEqual(expect.arrayContaining(named))
  expect(dependencies).toBe(undefined) // a user installs no library that is not asked for
})

it('USR-10 the top of the repository has the folders that were named, and no other', () => {
  const entries = readdirSync(root, { withFileTypes: true })
  const folders = entries.filter((entry) => entry.isDirectory() && !entry.name.startsWith('.')).map(({ name }) => name)
  const ours = folders.filter((name) => !['node_modules', 'dist'].includes(name))
  expect(ours.toSorted()).toEqual(['bench', 'src', 'tests', 'validators'])
  const files = ['package.json', 'tsconfig.json', 'README.md']
  expect(entries.map(({ name }) => name)).toEqual(expect.arrayContaining(files))
})

it('USR-11 it is one package in TypeScript: a schema-agnostic tool kernel', () => {
  const { name, description, workspaces } = packageJson()
  expect([name, workspaces]).toEqual(['toolwright', undefined])
  expect(description).toContain('schema-agnostic tool kernel')
  const sources = ['src', 'validators'].flatMap((folder) =>
    readdirSync(join(root, folder), { recursive: true, encoding: 'utf8' }),
  )
  const others = sources.filter((file) => /\.[cm]?jsx?$/.test(file))
  expect([others, sources.length > 100]).toEqual([[], true])
})
