import { tool, type ToolDefinition } from 'toolwright'
import type { JsonSchemaObject, SchemaReport } from 'toolwright/extension'
import { aiSdk } from 'toolwright/formats/ai-sdk'
import { anthropic } from 'toolwright/formats/anthropic'
import { gemini } from 'toolwright/formats/gemini'
import { openai, type OpenAiMessage } from 'toolwright/formats/openai'
import { openaiResponses } from 'toolwright/formats/openai-responses'
import { describe, expect, test } from 'vitest'
import { z } from 'zod'
import { compile, dialectNamed } from './dialects.ts'
import { faultsOf } from './rules.ts'

function toolOf(inputSchema: JsonSchemaObject, options: object = {}): ToolDefinition {
  return tool({ name: 'ask', description: 'Asks', inputSchema, handler: () => null, ...options })
}

/** The schema of the one tool in a provider's definitions. */
function schemaIn(definitions: readonly unknown[]): JsonSchemaObject {
  const [first] = definitions as Record<string, unknown>[]
  const declared = (first?.['functionDeclarations'] as Record<string, unknown>[] | undefined)?.[0] ?? first
  const inner = (declared?.['function'] as Record<string, unknown> | undefined) ?? declared
  return (inner?.['input_schema'] ??
    inner?.['parameters'] ??
    inner?.['parametersJsonSchema'] ??
    inner?.['inputSchema']) as JsonSchemaObject
}

const pay = z.discriminatedUnion('by', [
  z.object({ by: z.literal('card'), card: z.string() }),
  z.object({ by: z.literal('cash') }),
])
const usual = [
  ['anthropic', anthropic(), 'anthropic'],
  ['openai', openai(), 'openai'],
  ['openai-responses', openaiResponses(), 'openai'],
] as const

