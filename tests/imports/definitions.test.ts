import fc from 'fast-check'
import { openapiTools } from 'toolwright/imports/openapi'
import { describe, expect, test } from 'vitest'
import { stringify } from 'yaml'
import { longestTurn } from '../_processor-time.ts'
import { documentKeys, documentLeaves } from '../portable/cases/_garbage.ts'
import { documentOf, ready, type Json } from './_server.ts'

const baseUrl = 'https://api.example.com'

function bodyOf(schema: unknown): Json {
  return { operationId: 'run', requestBody: { required: true, content: { 'application/json': { schema } } } }
}

/** Returns the schema of the body that models are shown. */
async function shownBody(schema: unknown, more: Json = {}): Promise<unknown> {
  const { api, reports } = await ready(documentOf({ 'POST /p': bodyOf(schema) }, more), { baseUrl })
  expect(api.omitted, reports.join()).toEqual([])
  return (api.tools()[0]!.describe().inputSchema.properties as Json)['body']
}

describe('a name', () => {
  const nameOf = async (operations: Record<string, Json>, options = {}): Promise<string[]> => {
    const { api } = await ready(documentOf(operations), { baseUrl, ...options })
    return api.tools().map(({ name }) => name)
  }

  test('is the id in the characters that providers take, else the method and the path', async () => {
    expect(
      await nameOf({ 'GET /a': { operationId: 'issues/list-for.repo' }, 'GET /pets/{id}': {}, 'POST /': {} }),
    ).toEqual(['issues_list-for_repo', 'get_pets_id', 'post_'])
  })

  test('that fits is never changed: one that equals it but for case, "-" and "_" gets a hash', async () => {
    const names = await nameOf({
      'GET /b': { operationId: 'list pets' },
      'GET /a': { operationId: 'list_pets' },
      'GET /c': { operationId: 'List-Pets' },
    })
    expect(names).toEqual([
      expect.stringMatching(/^list_pets_[0-9a-f]{8}$/),
      'list_pets',
      expect.stringMatching(/^List-Pets_[0-9a-f]{8}$/),
    ])
  })

  test('that is long is cut, and keeps its hash whatever else is in the document', async () => {
    const long = { 'GET /long': { operationId: 'x'.repeat(300) } }
    const [name] = await nameOf(long)
    expect(name).toMatch(/^x{55}_[0-9a-f]{8}$/)
    expect(await nameOf({ 'GET /a': { operationId: 'y' }, ...long })).toContain(name)
  })

  test.each([{ run: 'call_it' }, { 'GET /p': 'call_it' }, () => 'call_it'])('is given by %j', async (rename) => {
    expect(await nameOf({ 'GET /p': { operationId: 'run' } }, { rename })).toEqual(['call_it'])
  })
})

