import { createExecutor, tool, type Schema } from 'toolwright'
import { same } from '../_assert.ts'
import type { Case } from '../run.ts'

/** Calls a tool with a schema that wants an integer `n`, once as it wants it and once not. */
async function validates(schema: Schema, value?: number): Promise<void> {
  let got: unknown
  const handler = (args: unknown): unknown => (got = (args as { readonly n: unknown }).n)
  const tools = [tool({ name: 't', description: 'Takes a number', inputSchema: schema, handler })]
  const executor = createExecutor({ tools })
  const args = value === undefined ? {} : { n: value }
  const [taken, refused] = await executor.executeToolCalls([
    { name: 't', args },
    { name: 't', args: { n: 'x' } },
  ])
  same(
    [taken?.status, got, refused?.error?.code],
    ['ok', value ?? 3, 'E_INVALID_TOOL_ARGS'],
    taken?.error?.message ?? '',
  )
  same(executor.tools()[0]?.describe().inputSchema.type, 'object')
}

export const validators: readonly Case[] = [
  {
    name: 'validator: raw JSON Schema, whose engine is loaded on demand',
    run: () =>
      validates(
        {
          type: 'object',
          properties: { n: { type: 'integer', minimum: 1 }, s: { type: 'string', pattern: '^\\p{L}+$' } },
          required: ['n'],
          additionalProperties: false,
        },
        7,
      ),
  },
  {
    name: 'validator: Zod as it is',
    async run() {
      const { z } = await import('zod')
      await validates(z.object({ n: z.number().int().default(3) }))
    },
  },
  {
    name: 'validator: Zod through its wrapper',
    async run() {
      const { z } = await import('zod')
      const { zod } = await import('toolwright/validators/zod')
      await validates(zod(z.object({ n: z.number().int().default(3) })))
    },
  },
  {
    name: 'validator: Valibot',
    async run() {
      const v = await import('valibot')
      const { valibot } = await import('toolwright/validators/valibot')
      await validates(valibot(v.object({ n: v.optional(v.pipe(v.number(), v.integer()), 3) })))
    },
  },
  {
    name: 'validator: ArkType',
    needs: ['web'],
    async run() {
      const { type } = await import('arktype')
      const { arktype } = await import('toolwright/validators/arktype')
      await validates(arktype(type({ n: 'number.integer = 3' })))
    },
  },
  {
    name: 'validator: TypeBox',
    async run() {
      const { Type } = await import('typebox')
      const { typebox } = await import('toolwright/validators/typebox')
      await validates(typebox(Type.Object({ n: Type.Integer() })), 7)
    },
  },
  {
    name: 'validator: TypeBox 0.34',
    async run() {
      const { Type } = await import('@sinclair/typebox')
      const { sinclairTypebox } = await import('toolwright/validators/sinclair-typebox')
      await validates(sinclairTypebox(Type.Object({ n: Type.Integer() })), 7)
    },
  },
  {
    name: 'validator: JSON Schema of an untrusted author, with patterns',
    async run() {
      const { jsonSchema } = await import('toolwright/validators/json-schema')
      const schema = {
        type: 'object',
        properties: { n: { type: 'integer' }, s: { pattern: '^a+$' } },
        required: ['n'],
      } as const
      await validates(jsonSchema(schema, { origin: 'wire' }), 7)
    },
  },
  {
    name: 'validator: ajv',
    needs: ['eval'],
    async run() {
      const { Ajv } = await import('ajv')
      const { ajv } = await import('toolwright/validators/ajv')
      const schema = { type: 'object', properties: { n: { type: 'integer' } }, required: ['n'] } as const
      await validates(ajv(new Ajv())(schema), 7)
    },
  },
]
