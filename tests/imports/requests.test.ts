import { describe, expect, test } from 'vitest'
import { documentOf, ready, serve, wordsOf, type Json } from './_server.ts'

const text = { type: 'string' }

function parameter(name: string, place: string, more: Json = {}): Json {
  return { name, in: place, schema: text, ...more }
}

/** Calls the one operation of a document. Returns what the server got. */
async function sent(
  key: string,
  operation: Json,
  args: unknown,
  options: Json = {},
  more: Json = {},
): Promise<{ method: string; url: string; headers: Json; body: string }> {
  const { url, requests } = await serve()
  const { call } = await ready(documentOf({ [key]: { operationId: 'run', ...operation } }, more), {
    baseUrl: url,
    ...options,
  })
  const result = await call('run', args)
  expect(wordsOf(result), wordsOf(result)).not.toContain('was not sent')
  const [request] = requests
  return { ...request!, body: request!.body.toString() }
}

describe('a parameter of a path', () => {
  const values: readonly (readonly [Json, unknown, string])[] = [
    [{}, 'a/b c', '/p/a%2Fb%20c'],
    [{}, ['a', 'b,c'], '/p/a,b%2Cc'],
    [{}, { a: 1, b: 'x' }, '/p/a,1,b,x'],
    [{ explode: true }, { a: 1, b: 'x' }, '/p/a=1,b=x'],
    [{ style: 'label' }, ['a', 'b'], '/p/.a.b'],
    [{ style: 'label', explode: true }, { a: 1, b: 2 }, '/p/.a=1.b=2'],
    [{ style: 'matrix' }, ['a', 'b'], '/p/;id=a,b'],
    [{ style: 'matrix', explode: true }, ['a', 'b'], '/p/;id=a;id=b'],
    [{ style: 'matrix', explode: true }, { a: 1, b: 2 }, '/p/;a=1;b=2'],
  ]

  test.each(values)('of %j writes %j as %s', async (more, value, expected) => {
    const { url } = await sent(
      'GET /p/{id}',
      { parameters: [parameter('id', 'path', { schema: {}, ...more })] },
      { id: value },
    )
    expect(url).toBe(expected)
  })

  test.each([
    ['3.0.3', '/p/.a.b'],
    ['3.0.4', '/p/.a,b'],
    ['3.1.0', '/p/.a.b'],
    ['3.1.1', '/p/.a,b'],
  ])('of style label follows the tables of OpenAPI %s: %s', async (openapi, expected) => {
    const parameters = [parameter('id', 'path', { schema: {}, style: 'label' })]
    const { url } = await sent('GET /p/{id}', { parameters }, { id: ['a', 'b'] }, {}, { openapi })
    expect(url).toBe(expected)
  })

  test('that the document forgot is a text', async () => {
    expect((await sent('GET /p/{id}', {}, { id: 'x' })).url).toBe('/p/x')
  })

  test('stands beside a query that the path has', async () => {
    const parameters = [parameter('q', 'query')]
    expect((await sent('GET /p/{id}?beta=true', { parameters }, { id: 'x', q: 'y' })).url).toBe('/p/x?beta=true&q=y')
  })

  test.each(['..', '.', '../x', 'a/../../b', '\\..\\', '', '%2e%2e', '..%2f..', '%252e%252e/x'])(
    'is not sent as %j',
    async (id) => {
      const { url, requests } = await serve()
      const { call } = await ready(documentOf({ 'GET /p/{id}': { operationId: 'run' } }), { baseUrl: url })
      const result = await call('run', { id })
      if (requests.length > 0) expect([id, requests[0]?.url]).toEqual([id, `/p/${encodeURIComponent(id)}`])
      if (!id.includes('%')) expect(requests).toEqual([])
      else return
      expect(result).toMatchObject({ status: 'error', effect: 'none', error: { category: 'validation' } })
    },
  )

  test.each(['?x=1', '#', '//evil.example', 'https://evil.example', '@evil.example', ';a'])(
    'keeps %j in one segment of our host',
    async (id) => {
      expect((await sent('GET /p/{id}/end', {}, { id })).url).toBe(`/p/${encodeURIComponent(id)}/end`)
    },
  )
})