describe('a tool', () => {
  test('has the traits of its method, and what the application says', async () => {
    const keys = ['GET /p', 'HEAD /p', 'OPTIONS /p', 'PUT /p', 'DELETE /p', 'PATCH /p', 'POST /p', 'TRACE /p']
    const operations = Object.fromEntries(
      keys.map((key) => [key, { 'x-readonly': true, operationId: key.slice(0, -3) }]),
    )
    const { api } = await ready(documentOf(operations), { baseUrl, tools: { POST: { traits: { destructive: true } } } })
    const words = api.tools().map(
      ({ name, traits }) =>
        `${name} ${Object.entries(traits)
          .flatMap(([trait, holds]) => (holds && trait !== 'concurrent' ? trait : []))
          .toSorted()
          .join()}`,
    )
    expect(words.toSorted()).toEqual([
      'DELETE destructive,idempotent,openWorld',
      'GET idempotent,openWorld,readonly',
      'HEAD idempotent,openWorld,readonly',
      'OPTIONS idempotent,openWorld,readonly',
      'PATCH destructive,openWorld',
      'POST destructive,openWorld',
      'PUT destructive,idempotent,openWorld',
    ])
  })

  test('says what it does, in at most 1,024 characters, and hides nothing', async () => {
    const { api } = await ready(
      documentOf({
        'GET /a': { summary: 'Lists pets', description: 'All of them.', deprecated: true },
        'GET /b': { description: 'A sentence. '.repeat(200) },
        'GET /c': {},
        'GET /d': { summary: 'pay\u202eyap\u0000', description: 'x'.repeat(5_000) },
      }),
      { baseUrl },
    )
    const [first, long, none, hidden] = api.tools().map(({ description }) => description)
    expect([first, none]).toEqual(['Deprecated. Lists pets. All of them.', 'GET /c'])
    expect(long).toMatch(/^(?:A sentence\. ?)+$/)
    expect(long!.length).toBeLessThanOrEqual(1_024)
    expect(hidden).toMatch(/^pay\\u202eyap\\u0000\. x+…$/)
  })

  test('has those examples of the document that fit', async () => {
    const parameters = [{ name: 'n', in: 'query', example: 7, schema: { type: 'integer' } }]
    const content = { 'application/json': { examples: { one: { value: { a: 1 } } }, schema: { type: 'object' } } }
    const { api } = await ready(
      documentOf({
        'POST /a': { parameters, requestBody: { content } },
        'GET /b': { parameters: [{ ...parameters[0], example: 'no' }] },
      }),
      { baseUrl },
    )
    expect(api.tools().map(({ examples }) => examples)).toEqual([[{ n: 7, body: { a: 1 } }], []])
  })

  test('tells where it comes from', async () => {
    const { api } = await ready(documentOf({ 'GET /p': {} }), { baseUrl, tools: { 'GET /p': { meta: { team: 'a' } } } })
    expect(api.tools()[0]?.meta).toEqual({ team: 'a', openapi: { operation: 'GET /p', document: 'Test 1' } })
    expect(api.tools()[0]?.mcpConfig).toBeUndefined()
  })
})

describe('a schema of 3.0', () => {
  const old = { openapi: '3.0.3' }

  test.each([
    [{ type: 'string', nullable: true }, { type: ['string', 'null'] }],
    [
      { type: 'string', nullable: true, enum: ['a'] },
      { type: ['string', 'null'], enum: ['a', null] },
    ],
    [
      { nullable: true, allOf: [{ type: 'object' }], description: 'd' },
      { description: 'd', anyOf: [{ allOf: [{ type: 'object' }] }, { type: 'null' }] },
    ],
    [
      { type: 'number', minimum: 1, exclusiveMinimum: true, maximum: 5, exclusiveMaximum: false },
      { type: 'number', exclusiveMinimum: 1, maximum: 5 },
    ],
    [{ type: 'string', example: 'x', xml: {}, externalDocs: {}, 'x-a': 1 }, { type: 'string' }],
    [
      {
        type: 'object',
        required: ['a', 'b'],
        properties: { a: { type: 'string', readOnly: true }, b: {}, c: { writeOnly: true, type: 'string' } },
      },
      { type: 'object', required: ['b'], properties: { b: {}, c: { type: 'string' } } },
    ],
    [
      { type: 'object', properties: { nullable: { type: 'boolean' }, example: { type: 'string' } } },
      { type: 'object', properties: { nullable: { type: 'boolean' }, example: { type: 'string' } } },
    ],
  ])('%j becomes %j', async (schema, expected) => {
    expect(await shownBody(schema, old)).toEqual(expected)
  })

  test('ignores what stands beside a reference, which 3.1 does not', async () => {
    const components = { schemas: { A: { type: 'string' } } }
    expect(await shownBody({ $ref: '#/components/schemas/A', minLength: 2 }, { ...old, components })).toEqual({
      $ref: '#/$defs/A',
    })
    expect(await shownBody({ $ref: '#/components/schemas/A', minLength: 2 }, { components })).toEqual({
      $ref: '#/$defs/A',
      minLength: 2,
    })
  })
})