describe('what providers refused of our definitions', () => {
  test.each(usual)('%s gets a union under `input`', (_, format, dialect) => {
    const union = tool({ name: 'pay', description: 'Pays', inputSchema: pay, handler: ({ by }) => by })
    const schema = schemaIn(format.definitions([union]))
    expect(faultsOf(union.describe().inputSchema, dialect)).not.toEqual([])
    expect(faultsOf(schema, dialect)).toEqual([])
    expect(schema.properties?.['input']).toEqual(union.describe().inputSchema)
    expect(union.describe().inputSchema).toMatchObject({ type: 'object', oneOf: [{}, {}] })
  })

  test('anthropic gets names that it takes, and the model reads those of the tool', () => {
    const names = ['filter[id]', '$top', 'größe', 'n'.repeat(65)]
    const properties = Object.fromEntries(names.map((name) => [name, { type: 'string' }]))
    const filterTool = toolOf({ type: 'object', properties, required: ['$top'] })
    const format = anthropic()
    const schema = schemaIn(format.definitions([filterTool]))
    expect(faultsOf(filterTool.describe().inputSchema, 'anthropic')).toHaveLength(4)
    expect(faultsOf(schema, 'anthropic')).toEqual([])
    expect(schema.required).toEqual(['_top'])
    expect(Object.values(schema.properties ?? {})).toEqual(
      names.map((name) => ({ type: 'string', description: `Stands for ${JSON.stringify(name)}.` })),
    )
    const input = { filter_id_: 'a', _top: 'b', gr__e: 'c' }
    const message = { role: 'assistant', content: [{ type: 'tool_use', id: 'toolu_01', name: 'ask', input }] }
    expect(format.calls(message, [filterTool])[0]?.args).toEqual({ 'filter[id]': 'a', $top: 'b', größe: 'c' })
    expect(format.calls(message)[0]?.args).toEqual(input)
  })

  test('gemini gets `{}` for a schema that is `true`, but of additional properties', () => {
    for (const [inputSchema, sent] of [
      [
        { type: 'object', properties: { any: true }, required: ['any'] },
        { type: 'object', properties: { any: {} }, required: ['any'] },
      ],
      [field({ type: 'array', items: true }), field({ type: 'array', items: {} })],
      [field({ anyOf: [true, { type: 'string' }] }), field({ anyOf: [{}, { type: 'string' }] })],
      [
        { type: 'object', properties: { a: true }, additionalProperties: true },
        { type: 'object', properties: { a: {} }, additionalProperties: true },
      ],
    ]) {
      const anyTool = tool({ name: 't', description: 'd', inputSchema: inputSchema as object, handler: () => 1 })
      expect(schemaIn(gemini().definitions([anyTool]))).toEqual(sent)
    }
  })

  test('openai gets items for every array, and gemini too', () => {
    const listTool = toolOf({ type: 'object', properties: { all: { type: 'array' } } })
    expect(schemaIn(openai().definitions([listTool])).properties).toEqual({ all: { type: 'array', items: {} } })
    expect(schemaIn(gemini().definitions([listTool])).properties).toEqual({ all: { type: 'array', items: {} } })
    expect(schemaIn(anthropic().definitions([listTool]))).toEqual(listTool.describe().inputSchema)
  })

  test('openai is strict only with a schema that strict mode takes', () => {
    const fields = { url: z.url(), tags: z.record(z.string(), z.string()).optional(), any: z.unknown() }
    const fetchTool = tool({
      name: 'fetch',
      description: 'Fetches',
      inputSchema: z.object(fields),
      providerOptions: { openai: { strict: true } },
      handler: () => null,
    })
    expect(faultsOf(fetchTool.describe().inputSchema, 'openai-strict')).not.toEqual([])
    for (const format of [openai(), openaiResponses(), openai({ strict: true })]) {
      expect(faultsOf(schemaIn(format.definitions([fetchTool])), 'openai-strict')).toEqual([])
      expect(JSON.stringify(format.definitions([fetchTool]))).toContain('"strict":true')
    }
  })

  test('anthropic is strict only with a schema that strict mode takes', () => {
    const forecastTool = toolOf(
      { type: 'object', properties: { days: { type: 'integer', minimum: 1, maximum: 10 } }, required: ['days'] },
      { providerOptions: { anthropic: { strict: true } } },
    )
    const [definition] = anthropic().definitions([forecastTool])
    expect(definition).toEqual({
      name: 'ask',
      description: 'Asks',
      input_schema: {
        type: 'object',
        properties: { days: { type: 'integer', description: 'At least 1. At most 10.' } },
        required: ['days'],
        additionalProperties: false,
      },
      strict: true,
    })
  })
})

type Case = readonly [title: string, schema: JsonSchemaObject, lowered: unknown, losses: readonly string[]]

const field = (schema: object, name = 'a'): JsonSchemaObject => ({
  type: 'object',
  properties: { [name]: schema },
  required: [name],
  additionalProperties: false,
})
const closed: (schema: object, name?: string) => object = field