describe('a parameter of a query', () => {
  const values: readonly (readonly [Json, unknown, string])[] = [
    [{}, 'a b&c=d', '?q=a%20b%26c%3Dd'],
    [{}, ['a', 'b'], '?q=a&q=b'],
    [{}, [], ''],
    [{}, { a: 1, b: 2 }, '?a=1&b=2'],
    [{ explode: false }, ['a', 'b'], '?q=a,b'],
    [{ explode: false }, { a: 1, b: 2 }, '?q=a,1,b,2'],
    [{ style: 'spaceDelimited', explode: false }, ['a', 'b'], '?q=a%20b'],
    [{ style: 'pipeDelimited', explode: false }, ['a', 'b'], '?q=a%7Cb'],
    [
      { style: 'deepObject', explode: true },
      { a: { b: 1 }, c: ['x', 'y'] },
      '?q%5Ba%5D%5Bb%5D=1&q%5Bc%5D%5B0%5D=x&q%5Bc%5D%5B1%5D=y',
    ],
    // As Stripe and others take them.
    [{ style: 'deepObject' }, ['a', 'b'], '?q%5B0%5D=a&q%5B1%5D=b'],
    [{ style: 'deepObject' }, [{ a: 1, b: null }], '?q%5B0%5D%5Ba%5D=1'],
    [{ style: 'deepObject' }, 5, '?q=5'],
    // As Spring takes a page.
    [{}, { size: 2, sort: ['id,desc', 'name'] }, '?size=2&sort=id%2Cdesc&sort=name'],
    [{ allowReserved: true }, 'a/b?c#d', '?q=a/b?c%23d'],
    [{ schema: undefined, content: { 'application/json': { schema: {} } } }, { a: [1] }, '?q=%7B%22a%22%3A%5B1%5D%7D'],
    [{ schema: undefined, content: { 'application/json': { schema: {} } } }, null, '?q=null'],
    [{}, null, ''],
    [{}, ['a', null], '?q=a'],
    [{ explode: false }, { a: 1, b: null }, '?q=a,1'],
  ]

  test.each(values)('of %j writes %j as %s', async (more, value, expected) => {
    const { url } = await sent(
      'GET /p',
      { parameters: [parameter('q', 'query', { schema: {}, ...more })] },
      { q: value },
    )
    expect(url).toBe(`/p${expected}`)
  })
})

