// Libraries that need no leaf of ours: what their row on the page of validators says to write, with the packages themselves.
import { existsSync } from 'node:fs'
import { createRequire } from 'node:module'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { createExecutor, tool, type StandardSchemaV1, type Tool } from 'toolwright'
import type { JsonSchemaObject } from 'toolwright/extension'
import { describe, expect, test } from 'vitest'

const folder = join(import.meta.dirname, 'npm')
const isInstalled = existsSync(join(folder, 'node_modules', 'effect'))

type LookUp = () => Promise<boolean>
/** A schema whose methods return another. */
interface Chain extends StandardSchemaV1, Record<'required' | 'integer' | 'strict', () => Chain> {
  external(lookUp: () => Promise<void>): Chain
  test(name: string, message: string, lookUp: LookUp): Chain
}
/** As much of the libraries as the tests use. */
interface Libraries {
  readonly effect: {
    readonly Effect: { promise(work: () => Promise<unknown>): object; as(effect: object, value: undefined): object }
    readonly SchemaGetter: Record<'checkEffect' | 'passthrough', (check?: () => object) => object>
    readonly Schema: Record<'String' | 'Int', { pipe(change: object): object }> &
      Record<'Struct' | 'decode' | 'toStandardSchemaV1' | 'toStandardJSONSchemaV1', (part: object) => StandardSchemaV1>
  }
  readonly joi: { readonly default: Record<'object' | 'string' | 'number', (part?: object) => Chain> }
  readonly sury: Record<'schema' | 'to' | 'enableStandardJSONSchema', (...parts: object[]) => StandardSchemaV1> &
    Record<'string' | 'integer', object>
  readonly yup: Record<'object' | 'string' | 'number', (part?: object) => Chain>
}

async function load<Name extends keyof Libraries>(name: Name): Promise<Libraries[Name]> {
  return import(pathToFileURL(createRequire(join(folder, 'package.json')).resolve(name)).href) as Promise<
    Libraries[Name]
  >
}

interface Written {
  readonly inputSchema: StandardSchemaV1
  readonly jsonSchema?: JsonSchemaObject
}

const fields = { type: 'object', properties: { city: { type: 'string' }, days: { type: 'integer' } } } as const
const lookingUp: Record<keyof Libraries, (lookUp: LookUp) => Promise<Written>> = {
  async effect(lookUp) {
    const { Effect, Schema, SchemaGetter } = await load('effect')
    const decode = SchemaGetter.checkEffect(() => Effect.as(Effect.promise(lookUp), undefined))
    const city = Schema.String.pipe(Schema.decode({ decode, encode: SchemaGetter.passthrough() }))
    const schema = Schema.Struct({ city, days: Schema.Int })
    return { inputSchema: Schema.toStandardJSONSchemaV1(Schema.toStandardSchemaV1(schema)) }
  },
  async joi(lookUp) {
    const { default: joi } = await load('joi')
    const city = joi
      .string()
      .required()
      .external(async () => void (await lookUp()))
    return { inputSchema: joi.object({ city, days: joi.number().integer().required().strict() }) }
  },
  async sury(lookUp) {
    const sury = await load('sury')
    sury.enableStandardJSONSchema()
    const decode = { async: async (city: string) => (await lookUp(), city) }
    const city = sury.to(sury.string, sury.string, { decode, encode: (text: string) => text })
    return { inputSchema: sury.schema({ city, days: sury.integer }) }
  },
  async yup(lookUp) {
    const { object, string, number } = await load('yup')
    const city = string().required().test('known', 'unknown', lookUp)
    return { inputSchema: object({ city, days: number().integer().required() }).strict(), jsonSchema: fields }
  },
}

describe.skipIf(!isInstalled).each(Object.entries(lookingUp))(
  '%s, written as its row on the page says',
  (_, written) => {
    const args = { city: 'Oslo', days: 2 }

    async function probe(lookUp: LookUp = async () => true) {
      const handler = (input: unknown): unknown => input
      const { inputSchema, jsonSchema } = await written(lookUp)
      return tool({
        name: 'probe',
        description: 'Probes',
        inputSchema,
        ...(jsonSchema && { jsonSchema }),
        handler,
      }) as Tool
    }

    test('lets through what fits, and asks its look-up once', async () => {
      let asked = 0
      const probed = await probe(async () => ++asked > 0)
      expect(await probed(args)).toEqual(args)
      expect(asked).toBe(1)
    })

    test('refuses what does not fit, in its place, and changes no number into a text', async () => {
      for (const [wrong, path] of [
        [{ ...args, city: 7 }, ['city']],
        [{ ...args, days: 'two' }, ['days']],
      ] as const) {
        const { error } = await createExecutor({ tools: [await probe()] }).execute({ name: 'probe', args: wrong })
        expect(error?.code).toBe('E_INVALID_TOOL_ARGS')
        expect(error?.issues?.map((issue) => issue.path)).toContainEqual(path)
      }
    })

    test('is shown to models', async () => {
      const { properties } = (await probe()).describe().inputSchema
      expect(properties).toMatchObject({ city: { type: 'string' }, days: { type: 'integer' } })
    })

    test('a look-up that rejects fails the call, and leaves no rejection behind', async () => {
      const left: unknown[] = []
      const listen = (reason: unknown): void => void left.push(reason)
      process.on('unhandledRejection', listen)
      const probed = await probe(async () => {
        throw new Error('the database is down')
      })
      const result = await createExecutor({ tools: [probed] }).execute({ name: 'probe', args })
      expect(result).toMatchObject({ status: 'error', effect: 'none' })
      await expect(probed.validate(args)).rejects.toThrow()
      await new Promise((resolve) => setImmediate(resolve))
      process.off('unhandledRejection', listen)
      expect(left).toEqual([])
    })
  },
)

test.skipIf(!isInstalled)(
  'a library that is not written so is refused, and the message says what to write',
  async () => {
    const { Schema } = await load('effect')
    const { object, string } = await load('yup')
    const described = (inputSchema: StandardSchemaV1) => () =>
      tool({ name: 'probe', description: 'Probes', inputSchema, handler: () => 1 } as never).describe()
    expect(described(Schema.toStandardSchemaV1(Schema.Struct({ city: Schema.String })))).toThrow(
      /The effect schema .* Schema\.toStandardJSONSchemaV1/,
    )
    expect(described(object({ city: string() }))).toThrow(/The yup schema .* `jsonSchema` of its own/)
  },
)