const cases: Readonly<Record<string, readonly Case[]>> = {
  openai: [
    [
      'a schema that is taken',
      field({ type: 'string', pattern: '(?=a)' }),
      field({ type: 'string', pattern: '(?=a)' }),
      [],
    ],
    [
      'fields beside a union of what they require',
      { type: 'object', properties: { t: {}, d: {} }, anyOf: [{ required: ['t'] }, { required: ['d'] }] },
      { type: 'object', properties: { t: {}, d: {} }, description: 'Give at least one of: t, d.' },
      ['/anyOf in words'],
    ],
    [
      'fields in parts',
      {
        type: 'object',
        allOf: [{ $ref: '#/$defs/a' }, { properties: { b: { type: 'integer' } } }],
        $defs: { a: { type: 'object', properties: { a: { type: 'string' } } } },
      },
      {
        type: 'object',
        $defs: { a: { type: 'object', properties: { a: { type: 'string' } } } },
        properties: { a: { type: 'string' }, b: { type: 'integer' } },
      },
      ['/allOf inlined', '/allOf/0/$ref inlined'],
    ],
    [
      'a union that refers to itself',
      { type: 'object', anyOf: [{ properties: { not: { $ref: '#' } }, required: ['not'] }, { required: ['is'] }] },
      {
        type: 'object',
        properties: {
          input: {
            type: 'object',
            anyOf: [{ properties: { not: { $ref: '#/properties/input' } }, required: ['not'] }, { required: ['is'] }],
          },
        },
        required: ['input'],
        additionalProperties: false,
      },
      ['/anyOf wrapped'],
    ],
    [
      'a tuple of draft 07',
      field({ type: 'array', items: [{ type: 'string' }], additionalItems: false }),
      field({ type: 'array', prefixItems: [{ type: 'string' }], items: false }),
      ['/properties/a/items widened'],
    ],
    [
      'an $id inside, which nothing refers to',
      { ...field({ $id: 'https://example.com/a' }), anyOf: [{ required: ['a'] }] },
      { ...field({ $id: 'https://example.com/a' }), description: 'Give at least one of: a.' },
      ['/anyOf in words'],
    ],
    [
      'a root with conditions',
      { ...field({}), if: { required: ['a'] } },
      { ...field({}), if: { required: ['a'] } },
      [],
    ],
  ],
  'openai-strict': [
    [
      'no fields',
      { type: 'object', properties: {} },
      { type: 'object', properties: {}, required: [], additionalProperties: false },
      [' closed'],
    ],
    [
      'fields of any name',
      { type: 'object' },
      closed({ type: 'string', description: 'JSON text of the value.' }, 'input'),
      [' as text', '/type wrapped'],
    ],
    [
      'bounds and formats',
      field({ type: 'integer', minimum: 1, format: 'int32' }),
      closed({ type: 'integer', minimum: 1, description: 'Format: int32.' }),
      ['/properties/a/format in words'],
    ],
    [
      'lengths',
      field({ type: 'string', minLength: 1 }),
      closed({ type: 'string', description: 'At least 1 character.' }),
      ['/properties/a/minLength in words'],
    ],
    [
      'an optional field',
      { type: 'object', properties: { a: { type: 'string', enum: ['x'] } } },
      closed({ type: ['string', 'null'], enum: ['x', null] }),
      ['/properties/a nullable', ' closed'],
    ],
    [
      'an optional field that may be null',
      { type: 'object', properties: { a: { type: ['string', 'null'] } } },
      closed({
        type: ['object', 'null'],
        properties: { value: { type: ['string', 'null'] } },
        required: ['value'],
        additionalProperties: false,
        description: 'null leaves it out, {"value": null} is null.',
      }),
      ['/properties/a wrapped', ' closed'],
    ],
    [
      'a map',
      field({ type: 'object', additionalProperties: { type: 'integer' } }),
      closed({
        type: 'array',
        items: {
          type: 'object',
          properties: { key: { type: 'string' }, value: { type: 'integer' } },
          required: ['key', 'value'],
          additionalProperties: false,
        },
      }),
      ['/properties/a/additionalProperties as pairs'],
    ],
    [
      'any value',
      field({ description: 'What' }),
      closed({ type: 'string', description: 'What. JSON text of the value.' }),
      ['/properties/a as text'],
    ],
    [
      'a pattern with look-ahead',
      field({ type: 'string', pattern: '^(?=a)' }),
      closed({ type: 'string', description: 'Matches /^(?=a)/.' }),
      ['/properties/a/pattern in words'],
    ],
    [
      'a string or JSON text',
      field({ anyOf: [{ type: 'string' }, {}] }),
      closed({
        anyOf: [
          { type: 'string' },
          {
            type: 'object',
            properties: { option2: { type: 'string' } },
            required: ['option2'],
            additionalProperties: false,
            description: 'JSON text of the value.',
          },
        ],
      }),
      ['/properties/a/anyOf/1 as text', '/properties/a/anyOf wrapped'],
    ],
    [
      'a cycle',
      {
        type: 'object',
        properties: { kids: { type: 'array', items: { $ref: '#' } } },
        required: ['kids'],
        additionalProperties: false,
      },
      {
        type: 'object',
        properties: { kids: { type: 'array', items: { $ref: '#/$defs/node' } } },
        required: ['kids'],
        additionalProperties: false,
        $defs: {
          node: {
            type: 'object',
            properties: { kids: { type: 'array', items: { $ref: '#/$defs/node' } } },
            required: ['kids'],
            additionalProperties: false,
          },
        },
      },
      ['/properties/kids/items/$ref renamed'],
    ],
  ],
  'anthropic-strict': [
    [
      'a tuple',
      field({ type: 'array', prefixItems: [{ type: 'string' }, { type: 'number' }], minItems: 1, maxItems: 2 }),
      closed({
        type: 'object',
        properties: { item1: { type: 'string' }, item2: { type: 'number' } },
        required: ['item1'],
        additionalProperties: false,
      }),
      ['/properties/a/prefixItems as fields'],
    ],
    [
      'a map beside fields',
      { type: 'object', properties: { others: { type: 'string' } }, additionalProperties: { type: 'integer' } },
      {
        type: 'object',
        properties: {
          others: { type: 'string' },
          others_: {
            type: 'array',
            items: {
              type: 'object',
              properties: { key: { type: 'string' }, value: { type: 'integer' } },
              required: ['key', 'value'],
              additionalProperties: false,
            },
          },
        },
        required: ['others_'],
        additionalProperties: false,
      },
      ['/additionalProperties as pairs'],
    ],
    [
      'many items',
      field({ type: 'array', items: { type: 'string' }, minItems: 2 }),
      closed({ type: 'array', items: { type: 'string' }, description: 'At least 2 items.' }),
      ['/properties/a/minItems in words'],
    ],
    [
      'constants in a union',
      field({ anyOf: [{ const: 'x', description: 'First' }, { const: 'y' }] }),
      closed({ type: 'string', enum: ['x', 'y'], description: '"x": First' }),
      ['/properties/a/anyOf widened', '/properties/a widened'],
    ],
  ],
  gemini: [
    [
      'exclusive bounds of an integer',
      field({ type: 'integer', exclusiveMinimum: 0 }),
      field({ type: 'integer', minimum: 1 }),
      ['/properties/a/exclusiveMinimum widened'],
    ],
    [
      'an enum of mixed types',
      field({ enum: ['x', 1, true, null] }),
      field({
        anyOf: [
          { type: 'string', enum: ['x'] },
          { type: 'integer', enum: [1] },
          { type: 'boolean', description: 'Must be true.' },
          { type: 'null' },
        ],
      }),
      ['/properties/a/enum widened', '/properties/a/enum in words'],
    ],
    [
      'a closed map of patterns',
      field({ type: 'object', patternProperties: { '^x': { type: 'integer' } }, additionalProperties: false }),
      field({ type: 'object', additionalProperties: { type: 'integer' }, description: 'Field names match /^x/.' }),
      ['/properties/a/patternProperties widened'],
    ],
    [
      'a tuple of draft 07',
      field({ type: 'array', items: [{ type: 'string' }], additionalItems: { type: 'number' } }),
      field({ type: 'array', prefixItems: [{ type: 'string' }], items: { type: 'number' } }),
      ['/properties/a/items widened'],
    ],
    ['one value', field({ const: 'x' }), field({ type: 'string', enum: ['x'] }), ['/properties/a/const widened']],
  ],
  'gemini-openapi': [
    [
      'null',
      field({ type: ['string', 'null'] }),
      { type: 'object', properties: { a: { type: 'string', nullable: true } }, required: ['a'] },
      ['/additionalProperties dropped'],
    ],
    [
      'numbers',
      field({ enum: [1, 2] }),
      { type: 'object', properties: { a: { type: 'integer', description: 'Must be one of 1, 2.' } }, required: ['a'] },
      ['/properties/a/enum widened', '/properties/a/enum in words', '/additionalProperties dropped'],
    ],
  ],
  xai: [
    [
      'a list',
      field({ type: 'array', items: { type: 'string', maxLength: 2 }, maxItems: 3 }),
      closed({
        type: 'array',
        items: { type: 'string', description: 'At most 2 characters.' },
        description: 'At most 3 items.',
      }),
      ['/properties/a/maxItems in words', '/properties/a/items/maxLength in words'],
    ],
  ],
}