describe('a parameter of a header or a cookie', () => {
  test('is written as the document says', async () => {
    const parameters = [
      parameter('X-List', 'header', { schema: {} }),
      parameter('X-Map', 'header', { schema: {}, explode: true }),
      parameter('one', 'cookie', { schema: {} }),
      parameter('two', 'cookie', { schema: {}, explode: false }),
    ]
    const args = { 'X-List': ['a', 'b'], 'X-Map': { a: 1, b: 2 }, one: { k: 'v w', l: 2 }, two: ['x', 'y'] }
    const { headers } = await sent('GET /p', { parameters }, args)
    expect(headers).toMatchObject({ 'x-list': 'a,b', 'x-map': 'a=1,b=2', cookie: 'k=v%20w; l=2; two=x,y' })
  })

  test.each(['é', 'ä€ 中 😀'])(
    'of %j is sent as its UTF-8, as headers and credentials of the application are',
    async (value) => {
      const scheme = {
        components: { securitySchemes: { key: { type: 'apiKey', in: 'header', name: 'X-Key' } } },
        security: [{ key: [] }],
      }
      const options = { headers: { 'X-Own': value }, auth: { key: () => `p455word ${value}` } }
      const operation = { parameters: [parameter('X-A', 'header')] }
      const { headers } = await sent('GET /p', operation, { 'X-A': value }, options, scheme)
      const utf8 = (name: string): string => Buffer.from(String(headers[name]), 'latin1').toString()
      expect(['x-a', 'x-own', 'x-key'].map(utf8)).toEqual([value, value, `p455word ${value}`])
    },
  )

  test.each(['a\r\nX-Evil: 1', 'a\nb', 'a\0b', 'a\x7fb', '\x1b'])(
    'refuses %j in a header, and does not send it',
    async (value) => {
      const { url, requests } = await serve()
      const document = documentOf({
        'GET /p': { operationId: 'run', parameters: [parameter('X-A', 'header'), parameter('c', 'cookie')] },
      })
      const { call } = await ready(document, { baseUrl: url })
      expect(await call('run', { 'X-A': value })).toMatchObject({
        status: 'error',
        effect: 'none',
        error: { category: 'validation' },
      })
      expect(requests).toEqual([])
      await call('run', { c: value })
      expect(requests[0]?.headers['cookie']).toBe(`c=${encodeURIComponent(value)}`)
    },
  )

  test.each([
    'Cookie',
    'host',
    'Content-Length',
    'Transfer-Encoding',
    'Connection',
    'Proxy-Authorization',
    'Sec-Fetch-Mode',
  ])('%s belongs to the transport: its operation is left out', async (name) => {
    const { api } = await ready(documentOf({ 'GET /p': { parameters: [parameter(name, 'header')] } }), {
      baseUrl: 'https://api.example.com',
    })
    expect(api.tools()).toEqual([])
    expect(api.omitted[0]?.why).toContain('belongs to the transport')
  })

  test('a media type that no header can have is none of a body', async () => {
    const content = { 'application/json\r\nX-Evil: 1': { schema: {} } }
    const { api } = await ready(documentOf({ 'POST /p': { requestBody: { content } } }), {
      baseUrl: 'https://api.example.com',
    })
    expect(api.omitted[0]?.why).toContain('its body is of no kind that can be sent')
  })

  test('a path has a query, and nothing of a fragment', async () => {
    const { url, requests } = await serve()
    const document = documentOf({
      'POST /#X-Target=Foo': { operationId: 'foo', parameters: [parameter('q', 'query')] },
      'POST /#X-Target=Bar': { operationId: 'bar', parameters: [parameter('q', 'query')] },
    })
    const { call } = await ready(document, { baseUrl: url })
    await call('foo', { q: 'a#b' })
    await call('bar', { q: 'c' })
    expect(requests.map((request) => request.url)).toEqual(['/?q=a%23b', '/?q=c'])
  })

  test('that says how the request is written is not asked of the model', async () => {
    const parameters = ['Accept', 'Content-Type', 'Authorization'].map((name) =>
      parameter(name, 'header', { required: true }),
    )
    const { api } = await ready(documentOf({ 'GET /p': { parameters } }), { baseUrl: 'https://api.example.com' })
    expect(api.tools()[0]?.describe().inputSchema).toMatchObject({ properties: {}, additionalProperties: false })
  })
})

describe('parameters of the same name', () => {
  test('are told apart by their places, and those of an operation override those of its path', async () => {
    const { url, requests } = await serve()
    const document = documentOf({
      'POST /p/{id}': {
        operationId: 'run',
        parameters: [
          parameter('id', 'path', { description: 'The path' }),
          parameter('id', 'query'),
          parameter('body', 'query'),
        ],
        requestBody: { content: { 'application/json': { schema: {} } } },
      },
    })
    Object.assign((document['paths'] as Record<string, Json>)['/p/{id}']!, {
      parameters: [parameter('id', 'path', { description: 'Old' })],
    })
    const { api, call } = await ready(document, { baseUrl: url })
    const { properties } = api.tools()[0]!.describe().inputSchema
    expect(Object.keys(properties!)).toEqual(['id', 'id_query', 'body_query', 'body'])
    expect(properties!['id']).toMatchObject({ description: 'The path' })
    await call('run', { id: '1', id_query: '2', body_query: '3', body: [4] })
    expect(requests[0]).toMatchObject({ url: '/p/1?id=2&body=3', method: 'POST' })
    expect(requests[0]?.body.toString()).toBe('[4]')
  })
})

