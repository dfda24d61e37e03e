// What a server that lies, and a document whose author means harm, can bring about.
import { createServer } from 'node:net'
import { credential } from 'toolwright/imports/credentials'
import { openapiTools } from 'toolwright/imports/openapi'
import { anthropic } from 'toolwright/formats/anthropic'
import { describe, expect, onTestFinished, test, vi } from 'vitest'
import { bearer, documentOf, ready, reply, serve, wordsOf, type Json, type Ready } from './_server.ts'

const token = 'ghp_CaNaRy0123456789'
const auth = { token: () => token }
const baseUrl = 'https://api.example.com'

const isDeno = 'Deno' in globalThis
const isBun = 'Bun' in globalThis

/** Starts a server that writes bytes of its own, whatever it is asked. */
async function raw(...pieces: readonly (string | Uint8Array)[]): Promise<string> {
  const server = createServer((socket) => {
    socket.on('error', () => {})
    socket.once('data', () => {
      for (const piece of pieces) socket.write(piece)
      socket.end()
    })
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  onTestFinished(() => void server.close())
  return `http://127.0.0.1:${(server.address() as { port: number }).port}`
}

const two = documentOf({ 'GET /p': { operationId: 'get' }, 'POST /p': { operationId: 'post' } }, bearer)

function textOf({ status, effect, content, value, error, artifact }: Awaited<ReturnType<Ready['call']>>): string {
  return JSON.stringify([status, effect, content, value, error?.message, artifact?.mediaType, String(error?.stack)])
}

describe('a server', () => {
  test.each([200, 302, 404, 422, 500])(
    'that repeats the credential in the words of status %i shows it to no one',
    async (status) => {
      const url = await raw(`HTTP/1.1 ${status} ${token}\r\ncontent-length: 0\r\n\r\n`)
      const { call } = await ready(two, { baseUrl: url, auth })
      for (const name of ['get', 'post']) {
        const result = await call(name)
        // Deno has words of its own.
        expect(wordsOf(result)).toContain(isDeno ? `${status} ` : `${status} [credential]`)
        expect(textOf(result)).not.toContain(token)
      }
    },
  )

  test('that repeats the credential in a media type or in the host of a redirect shows it to no one', async () => {
    const { url } = await serve(({ method }, response) =>
      method === 'GET'
        ? void response.writeHead(200, { 'content-type': `application/x-${token}` }).end('bytes')
        : void response.writeHead(307, { location: `https://${token}.evil.example/` }).end(),
    )
    const { call, reports } = await ready(two, { baseUrl: url, auth })
    const [kept, led] = [await call('get'), await call('post')]
    expect(kept.artifact?.mediaType).toBe('application/x-[credential]')
    expect(wordsOf(led)).toContain('redirects to "[credential].evil.example"')
    for (const text of [textOf(kept), textOf(led), reports.join()])
      expect(text.toLowerCase()).not.toContain(token.toLowerCase())
  })

  test('that repeats the credential where its answer is cut shows no part of it', async () => {
    const long = Array.from({ length: 200 }, (_, index) => `part${index}of`).join('-')
    const { url } = await serve(({ method, body }, response) => {
      const type = method === 'GET' ? 'text/event-stream' : 'text/plain'
      response.writeHead(method === 'GET' ? 200 : 500, { 'content-type': type })
      response.end(long.repeat(60) + body.toString())
    })
    for (const cut of [10_000, 10_001, 11_111]) {
      const { call } = await ready(two, {
        baseUrl: url,
        auth: { token: () => long },
        limits: { response: cut, error: Math.floor(cut / 8) },
      })
      for (const name of ['get', 'post']) expect(wordsOf(await call(name))).not.toMatch(/part\d/)
    }
  })

  test('at another host cannot have a credential revoked', async () => {
    const other = await serve((_, response) => reply(response, 401, {}))
    const home = await serve((_, response) => void response.writeHead(302, { location: `${other.url}/` }).end())
    let [mints, revoked] = [0, 0]
    const source = credential('token', { mint: () => (mints++, token), revoked: () => void revoked++ })
    const hosts = [new URL(other.url).host]
    const { call } = await ready(two, { baseUrl: home.url, hosts, auth: { token: source } })
    expect(await call('get')).toMatchObject({ status: 'error', effect: 'none', error: { category: 'auth' } })
    expect([mints, revoked, other.requests.length]).toEqual([1, 0, 1])
  })

  test('that answers JSON of any depth ends no call whose effect it has confirmed', async () => {
    const deep = '['.repeat(200_000) + ']'.repeat(200_000)
    const { url } = await serve((_, response) =>
      response.writeHead(200, { 'content-type': 'application/json', link: '</p?page=2>' }).end(deep),
    )
    const { call } = await ready(two, { baseUrl: url, auth })
    expect((await call('post')).effect).toBe('completed')
  })

  test.each<[string, (string | Uint8Array)[], object]>([
    ['a body after 204', ['HTTP/1.1 204 No Content\r\ncontent-length: 5\r\n\r\nextra'], { status: 'ok' }],
    [
      'interim answers',
      [
        'HTTP/1.1 103 Early Hints\r\nlink: </a>\r\n\r\n',
        'HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: 1\r\n\r\n7',
      ],
      { status: 'ok', value: 7 },
    ],
    [
      'a length that is too small',
      ['HTTP/1.1 200 OK\r\ncontent-type: text/plain\r\ncontent-length: 2\r\n\r\nabcdef'],
      { status: 'ok' },
    ],
    [
      'a length that is too large',
      ['HTTP/1.1 200 OK\r\ncontent-type: text/plain\r\ncontent-length: 99\r\n\r\nabc'],
      { status: 'error', effect: 'completed' },
    ],
    [
      'two lengths',
      ['HTTP/1.1 200 OK\r\ncontent-length: 1\r\ncontent-length: 2\r\n\r\nab'],
      { status: 'error', effect: 'unknown' },
    ],
    [
      'headers without an end',
      [`HTTP/1.1 200 OK\r\n${'x: y\r\n'.repeat(10_000)}`],
      { status: 'error', effect: 'unknown' },
    ],
    [
      'bytes that are no gzip',
      ['HTTP/1.1 200 OK\r\ncontent-type: text/plain\r\ncontent-encoding: gzip\r\ncontent-length: 3\r\n\r\nabc'],
      { status: 'error', effect: 'completed' },
    ],
    [
      'a switch of protocols',
      ['HTTP/1.1 101 Switching Protocols\r\nupgrade: x\r\nconnection: upgrade\r\n\r\n'],
      { status: 'error', effect: 'unknown' },
    ],
    ['no HTTP', ['SSH-2.0-OpenSSH_9.2\r\n'], { status: 'error', effect: 'unknown' }],
    [
      'an encoding that is none',
      ['HTTP/1.1 200 OK\r\ncontent-type: text/plain; charset=utf-7\r\ncontent-length: 3\r\n\r\nabc'],
      { status: 'ok' },
    ],
  ])('that answers %s is told as it is', async (_, pieces, expected) => {
    const url = await raw(...pieces)
    const { call } = await ready(two, { baseUrl: url, auth })
    expect(await call('post')).toMatchObject(expected)
  })

  test.each(['utf-16le', 'utf-16be', 'iso-8859-1', 'windows-1252'])(
    'that repeats the credential in %s shows it to no one',
    async (charset) => {
      const text = `{"a":"${token}"}`
      const bytes =
        charset === 'utf-16be'
          ? Buffer.from(text, 'utf16le').swap16()
          : Buffer.from(text, charset === 'utf-16le' ? 'utf16le' : 'latin1')
      const { url } = await serve((_, response) =>
        response.writeHead(200, { 'content-type': `application/json; charset=${charset}` }).end(bytes),
      )
      const { call } = await ready(two, { baseUrl: url, auth })
      expect((await call('get')).value).toEqual({ a: '[credential]' })
    },
  )

  test.each(['application/pdf', 'text/plain'])(
    'that breaks off an answer of %s has no address told with a key in it',
    async (type) => {
      const scheme = {
        components: { securitySchemes: { key: { type: 'apiKey', in: 'query', name: 'key' } } },
        security: [{ key: [] }],
      }
      const fetch = async (url: unknown): Promise<Response> => {
        let isFirst = true
        const pieces = new ReadableStream<Uint8Array>({
          pull(controller) {
            if (isFirst) controller.enqueue(Buffer.from('begin'))
            else controller.error(Object.assign(new Error(`${String(url)} closed`), { path: String(url) }))
            isFirst = false
          },
        })
        return new Response(pieces, { headers: { 'content-type': type } })
      }
      const { call } = await ready(documentOf({ 'POST /p': { operationId: 'post' } }, scheme), {
        baseUrl,
        auth: { key: () => token },
        fetch,
      })
      const result = await call('post')
      expect(result).toMatchObject({ status: 'error', effect: 'completed', error: { category: 'network' } })
      expect(wordsOf(result)).toContain('broke before the answer was whole')
      expect(
        textOf(result) + String(result.error?.cause) + String((result.error?.cause as Error | undefined)?.cause),
      ).not.toContain(token)
    },
  )

  test('that sends a byte now and then is left at the deadline', async () => {
    const { url } = await serve((_, response) => {
      response.writeHead(200, { 'content-type': 'text/event-stream' })
      const timer = setInterval(() => response.write('.'), 5)
      response.on('close', () => clearInterval(timer))
    })
    const { call } = await ready(two, { baseUrl: url, auth, tools: { post: { timeout: 60 } } })
    expect((await call('post')).status).toBe('timed_out')
  })
})

describe('a document', () => {
  test.each<[string, Json]>([
    ['headers that can be none', { 200: { headers: { '': {}, 'a b': {}, 'x\r\ny': {}, é: {} } } }],
    ['a reference that leads nowhere', { 200: { $ref: '#/components/responses/None' } }],
    ['a reference to another document', { default: { $ref: 'https://evil.example' } }],
  ])('whose answers have %s ends no call whose effect is confirmed', async (_, responses) => {
    const fetch = async (): Promise<Response> => Response.json({ id: 7 })
    const { call } = await ready(documentOf({ 'POST /p': { operationId: 'post', responses } }), { baseUrl, fetch })
    expect(await call('post')).toMatchObject({ status: 'ok', effect: 'completed', value: { id: 7 } })
  })

  test('cannot have a parameter fill in what the application has fixed, or where a credential goes', async () => {
    const urls: string[] = []
    const cookies: (string | null)[] = []
    const fetch = async (url: unknown, init?: RequestInit): Promise<Response> => {
      urls.push(String(url))
      cookies.push(new Headers(init?.headers).get('cookie'))
      return Response.json(1)
    }
    const parameters = [
      { name: 'filter', in: 'query', schema: { type: 'object' } },
      { name: 'free', in: 'query', allowReserved: true, schema: { type: 'string' } },
      { name: 'crumbs', in: 'cookie', schema: { type: 'object' } },
      { name: 'tenant', in: 'query', schema: { type: 'string' } },
    ]
    const more = {
      components: {
        securitySchemes: {
          key: { type: 'apiKey', in: 'query', name: 'key' },
          sid: { type: 'apiKey', in: 'cookie', name: 'sid' },
        },
      },
      security: [{ key: [], sid: [] }],
    }
    const { call } = await ready(documentOf({ 'GET /p': { operationId: 'get', parameters } }, more), {
      baseUrl,
      fetch,
      fixed: { tenant: 't-1' },
      auth: { key: () => 'p455word-1', sid: () => 'p455word-2' },
    })
    for (const args of [
      { filter: { tenant: 't-2' } },
      { filter: { key: 'other-key' } },
      { crumbs: { sid: 'other-sid' } },
    ]) {
      expect(await call('get', args)).toMatchObject({
        status: 'error',
        effect: 'none',
        error: { category: 'validation' },
      })
    }
    expect(urls).toEqual([])
    await call('get', { filter: { a: 1 }, free: 'x/y?z&tenant=t-2', crumbs: { b: 2 } })
    expect(new URL(urls[0]!).searchParams.getAll('tenant')).toEqual(['t-1'])
    expect([urls[0], cookies]).toEqual([expect.stringContaining('free=x/y?z%26tenant=t-2'), ['b=2; sid=p455word-2']])
  })

  test('cannot have a form fill in what the application has fixed', async () => {
    const schema = { type: 'object', properties: { tenant: { type: 'string' }, more: { type: 'object' } } }
    const media = { schema, encoding: { more: { style: 'form', explode: true } } }
    const { url, requests } = await serve()
    const { call } = await ready(
      documentOf({
        'POST /p': { operationId: 'post', requestBody: { content: { 'application/x-www-form-urlencoded': media } } },
      }),
      { baseUrl: url, fixed: { '/body/tenant': 't-1' } },
    )
    expect(await call('post', { body: { more: { tenant: 't-2' } } })).toMatchObject({ status: 'error', effect: 'none' })
    await call('post', { body: { more: { a: 1 } } })
    expect(requests.map(({ body }) => body.toString())).toEqual(['a=1&tenant=t-1'])
  })

  test('of names that every object has gives tools with these names', async () => {
    const names = ['__proto__', 'constructor', 'toString', 'hasOwnProperty']
    const properties = JSON.parse(`{${names.map((name) => `"${name}":{"type":"integer"}`).join()}}`) as Json
    const parameters = names.map((name) => ({ name, in: 'query', schema: { type: 'integer' } }))
    const requestBody = {
      content: { 'application/json': { schema: { type: 'object', properties, additionalProperties: false } } },
    }
    const operations = Object.fromEntries(
      names.map((operationId, at) => [`POST /p${at}`, { operationId, parameters, requestBody, tags: names }]),
    )
    const { url, requests } = await serve()
    const { api, call } = await ready(documentOf(operations), { baseUrl: url, only: names, rename: {} })
    expect([api.tools().map(({ name }) => name), api.omitted]).toEqual([names, []])
    expect(anthropic().definitions(api.tools())).toHaveLength(4)
    const args = JSON.parse('{"__proto__":1,"constructor":2,"body":{"__proto__":3,"toString":4}}') as unknown
    for (const name of names) expect(await call(name, args)).toMatchObject({ status: 'ok' })
    expect(requests[0]).toMatchObject({ url: '/p0?__proto__=1&constructor=2' })
    expect(requests[0]?.body.toString()).toBe('{"__proto__":3,"toString":4}')
    expect(await call('toString', JSON.parse('{"body":{"__proto__":"text"}}'))).toMatchObject({ status: 'error' })
  })

  test('of names that are alike once they are cleaned gives a name to each', async () => {
    const ids = Array.from(
      { length: 200 },
      (_, at) => `list\u200b${'\u202e'.repeat(at % 7)}pets${' '.repeat(at % 5)}${at % 3 === 0 ? 'é' : 'e\u0301'}`,
    )
    const { api } = await ready(
      documentOf(Object.fromEntries(ids.map((operationId, at) => [`GET /p${at}`, { operationId }]))),
      { baseUrl },
    )
    const names = api.tools().map(({ name }) => name)
    expect(names.filter((name) => !/^[a-zA-Z0-9_-]{1,64}$/.test(name))).toEqual([])
    expect(new Set(names).size).toBe(200)
  })

  test('of 100,000 paths is refused in words, and one of them can be taken', async () => {
    const many = documentOf(Object.fromEntries(Array.from({ length: 100_000 }, (_, at) => [`GET /p${at}/{id}`, {}])))
    await expect(openapiTools(many, { baseUrl })).rejects.toThrow('100,000 operations, and at most 2,000')
    const { api } = await ready(many, { baseUrl, only: ['GET /p77777/{id}'] })
    expect(api.tools()).toHaveLength(1)
  })

  test('with texts on which patterns and searches would run for hours is read at once', async () => {
    const long = 200_000
    const operations = {
      [`GET /a${'_'.repeat(long)}x`]: {},
      [`GET /${'{'.repeat(long)}`]: {},
      [`GET /${'{a'.repeat(1_000)}`]: {},
      'GET /d': { description: `${'. '.repeat(long)}${'!'.repeat(long)}`, summary: '\u202e'.repeat(long) },
      'POST /e': {
        requestBody: {
          content: { [`application/${'a+'.repeat(long)}`]: {}, [`${'-'.repeat(long)}/x`]: {}, 'application/json': {} },
        },
      },
    }
    const { api } = await ready(documentOf(operations), { baseUrl })
    expect(api.tools().length + api.omitted.length).toBe(5)
    for (const tool of api.tools()) tool.describe()
  })

  test('with a mapping of many names over many branches is read at once', async () => {
    const count = 15_000
    const refs = Array.from({ length: count }, () => ({ $ref: '#/components/schemas/A' }))
    const mapping = Object.fromEntries(
      Array.from({ length: 10 * count }, (_, at) => [`n${at}`, `#/components/schemas/B${at}`]),
    )
    const schema = { oneOf: refs, discriminator: { propertyName: 'kind', mapping } }
    const { api } = await ready(
      documentOf(
        { 'POST /p': { requestBody: { content: { 'application/json': { schema } } } } },
        { components: { schemas: { A: { type: 'object' } } } },
      ),
      { baseUrl },
    )
    expect(api.tools().length + api.omitted.length).toBe(1)
  })

  test('with a form whose choices are made of each other many times is read at once', async () => {
    const refs = (name: string): Json[] => Array.from({ length: 100 }, () => ({ $ref: `#/components/schemas/${name}` }))
    const file = { type: 'string', format: 'binary' }
    const schemas = {
      Own: { anyOf: refs('Own') },
      ...Object.fromEntries(Array.from({ length: 20 }, (_, at) => [`C${at}`, { oneOf: refs(`C${at + 1}`) }])),
      C20: { anyOf: [{ type: 'array', items: { $ref: '#/components/schemas/List' } }, file] },
      List: { type: 'array', items: { $ref: '#/components/schemas/List' } },
    }
    const properties = Object.fromEntries(Object.keys(schemas).map((name) => [name, refs(name)[0]!]))
    const content = { 'multipart/form-data': { schema: { type: 'object', properties } } }
    const { api } = await ready(documentOf({ 'POST /p': { requestBody: { content } } }, { components: { schemas } }), {
      baseUrl,
    })
    expect(api.tools().length + api.omitted.length).toBe(1)
    for (const tool of api.tools()) tool.describe()
  })

  test('with patterns that take for ever elsewhere checks args with them at once', async () => {
    const patterns = ['^(a+)+$', '^(a|a)*$', '^(.*a){20}$', '([a-z]+)*!']
    const parameters = patterns.map((pattern, at) => ({
      name: `q${at}`,
      in: 'query',
      schema: { type: 'string', pattern },
    }))
    const fetch = async (): Promise<Response> => Response.json(1)
    const { api, call } = await ready(documentOf({ 'GET /p': { operationId: 'get', parameters } }), { baseUrl, fetch })
    expect(JSON.stringify(api.tools()[0]?.describe().inputSchema)).toContain('(a+)+')
    for (const at of patterns.keys()) {
      expect((await call('get', { [`q${at}`]: `${'a'.repeat(20_000)}-` })).error?.code).toBe('E_INVALID_TOOL_ARGS')
    }
  })

  // The runner of Bun forgets no module that it has loaded.
  test.skipIf(isBun)('with patterns, without the package for them, gives the operations that have none', async () => {
    vi.resetModules()
    vi.doMock('re2js', () => {
      throw new Error('not there')
    })
    onTestFinished(() => vi.doUnmock('re2js'))
    const door = await import('toolwright/imports/openapi')
    const schema = { type: 'string', pattern: '^a+$' }
    const answer = { 200: { content: { 'application/json': { schema } } } }
    const document = documentOf({
      'GET /arg': { parameters: [{ name: 'q', in: 'query', schema }] },
      'GET /answer': { responses: answer },
      'GET /none': {},
    })
    const why = 'its patterns need the package re2js, which is not installed: npm install re2js'
    const made = async (responses: 'report' | 'strict'): Promise<[string[], object[], unknown[]]> => {
      const reports: unknown[] = []
      const api = await door.openapiTools(document, { baseUrl, responses, report: (error) => void reports.push(error) })
      return [api.operations.map(({ key }) => key), [...api.omitted], reports]
    }
    expect(await made('report')).toMatchObject([
      ['GET /answer', 'GET /none'],
      [{ operation: 'GET /arg', why }],
      [{ message: `The operation "GET /arg" is left out: ${why}.` }],
    ])
    const both = ['GET /arg', 'GET /answer'].map((operation) => ({ operation, why }))
    expect(await made('strict')).toMatchObject([['GET /none'], both, [{}, {}]])
  })

  test('with values as large as itself shows a model no more than a definition may have', async () => {
    const text = 'x'.repeat(300_000)
    const schemas = [{ default: text }, { enum: [text] }, { const: { text } }, { format: text, title: text }]
    const parameters = schemas.map((schema, at) => ({ name: `q${at}`, in: 'query', schema }))
    const { api } = await ready(documentOf({ 'GET /p': { operationId: 'get', parameters } }), { baseUrl })
    expect(api.omitted).toEqual([])
    expect(JSON.stringify(api.tools()[0]!.describe()).length).toBeLessThan(70_000)
  })
})

describe('an application', () => {
  test('that gives one operation an address without https sends it no credential', async () => {
    const { api } = await ready(two, { baseUrl, auth, tools: { post: { baseUrl: 'http://plain.example' } } })
    expect(api.omitted).toEqual([{ operation: 'POST /p', why: expect.stringContaining('only by https:') as string }])
  })

  test('whose args have lists of any length gets an answer about the request', async () => {
    const { url } = await serve()
    const parameters = [
      { name: 'q', in: 'query', schema: { type: 'array' } },
      { name: 'c', in: 'cookie', schema: { type: 'array' } },
    ]
    const { call } = await ready(documentOf({ 'POST /p': { operationId: 'post', parameters } }), { baseUrl: url })
    const many = Array.from({ length: 130_000 }, () => 1)
    for (const args of [{ q: many }, { c: many }]) {
      expect(wordsOf(await call('post', args))).not.toContain('call stack')
    }
  })
})