describe.each(Object.entries(cases))('in the dialect %s', (dialect, all) => {
  test.each(all)('%s', (_, schema, expected, losses) => {
    const made = compile({ ...schema }, dialectNamed(dialect))
    expect(JSON.parse(JSON.stringify(made.schema))).toEqual(expected)
    expect(made.losses.map(({ pointer, done }) => `${pointer} ${done}`)).toEqual(losses)
    expect(faultsOf(JSON.parse(JSON.stringify(made.schema)), dialect)).toEqual([])
  })
})

describe('a schema that cannot be strict', () => {
  const refused = (schema: JsonSchemaObject): SchemaReport => {
    const refusedTool = toolOf(schema, { jsonSchema: schema })
    const format = openai({ strict: true })
    expect(JSON.stringify(format.definitions([refusedTool]))).not.toContain('"strict":true')
    return format.report!([refusedTool])[0]!
  }
  const deep = (levels: number): JsonSchemaObject => (levels === 0 ? { type: 'string' } : field(deep(levels - 1)))

  test.each([
    [deep(11), 'it has 11 levels of nesting, and 10 are taken'],
    [
      field({ enum: Array.from({ length: 1_001 }, (_, index) => `v${index}`) }),
      'it has 1001 values of enums, and 1000 are taken',
    ],
    [
      field({ enum: Array.from({ length: 251 }, (_, index) => `${index}`.padEnd(60)) }),
      'it has 15060 characters in one enum of more than 250 values, and 15000 are taken',
    ],
    [field({ $ref: 'https://example.com/schema' }), '$ref "https://example.com/schema" leads to no schema in it'],
    [field({ $ref: '#/$defs/nowhere' }), '$ref "#/$defs/nowhere" leads to no schema in it'],
    [
      { ...field({ $id: 'https://example.com/a', type: 'array', items: { $ref: '#/$defs/b' } }), $defs: { b: {} } },
      'it has an $id inside at /properties/a, from which a $ref may start',
    ],
    [field({ type: 'text' }), 'it is no schema at /properties/a/type'],
    [field({ minimum: '1' }), 'it is no schema at /properties/a/minimum'],
    [field({ allOf: [{ type: 'string' }, { type: 'integer' }] }), 'no value fits it'],
  ])('goes out without `strict`, and the report says why: %#', (schema, why) => {
    expect(refused(schema)).toMatchObject({ toolName: 'ask', refused: why })
  })

  test('of references that double is refused soon', () => {
    const $defs: Record<string, object> = { d0: field({ type: 'string' }) }
    for (let level = 1; level <= 40; level++) {
      $defs[`d${level}`] = {
        type: 'object',
        properties: { l: { $ref: `#/$defs/d${level - 1}` }, r: { $ref: `#/$defs/d${level - 1}` } },
      }
    }
    const schema = { ...field({ $ref: '#/$defs/d40' }), $defs } as JsonSchemaObject
    const format = anthropic({ strict: true })
    const [report] = format.report!([toolOf(schema)])
    expect(report?.refused).toMatch(/^it has more than 20000 schemas/)
  })

  test('may have thousands of names that are alike, which are counted', () => {
    const all = Array.from({ length: 3_000 }, (_, index) => index)
    const schema = {
      type: 'object',
      properties: Object.fromEntries(all.map((index) => [`p${index}`, { $ref: `#/$defs/d${index}/properties/x` }])),
      $defs: Object.fromEntries(all.map((index) => [`d${index}`, field({ type: 'string' }, 'x')])),
    }
    const made = compile(schema, dialectNamed('gemini')).schema['$defs'] as object
    expect(Object.keys(made).slice(0, 3)).toEqual(['x', 'x_2', 'x_3'])
    expect(Math.max(...Object.keys(made).map((name) => name.length))).toBe(6)
    const strange = Object.fromEntries(all.map((index) => [String.fromCodePoint(0x4e00 + index), { type: 'string' }]))
    const renamed = compile({ type: 'object', properties: strange }, dialectNamed('anthropic')).schema['properties']
    expect(new Set(Object.keys(renamed as object)).size).toBe(3_000)
  })

  test('may have an enum of any length', () => {
    const values = Array.from({ length: 50_000 }, (_, index) => `value ${index}`)
    const both = { allOf: [{ enum: values }, { enum: values.toReversed() }] }
    const { schema } = compile({ ...field(both) }, dialectNamed('xai'))
    expect(schema).toMatchObject({ properties: { a: { type: 'string', enum: values } } })
  })

  test('of parts in parts is merged, or refused soon', () => {
    let schema: JsonSchemaObject = { type: 'object', properties: { a: { type: 'string' } } }
    for (let level = 0; level < 14; level++) schema = { allOf: [schema, schema] }
    const { losses, refused: why } = compile(
      JSON.parse(JSON.stringify({ ...schema, type: 'object' })),
      dialectNamed('xai'),
    )
    expect([losses.length > 0, why !== undefined]).toContain(true)
  })

  test('of anthropic leaves the strict mode to others in the same request', () => {
    const fields = (count: number): JsonSchemaObject => ({
      type: 'object',
      properties: Object.fromEntries(Array.from({ length: count }, (_, index) => [`f${index}`, { type: 'string' }])),
      additionalProperties: false,
    })
    const named = (name: string, count: number): ToolDefinition => toolOf(fields(count), { name })
    const tools = [named('one', 10), named('two', 10), named('three', 10), named('four', 4), named('five', 11)]
    const format = anthropic({ strict: true })
    expect(format.report!(tools).map(({ toolName, schema, refused: why }) => [toolName, schema, why])).toEqual([
      ['one', 'strict', undefined],
      ['two', 'strict', undefined],
      ['three', 'as it is', '34 optional fields in strict tools in one request, 24 are taken'],
      ['four', 'strict', undefined],
      ['five', 'as it is', 'it has 11 optional fields, and 10 are taken'],
    ])
    expect(format.definitions(tools).map((each) => (each as { strict?: boolean }).strict)).toEqual([
      true,
      true,
      false,
      true,
      false,
    ])
    expect(anthropic({ strict: true, optionalLimit: 11 }).report!([tools[4]!])[0]?.schema).toBe('strict')
    const many = Array.from({ length: 21 }, (_, index) => named(`tool_${index}`, 0))
    expect(format.report!(many).at(-1)?.refused).toBe('21 strict tools in one request, 20 are taken')
  })
})