test('`nullable`, which 3.1 no longer has, is read there as it is meant', async () => {
  const components = { schemas: { A: { type: 'string' } } }
  expect(await shownBody({ type: 'string', nullable: true })).toEqual({ type: ['string', 'null'] })
  expect(await shownBody({ $ref: '#/components/schemas/A', nullable: true }, { components })).toEqual({
    anyOf: [{ $ref: '#/$defs/A' }, { type: 'null' }],
  })
})

describe('a faulty schema', () => {
  test.each([
    [{ type: 'string', required: true }, { type: 'string' }],
    [{ enum: ['a', 'b', 'a'] }, { enum: ['a', 'b'] }],
    [{ type: 'file' }, { type: 'string', format: 'binary' }],
    [{ type: 'string', allOf: [] }, { type: 'string' }],
    [{ type: 'string', pattern: '(' }, { type: 'string' }],
    [{ type: 'string', pattern: '(?=a)b' }, { type: 'string' }],
    [{ type: 'float' }, {}],
  ])('%j is mended to %j, and that is reported', async (schema, expected) => {
    const { api, reports } = await ready(documentOf({ 'POST /p': bodyOf(schema) }), { baseUrl })
    expect((api.tools()[0]!.describe().inputSchema.properties as Json)['body']).toEqual(expected)
    expect(reports.length).toBe(JSON.stringify(schema).includes('file') ? 0 : 1)
  })

  test('gets the tag of each branch that a discriminator maps', async () => {
    const components = {
      schemas: {
        Cat: { type: 'object', properties: { meows: {} } },
        Dog: { type: 'object', properties: { kind: { const: 'dog' } } },
      },
    }
    const branches = [{ $ref: '#/components/schemas/Cat' }, { $ref: '#/components/schemas/Dog' }]
    const schema = {
      oneOf: branches,
      discriminator: { propertyName: 'kind', mapping: { cat: 'Cat', dog: '#/components/schemas/Dog' } },
    }
    const { call } = await ready(documentOf({ 'POST /p': bodyOf(schema) }, { components }), {
      baseUrl,
      fetch: async () => Response.json(1),
    })
    expect((await call('run', { body: { kind: 'cat' } })).status).toBe('ok')
    expect((await call('run', { body: { kind: 'cow' } })).error?.code).toBe('E_INVALID_TOOL_ARGS')
    expect((await call('run', { body: { kind: 'dog' } })).status).toBe('ok')
  })
})

test('a component that names itself by `$recursiveRef` is read as it is meant', async () => {
  const properties = { not: { $recursiveRef: '#' }, equal: { type: 'string' } }
  const schemas = { Filter: { $recursiveAnchor: true, type: 'object', properties, additionalProperties: false } }
  const content = { 'application/json': { schema: { $ref: '#/components/schemas/Filter' } } }
  const loose = { 'application/json': { schema: { type: 'object', properties } } }
  const document = documentOf(
    {
      'POST /p': { operationId: 'run', requestBody: { content } },
      'POST /q': { requestBody: { content: loose } },
    },
    { components: { schemas } },
  )
  const { api, call } = await ready(document, { baseUrl, fetch: async () => Response.json(1) })
  expect(api.omitted).toEqual([{ operation: 'POST /q', why: 'a schema has $recursiveRef' }])
  expect((await call('run', { body: { not: { not: { equal: 'x' } } } })).status).toBe('ok')
  expect((await call('run', { body: { not: { not: { equal: 7 } } } })).error?.code).toBe('E_INVALID_TOOL_ARGS')
})