describe('a body', () => {
  const body = (type: string, media: Json = {}): Json => ({
    requestBody: { required: true, content: { [type]: { schema: {}, ...media } } },
  })

  test('of JSON keeps what is null, absent and empty apart', async () => {
    for (const value of [{ a: null }, {}, null, 'text', [1, { b: [] }], 0]) {
      const got = await sent('PATCH /p', body('application/merge-patch+json'), { body: value })
      expect([got.headers['content-type'], got.body]).toEqual(['application/merge-patch+json', JSON.stringify(value)])
    }
  })

  test('that is optional and absent is not sent', async () => {
    const got = await sent('POST /p', { requestBody: { content: { 'application/json': { schema: {} } } } }, {})
    expect([got.headers['content-type'], got.body]).toEqual([undefined, ''])
  })

  test('of a form is written by the encoding of each property', async () => {
    const media = {
      encoding: { deep: { style: 'deepObject', explode: true }, list: { style: 'form', explode: false } },
    }
    const value = { plain: 'a b&c', deep: { x: { y: 1 } }, list: ['a', 'b'], all: ['c', 'd'], nested: { z: [1] } }
    const got = await sent('POST /p', body('application/x-www-form-urlencoded', media), { body: value })
    expect(got.body).toBe('plain=a%20b%26c&deep%5Bx%5D%5By%5D=1&list=a,b&all=c&all=d&nested=%7B%22z%22%3A%5B1%5D%7D')
  })

  test('of a media type that the application names is text', async () => {
    const got = await sent(
      'POST /p',
      body('application/xml'),
      { body: '<a/>' },
      { tools: { run: { mediaType: 'application/xml' } } },
    )
    expect([got.headers['content-type'], got.body]).toEqual(['application/xml', '<a/>'])
  })

  test.each<[Json, unknown, string, string]>([
    [
      { '*/*': { schema: { $ref: '#/components/schemas/Pod' } } },
      { kind: 'Pod' },
      'application/json',
      '{"kind":"Pod"}',
    ],
    [{ '*/*': { schema: { type: 'array' } } }, [7], 'application/json', '[7]'],
    [{ 'text/json': { schema: {} } }, [1], 'text/json', '[1]'],
    [
      { 'application/json-patch+json': { schema: {} }, ' application/merge-patch+json': { schema: {} } },
      { a: 1 },
      'application/merge-patch+json',
      '{"a":1}',
    ],
    [{ 'application/json-patch+json': { schema: {} } }, [], 'application/json-patch+json', '[]'],
  ])('of %j is sent as the JSON that it is', async (content, value, type, expected) => {
    const more = { components: { schemas: { Pod: { properties: { kind: { type: 'string' } } } } } }
    const { url, requests } = await serve()
    const { call } = await ready(documentOf({ 'PATCH /p': { operationId: 'run', requestBody: { content } } }, more), {
      baseUrl: url,
    })
    expect((await call('run', { body: value })).status).toBe('ok')
    expect([requests[0]?.headers['content-type'], requests[0]?.body.toString()]).toEqual([type, expected])
  })

  test.each([{}, { schema: { type: 'string', format: 'binary' } }, { schema: {} }])(
    'of any media type with %j is the handle of an artifact',
    async (media) => {
      const { api } = await ready(documentOf({ 'POST /p': { requestBody: { content: { '*/*': media } } } }), {
        baseUrl: 'https://api.example.com',
      })
      expect(api.tools()[0]?.describe().inputSchema.properties).toEqual({
        body: { type: 'string', description: 'The handle of the artifact to send' },
      })
    },
  )

  test('of a form or of parts leaves out what is null', async () => {
    const value = { a: null, b: ['x', null], c: '' }
    expect((await sent('POST /p', body('application/x-www-form-urlencoded'), { body: value })).body).toBe('b=x&c=')
    const parts = (await sent('POST /p', body('multipart/form-data'), { body: value })).body
    expect([...parts.matchAll(/name="(\w)"\r\n\r\n(.*)\r/g)].map(([, ...part]) => part)).toEqual([
      ['b', 'x'],
      ['c', ''],
    ])
  })

  test('of no media type that is known leaves the operation out', async () => {
    const { api } = await ready(documentOf({ 'POST /p': body('application/cbor') }), {
      baseUrl: 'https://api.example.com',
    })
    expect(api.omitted).toEqual([
      { operation: 'POST /p', why: 'its body is of no kind that can be sent: "application/cbor"' },
    ])
  })

  test('of GET is ignored', async () => {
    const { api } = await ready(documentOf({ 'GET /p': body('application/cbor') }), {
      baseUrl: 'https://api.example.com',
    })
    expect(api.tools()).toHaveLength(1)
  })
})

