// What each validator costs: hot, on invalid input, and the first time in a process. All of them check the same args.
import { spawnSync } from 'node:child_process'
import type { StandardSchemaV1 } from 'toolwright'
import { compare, printTable } from './_runner.ts'
import { args, searchSchema } from './_search.ts'

const invalid = { ...args, filters: { ...args.filters, region: ['north', 7] }, limit: 'many' }

const json = {
  type: 'object',
  properties: {
    query: { type: 'string' },
    filters: {
      type: 'object',
      properties: {
        region: { type: 'array', items: { type: 'string' } },
        since: { type: 'string' },
        minimum: { type: 'number' },
        includeDrafts: { type: 'boolean' },
      },
      required: ['region', 'since', 'minimum', 'includeDrafts'],
    },
    limit: { type: 'integer', maximum: 100 },
    fields: { type: 'array', items: { type: 'string' } },
    note: { type: 'string' },
    sort: {
      type: 'array',
      items: {
        type: 'object',
        properties: { field: { type: 'string' }, descending: { type: 'boolean' } },
        required: ['field', 'descending'],
      },
    },
  },
  required: ['query', 'filters', 'limit', 'fields', 'note', 'sort'],
} as const

/** Both majors of TypeBox build schemas with the same words. */
function typeboxSchema(Type: typeof import('typebox').Type): import('typebox').TSchema {
  return Type.Object({
    query: Type.String(),
    filters: Type.Object({
      region: Type.Array(Type.String()),
      since: Type.String(),
      minimum: Type.Number(),
      includeDrafts: Type.Boolean(),
    }),
    limit: Type.Integer({ maximum: 100 }),
    fields: Type.Array(Type.String()),
    note: Type.String(),
    sort: Type.Array(Type.Object({ field: Type.String(), descending: Type.Boolean() })),
  })
}

/** Each makes its schema from nothing, libraries included, so that it can be timed in a process of its own. */
const makers: Record<string, () => Promise<StandardSchemaV1>> = {
  zod: async () => searchSchema(await import('zod')),
  'zod()': async () => (await import('toolwright/validators/zod')).zod(searchSchema(await import('zod'))),
  'valibot()': async () => {
    const v = await import('valibot')
    const { valibot } = await import('toolwright/validators/valibot')
    return valibot(
      v.object({
        query: v.string(),
        filters: v.object({
          region: v.array(v.string()),
          since: v.string(),
          minimum: v.number(),
          includeDrafts: v.boolean(),
        }),
        limit: v.pipe(v.number(), v.integer(), v.maxValue(100)),
        fields: v.array(v.string()),
        note: v.string(),
        sort: v.array(v.object({ field: v.string(), descending: v.boolean() })),
      }),
    )
  },
  'arktype()': async () => {
    const { type } = await import('arktype')
    const { arktype } = await import('toolwright/validators/arktype')
    return arktype(
      type({
        query: 'string',
        filters: { region: 'string[]', since: 'string', minimum: 'number', includeDrafts: 'boolean' },
        limit: 'number.integer <= 100',
        fields: 'string[]',
        note: 'string',
        sort: type({ field: 'string', descending: 'boolean' }).array(),
      }),
    )
  },
  'typebox()': async () => {
    const { Type } = await import('typebox')
    const { typebox } = await import('toolwright/validators/typebox')
    return typebox(typeboxSchema(Type))
  },
  'sinclairTypebox()': async () => {
    const { Type } = await import('@sinclair/typebox')
    const { sinclairTypebox } = await import('toolwright/validators/sinclair-typebox')
    return sinclairTypebox(typeboxSchema(Type as never) as never)
  },
  'jsonSchema()': async () => (await import('toolwright/validators/json-schema')).jsonSchema(json),
  'ajv()': async () => {
    const { Ajv } = await import('ajv')
    const { ajv } = await import('toolwright/validators/ajv')
    return ajv(new Ajv())(json)
  },
}

const [measured] = process.argv.slice(2)
if (measured !== undefined && makers[measured] !== undefined) {
  // A fresh process: from nothing to the first answer, what is loaded for it included.
  const startedAt = performance.now()
  const schema = await makers[measured]()
  await schema['~standard'].validate(args)
  process.stdout.write(String(performance.now() - startedAt))
} else {
  const schemas = await Promise.all(Object.entries(makers).map(async ([name, make]) => [name, await make()] as const))
  for (const [title, value] of Object.entries({ valid: args, invalid })) {
    const variants = schemas.map(([name, schema]) => [name, () => schema['~standard'].validate(value)] as const)
    for (const [name, run] of variants) {
      const result = await run()
      if ((result.issues === undefined) !== (title === 'valid'))
        throw new Error(`${name} is wrong about ${title} input`)
    }
    printTable(await compare(`${title} input, hot`, Object.fromEntries(variants)))
  }
  process.stdout.write('\nfrom nothing to the first answer, in a process of its own (median of 7, milliseconds)\n')
  for (const name of Object.keys(makers)) {
    const times = Array.from({ length: 7 }, () => {
      // As it is installed: the build, not the sources, whose types would have to be taken away first.
      const { stdout } = spawnSync(process.execPath, [import.meta.filename, name], { encoding: 'utf8' })
      return Number(stdout)
    }).toSorted((one, other) => one - other)
    process.stdout.write(
      `${name.padEnd(20)} ${(times[3] ?? NaN).toFixed(1).padStart(8)}   ${(times[0] ?? NaN).toFixed(1)} … ${(times[6] ?? NaN).toFixed(1)}\n`,
    )
  }
}