describe('a large definition', () => {
  const deep = (levels: number): Json => ({
    type: 'object',
    description: 'x'.repeat(300),
    properties: Object.fromEntries(
      ['a', 'b', 'c'].map((name) => [
        name,
        levels === 0 ? { type: 'integer', description: 'y'.repeat(200) } : deep(levels - 1),
      ]),
    ),
  })

  test('is cut for the model, and args are checked by the whole of it', async () => {
    const fetch = async (): Promise<Response> => Response.json(1)
    const { api, call, reports } = await ready(documentOf({ 'POST /p': bodyOf(deep(6)) }), {
      baseUrl,
      limits: { definition: 20_000 },
      fetch,
    })
    expect(JSON.stringify(api.tools()[0]!.describe().inputSchema).length).toBeLessThan(20_000)
    expect(reports).toEqual([expect.stringMatching(/has a definition of more than 20,000 characters/)])
    const body = { a: { a: { a: { a: { a: { a: { a: 'text' } } } } } } }
    expect((await call('run', { body })).error?.code).toBe('E_INVALID_TOOL_ARGS')
    expect((await call('run', { body: { a: {} } })).status).toBe('ok')
  })

  test('of components that name each other is cut too', async () => {
    const schemas = Object.fromEntries(
      Array.from({ length: 200 }, (_, index) => [
        `S${index}`,
        {
          type: 'object',
          description: 'z'.repeat(200),
          properties: { next: { $ref: `#/components/schemas/S${(index + 1) % 200}` } },
        },
      ]),
    )
    const { api } = await ready(
      documentOf({ 'POST /p': bodyOf({ $ref: '#/components/schemas/S0' }) }, { components: { schemas } }),
      { baseUrl, limits: { definition: 4_000 } },
    )
    expect(JSON.stringify(api.tools()[0]!.describe().inputSchema).length).toBeLessThan(4_000)
  })
})

