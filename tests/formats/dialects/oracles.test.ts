import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { describe, expect, test } from 'vitest'
import { z } from 'zod'
import { compile, dialectNamed } from './dialects.ts'
import { faultsOf } from './rules.ts'

type Schema = Record<string, unknown>
type Transform = (schema: Schema) => Schema

const sdks = join(import.meta.dirname, '../sdks/node_modules')
const isInstalled = existsSync(sdks)
if (!isInstalled) {
  console.warn('The transformers of the SDKs are not asked: npm ci --omit=optional --prefix tests/formats/sdks')
}

const schemas: Readonly<Record<string, z.ZodType>> = {
  simple: z.object({ a: z.string(), b: z.number().optional() }),
  bounds: z.object({
    n: z.number().int().positive().max(10).default(3),
    s: z.string().min(1),
    u: z.url(),
    l: z.array(z.email()).min(2),
  }),
  union: z.discriminatedUnion('k', [z.object({ k: z.literal('a'), x: z.number() }), z.object({ k: z.literal('b') })]),
  nested: z.object({ v: z.union([z.string(), z.array(z.object({ q: z.number().nullish() }))]) }),
  map: z.object({ r: z.record(z.string(), z.number()) }),
  tuple: z.object({ t: z.tuple([z.string(), z.number()]) }),
  any: z.object({ x: z.unknown(), y: z.any().optional() }),
  both: z.object({ x: z.intersection(z.object({ a: z.string() }), z.object({ b: z.number().optional() })) }),
  strict: z.strictObject({ a: z.string().optional(), d: z.iso.datetime(), id: z.uuid() }),
  enums: z.object({ e: z.enum(['a', 'b']), n: z.enum(['c']).nullable(), l: z.literal('x') }),
  empty: z.strictObject({}),
}
const all = Object.entries(schemas).map(
  ([name, schema]) => [name, { ...z.toJSONSchema(schema, { io: 'input' }), type: 'object' }] as const,
)

async function transformOf(path: string, name: string): Promise<Transform> {
  const module = (await import(pathToFileURL(join(sdks, path)).href)) as Record<string, Transform>
  return (schema) => module[name]!(structuredClone(schema))
}

/** Returns what it makes of a schema, or `undefined` if it refuses it. */
function tried(transform: Transform, schema: Schema): Schema | undefined {
  try {
    return transform(schema)
  } catch {
    return undefined
  }
}

/** A schema without its words, and without a type beside constants. */
function shapeOf(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(shapeOf)
  if (typeof value !== 'object' || value === null) return value
  const entries = Object.entries(value)
    .filter(([key, item]) => !(key === 'description' && typeof item === 'string') && key !== 'pattern')
    .filter(([key]) => key !== 'type' || !('enum' in value || 'const' in value))
  return Object.fromEntries(entries.map(([key, item]) => [key, shapeOf(item)]))
}

describe.skipIf(!isInstalled).each([
  ['openai-strict', 'openai/lib/transform.js', 'toStrictJsonSchema'],
  ['anthropic-strict', '@anthropic-ai/sdk/lib/transform-json-schema.js', 'transformJSONSchema'],
] as const)('the transformer of the SDK for %s', (name, path, exported) => {
  test('leaves what we write as it is, up to words', async () => {
    const transform = await transformOf(path, exported)
    for (const [title, schema] of all) {
      const { schema: ours, refused } = compile(schema, dialectNamed(name))
      expect(refused, title).toBeUndefined()
      expect(shapeOf(transform(ours)), title).toEqual(shapeOf(ours))
    }
  })

  test('gives what our rules take, if it takes the schema at all', async () => {
    const transform = await transformOf(path, exported)
    const outputs = all.map(([title, schema]) => [title, tried(transform, schema)] as const)
    const taken = outputs.filter(
      ([, schema]) => schema !== undefined && schema['type'] === 'object' && schema['anyOf'] === undefined,
    )
    expect(taken.length).toBeGreaterThan(0)
    for (const [title, schema] of taken) {
      const faults = faultsOf(schema, name).filter(
        (fault) => !/schema must have a 'type' key|unknown keyword \$schema/.test(fault),
      )
      expect(faults, title).toEqual([])
    }
  })
})
