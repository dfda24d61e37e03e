import { Type as OldType } from '@sinclair/typebox'
import { toStandardJsonSchema } from '@valibot/to-json-schema'
import { Ajv } from 'ajv'
import { type } from 'arktype'
import { createExecutor, tool, type Schema, type ToolResult } from 'toolwright'
import { ajv } from 'toolwright/validators/ajv'
import { arktype } from 'toolwright/validators/arktype'
import { jsonSchema } from 'toolwright/validators/json-schema'
import { sinclairTypebox } from 'toolwright/validators/sinclair-typebox'
import { typebox } from 'toolwright/validators/typebox'
import { valibot } from 'toolwright/validators/valibot'
import { zod } from 'toolwright/validators/zod'
import { Type } from 'typebox'
import * as v from 'valibot'
import { describe, expect, test } from 'vitest'
import * as z from 'zod'
import * as mini from 'zod/mini'

// What happens to bad arguments: a tool takes `{ n: number }`, and the model sends `{"n":"not-a-number"}`. In several
// libraries the handler runs all the same, for some kinds of schema. Here it never does.

const raw = { type: 'object', properties: { n: { type: 'number' } }, required: ['n'] } as const
const valibotSchema = v.object({ n: v.number() })

const kinds: readonly (readonly [kind: string, schema: Schema])[] = [
  ['raw JSON Schema', raw],
  ['raw JSON Schema of draft 07', { $schema: 'http://json-schema.org/draft-07/schema#', ...raw }],
  ['jsonSchema()', jsonSchema(raw)],
  ['a JSON Schema of a stranger', jsonSchema(raw, { origin: 'wire' })],
  ['JSON Schema validated by Ajv', ajv(new Ajv())(raw)],
  ['Zod 4', z.object({ n: z.number() })],
  ['Zod 4, compiled', z.compile(z.object({ n: z.number() }))],
  ['Zod 4, wrapped', zod(z.object({ n: z.number() }))],
  ['Zod mini, wrapped', zod(mini.object({ n: mini.number() }))],
  ['ArkType', type({ n: 'number' })],
  ['ArkType, wrapped', arktype(type({ n: 'number' }))],
  ['Valibot, wrapped', valibot(valibotSchema)],
  ['Valibot with toStandardJsonSchema', toStandardJsonSchema(valibotSchema)],
  ['TypeBox 1', Type.Object({ n: Type.Number() })],
  ['TypeBox 1, wrapped', typebox(Type.Object({ n: Type.Number() }))],
  ['TypeBox 0.34', OldType.Object({ n: OldType.Number() })],
  ['TypeBox 0.34, wrapped', sinclairTypebox(OldType.Object({ n: OldType.Number() }))],
]

const bad: readonly (readonly [title: string, args: unknown])[] = [
  ['text, as JSON text', '{"n":"not-a-number"}'],
  ['text', { n: 'not-a-number' }],
  ['text that looks like a number', { n: '1' }],
  ['null', { n: null }],
  ['a list', { n: [1] }],
  ['an object', { n: {} }],
  ['a boolean', { n: true }],
  ['nothing', {}],
  ['another name', { m: 1 }],
  ['no args', undefined],
  ['a list of args', [1]],
  ['args that are a number', 1],
  ['args that are null', null],
  ['text that is no JSON', '{"n":'],
  ['blank text', ' '],
  ['a number that is none', { n: Number.NaN }],
  ['a number too many', '{"n":"x","n":1}'],
]

/** Runs a call of a tool with such a schema, and counts how often the handler ran. */
async function send(
  inputSchema: Schema,
  args: unknown,
): Promise<{ readonly result: ToolResult; readonly runs: number }> {
  let runs = 0
  const double = tool({ name: 'double', description: 'Doubles a number', inputSchema, handler: () => ++runs })
  const result = await createExecutor({ tools: [double] }).execute({ id: 'call_1', name: 'double', args })
  return { result, runs }
}

