// What each validator costs: on valid, invalid and large input, the first time in a process, and if no code may be made from text.
import type { StandardSchemaV1 } from 'toolwright'
import { printTable, rowsOf, type Row } from './_results.ts'
import { compare, freshly } from './_runner.ts'
import { args, searchJsonSchema, searchSchema } from './_search.ts'

const invalid = { ...args, filters: { ...args.filters, region: ['north', 7] }, limit: 'many' }

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

/** A bare check under the same contract, so that all variants are called alike. */
function standard(check: (value: unknown) => boolean): StandardSchemaV1 {
  const refusal = { issues: [{ message: 'is not valid' }] }
  return { '~standard': { version: 1, vendor: 'bench', validate: (value) => (check(value) ? { value } : refusal) } }
}

/** Each makes its schema from nothing, libraries included, so that it can be timed in a process of its own. */
const makers: Record<string, () => Promise<StandardSchemaV1>> = {
  zod: async () => searchSchema(await import('zod')),
  'z.compile': async () => {
    const zod = await import('zod')
    return zod.compile(searchSchema(zod))
  },
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
  'jsonSchema()': async () => (await import('toolwright/validators/json-schema')).jsonSchema(searchJsonSchema),
  'typebox, compiled, alone': async () => {
    const { Type } = await import('typebox')
    const { Compile } = await import('typebox/compile')
    const checker = Compile(typeboxSchema(Type))
    return standard((value) => checker.Check(value))
  },
  'TypeCompiler of 0.34, alone': async () => {
    const { Type } = await import('@sinclair/typebox')
    const { TypeCompiler } = await import('@sinclair/typebox/compiler')
    const checker = TypeCompiler.Compile(typeboxSchema(Type as never) as never)
    return standard((value) => checker.Check(value))
  },
  'ajv, alone': async () => {
    const { Ajv } = await import('ajv')
    return standard(new Ajv({ allErrors: true }).compile(searchJsonSchema))
  },
  'ajv()': async () => {
    const { Ajv } = await import('ajv')
    const { ajv } = await import('toolwright/validators/ajv')
    return ajv(new Ajv({ allErrors: true }))(searchJsonSchema)
  },
}

const [measured, once] = process.argv.slice(2)
const asked = measured === undefined ? undefined : makers[measured]
if (asked === undefined) {
  await inThisProcess()
  await inProcessesOfTheirOwn()
} else if (once === 'once') {
  const startedAt = performance.now()
  const schema = await asked()
  await schema['~standard'].validate(args)
  process.stdout.write(String(performance.now() - startedAt))
} else {
  // Two figures, of which only the ratio is worth anything: Zod's, and the one that was asked for.
  const schemas = { zod: await makers['zod']!(), measured: await asked() }
  const variants = {
    zod: () => schemas.zod['~standard'].validate(args),
    measured: () => schemas.measured['~standard'].validate(args),
  }
  const [zod, other] = await compare('', variants, { clock: 'processor' })
  process.stdout.write(`${zod?.median ?? NaN} ${other?.median ?? NaN}`)
}

async function inThisProcess(): Promise<void> {
  const schemas = await Promise.all(Object.entries(makers).map(async ([name, make]) => [name, await make()] as const))
  const sort = Array.from({ length: 2_000 }, (_, index) => ({ field: `column_${index}`, descending: index % 2 === 0 }))
  for (const [title, value] of Object.entries({ valid: args, invalid, large: { ...args, sort } })) {
    const variants = schemas.map(([name, schema]) => [name, () => schema['~standard'].validate(value)] as const)
    for (const [name, run] of variants) {
      const result = await run()
      if ((result.issues === undefined) !== (title !== 'invalid'))
        throw new Error(`${name} is wrong about ${title} input`)
    }
    const size = JSON.stringify(value).length
    printTable(
      await compare(`${title} input, ${size} bytes, hot`, Object.fromEntries(variants), { clock: 'processor' }),
    )
  }
}

/** As it is installed: the build, not the sources, whose types would have to be taken away first. */
async function inProcessesOfTheirOwn(): Promise<void> {
  const programs = (flags: readonly string[], ...mode: string[]): Record<string, string[]> =>
    Object.fromEntries(Object.keys(makers).map((name) => [name, [...flags, import.meta.filename, name, ...mode]]))
  const cold = Object.entries(freshly(programs([], 'once'), 7))
  const nanoseconds = cold.map(([name, runs]) => [name, runs.map(([time = NaN]) => time * 1e6)] as const)
  printTable(rowsOf('from nothing to the first answer, in a process of its own', Object.fromEntries(nanoseconds)))

  const rows: Row[] = []
  const title = 'valid input, hot, where no code may be made from text'
  for (const [name, program] of Object.entries(programs(['--disallow-code-generation-from-strings']))) {
    try {
      const [[zod = NaN, other = NaN] = []] = freshly({ [name]: program }, 1)[name] ?? []
      rows.push({ title, name, median: other, p10: other, p90: other, ratio: other / zod })
    } catch {
      rows.push({ title, name: `${name}: cannot`, median: NaN, p10: NaN, p90: NaN, ratio: NaN })
    }
  }
  printTable(rows)
}
