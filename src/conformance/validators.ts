/**
 * Tests what every schema promises, whichever library it is of. They run in vitest.
 *
 * @module
 */
import { describe, expect, test } from 'vitest'
import { jsonSchema } from '../../validators/json-schema.ts'
import { createExecutor, tool, type Schema, type Tool, type ToolResult } from '../index.ts'
import type { JsonSchemaObject } from '../extension.ts'
import { frozen } from './_frozen.ts'
import { describeWaiting, type Probe } from './validators/_waiting.ts'

/** Answers whether there is such an id. */
export type LookUp = (id: string) => boolean | Promise<boolean>

/** The same few schemas, said in the words of one library. */
export interface ValidatorFixtures {
  /**
   * `city`: text that is not empty, described as "The city". `days`: a whole number up to 10, with the default 3 if
   * the library fills in defaults, else optional. `unit`: optional, "c" or "f". `items`: a list of objects with a `name`,
   * text described as "Its name", and optional `tags`, a list of texts.
   */
  readonly order: Schema
  /** Whether the validator fills in defaults. */
  readonly fillsDefaults: boolean
  /** What becomes of properties that `order` does not know. */
  readonly unknownProperties: 'kept' | 'dropped'
  /** `toString`: text, required. */
  readonly ownProperty: Schema
  /** `city`: text, and nothing else. */
  readonly closed: Schema
  /** `since`: the text of a date, given to the handler as a `Date`; if the library transforms. */
  readonly transforming?: Schema
  /** `id`: text that the look-up knows; if the library waits. */
  readonly lookingUp?: (lookUp: LookUp) => Schema
  /** An object of which a part is nothing that JSON could hold; if the library says JSON Schema. */
  readonly unsayable?: Schema
  /** Whether it says JSON Schema of itself. Default: `true`. */
  readonly isDescribable?: boolean
}

const valid = { city: 'Oslo', unit: 'c', items: [{ name: 'coat', tags: ['warm', 'red'] }, { name: 'hat' }] }
const validItems = [{ name: 'coat' }, { name: 'hat' }]

/** Args that do not fit, and a place where an issue must be told; nothing if libraries differ. */
const misfits: readonly (readonly [title: string, args: unknown, path?: readonly PropertyKey[]])[] = [
  ['a missing property', { items: validItems }],
  ['a number for a text', { city: 7, items: validItems }, ['city']],
  ['null for a text', { city: null, items: validItems }, ['city']],
  ['a text for a number', { city: 'Oslo', days: '3', items: validItems }, ['days']],
  ['a fraction for a whole number', { city: 'Oslo', days: 2.5, items: validItems }, ['days']],
  ['a number that is too large', { city: 'Oslo', days: 11, items: validItems }, ['days']],
  ['an empty text', { city: '', items: validItems }, ['city']],
  ['a word that is not in the list', { city: 'Oslo', unit: 'k', items: validItems }, ['unit']],
  ['an object for a list', { city: 'Oslo', items: { 0: { name: 'coat' } } }, ['items']],
  ['a bad part of a list', { city: 'Oslo', items: [...validItems, { name: false }] }, ['items', 2, 'name']],
  [
    'a bad part of a list in a list',
    { city: 'Oslo', items: [{ name: 'coat', tags: ['a', 1] }] },
    ['items', 0, 'tags', 1],
  ],
  ['a missing part of a list', { city: 'Oslo', items: [{}] }],
  ['a list', [valid]],
  ['a text', 'Oslo'],
  ['nothing', null],
  ['a number', 3],
]

/**
 * Describes what every schema promises, in tests of vitest: which args reach a handler, which are refused and with which issues,
 * and what a model is shown.
 *
 * @param name The library, for the titles of the tests.
 * @param fixtures The same few schemas, said in the words of the library.
 * @experimental
 * @example
 * ```ts
 * import { describeValidator } from 'toolwright/conformance/validators'
 * import * as z from 'zod'
 *
 * describeValidator('Zod', {
 *   order: z.object({
 *     city: z.string().min(1).describe('The city'),
 *     days: z.int().max(10).default(3),
 *     unit: z.enum(['c', 'f']).optional(),
 *     items: z.array(z.object({ name: z.string().describe('Its name'), tags: z.array(z.string()).optional() })),
 *   }),
 *   ownProperty: z.object({ toString: z.string() }),
 *   closed: z.strictObject({ city: z.string() }),
 *   fillsDefaults: true,
 *   unknownProperties: 'dropped',
 * })
 * ```
 */