describe('a document', () => {
  const good = { 'GET /good': { operationId: 'good' } }

  test.each([
    ['#/components/parameters/None', 'leads nowhere'],
    ['https://evil.example/x.json', 'leaves the document'],
    ['file:///etc/passwd', 'leaves the document'],
    ['other.yaml#/x', 'leaves the document'],
    ['#/../x', 'leads nowhere'],
    ['#/__proto__/x', 'leads nowhere'],
    ['#/constructor', 'leads nowhere'],
    ['#/components/parameters/Self', 'more than 32 links'],
    ['#/components/parameters/P0', 'more than 32 links'],
  ])('with a reference to %s loses that operation alone', async ($ref, why) => {
    const chain = Object.fromEntries(
      Array.from({ length: 40 }, (_, index) => [`P${index}`, { $ref: `#/components/parameters/P${index + 1}` }]),
    )
    const components = { parameters: { ...chain, Self: { $ref: '#/components/parameters/Self' } } }
    const { api, reports } = await ready(
      documentOf({ 'GET /bad': { parameters: [{ $ref }] }, ...good }, { components }),
      { baseUrl },
    )
    expect(api.tools().map(({ name }) => name)).toEqual(['good'])
    expect(api.omitted).toEqual([{ operation: 'GET /bad', why: expect.stringContaining(why) as string }])
    expect(reports).toHaveLength(1)
  })

  test.each([
    ['#', 'leads to the document, which is no schema'],
    ['#/$defs/A', "leads nowhere: its path begins at the document's root"],
  ])('with a schema of reference %s loses that operation alone', async ($ref, why) => {
    const schema = { type: 'object', properties: { next: { $ref } }, $defs: { A: { type: 'string' } } }
    const { api } = await ready(documentOf({ 'POST /bad': bodyOf(schema), ...good }), { baseUrl })
    expect(api.tools().map(({ name }) => name)).toEqual(['good'])
    expect(api.omitted).toEqual([{ operation: 'POST /bad', why: `$ref "${$ref}" ${why}` }])
  })

  test('of megabytes of text and of lists is read in small pieces', async () => {
    const text = 'é \u200b'.repeat(1_000_000)
    const many = Array.from({ length: 200_000 }, (_, index) => index)
    const { api } = await ready(
      documentOf({
        'GET /text': {
          operationId: 'text',
          summary: text,
          description: text,
          parameters: [{ name: 'q', in: 'query', description: text, schema: { type: 'string' } }],
        },
        'GET /many': { operationId: 'many', parameters: [{ name: 'q', in: 'query', schema: { enum: many } }] },
      }),
      { baseUrl },
    )
    expect(api.tools()[0]!.description.length).toBeLessThanOrEqual(1_024)
    expect(JSON.stringify(api.tools()[0]!.describe()).length).toBeLessThan(250_000)
    expect(api.omitted).toEqual([{ operation: 'GET /many', why: 'its schemas have more than 20,000 parts' }])
  })

  test('whose schemas are made of each other many times takes no longer than its size', async () => {
    const partsOf = (index: number): Json[] =>
      Array.from({ length: 50 }, () => ({ $ref: `#/components/schemas/S${index}` }))
    const file = { type: 'string', format: 'binary' }
    const schemas = {
      // Each way through these would be 50 to the power of its length.
      S0: { type: 'object', allOf: partsOf(0), properties: { file } },
      ...Object.fromEntries(Array.from({ length: 30 }, (_, index) => [`S${index + 1}`, { allOf: partsOf(index + 2) }])),
      S31: { type: 'object', properties: { file } },
    }
    const form = (schema: string): Json => ({
      requestBody: { content: { 'multipart/form-data': { schema: { $ref: `#/components/schemas/${schema}` } } } },
    })
    const { api } = await ready(
      documentOf({ 'POST /self': form('S0'), 'POST /others': form('S1'), ...good }, { components: { schemas } }),
      { baseUrl },
    )
    expect(api.tools().map(({ name }) => name)).toEqual(['good'])
    expect(api.omitted.map(({ why }) => why)).toEqual([
      expect.stringContaining('endless cycle'),
      'its schemas have more than 20,000 parts',
    ])
  })

  test('whose schemas turn in a circle has its tools', async () => {
    const components = {
      schemas: {
        Tree: {
          type: 'object',
          properties: {
            children: { type: 'array', items: { $ref: '#/components/schemas/Tree' } },
            self: { $ref: '#/paths/~1p/post/requestBody/content/application~1json/schema' },
          },
        },
      },
    }
    const fetch = async (): Promise<Response> => Response.json(1)
    const { call } = await ready(
      documentOf({ 'POST /p': bodyOf({ $ref: '#/components/schemas/Tree' }) }, { components }),
      { baseUrl, fetch },
    )
    expect((await call('run', { body: { children: [{ children: [] }] } })).status).toBe('ok')
    expect((await call('run', { body: { children: [{ children: 1 }] } })).error?.code).toBe('E_INVALID_TOOL_ARGS')
  })

  test.each<[string, unknown, RegExp]>([
    ['Swagger 2.0', { swagger: '2.0', paths: {} }, /Swagger "2.0": convert it/],
    ['nothing', '', /not an object/],
    ['a list', '[]', /not an object/],
    ['half of JSON', '{"openapi": "3.1.0",', /not JSON/],
    ...['./api.json', '/srv/api.yaml', 'api.yml', 'https://api.example.com/v1/spec', 'file:///srv/api'].map(
      (address): [string, string, RegExp] => [
        `the address ${address}`,
        address,
        /it is an address\. Read what is there/,
      ],
    ),
    ['no YAML', 'openapi: 3.1.0\n  - x: [', /neither JSON nor YAML \([A-Z_]+ at line \d, column \d+\)/],
    [
      'a bomb of YAML',
      `a: &a [x,x,x,x,x,x,x,x,x]\n${'bcdefghi'
        .split('')
        .map((name, index) => `${name}: &${name} [${Array(9).fill(`*${'abcdefgh'[index]}`).join()}]`)
        .join('\n')}`,
      /neither JSON nor YAML|`openapi` is/,
    ],
    ['version 4', { openapi: '4.0.0' }, /not 3.0, 3.1 or 3.2/],
    ['null', null, /not an object/],
    ['too much', ' '.repeat(2_000), /2,000 characters/],
  ])('that is %s is refused in words', async (_, document, words) => {
    await expect(openapiTools(document as never, { baseUrl, limits: { document: 1_999 } })).rejects.toMatchObject({
      code: 'E_INVALID_CONFIGURATION',
      message: expect.stringMatching(words) as string,
    })
  })

  test.each(['openapi', 'paths', 'info', 'servers', 'components', 'security'])(
    'whose `%s` throws when it is read is refused in words, or loses operations',
    async (member) => {
      const document = Object.defineProperty(documentOf(good), member, {
        enumerable: true,
        get: () => {
          throw new Error('no such member')
        },
      })
      const made = await openapiTools(document, { baseUrl, report: () => {} }).catch((error: unknown) => error)
      if (made instanceof Error) expect(made).toMatchObject({ code: 'E_INVALID_CONFIGURATION' })
      else expect(made).toMatchObject({ omitted: expect.any(Array) as unknown })
      const { proxy, revoke } = Proxy.revocable({}, {})
      revoke()
      await expect(openapiTools(proxy, { baseUrl })).rejects.toMatchObject({ code: 'E_INVALID_CONFIGURATION' })
    },
  )

  test('is not blamed in silence if a function of the application throws', async () => {
    const only = (): never => {
      throw new Error('mine')
    }
    await expect(openapiTools(documentOf(good), { baseUrl, only })).rejects.toMatchObject({
      code: 'E_INVALID_CONFIGURATION',
      message: expect.stringContaining('mine') as string,
    })
  })

  test('is read in turns where the clock stands still, and at once where there are no timers', async () => {
    const operations = Object.fromEntries(Array.from({ length: 200 }, (_, at) => [`GET /p${at}`, {}]))
    const now = performance.now.bind(performance)
    const { setTimeout: later } = globalThis
    let turns = 0
    const counted = (work: () => void): unknown => (turns++, later(work))
    const without = (): never => {
      throw new Error('There are no timers yet.')
    }
    for (const timer of [counted, without]) {
      performance.now = () => 5
      globalThis.setTimeout = timer as typeof setTimeout
      try {
        expect((await openapiTools(documentOf(operations), { baseUrl })).tools()).toHaveLength(200)
      } finally {
        performance.now = now
        globalThis.setTimeout = later
      }
    }
    expect(turns).toBeGreaterThanOrEqual(5)
  })

  test('may be YAML', async () => {
    const { api } = await ready(stringify(documentOf(good)), { baseUrl })
    expect(api.operations).toEqual([
      { key: 'GET /good', id: 'good', method: 'GET', path: '/good', tags: [], deprecated: false, security: [] },
    ])
  })

  test('of 1,000 operations with one that cannot be described gives the others', async () => {
    const operations = Object.fromEntries(
      Array.from({ length: 1_000 }, (_, index) => [
        `POST /p${index}`,
        bodyOf(index === 500 ? { type: 'object', properties: 7 } : { type: 'object' }),
      ]),
    )
    const { api } = await ready(
      documentOf(
        Object.fromEntries(
          Object.entries(operations).map(([key, value]) => [key, { ...value, operationId: undefined }]),
        ),
      ),
      { baseUrl },
    )
    expect([api.tools().length, api.omitted.length]).toEqual([999, 1])
    for (const tool of api.tools()) tool.describe()
  })

  test('that is garbage gives tools or omissions in short turns, and changes no prototype', async () => {
    const keys = fc.constantFrom(...documentKeys)
    const leaf = fc.oneof(fc.constantFrom(...documentLeaves), fc.jsonValue({ maxDepth: 1 }))
    const { tree } = fc.letrec((tie) => ({
      tree: fc.oneof(
        { maxDepth: 5 },
        leaf,
        fc.array(tie('tree'), { maxLength: 3 }),
        fc.array(fc.tuple(keys, tie('tree')), { maxLength: 5 }).map((entries) => {
          const made = {}
          for (const [key, value] of entries)
            Object.defineProperty(made, key, { value, enumerable: true, configurable: true, writable: true })
          return made
        }),
      ),
    }))
    const before = Object.getOwnPropertyNames(Object.prototype).length
    let longest = 0
    await fc.assert(
      fc.asyncProperty(tree, tree, tree, async (operation, item, components) => {
        const document = {
          openapi: '3.1.0',
          paths: { '/a': { get: operation, post: operation, parameters: item }, '/b': item },
          components,
          security: item,
        }
        const reading = openapiTools(document, { baseUrl, report: () => {} })
        longest = Math.max(longest, await longestTurn(reading))
        for (const tool of (await reading).tools()) tool.describe()
      }),
      { numRuns: Number(process.env['FUZZ_RUNS'] ?? 10_000) },
    )
    expect(longest).toBeLessThan(100)
    expect(Object.getOwnPropertyNames(Object.prototype)).toHaveLength(before)
    expect(({} as Json)['a']).toBeUndefined()
  })
})

