import { credential } from 'toolwright/imports/credentials'
import { openapiTools, type OpenApiOptions } from 'toolwright/imports/openapi'
import { describe, expect, test } from 'vitest'
import { isPrivateHost } from '../../src/imports/openapi/_hosts.ts'
import { requirePublic } from '../../src/imports/openapi/_network.ts'
import { bearer, documentOf, ready, reply, serve, wordsOf, type Json } from './_server.ts'

const token = 'p455word-1234'
const auth = { token: () => token }
const both = documentOf(
  {
    'GET /p': {
      operationId: 'get',
      parameters: [
        { name: 'X-A', in: 'header' },
        { name: 'c', in: 'cookie' },
      ],
    },
    'POST /p': { operationId: 'post', requestBody: { content: { 'application/json': { schema: {} } } } },
  },
  bearer,
)

describe('a redirect', () => {
  test('to the same origin is followed with the credential', async () => {
    const { url, requests } = await serve(({ url: path }, response) =>
      path === '/p' ? void response.writeHead(302, { location: '/q' }).end() : reply(response, 200, 1),
    )
    const { call } = await ready(both, { baseUrl: url, auth })
    expect((await call('get')).value).toBe(1)
    expect(requests[1]).toMatchObject({ url: '/q', headers: { authorization: `Bearer ${token}` } })
  })

  test('to a host that the application names is followed without credentials, cookies and headers, and never with them again', async () => {
    const home = await serve(({ url: path }, response) =>
      path === '/p'
        ? void response.writeHead(307, { location: `${other.url}/away` }).end()
        : reply(response, 200, 'home'),
    )
    const other = await serve(({ url: path }, response) =>
      path === '/away'
        ? void response.writeHead(302, { location: `${home.url}/back` }).end()
        : reply(response, 200, 'other'),
    )
    const { call } = await ready(both, {
      baseUrl: home.url,
      hosts: [new URL(other.url).host],
      auth,
      headers: { 'x-app': 'shop' },
    })
    expect((await call('get', { 'X-A': 'a', c: 'b' })).value).toBe('home')
    expect(home.requests[0]?.headers).toMatchObject({ 'x-a': 'a', cookie: 'c=b', 'x-app': 'shop' })
    for (const { headers } of [other.requests[0]!, home.requests[1]!]) {
      expect(Object.keys(headers).filter((name) => ['authorization', 'x-a', 'cookie', 'x-app'].includes(name))).toEqual(
        [],
      )
    }
  })

  test.each([
    'http://evil.example/x',
    'http://127.0.0.2:1/',
    'file:///etc/passwd',
    'javascript:1',
    'https://user:pw@evil.example',
    '//evil.example',
    'http://[::1]:1/',
    'http://0x7f000001:1/',
  ])('to %s is not followed, and names the host', async (location) => {
    const { url } = await serve((_, response) => void response.writeHead(302, { location }).end())
    const { call } = await ready(both, { baseUrl: url, auth })
    const result = await call('get')
    expect(result).toMatchObject({ status: 'error', effect: 'none' })
    expect(wordsOf(result)).toMatch(/redirects to (?:no address|"[^"]+", which the application does not name)/)
  })

  test('in a circle ends', async () => {
    const { url, requests } = await serve((_, response) => void response.writeHead(302, { location: '/p' }).end())
    const { call } = await ready(both, { baseUrl: url, auth, limits: { redirects: 3 } })
    expect(wordsOf(await call('get'))).toContain('redirects more than 3 times')
    expect(requests).toHaveLength(4)
  })

  test('of POST repeats the body at the same origin with 307 and 308, and nowhere else', async () => {
    const other = await serve()
    let location = '/q'
    const { url, requests } = await serve(({ url: path }, response) =>
      path === '/p' ? void response.writeHead(308, { location }).end() : reply(response, 200, 1),
    )
    const { call } = await ready(both, { baseUrl: url, hosts: [new URL(other.url).host], auth })
    await call('post', { body: { a: 1 } })
    expect(requests[1]?.body.toString()).toBe('{"a":1}')
    location = `${other.url}/q`
    expect(await call('post', { body: { a: 1 } })).toMatchObject({ status: 'error', effect: 'unknown' })
    expect(other.requests).toEqual([])
  })

  test('of POST with 301 and 302 ends with an effect that is not known, and with 303 with one that is completed', async () => {
    let status = 301
    const { url, requests } = await serve(({ url: path, method }, response) =>
      path === '/p'
        ? void response.writeHead(status, { location: '/done' }).end()
        : reply(response, status === 303 ? 500 : 200, method),
    )
    const { call } = await ready(both, { baseUrl: url, auth })
    expect(await call('post')).toMatchObject({ status: 'error', effect: 'unknown' })
    status = 303
    expect(await call('post')).toMatchObject({ status: 'error', effect: 'completed' })
    expect(requests.at(-1)).toMatchObject({ method: 'GET', url: '/done' })
  })

  test('keeps a key of the query at the same origin, and tells it to no one', async () => {
    const { url, requests } = await serve(({ url: path }, response) =>
      path.startsWith('/p') ? void response.writeHead(302, { location: '/q?x=1' }).end() : response.socket!.destroy(),
    )
    const scheme = {
      components: { securitySchemes: { key: { type: 'apiKey', in: 'query', name: 'key' } } },
      security: [{ key: [] }],
    }
    const { call } = await ready(documentOf({ 'GET /p': { operationId: 'get' } }, scheme), {
      baseUrl: url,
      auth: { key: () => token },
    })
    const result = await call('get')
    expect(requests[1]?.url).toBe(`/q?x=1&key=${token}`)
    expect(JSON.stringify(result) + String(result.error?.cause)).not.toContain(token)
  })
})

describe('the address of the API', () => {
  const make = (servers: unknown, options: OpenApiOptions = {}, more: Json = {}): Promise<unknown> =>
    openapiTools(documentOf({ 'GET /p': { operationId: 'run' } }, { servers, ...more }), options)

  test('may come from the document if it is public and https', async () => {
    const urls: string[] = []
    const fetch = async (url: unknown): Promise<Response> => (urls.push(String(url)), Response.json(1))
    const { api, call } = await ready(
      documentOf({ 'GET /p': { operationId: 'run' } }, { servers: [{ url: 'https://example.com/v1/' }] }),
      { fetch },
    )
    expect(api.tools()[0]?.traits).toMatchObject({ readonly: false, idempotent: true })
    await call('run')
    expect(urls).toEqual(['https://example.com/v1/p'])
  })

  test.each([
    '/v1',
    'http://api.example.com',
    'https://{host}/v1',
    'https://localhost',
    'https://10.0.0.1',
    'https://printer',
    'https://db.internal',
    'https://[::1]',
    'https://[::ffff:127.0.0.1]',
    'https://0x7f.1',
    'https://2130706433',
    'https://169.254.169.254',
    'https://user:pw@example.com',
    undefined,
  ])('%s of a document needs `baseUrl`', async (url) => {
    await expect(make(url === undefined ? undefined : [{ url }])).rejects.toMatchObject({
      code: 'E_INVALID_CONFIGURATION',
      message: expect.stringContaining('needs `baseUrl`') as string,
    })
    await make([{ url }], { baseUrl: 'http://localhost:1' })
  })

  test('of which the document says the path alone is asked for with that path', async () => {
    await expect(make([{ url: '/api/v1' }])).rejects.toThrow(
      /the server of the document is "\/api\/v1", .*: give the whole address, with this path at its end/,
    )
  })

  test('has to be given in code with credentials, and be safe for them', async () => {
    await expect(make([{ url: 'https://example.com' }], { auth }, bearer)).rejects.toThrow(
      'a document does not choose where a credential goes',
    )
    await expect(make([], { auth, baseUrl: 'http://example.com' }, bearer)).rejects.toThrow('only by https:')
    await make([], { auth, baseUrl: 'http://127.0.0.1:1' }, bearer)
  })

  test.each([
    [['10.0.0.1'], true],
    [['93.184.216.34', '::1'], true],
    [['fe80::1%eth0'], true],
    [['93.184.216.34', '2606:4700::1111'], false],
    [[], false],
  ])('that resolves to %j is refused before a request: %s', async (addresses, isRefused) => {
    const url = new URL('https://api.example.com')
    const asked = (origins: readonly string[]): Promise<void> => {
      return requirePublic(url, new Set(origins), async () => addresses)
    }
    if (isRefused) await expect(asked([])).rejects.toMatchObject({ effect: 'none' })
    else await asked([])
    // The application knows its own hosts.
    await asked([url.origin])
  })

  test('of one operation has to be named by the application', async () => {
    const document = documentOf({
      'POST /upload': { operationId: 'upload', servers: [{ url: 'https://uploads.example.com/v2' }] },
      'GET /p': { operationId: 'run' },
    })
    const { api } = await ready(document, { baseUrl: 'https://api.example.com' })
    expect(api.omitted).toEqual([
      { operation: 'POST /upload', why: 'it is served by another host: add `hosts: ["uploads.example.com"]`' },
    ])
    const urls: string[] = []
    const fetch = async (url: unknown): Promise<Response> => (urls.push(String(url)), Response.json(1))
    const named = await ready(document, { baseUrl: 'https://api.example.com', hosts: ['uploads.example.com'], fetch })
    await named.call('upload')
    expect(urls).toEqual(['https://uploads.example.com/v2/upload'])
  })

  test.each([
    ['https://api.example.com/v1', { servers: [] }, {}, 'https://api.example.com/p'],
    ['https://api.example.com/v1', {}, { servers: [] }, 'https://api.example.com/p'],
    ['https://api.example.com/v1', { servers: [{ url: '/v2' }] }, { servers: [] }, 'https://api.example.com/v2/p'],
    ['https://api.example.com/v1', {}, {}, 'https://api.example.com/v1/p'],
  ])(
    '%s with servers of an operation %j or of its path %j leads to its own',
    async (baseUrl, own, ofPath, expected) => {
      const urls: string[] = []
      const fetch = async (url: unknown): Promise<Response> => (urls.push(String(url)), Response.json(1))
      const document = documentOf({ 'GET /p': { operationId: 'run', ...own } })
      Object.assign((document['paths'] as Record<string, Json>)['/p']!, ofPath)
      const { call } = await ready(document, { baseUrl, fetch })
      await call('run')
      expect(urls).toEqual([expected])
    },
  )

  test('of a document whose list of servers is empty needs `baseUrl`', async () => {
    await expect(make([])).rejects.toThrow('needs `baseUrl`: the document names no server')
    await make([], { baseUrl: 'https://api.example.com' })
  })
})

// Bun refuses none.
test.skipIf('Bun' in globalThis)('a port that `fetch` refuses is said so, with what to do', async () => {
  const { call } = await ready(both, { baseUrl: 'http://127.0.0.1:6000', auth })
  for (const name of ['get', 'post']) {
    const result = await call(name)
    expect(result).toMatchObject({ status: 'error', effect: 'none', error: { retryable: false, category: 'network' } })
    expect(wordsOf(result)).toMatch(
      /^The request was not sent: `fetch` refuses this port: .* or give a `fetch` that takes it\.$/,
    )
  }
})

describe('a private address', () => {
  test.each([
    '127.0.0.1',
    '127.1',
    '0x7f.1',
    '2130706433',
    '0177.0.0.1',
    '[::1]',
    '[::ffff:127.0.0.1]',
    '[::ffff:7f00:1]',
    '[0:0:0:0:0:0:0:1]',
    'localhost',
    'LOCALHOST.',
    'x.localhost',
    '[::127.0.0.1]',
    '[64:ff9b::7f00:1]',
    '[2002:7f00:1::]',
  ])('is recognised as %s', (host) => {
    expect(isPrivateHost(new URL(`https://${host}/`).hostname)).toBe(true)
  })

  test.each([
    '10.1.2.3',
    '172.16.0.1',
    '172.31.255.255',
    '192.168.1.1',
    '169.254.169.254',
    '100.64.0.1',
    '224.0.0.1',
    '255.255.255.255',
    '0.0.0.0',
    '[fc00::1]',
    '[fd12::1]',
    '[fe80::1]',
    '[ff02::1]',
    '[::]',
    'printer',
    'db.internal',
    'nas.local',
  ])('is recognised in the range of %s', (host) => {
    expect(isPrivateHost(new URL(`https://${host}/`).hostname)).toBe(true)
  })

  test.each([
    '1.1.1.1',
    '8.8.8.8',
    '172.32.0.1',
    '172.15.0.1',
    '100.128.0.1',
    '169.253.0.1',
    '192.169.0.1',
    '[2606:4700::1111]',
    'example.com',
    'a.b.example',
  ])('is not %s', (host) => {
    expect(isPrivateHost(new URL(`https://${host}/`).hostname)).toBe(false)
  })
})

test('a request goes nowhere but to the base, whatever the args are', async () => {
  const urls: URL[] = []
  const fetch = async (url: unknown): Promise<Response> => (urls.push(new URL(String(url))), Response.json(1))
  const password = credential('token', { mint: () => 'p455word' })
  const parameters = [{ name: 'q', in: 'query', allowReserved: true, schema: {} }]
  const { call } = await ready(documentOf({ 'GET /a/{id}/b': { operationId: 'run', parameters } }, bearer), {
    baseUrl: 'https://api.example.com/base',
    auth: { token: password },
    fetch,
  })
  for (const id of [
    '//evil.example',
    '@evil.example',
    ':80@evil',
    '\\\\evil.example',
    'https://evil.example',
    '?',
    '#',
    '%2f%2e%2e',
    '\u0000',
    '\ud800',
    'x'.repeat(1_000_000),
  ]) {
    await call('run', { id, q: id })
  }
  expect(urls.length).toBeGreaterThan(5)
  expect(
    urls.filter(
      ({ origin, pathname }) => origin !== 'https://api.example.com' || !/^\/base\/a\/[^/]+\/b$/.test(pathname),
    ),
  ).toEqual([])
})
