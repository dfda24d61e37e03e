import { createExecutor } from 'toolwright'
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
]