describe('`only`', () => {
  const document = documentOf({
    'GET /pets': { operationId: 'pets/list', tags: ['pets'] },
    'POST /pets': { operationId: 'pets/create', tags: ['pets'] },
    'GET /pets/{id}': { operationId: 'pets/get', tags: ['pets', 'one'] },
    'GET /shops': { operationId: 'shops', tags: ['shops'] },
  })

  test.each([
    [['pets/list'], ['pets_list']],
    [
      ['tag:one', 'shops'],
      ['pets_get', 'shops'],
    ],
    [['GET /pets/{id}'], ['pets_get']],
    [['/pets'], ['pets_list', 'pets_create']],
    [['/pets/*'], ['pets_get']],
    [['GET *'], ['pets_list', 'pets_get', 'shops']],
    [['pets/*e*'], ['pets_create', 'pets_get']],
  ])('%j takes %j', async (only, expected) => {
    const { api } = await ready(document, { baseUrl, only })
    expect(api.tools().map(({ name }) => name)).toEqual(expected)
  })

  test('that matches nothing is an error with the nearest names', async () => {
    await expect(openapiTools(document, { baseUrl, only: ['pets/lst'] })).rejects.toThrow(
      'finds no operation for "pets/lst" of `only`; there is "pets/list"',
    )
    await expect(openapiTools(document, { baseUrl, only: ['tag:pet'] })).rejects.toThrow('"tag:pets"')
    await expect(openapiTools(document, { baseUrl, only: [] })).rejects.toThrow('takes no operation')
    await expect(openapiTools(document, { baseUrl, limits: { operations: 3 } })).rejects.toThrow(
      '4 operations, and at most 3',
    )
  })
})