describe('the options of a tool and of a format', () => {
  const limitedTool = toolOf({ type: 'object', properties: { a: { type: 'string', minLength: 1 } } })

  test('`as it is` changes no schema', () => {
    const union = tool({ name: 'pay', description: 'Pays', inputSchema: pay, handler: () => null })
    for (const format of [
      anthropic({ strict: 'as it is' }),
      openai({ strict: 'as it is' }),
      openaiResponses({ strict: 'as it is' }),
      gemini({ strict: 'as it is' }),
      aiSdk(),
    ]) {
      expect(schemaIn(format.definitions([union]))).toEqual(union.describe().inputSchema)
      expect(format.report!([union]).every(({ losses }) => losses.length === 0)).toBe(true)
    }
  })

  test('a tool stays out of strictness, or asks for it alone', () => {
    const out = toolOf(field({ type: 'string' }), { providerOptions: { openai: { strict: false } } })
    expect(openai({ strict: true }).report!([out, limitedTool]).map(({ schema }) => schema)).toEqual([
      'as it is',
      'strict',
    ])
    expect(openai({ strict: true }).definitions([out])).toMatchObject([{ function: { strict: false } }])
  })

  test('a schema of the provider’s own in the options goes out, and its args are not changed', () => {
    const parameters = { type: 'object', properties: { input: { type: 'string' } } }
    const own = tool({
      name: 'pay',
      description: 'Pays',
      inputSchema: pay,
      providerOptions: { openai: { parameters } },
      handler: () => null,
    })
    const args = JSON.stringify({ input: { by: 'cash' } })
    const message = {
      role: 'assistant',
      content: null,
      tool_calls: [{ id: 'a', type: 'function', function: { name: 'pay', arguments: args } }],
    }
    expect(schemaIn(openai().definitions([own]))).toEqual(parameters)
    expect(openai().calls(message, [own])[0]?.args).toBe(args)
    expect(openai().report!([own])).toEqual([])
  })

  test('the servers that speak the API of OpenAI have their own rules', () => {
    const strict = (dialect: 'groq' | 'mistral' | 'xai', asked = true): unknown =>
      openai({ dialect, strict: asked }).definitions([limitedTool])
    expect(strict('groq')).toMatchObject([{ function: { strict: true, parameters: { required: ['a'] } } }])
    expect(strict('mistral')).toMatchObject([
      { function: { strict: true, parameters: limitedTool.describe().inputSchema } },
    ])
    expect(strict('xai', false)).toMatchObject([{ function: { parameters: { additionalProperties: false } } }])
  })

  test('the AI SDK’s tools are written for the provider behind it', () => {
    const [definition] = aiSdk({ dialect: 'bedrock', strict: true }).definitions([limitedTool])
    expect(definition).toMatchObject({ strict: true, inputSchema: { additionalProperties: false } })
    expect(aiSdk({ dialect: 'gemini' }).report!([limitedTool])[0]?.schema).toBe('lowered')
  })

  test('gemini has no `parameters` for a tool without fields, as OpenAPI', () => {
    const now = toolOf({ type: 'object', properties: {}, additionalProperties: false })
    expect(gemini({ parameters: 'openapi' }).definitions([now])).toEqual([
      { functionDeclarations: [{ name: 'ask', description: 'Asks' }] },
    ])
  })

  test('examples go out in the shape of the schema', () => {
    const tags = { type: 'object', additionalProperties: { type: 'string' } } as const
    const example = toolOf({ type: 'object', properties: { tags } }, { examples: [{ tags: { a: 'b' } }] })
    expect(anthropic({ strict: true }).definitions([example])).toMatchObject([
      { input_examples: [{ tags: [{ key: 'a', value: 'b' }] }] },
    ])
    expect(anthropic().definitions([example])).toMatchObject([{ input_examples: [{ tags: { a: 'b' } }] }])
  })
})

