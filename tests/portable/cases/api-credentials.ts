import type { ToolResult } from 'toolwright'
import { aiSdk } from 'toolwright/formats/ai-sdk'
import { anthropic } from 'toolwright/formats/anthropic'
import { gemini } from 'toolwright/formats/gemini'
import { mcp } from 'toolwright/formats/mcp'
import { openai } from 'toolwright/formats/openai'
import { openaiResponses } from 'toolwright/formats/openai-responses'
import { memoryJournal } from 'toolwright/journals/memory'
import { has, same, words } from '../_assert.ts'
import type { Case } from '../run.ts'
import {
  bearer,
  documentOf,
  localApi,
  readyApi,
  scripted,
  shortly,
  type Json,
  type ReadyApi,
  type Script,
} from './_api.ts'

/** A token that every encoding writes in another way. */
const canary = 'cANaRy0+/=9?&"<7>xQ4'
const base64Url = (text: string): string => text.replaceAll('+', '-').replaceAll('/', '_')

/** Pieces of all forms of the token, as they stand within others. */
const traces = (): readonly string[] =>
  [
    canary,
    encodeURIComponent(canary),
    JSON.stringify(canary).slice(1, -1),
    Array.from(canary, (character) => character.charCodeAt(0).toString(16)).join(''),
    ...['', 'x', 'xx'].flatMap((before) => {
      const text = btoa(`${before}${canary}`)
      return [text, base64Url(text)]
    }),
  ].map((form) => form.slice(4, 18))

/** All that calls have left behind, as text. */
async function leftBehind({ api, executor, notes }: ReadyApi, results: readonly ToolResult[]): Promise<string> {
  const formats = [anthropic(), gemini(), mcp(), openai(), openaiResponses(), aiSdk()]
  const artifacts = executor.artifacts
    .list('s')
    .map(async ({ handle }) => (await executor.artifacts.open(handle, 's')).asString())
  const errors = results.map(({ error }) => {
    const { cause } = (error ?? {}) as { readonly cause?: Partial<Error> }
    return [error?.message, error?.stack, cause?.message, cause?.stack, String(cause?.cause)]
  })
  return JSON.stringify([
    results,
    results.map(({ value, content }) => [value, content]),
    errors,
    notes,
    await Promise.all(artifacts),
    await executor.calls.list({}),
    await Promise.all(results.map(({ invocationId }) => executor.calls.get(invocationId))),
    formats.map((format) => [format.definitions(api.tools()), format.results([...results])]),
  ])
}

function showsNothing(text: string): void {
  for (const trace of traces())
    has(!text.includes(trace), `the token is told: ${text.slice(Math.max(0, text.indexOf(trace) - 200)).slice(0, 300)}`)
}

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
    name: 'imports: two principals at once never get the credential of each other',
    needs: ['network'],
    async run(place) {
      const { cached } = await import('toolwright/imports/credentials')
      const local = localApi(place)
      const mint = cached(async ({ principal }) => `p455word-of-${principal}`, { until: () => Infinity })
      const operation = { operationId: 'run', parameters: [{ name: 'who', in: 'query', schema: { type: 'string' } }] }
      const { call } = await readyApi(documentOf({ 'GET /p': operation }, bearer), {
        baseUrl: local.url,
        auth: { token: mint },
      })
      for (let round = 0; round < 10; round++) {
        const principals = ['ada', 'bob', 'ada', 'bob']
        await Promise.all(principals.map((principal) => call('run', { who: principal }, { principal })))
      }
      const got = await local.got()
      same(got.length, 40)
      for (const { url, headers } of got) same(headers['authorization'], `Bearer p455word-of-${url.slice(-3)}`)
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