describe('an option', () => {
  const document = documentOf(
    { 'GET /p': { operationId: 'run' } },
    { components: { securitySchemes: { key: { type: 'http', scheme: 'bearer' } } } },
  )

  test.each([
    [{ auth: { other: () => '' } }, 'has no security scheme "other" for `auth`; it has "key"'],
    [{ tools: { runn: {} } }, 'finds no operation for "runn" of `tools`; there is "run"'],
    [{ rename: { rn: 'x' } }, 'finds no operation for "rn" of `rename`'],
    [{ rename: { run: 'not a name' } }, 'as a name in `rename`'],
    [{ fixed: { tenant: 1 } }, 'finds no parameter and no body for "tenant" of `fixed`'],
    [{ fixed: { '/body/tenant': 1 } }, 'for "/body/tenant" of `fixed`'],
    [{ hosts: ['not a host'] }, 'takes hosts such as'],
    [{ baseUrl: 'ftp://x' }, 'as `baseUrl`'],
    [{ headers: { 'a b': 'c' } }, 'as `headers`'],
    [{ limits: { redirects: -1 } }, 'as `redirects`'],
    [{ limit: {} }, 'has no option "limit"'],
  ])('%j is refused: %s', async (options, words) => {
    await expect(openapiTools(document, { baseUrl, ...(options as object) })).rejects.toMatchObject({
      code: 'E_INVALID_CONFIGURATION',
      message: expect.stringContaining(words) as string,
    })
  })
})