describe.each(kinds)('%s', (_kind, schema) => {
  test.each(bad)('%s is refused before the handler', async (_title, args) => {
    const { result, runs } = await send(schema, args)
    expect(runs).toBe(0)
    expect(result).toMatchObject({ id: 'call_1', status: 'error', effect: 'none', isError: true })
    expect(['E_INVALID_TOOL_ARGS', 'E_UNCANONICAL_ARGS']).toContain(result.error?.code)
    expect(result.content).toEqual([
      {
        type: 'text',
        text: expect.stringMatching(/^The args (of double are not valid|cannot be identified|are not valid JSON)/),
      },
    ])
  })

  test('the model reads where it went wrong', async () => {
    const { result } = await send(schema, { n: 'not-a-number' })
    expect(result.error?.issues?.map(({ path }) => path)).toEqual([['n']])
    expect(result.content).toEqual([{ type: 'text', text: expect.stringMatching(/\bn\b/) }])
  })

  test.each([{ n: 1 }, '{"n":1}'])('%j runs the handler once', async (args) => {
    expect(await send(schema, args)).toMatchObject({ runs: 1, result: { status: 'ok' } })
  })

  test('a direct call with bad args rejects before the handler', async () => {
    let runs = 0
    const double = tool({ name: 'double', description: 'x', inputSchema: schema, handler: () => ++runs })
    await expect(double({ n: 'not-a-number' })).rejects.toMatchObject({ code: 'E_INVALID_TOOL_ARGS' })
    expect(runs).toBe(0)
  })
})

describe('plain Valibot, which validates but cannot be shown to a model', () => {
  const double = tool({ name: 'double', description: 'x', inputSchema: valibotSchema, handler: ({ n }) => n * 2 })

  test('is refused on entering an executor, and the error says what to do', () => {
    expect(() => createExecutor({ tools: [double] })).toThrow(/"double".*toolwright\/validators\/valibot/)
  })

  test('does not take the other tools down once it is wrapped', async () => {
    const executor = createExecutor({ tools: [tool('now', () => 1)] })
    expect(executor.tools().map(({ name }) => name)).toEqual(['now'])
    expect(await send(valibot(valibotSchema), { n: 1 })).toMatchObject({ runs: 1 })
  })
})

const isKnown = (id: string): Promise<boolean> =>
  new Promise((resolve) => setTimeout(() => resolve(id === 'known'), 50))

describe.each<[kind: string, schema: Schema]>([
  ['Zod 4', z.object({ id: z.string().refine(isKnown) })],
  ['Zod 4, wrapped', zod(z.object({ id: z.string().refine(isKnown) }))],
  ['Zod mini, wrapped', zod(mini.object({ id: mini.string().check(mini.refine(isKnown)) }))],
  ['Valibot, wrapped', valibot(v.objectAsync({ id: v.pipeAsync(v.string(), v.checkAsync(isKnown)) }))],
  [
    'Standard Schema by hand',
    {
      '~standard': {
        version: 1,
        vendor: 'hand',
        validate: async (value: unknown) =>
          (await isKnown((value as { id: string }).id))
            ? { value }
            : { issues: [{ message: 'unknown', path: ['id'] }] },
        jsonSchema: { input: () => ({ type: 'object' }), output: () => ({}) },
      },
    } as Schema,
  ],
])('a refinement that asks a database: %s', (_kind, schema) => {
  test('valid input runs the handler', async () => {
    expect(await send(schema, { id: 'known' })).toMatchObject({ runs: 1, result: { status: 'ok' } })
  })

  test('invalid input is refused before it', async () => {
    const { result, runs } = await send(schema, { id: 'other' })
    expect(runs).toBe(0)
    expect(result).toMatchObject({
      status: 'error',
      error: { code: 'E_INVALID_TOOL_ARGS', issues: [{ path: ['id'] }] },
    })
  })
})