export function describeValidator(name: string, fixtures: ValidatorFixtures): void {
  const { order, fillsDefaults, unknownProperties, lookingUp, transforming, unsayable } = fixtures
  const isDescribable = fixtures.isDescribable ?? true

  function probeOf(inputSchema: Schema, options: { readonly timeout?: number } = {}): Probe {
    const inputs: unknown[] = []
    const probe = tool({
      name: 'probe',
      description: 'Remembers what it is given',
      inputSchema,
      ...(isDescribable ? undefined : { jsonSchema: { type: 'object' as const } }),
      ...options,
      handler: (input: unknown) => {
        inputs.push(input)
        return 'done'
      },
    }) as Tool
    return { probe, inputs }
  }

  function run({ probe }: Probe, args: unknown): Promise<ToolResult> {
    return createExecutor({ tools: [probe] }).execute({ name: 'probe', args })
  }

  describe(`${name}: args that fit`, () => {
    const expected = fillsDefaults ? { ...valid, days: 3 } : valid

    test('reach the handler as the validator gives them back', async () => {
      const probed = probeOf(order)
      expect(await run(probed, structuredClone(valid))).toMatchObject({ status: 'ok' })
      expect(probed.inputs).toEqual([expected])
    })

    test('reach it from text too', async () => {
      const probed = probeOf(order)
      expect(await run(probed, JSON.stringify(valid))).toMatchObject({ status: 'ok' })
      expect(probed.inputs).toEqual([expected])
    })

    test('reach it from a direct call too', async () => {
      const { probe, inputs } = probeOf(order)
      expect(await probe(structuredClone(valid))).toBe('done')
      expect(inputs).toEqual([expected])
    })

    test('are not changed', async () => {
      const args = frozen(structuredClone(valid))
      expect(await run(probeOf(order), args)).toMatchObject({ status: 'ok' })
      expect(args).toEqual(valid)
    })

    test(`may have properties that the schema does not know, which are ${unknownProperties}`, async () => {
      const probed = probeOf(order)
      await run(probed, { ...valid, extra: true })
      expect(probed.inputs).toEqual([unknownProperties === 'kept' ? { ...expected, extra: true } : expected])
    })

    test('give the same every time', async () => {
      const probed = probeOf(order)
      const executor = createExecutor({ tools: [probed.probe] })
      for (let count = 0; count < 3; count++) await executor.execute({ name: 'probe', args: structuredClone(valid) })
      expect(probed.inputs).toEqual([expected, expected, expected])
    })
  })

  describe(`${name}: args that do not fit are refused before the handler`, () => {
    test.each(misfits)('%s', async (_title, args, path) => {
      const probed = probeOf(order)
      const result = await run(probed, args)
      expect(result).toMatchObject({ status: 'error', effect: 'none', error: { code: 'E_INVALID_TOOL_ARGS' } })
      expect(probed.inputs).toEqual([])
      const issues = result.error?.issues ?? []
      expect(issues.length).toBeGreaterThan(0)
      for (const issue of issues) {
        expect(Object.keys(issue).toSorted()).toEqual(['message', 'path'])
        expect(issue.message).not.toBe('')
        for (const key of issue.path) expect(['string', 'number']).toContain(typeof key)
      }
      if (path !== undefined) expect(issues.map((issue) => issue.path)).toContainEqual(path)
    })

    test('a direct call rejects with the same code', async () => {
      const { probe, inputs } = probeOf(order)
      await expect(probe({ city: 7, items: validItems })).rejects.toMatchObject({ code: 'E_INVALID_TOOL_ARGS' })
      expect(inputs).toEqual([])
    })

    test('a bad call after a good one is refused all the same', async () => {
      const probed = probeOf(order)
      const executor = createExecutor({ tools: [probed.probe] })
      const calls = [valid, { city: 7, items: validItems }, valid, { city: 'Oslo' }].map((args) => ({
        name: 'probe',
        args,
      }))
      const statuses = (await executor.executeToolCalls(calls)).map(({ status }) => status)
      expect(statuses).toEqual(['ok', 'error', 'ok', 'error'])
    })

    test('an unknown property of a closed object', async () => {
      const probed = probeOf(fixtures.closed)
      const result = await run(probed, { city: 'Oslo', town: 'Oslo' })
      expect(result).toMatchObject({ status: 'error', error: { code: 'E_INVALID_TOOL_ARGS' } })
      expect(probed.inputs).toEqual([])
      expect(await run(probed, { city: 'Oslo' })).toMatchObject({ status: 'ok' })
    })

    test('a property that only the prototype has', async () => {
      const probed = probeOf(fixtures.ownProperty)
      expect(await run(probed, {})).toMatchObject({ status: 'error', error: { code: 'E_INVALID_TOOL_ARGS' } })
      expect(await run(probed, { toString: 'mine' })).toMatchObject({ status: 'ok' })
      expect(probed.inputs).toEqual([{ toString: 'mine' }])
    })

    test('properties that hide in __proto__', async () => {
      const probed = probeOf(order)
      const result = await run(probed, '{"__proto__":{"city":"Oslo"},"items":[]}')
      expect(result).toMatchObject({ status: 'error', error: { code: 'E_INVALID_TOOL_ARGS' } })
      expect(probed.inputs).toEqual([])
      expect({}).not.toHaveProperty('city')
    })
  })

  describe(`${name}: results`, () => {
    const returning = (value: unknown): Promise<ToolResult> => {
      const outputSchema: Schema | undefined = order
      const probe = tool({
        name: 'probe',
        description: 'Gives what it has',
        outputSchema,
        handler: () => value as never,
      })
      return createExecutor({ tools: [probe] }).execute({ name: 'probe', args: {} })
    }

    test('that fit leave as the validator gives them back', async () => {
      const result = await returning(structuredClone(valid))
      expect(result).toMatchObject({ status: 'ok', effect: 'completed' })
      expect(result.content).toMatchObject([{ data: fillsDefaults ? { ...valid, days: 3 } : valid }])
    })

    test('that do not fit never leave', async () => {
      const result = await returning({ city: 7, items: validItems })
      expect(result).toMatchObject({ status: 'error', effect: 'completed', error: { code: 'E_INVALID_TOOL_RESULT' } })
      expect(JSON.stringify(result.content)).not.toContain('coat')
    })
  })

  if (transforming !== undefined) {
    test(`${name}: what the schema transforms reaches the handler transformed`, async () => {
      const probed = probeOf(transforming)
      expect(await run(probed, { since: '2024-02-29' })).toMatchObject({ status: 'ok' })
      expect(probed.inputs).toEqual([{ since: new Date('2024-02-29') }])
      expect(await run(probed, { since: 5 })).toMatchObject({ error: { code: 'E_INVALID_TOOL_ARGS' } })
      expect(probed.inputs).toHaveLength(1)
    })

    if (isDescribable) {
      test(`${name}: a model is shown what comes before a transformation`, () => {
        const { inputSchema } = probeOf(transforming).probe.describe()
        expect(inputSchema).toMatchObject({ type: 'object', properties: { since: { type: 'string' } } })
      })
    }
  }

  if (lookingUp !== undefined) describeWaiting(name, lookingUp, probeOf, run)

  if (!isDescribable) return

  describe(`${name}: JSON Schema`, () => {
    const { inputSchema } = probeOf(order).probe.describe()

    test('is an object that says what is required', () => {
      expect(inputSchema.type).toBe('object')
      expect(inputSchema.required?.toSorted()).toEqual(['city', 'items'])
      expect(Object.keys(inputSchema.properties ?? {}).toSorted()).toEqual(['city', 'days', 'items', 'unit'])
    })

    test('keeps descriptions, defaults, enums and limits, however deep they stand', () => {
      expect(inputSchema.properties).toMatchObject({
        city: { type: 'string', description: 'The city', minLength: 1 },
        days: { type: 'integer', maximum: 10, ...(fillsDefaults ? { default: 3 } : undefined) },
        items: {
          type: 'array',
          items: {
            type: 'object',
            properties: {
              name: { type: 'string', description: 'Its name' },
              tags: { type: 'array', items: { type: 'string' } },
            },
            required: ['name'],
          },
        },
      })
      const unit = inputSchema.properties?.['unit'] as JsonSchemaObject
      const words = unit.enum ?? unit.anyOf?.map((branch) => (branch as JsonSchemaObject).const)
      expect(words).toEqual(['c', 'f'])
    })

    test('is JSON, and names no dialect but an old one', () => {
      expect(JSON.parse(JSON.stringify(inputSchema))).toEqual(inputSchema)
      expect(inputSchema.$schema ?? 'http://json-schema.org/draft-07/schema#').toContain('draft-07')
    })

    test('takes and refuses what the validator does', () => {
      const { validate } = jsonSchema(inputSchema)['~standard']
      expect(validate(valid)).not.toHaveProperty('issues')
      for (const [title, args] of misfits) expect([title, validate(args)]).toHaveProperty('1.issues')
    })

    if (unsayable !== undefined) {
      test('that cannot be said sets its tool aside, with a report, and the rest of the list stands', () => {
        const reports: unknown[] = []
        const strange = tool({ name: 'strange', description: 'x', inputSchema: unsayable, handler: () => 1 }) as Tool
        const tools = [probeOf(order).probe, strange, tool('plain', () => 1)]
        const executor = createExecutor({ tools, report: (error) => reports.push(error) })
        expect(executor.tools().map((listed) => listed.name)).toEqual(['probe', 'plain'])
        expect(reports).toEqual([
          expect.objectContaining({ code: 'E_SCHEMA_CONVERSION', message: expect.stringContaining('"strange"') }),
        ])
      })
    }
  })
}