describe('args that a model wrote', () => {
  const union = tool({
    name: 'pay',
    description: 'Pays',
    aliases: ['settle'],
    inputSchema: pay,
    handler: ({ by }) => by,
  })
  const calling = (name: string, args: string): OpenAiMessage => ({
    role: 'assistant',
    content: null,
    tool_calls: [{ id: 'a', type: 'function', function: { name, arguments: args } }],
  })
  const argsOf = (name: string, args: string): unknown => openai().calls(calling(name, args), [union])[0]?.args

  test.each([
    ['in the lowered shape', '{"input":{"by":"cash"}}', { by: 'cash' }],
    ['in the tool’s own shape', '{"by":"cash"}', { by: 'cash' }],
    ['with more than the wrapper', '{"input":{"by":"cash"},"more":1}', { input: { by: 'cash' }, more: 1 }],
    ['that are no JSON', '{"input":', '{"input":'],
    ['that are ambiguous', '{"input":1,"input":2}', '{"input":1,"input":2}'],
  ])('%s', (_, args, expected) => {
    expect(argsOf('pay', args)).toEqual(expected)
    expect(argsOf('settle', args)).toEqual(expected)
    expect(argsOf('unknown', args)).toBe(args)
  })

  test('stay text for a tool whose schema goes out as it is', () => {
    const plain = toolOf(field({ type: 'string' }))
    expect(openai().calls(calling('ask', '{"a": "b"}'), [plain])[0]?.args).toBe('{"a": "b"}')
  })

  test('lose nothing to a key that comes twice', () => {
    const tags = toolOf({ type: 'object', properties: { tags: { type: 'object', additionalProperties: {} } } })
    const twice = {
      tags: [
        { key: 'a', value: '1' },
        { key: 'a', value: '2' },
      ],
    }
    const message = { role: 'assistant', content: [{ type: 'tool_use', id: 'a', name: 'ask', input: twice }] }
    expect(anthropic({ strict: true }).calls(message, [tags])[0]?.args).toEqual(twice)
  })
})
