import { createExecutor, memoryStore, tool } from 'toolwright'
import { has, same, words } from '../_assert.ts'
import type { Case } from '../run.ts'

const secret = 'p455word-1234'
const document = {
  openapi: '3.1.0',
  info: { title: 'Orders', version: '1' },
  components: { securitySchemes: { token: { type: 'http', scheme: 'bearer' } } },
  security: [{ token: [] }],
  paths: {
    '/orders/{id}': {
      post: {
        operationId: 'order',
        parameters: [{ name: 'tags', in: 'query', schema: { type: 'array' } }],
        requestBody: { content: { 'application/json': { schema: { type: 'object' } } } },
        responses: {},
      },
      get: { operationId: 'file', responses: {} },
    },
    '/bad': { get: { parameters: [{ $ref: 'https://evil.example/x' }], responses: {} } },
  },
}

export const imports: readonly Case[] = [
  {
    name: 'imports: an API is called with a credential that nothing shows',
    needs: ['web'],
    async run() {
      const { openapiTools } = await import('toolwright/imports/openapi')
      const { cached, credential } = await import('toolwright/imports/credentials')
      const requests: { url: string; authorization: string | null; body: string }[] = []
      const server = async (url: unknown, init: RequestInit = {}): Promise<Response> => {
        const authorization = new Headers(init.headers).get('authorization')
        requests.push({ url: String(url), authorization, body: typeof init.body === 'string' ? init.body : '' })
        if (init.method === 'GET')
          return new Response(new TextEncoder().encode(`%PDF ${secret}`), {
            headers: { 'content-type': 'application/pdf' },
          })
        return Response.json({ why: `not ${String(authorization)} ${btoa(secret)}` }, { status: 422 })
      }
      const token = credential('token', { mint: cached(() => secret, { until: () => Infinity }) })
      const api = await openapiTools(document, {
        baseUrl: 'https://api.example.com/v1',
        auth: { token },
        fetch: server,
        report: () => {},
      })
      same(api.omitted.length, 1)
      const executor = createExecutor({ use: [api] })
      const refused = await executor.execute({
        name: 'order',
        args: { id: 'a/b', tags: ['x', 'y z'], body: { item: null } },
      })
      same([refused.status, refused.effect, refused.error?.category], ['error', 'none', 'validation'])
      same(requests[0], {
        url: 'https://api.example.com/v1/orders/a%2Fb?tags=x&tags=y%20z',
        authorization: `Bearer ${secret}`,
        body: '{"item":null}',
      })
      has(words(refused).includes('[credential]'), words(refused))
      const kept = await executor.execute({ name: 'file', args: { id: '1' } })
      same(await kept.artifact?.asString(), '%PDF [credential]')
      for (const result of [refused, kept]) has(!JSON.stringify(result).includes('p455'), JSON.stringify(result))
      const left = await executor.execute({ name: 'file', args: { id: '..' } })
      same([left.status, requests.length], ['error', 2])
    },
  },
  {
    name: 'imports: an API that redirects, refuses and repeats is held to its host',
    needs: ['web'],
    async run() {
      const { openapiTools } = await import('toolwright/imports/openapi')
      const sent: string[] = []
      const server = async (url: unknown, init: RequestInit = {}): Promise<Response> => {
        const { pathname, origin } = new URL(String(url))
        const authorization = new Headers(init.headers).get('authorization')
        sent.push(`${init.method} ${origin}${pathname} ${String(authorization)}`)
        const to = (status: number, location: string): Response => new Response(null, { status, headers: { location } })
        if (pathname === '/orders/near') return to(307, '/orders/there')
        if (pathname === '/orders/named') return to(302, 'https://files.example.com/x')
        if (pathname === '/orders/far') return to(302, `https://${secret}.evil.example/`)
        if (pathname === '/orders/old' && authorization === `Bearer ${secret}`)
          return new Response(`no ${secret}`, { status: 401, statusText: secret })
        return Response.json(1, { headers: { link: `</orders?after=${encodeURIComponent(secret)}>` } })
      }
      const api = await openapiTools(document, {
        baseUrl: 'https://api.example.com',
        hosts: ['files.example.com'],
        auth: { token: ({ rejected }) => (rejected ? 'p455word-5678' : secret) },
        fetch: server,
        report: () => {},
      })
      const executor = createExecutor({ use: [api] })
      const outcomes: string[] = []
      for (const [name, id] of [
        ['order', 'near'],
        ['file', 'named'],
        ['file', 'far'],
        ['order', 'old'],
      ]) {
        const result = await executor.execute({ name: name!, args: { id } })
        outcomes.push(`${id} ${result.status} ${result.effect}`)
        has(!JSON.stringify(result).includes('p455'), JSON.stringify(result))
      }
      same(outcomes, ['near ok completed', 'named ok none', 'far error none', 'old ok completed'])
      same(sent, [
        `POST https://api.example.com/orders/near Bearer ${secret}`,
        `POST https://api.example.com/orders/there Bearer ${secret}`,
        `GET https://api.example.com/orders/named Bearer ${secret}`,
        'GET https://files.example.com/x null',
        `GET https://api.example.com/orders/far Bearer ${secret}`,
        `POST https://api.example.com/orders/old Bearer ${secret}`,
        'POST https://api.example.com/orders/old Bearer p455word-5678',
      ])
    },
  },
  {
    name: 'imports: a form with a file, and args that no request can have',
    needs: ['web'],
    async run() {
      const { openapiTools } = await import('toolwright/imports/openapi')
      const properties = { file: { type: 'string', format: 'binary' }, title: { type: 'string' } }
      const content = { 'multipart/form-data': { schema: { type: 'object', properties } } }
      const parameters = [{ name: 'X-Id', in: 'header', schema: { type: 'string' } }]
      const upload = { operationId: 'upload', parameters, requestBody: { content }, responses: {} }
      const bodies: string[] = []
      const server = async (_: unknown, { body, headers }: RequestInit = {}): Promise<Response> => {
        const type = new Headers(headers).get('content-type')?.split(';')[0]
        bodies.push(`${type} ${await new Response(body ?? null).text()}`)
        return new Response(null, { status: 204 })
      }
      const { openapi, info } = document
      const api = await openapiTools(
        { openapi, info, paths: { '/files': { post: upload } } },
        { baseUrl: 'https://api.example.com', fetch: server },
      )
      const keep = tool(
        'keep',
        async (_: object, context) => (await context.keep('%PDF', { mediaType: 'application/pdf' })).handle,
      )
      const executor = createExecutor({ tools: [keep], use: [api, { store: memoryStore() }] })
      const { value: file } = await executor.execute({ name: 'keep', args: {} }, { session: 's' })
      const args = { body: { file, title: 'ä' } }
      const { status, content: answer } = await executor.execute({ name: 'upload', args }, { session: 's' })
      same([status, answer], ['ok', [{ type: 'text', text: '204 No Content' }]])
      const [type, part, text] =
        /^(\S+) [^]*application\/pdf\r\n\r\n(%PDF)\r\n[^]*\r\n\r\n(ä)\r\n/.exec(bodies[0] ?? '')?.slice(1) ?? []
      same([type, part, text], ['multipart/form-data', '%PDF', 'ä'])
      const refused = await executor.execute({ name: 'upload', args: { 'X-Id': 'a\r\nX: 1' } })
      same([refused.status, refused.effect, bodies.length], ['error', 'none', 1])
      const other = await executor.execute({ name: 'upload', args }, { session: 'other' })
      same([other.status, other.effect, bodies.length], ['error', 'none', 1])
    },
  },
]
