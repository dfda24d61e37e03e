import type { ToolResult } from 'toolwright'
import { memoryJournal } from 'toolwright/journals/memory'
import { retry } from 'toolwright/middleware/retry'
import { has, same, wait, words } from '../_assert.ts'
import type { Case } from '../run.ts'
import { bearer, documentOf, localApi, readyApi, scripted, shortly, type Json, type Script } from './_api.ts'
import { canary, leftBehind, showsNothing } from './_canary.ts'

const schemes = {
  header: { type: 'apiKey', in: 'header', name: 'X-Key' },
  query: { type: 'apiKey', in: 'query', name: 'key' },
  basic: { type: 'http', scheme: 'basic' },
  bearer: { type: 'http', scheme: 'bearer' },
  oauth: { type: 'oauth2', flows: {} },
}

export const apiCredentials: readonly Case[] = [
  {
    name: 'imports: a credential is sent as the document says: a key, a password, a token, and one for a client of OAuth',
    needs: ['network'],
    async run(place) {
      const { cached } = await import('toolwright/imports/credentials')
      const local = localApi(place)
      const operations = Object.keys(schemes).map((name): [string, Json] => {
        return [`GET /${name}`, { operationId: name, security: [{ [name]: ['orders'] }] }]
      })
      const oauth = cached(
        async ({ scopes, signal }) => {
          const script: Script = { body: JSON.stringify({ access_token: canary, expires_in: 3_600 }) }
          const response = await fetch(`${local.url}/token?do=${encodeURIComponent(JSON.stringify(script))}`, {
            method: 'POST',
            headers: {
              authorization: `Basic ${btoa('client:client-s3cret')}`,
              'content-type': 'application/x-www-form-urlencoded',
            },
            body: `grant_type=client_credentials&scope=${scopes.join('%20')}`,
            signal,
          })
          const token = (await response.json()) as { readonly access_token: string; readonly expires_in: number }
          return { value: token.access_token, until: Date.now() + token.expires_in * 1_000 }
        },
        { until: ({ until }) => until },
      )
      const token = (): string => canary
      const auth = {
        header: token,
        query: token,
        basic: () => ({ value: canary, username: 'ada' }),
        bearer: token,
        oauth,
      }
      const document = documentOf(Object.fromEntries(operations), { components: { securitySchemes: schemes } })
      const ready = await readyApi(document, { baseUrl: local.url, auth }, [memoryJournal()])
      const results: ToolResult[] = []
      for (const name of [...Object.keys(schemes), 'oauth']) results.push(await ready.call(name))
      same(
        results.map(shortly),
        results.map(() => 'ok none'),
      )
      const got = (await local.got()).map(({ url, headers, body }) => {
        return [url.replace(/do=.*/, ''), headers['x-key'] ?? headers['authorization'] ?? '', body].join(' ')
      })
      same(got, [
        `/header ${canary} `,
        `/query?key=${encodeURIComponent(canary)}  `,
        `/basic Basic ${btoa(`ada:${canary}`)} `,
        `/bearer Bearer ${canary} `,
        `/token? Basic ${btoa('client:client-s3cret')} grant_type=client_credentials&scope=orders`,
        `/oauth Bearer ${canary} `,
        `/oauth Bearer ${canary} `,
      ])
      showsNothing(await leftBehind(ready, results))
    },
  },
  {
    name: 'imports: a credential is sent in a cookie',
    needs: ['network', 'cookies'],
    async run(place) {
      const local = localApi(place)
      const cookie = {
        components: { securitySchemes: { sid: { type: 'apiKey', in: 'cookie', name: 'sid' } } },
        security: [{ sid: [] }],
      }
      const { call } = await readyApi(documentOf({ 'GET /p': { operationId: 'get' } }, cookie), {
        baseUrl: local.url,
        auth: { sid: () => canary },
      })
      same((await call('get')).status, 'ok')
      same((await local.got())[0]?.headers['cookie'], `sid=${encodeURIComponent(canary)}`)
    },
  },
  {
    name: 'imports: a credential that the API repeats is in no result, event, record, error, artifact or message of a model',
    needs: ['network'],
    async run(place) {
      const local = localApi(place)
      const forms = [
        'plain',
        'percent',
        'json',
        'hex',
        'base64 0',
        'base64 1',
        'base64 2',
        'base64url 0',
        'base64url 1',
        'base64url 2',
      ]
      const all = forms.map((form) => `{{${form}}}`).join(' | ')
      const json = { 'content-type': 'application/json' }
      const scripts: readonly Script[] = [
        ...forms.map((form): Script => ({
          status: '422 No',
          headers: json,
          body: JSON.stringify({ why: [`a {{${form}}} b`] }),
        })),
        { headers: json, body: '{"{{json}}":"{{json}}"}' },
        {
          status: '403 No',
          headers: { 'content-type': 'application/problem+json' },
          body: '{"title":"{{hex}}","detail":"{{json}}","errors":["{{json}}"]}',
        },
        { headers: { 'content-type': 'text/plain' }, body: all },
        { headers: { 'content-type': 'text/plain' }, body: `${'x'.repeat(99)}{{plain}}`, times: 2_000 },
        { headers: { 'content-type': 'application/pdf' }, body: all, framing: 'chunked', piece: 1 },
        { headers: { 'content-type': 'application/pdf' }, body: all, times: 300, isGzip: true },
        {
          headers: {
            'content-type': 'text/plain',
            link: '<{{base64 1}}>',
            location: '/x?{{percent}}',
            'x-told': '{{plain}}',
          },
          body: 'told',
        },
        { status: '500 {{plain}}', body: all },
        { status: '302 {{plain}}', headers: { location: 'https://{{hex}}.evil.example/{{percent}}' } },
        { headers: { 'content-type': 'text/plain' }, body: all, framing: 9_999 },
        { body: all, cut: 10 },
      ]
      const answers = { responses: { 200: { headers: { 'X-Told': {} } } } }
      const operations = Object.fromEntries(
        Object.entries(scripted).map(([key, operation]) => [key, { ...operation, ...answers }]),
      )
      for (const [name, credential] of [
        ['bearer', canary],
        ['basic', { value: canary, username: 'ada' }],
        ['query', canary],
      ] as const) {
        const document = documentOf(operations, {
          components: { securitySchemes: schemes },
          security: [{ [name]: [] }],
        })
        const ready = await readyApi(document, { baseUrl: local.url, auth: { [name]: () => credential } }, [
          memoryJournal(),
        ])
        const results: ToolResult[] = []
        for (const script of scripts)
          for (const operation of ['get', 'post']) results.push(await ready.answered(operation, script))
        const text = await leftBehind(ready, results)
        showsNothing(text)
        has(text.split('[credential]').length > 100, text.slice(0, 400))
        same((await local.got()).length >= results.length, true)
      }
    },
  },
  {
    name: 'imports: a credential is made for calls that run, once for each request',
    needs: ['network'],
    async run(place) {
      const local = localApi(place)
      const operation = { operationId: 'run', parameters: [{ name: 'n', in: 'query', schema: { type: 'integer' } }] }
      let [mints, isRevoked] = [0, false]
      const decide = ({ input }: { readonly input: unknown }): { readonly decision: 'ask' | 'deny' } | undefined => {
        const { n } = input as { readonly n?: number }
        return n === 1 ? { decision: 'ask' } : n === 2 ? { decision: 'deny' } : undefined
      }
      const mint = (): string => {
        mints++
        return isRevoked ? '' : canary
      }
      const { executor, call } = await readyApi(
        documentOf({ 'POST /p': operation }, bearer),
        { baseUrl: local.url, auth: { token: mint } },
        [{ policies: [{ name: 'ask', decide }] }],
      )
      const waiting = await call('run', { n: 1 })
      const none = [
        await call('run', { n: 2 }),
        await call('run', { n: 'x' }),
        await call('run', {}, { signal: AbortSignal.abort() }),
      ]
      same(
        [waiting, ...none].map(({ status }) => status),
        ['waiting', 'denied', 'error', 'cancelled'],
      )
      same((await executor.calls.decide(waiting.token ?? '', 'deny')).status, 'denied')
      same([mints, (await local.got()).length], [0, 0])
      const again = await call('run', { n: 1 })
      same(
        [(await executor.calls.decide(again.token ?? '', 'allow')).status, mints, (await local.got()).length],
        ['ok', 1, 1],
      )
      const last = await call('run', { n: 1 })
      isRevoked = true
      same(
        [shortly(await executor.calls.decide(last.token ?? '', 'allow')), (await local.got()).length],
        ['error none auth', 0],
      )
    },
  },
  {
    name: 'imports: a credential is made for each attempt, and none for a call whose approval has expired',
    needs: ['network'],
    async run(place) {
      const local = localApi(place)
      const attempts: number[] = []
      const token = ({ attempt }: { readonly attempt: number }): string => (attempts.push(attempt), canary)
      const options = {
        baseUrl: local.url,
        idempotency: true,
        auth: { token },
        tools: { get: { requiresConfirmation: true } },
      }
      const { executor, answered } = await readyApi(documentOf(scripted, bearer), options, [
        retry({ attempts: 3, delay: 0, maximumDelay: 0 }),
      ])
      const busy: Script = { status: '503 Busy', body: 'no' }
      const result = await answered('post', {
        ...busy,
        next: { ...busy, next: { headers: { 'content-type': 'text/plain' }, body: 'yes' } },
      })
      same([shortly(result), words(result), attempts], ['ok completed', 'yes', [1, 2, 3]])
      const { createExecutor } = await import('toolwright')
      const { openapiTools } = await import('toolwright/imports/openapi')
      const api = await openapiTools(documentOf(scripted, bearer), options)
      const brief = createExecutor({ use: [api, memoryJournal()], approvalTimeout: 1 })
      const waiting = await brief.execute({ name: 'get', args: {} }, { session: 's' })
      same(waiting.status, 'waiting')
      await wait(20)
      const [expired] = await brief.calls.expire()
      same([expired?.status, attempts.length, (await local.got()).length], ['denied', 3, 3])
      await executor.close()
      await brief.close()
    },
  },
  {
    name: 'imports: a credential that the API refuses is made anew, once',
    needs: ['network'],
    async run(place) {
      const local = localApi(place)
      const rejections: boolean[] = []
      const { answered } = await readyApi(documentOf(scripted, bearer), {
        baseUrl: local.url,
        auth: {
          token: ({ rejected }) => {
            rejections.push(rejected)
            return rejected ? `${canary}-2` : canary
          },
        },
      })
      const result = await answered('post', { status: '401 No', body: 'no {{plain}}' })
      same([shortly(result), rejections], ['error none auth', [false, true]])
      same(
        (await local.got()).map(({ headers }) => headers['authorization']),
        [`Bearer ${canary}`, `Bearer ${canary}-2`],
      )
      has(words(result).includes('no [credential]'), words(result))
    },
  },
  {
    name: 'imports: a consent is asked of a person, and claimed alone it sends nothing',
    needs: ['network'],
    async run(place) {
      const { credential } = await import('toolwright/imports/credentials')
      const local = localApi(place)
      const tokens = new Map<string, string>()
      const token = credential('token', {
        ready: ({ principal = '' }) =>
          tokens.has(principal) ? undefined : { url: 'https://example.com/connect', message: 'Connect' },
        mint: ({ principal = '' }) => tokens.get(principal) ?? '',
      })
      const { executor, call } = await readyApi(documentOf(scripted, bearer), { baseUrl: local.url, auth: { token } })
      const [claimed, consented] = [
        await call('get', {}, { principal: 'ada' }),
        await call('get', {}, { principal: 'ada' }),
      ]
      const asked = (await executor.calls.waiting()).map(({ meta }) => meta)
      same(
        asked,
        [claimed, consented].map(() => ({ consent: { scheme: 'token', url: 'https://example.com/connect' } })),
      )
      tokens.set('bob', canary)
      same(shortly(await executor.calls.decide(claimed.token ?? '', 'allow')), 'error none auth')
      same((await local.got()).length, 0)
      tokens.set('ada', canary)
      same(shortly(await executor.calls.decide(consented.token ?? '', 'allow')), 'ok none')
      same(
        (await local.got()).map(({ headers }) => headers['authorization']),
        [`Bearer ${canary}`],
      )
    },
  },
]