describe('a fixed value', () => {
  const operation = {
    parameters: [parameter('tenant', 'path'), parameter('X-Tenant', 'header')],
    requestBody: {
      required: true,
      content: { 'application/json': { schema: { $ref: '#/components/schemas/Order' } } },
    },
  }
  const more = {
    components: {
      schemas: { Order: { type: 'object', required: ['tenant', 'item'], properties: { tenant: text, item: text } } },
    },
  }
  const fixed = {
    tenant: 't-1',
    'X-Tenant': ({ principal }: { principal?: string }) => `of ${principal}`,
    '/body/tenant': 't-2',
  }

  test('is filled in, and the model neither sees nor sets it', async () => {
    const { url, requests } = await serve()
    const { api, call } = await ready(
      documentOf({ 'POST /{tenant}/orders': { operationId: 'run', ...operation } }, more),
      { baseUrl: url, fixed },
    )
    expect(JSON.stringify(api.tools()[0]?.describe().inputSchema)).not.toContain('enant')
    await call('run', { body: { item: 'x' } }, { principal: 'ada' })
    expect(requests[0]).toMatchObject({ url: '/t-1/orders', headers: { 'x-tenant': 'of ada' } })
    expect(JSON.parse(requests[0]!.body.toString())).toEqual({ item: 'x', tenant: 't-2' })
    for (const args of [
      { tenant: 't-9', body: { item: 'x' } },
      { body: { item: 'x', tenant: 't-9' } },
      { body: { item: 'x', tenant: null } },
    ]) {
      expect(await call('run', args)).toMatchObject({ status: 'error', effect: 'none' })
    }
    expect(requests).toHaveLength(1)
  })

  test('that cannot be made sends nothing', async () => {
    const { url, requests } = await serve()
    const tenant = (): never => {
      throw new Error('the store of tenants is down: password 1234')
    }
    const { call } = await ready(documentOf({ 'POST /{tenant}': { operationId: 'run' } }), {
      baseUrl: url,
      fixed: { tenant },
    })
    const result = await call('run')
    expect(result).toMatchObject({ status: 'error', effect: 'none' })
    expect(wordsOf(result)).toBe('The fixed value `tenant` could not be made. The request was not sent.')
    expect(requests).toEqual([])
  })
})

describe('a key of idempotency', () => {
  const declared = { parameters: [parameter('Idempotency-Key', 'header', { required: true })] }

  test('is the invocation, if the operation declares it, and is not asked of the model', async () => {
    const { url, requests } = await serve()
    const { api, call } = await ready(documentOf({ 'POST /p': { operationId: 'run', ...declared } }), { baseUrl: url })
    expect(api.tools()[0]?.traits).toMatchObject({ idempotent: true, destructive: false })
    const { invocationId } = await call('run')
    expect(requests[0]?.headers['idempotency-key']).toBe(invocationId)
  })

  test('has the header that the application names, for all or for one', async () => {
    const { url, requests } = await serve()
    const document = documentOf({
      'POST /p': { operationId: 'one' },
      'PATCH /p': { operationId: 'two' },
      'PUT /p': { operationId: 'three' },
    })
    const { call } = await ready(document, {
      baseUrl: url,
      idempotency: 'X-Request-Id',
      tools: { two: { idempotency: true } },
    })
    const ids = [await call('one'), await call('two'), await call('three')].map(({ invocationId }) => invocationId)
    expect(requests.map(({ headers }) => headers['x-request-id'] ?? headers['idempotency-key'])).toEqual([
      ids[0],
      ids[1],
      undefined,
    ])
  })

  test('is an arg of the model only if the application wants none', async () => {
    const { api } = await ready(documentOf({ 'POST /p': declared }), {
      baseUrl: 'https://api.example.com',
      idempotency: false,
    })
    expect(api.tools()[0]?.describe().inputSchema.required).toEqual(['Idempotency-Key'])
  })
})
