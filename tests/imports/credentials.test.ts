import { createExecutor, memoryStore, tool, ToolFailure, type ToolEvent, type ToolResult } from 'toolwright'
import { cached, credential, type CredentialRequest, type Mint } from 'toolwright/imports/credentials'
import { openapiTools } from 'toolwright/imports/openapi'
import { memoryJournal } from 'toolwright/journals/memory'
import { retry } from 'toolwright/middleware/retry'
import { anthropic } from 'toolwright/formats/anthropic'
import { gemini } from 'toolwright/formats/gemini'
import { mcp } from 'toolwright/formats/mcp'
import { openai } from 'toolwright/formats/openai'
import { openaiResponses } from 'toolwright/formats/openai-responses'
import { aiSdk } from 'toolwright/formats/ai-sdk'
import { describe, expect, test } from 'vitest'
import { bearer, documentOf, ready, reply, serve, wordsOf, type Json } from './_server.ts'

const secret = 'ghp_cANaRy+/=0123456789?&"<x>'

/** All ways in which a server may repeat a value. */
function formsOf(value: string): string[] {
  const aligned = [0, 1, 2].map((shift) => Buffer.from('x'.repeat(shift) + value).toString('base64'))
  const urls = [0, 1, 2].map((shift) => Buffer.from('x'.repeat(shift) + value).toString('base64url'))
  const hex = Buffer.from(value).toString('hex')
  const escaped = JSON.stringify(value).slice(1, -1)
  const page = value.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;').replaceAll('"', '&quot;')
  const goJson = escaped.replace(/[<>&]/g, (each) => `\\u${each.charCodeAt(0).toString(16).padStart(4, '0')}`)
  return [
    value,
    encodeURIComponent(value),
    encodeURI(value),
    page,
    page.replaceAll('&quot;', '&#34;').replaceAll('+', '&#43;'), // as Go writes it
    page.replaceAll('/', '&#x2F;').replaceAll('=', '&#x3D;'), // as Mustache does
    encodeURIComponent(value).replace(/%../g, (each) => each.toLowerCase()),
    escaped,
    goJson,
    escaped.replaceAll('/', '\\/'),
    JSON.stringify(escaped).slice(1, -1),
    hex,
    hex.toUpperCase(),
    ...aligned,
    ...urls,
  ]
}

/** The part of each form that depends on the value alone, shortened, so that half a credential is found too. */
function tracesOf(value: string): string[] {
  return formsOf(value).flatMap((form) => [form.slice(4, 16), form.slice(-16, -4)])
}

function tracesIn(text: string): string[] {
  return tracesOf(secret).filter((trace) => text.includes(trace))
}

describe('a credential', () => {
  const schemes: Json = {
    components: {
      securitySchemes: {
        bearer: { type: 'http', scheme: 'bearer' },
        basic: { type: 'http', scheme: 'Basic' },
        header: { type: 'apiKey', in: 'header', name: 'X-Key' },
        query: { type: 'apiKey', in: 'query', name: 'api_key' },
        cookie: { type: 'apiKey', in: 'cookie', name: 'sid' },
        oauth: { type: 'oauth2', flows: {} },
        open: { type: 'openIdConnect', openIdConnectUrl: 'https://id.example.com' },
      },
    },
  }
  const minted = { value: 'p455word', username: 'ada' }

  test.each([
    ['bearer', { authorization: 'Bearer p455word' }],
    ['basic', { authorization: `Basic ${btoa('ada:p455word')}` }],
    ['header', { 'x-key': 'p455word' }],
    ['cookie', { cookie: 'sid=p455word' }],
    ['oauth', { authorization: 'Bearer p455word' }],
    ['open', { authorization: 'Bearer p455word' }],
  ])('of the scheme %s is sent where it belongs', async (name, headers) => {
    const { url, requests } = await serve()
    const document = documentOf({ 'GET /p': { operationId: 'run', security: [{ [name]: [] }] } }, schemes)
    const { call } = await ready(document, { baseUrl: url, auth: { [name]: () => minted } })
    await call('run')
    expect(requests[0]?.headers).toMatchObject(headers)
  })

  test('in a query is no arg, although the document lists it as a parameter too', async () => {
    const { url, requests } = await serve()
    const parameters = [{ name: 'api_key', in: 'query', required: true, schema: { type: 'string' } }]
    const document = documentOf(
      { 'GET /p?x=1': { operationId: 'run', parameters, security: [{ query: [] }] } },
      schemes,
    )
    const { api, call } = await ready(document, { baseUrl: url, auth: { query: () => 'k&y=12345' } })
    expect(api.tools()[0]?.describe().inputSchema.properties).toEqual({})
    const result = await call('run')
    expect(requests[0]?.url).toBe('/p?x=1&api_key=k%26y%3D12345')
    expect(wordsOf(result)).toContain('api_key=[credential]')
  })

  test('is of the first alternative that the application has; without one the operation is left out', async () => {
    const { url, requests } = await serve()
    const document = documentOf(
      {
        'GET /both': { operationId: 'both', security: [{ bearer: [], header: [] }, { query: [] }] },
        'GET /none': { operationId: 'none', security: [{ bearer: [] }] },
        'GET /some': {
          operationId: 'some',
          security: [{ other: [] }, { bearer: [] }, { query: [], header: [], oauth: [] }],
        },
        'GET /other': { operationId: 'other', security: [{ other: [] }] },
        'GET /open': { operationId: 'open', security: [{}, { bearer: [] }] },
      },
      schemes,
    )
    const { api, call } = await ready(document, { baseUrl: url, auth: { query: () => 'p455word' } })
    await call('both')
    await call('open')
    expect(requests.map((request) => request.url)).toEqual(['/both?api_key=p455word', '/open'])
    expect(api.omitted).toEqual([
      { operation: 'GET /none', why: 'it needs the credential "bearer": give it in `auth`' },
      { operation: 'GET /some', why: 'it needs the credential "bearer", or "header" and "oauth": give it in `auth`' },
      { operation: 'GET /other', why: 'it needs the security scheme "other", which the document does not define' },
    ])
  })

  test('that is a certificate is a matter of `fetch`, and messages say so', async () => {
    const securitySchemes = { bearer: { type: 'http', scheme: 'bearer' }, tls: { type: 'mutualTLS' } }
    const document = documentOf(
      {
        'GET /tls': { operationId: 'tls', security: [{ tls: [] }] },
        'GET /both': { operationId: 'both', security: [{ tls: [], bearer: [] }] },
      },
      { components: { securitySchemes } },
    )
    const baseUrl = 'https://api.example.com'
    const { api } = await ready(document, { baseUrl })
    const certificate = '"tls" (a certificate: give a `fetch` that has it)'
    expect(api.omitted.map(({ why }) => why)).toEqual([
      `it needs the credential ${certificate}`,
      `it needs the credential ${certificate} and "bearer": give it in \`auth\``,
    ])
    await expect(openapiTools(document, { baseUrl, auth: { tls: () => secret } })).rejects.toThrow(
      'takes nothing in `auth` for "tls", which is a certificate: give a `fetch` that has it',
    )
    const sent: (string | null)[] = []
    const fetch = async (_: unknown, init?: RequestInit): Promise<Response> => {
      sent.push(new Headers(init?.headers).get('authorization'))
      return Response.json(1)
    }
    const { call } = await ready(document, { baseUrl, auth: { bearer: () => 'p455word' }, fetch })
    await call('tls')
    await call('both')
    expect(sent).toEqual([null, 'Bearer p455word'])
  })

  test('is made for the scopes, the host, the principal and the attempt', async () => {
    const { url } = await serve()
    const asked: CredentialRequest[] = []
    const mint: Mint = (request) => (asked.push(request), 'p455word')
    const document = documentOf({ 'GET /p': { operationId: 'run', security: [{ oauth: ['read', 'write'] }] } }, schemes)
    const { call } = await ready(document, { baseUrl: url, auth: { oauth: mint } })
    const { invocationId } = await call('run', {}, { principal: 'ada', session: 's' })
    const host = new URL(url).host
    expect(asked).toMatchObject([
      {
        scheme: 'oauth',
        scopes: ['read', 'write'],
        host,
        operation: 'GET /p',
        principal: 'ada',
        session: 's',
        attempt: 1,
        rejected: false,
        invocationId,
      },
    ])
  })

  test('that the API refuses is made anew, once', async () => {
    const { url, requests } = await serve(({ headers }, response) =>
      reply(response, headers.authorization === 'Bearer new-token' ? 200 : 401, {}),
    )
    const rejected: boolean[] = []
    const revoked: string[] = []
    const token = credential('token', {
      mint: (request) => (
        rejected.push(request.rejected),
        request.rejected && request.principal === 'ada' ? 'new-token' : 'old-token'
      ),
      revoked: ({ principal = '' }) => void revoked.push(principal),
    })
    const { call } = await ready(documentOf({ 'POST /p': { operationId: 'run' } }, bearer), {
      baseUrl: url,
      auth: { token },
    })
    expect(await call('run', {}, { principal: 'ada' })).toMatchObject({ status: 'ok' })
    expect(rejected).toEqual([false, true])
    expect(await call('run', {}, { principal: 'bob' })).toMatchObject({
      status: 'error',
      effect: 'none',
      error: { category: 'auth' },
    })
    expect([requests.length, revoked]).toEqual([4, ['bob']])
  })

  test('is not made for a call that does not run', async () => {
    const { url, requests } = await serve()
    let mints = 0
    const operation = { operationId: 'run', parameters: [{ name: 'n', in: 'query', schema: { type: 'integer' } }] }
    const ask = {
      name: 'ask',
      decide: ({ input }: { input: unknown }) =>
        (input as Json)['n'] === 1
          ? ({ decision: 'ask' } as const)
          : (input as Json)['n'] === 2
            ? ({ decision: 'deny' } as const)
            : undefined,
    }
    const { executor, call } = await ready(
      documentOf({ 'POST /p': operation }, bearer),
      { baseUrl: url, auth: { token: () => (mints++, 'p455word') } },
      { use: [{ policies: [ask] }] },
    )
    const waiting = await call('run', { n: 1 })
    expect(waiting.status).toBe('waiting')
    expect((await call('run', { n: 2 })).status).toBe('denied')
    expect((await call('run', { n: 'x' })).error?.code).toBe('E_INVALID_TOOL_ARGS')
    expect((await call('run', {}, { signal: AbortSignal.abort() })).status).toBe('cancelled')
    expect([mints, requests.length]).toEqual([0, 0])
    expect((await executor.calls.decide(waiting.token!, 'deny')).status).toBe('denied')
    expect(mints).toBe(0)
    const again = await call('run', { n: 1 })
    expect((await executor.calls.decide(again.token!, 'allow')).status).toBe('ok')
    expect([mints, requests.length]).toEqual([1, 1])
    const brief = await ready(
      documentOf({ 'POST /p': operation }, bearer),
      { baseUrl: url, auth: { token: () => (mints++, 'p455word') } },
      { use: [{ policies: [ask] }, memoryJournal()], approvalTimeout: 1 },
    )
    expect((await brief.call('run', { n: 1 })).status).toBe('waiting')
    await new Promise((resolve) => setTimeout(resolve, 10))
    expect(await brief.executor.calls.expire()).toMatchObject([{ status: 'denied' }])
    expect([mints, requests.length]).toEqual([1, 1])
  })

  test('is made once for each attempt', async () => {
    const statuses = [503, 503, 200]
    const { url, requests } = await serve((_, response) => reply(response, statuses.shift() ?? 500, {}))
    const attempts: number[] = []
    const { call } = await ready(
      documentOf({ 'POST /p': { operationId: 'run' } }, bearer),
      {
        baseUrl: url,
        idempotency: true,
        auth: { token: ({ attempt }) => (attempts.push(attempt), `p455word-${attempt}`) },
      },
      { use: [retry({ attempts: 3, delay: 0 })] },
    )
    expect((await call('run')).status).toBe('ok')
    expect(attempts).toEqual([1, 2, 3])
    expect(requests.map(({ headers }) => headers.authorization)).toEqual(attempts.map((at) => `Bearer p455word-${at}`))
  })

  const faultyMints: readonly (readonly [string, Mint, string])[] = [
    ['throws', () => Promise.reject(new Error(`no token for ${secret}`)), 'The credential "token" was refused.'],
    [
      'throws a failure',
      () => {
        throw new ToolFailure('Your account is closed.')
      },
      'Your account is closed.',
    ],
    ['is empty', () => '', 'There is no credential "token".'],
    ['is nothing', () => undefined as never, 'There is no credential "token".'],
    ['is too short to be masked', () => 'short', 'is no text of at least 8 characters'],
    ['would add a header', () => 'p455word\r\nX: 1', 'has an end of a line'],
  ]

  test.each(faultyMints)('that %s is a failure without an effect, and without a cause', async (_, mint, words) => {
    const { url, requests } = await serve()
    const { call } = await ready(documentOf({ 'POST /p': { operationId: 'run' } }, bearer), {
      baseUrl: url,
      auth: { token: mint },
    })
    const result = await call('run')
    expect(result).toMatchObject({ status: 'error', effect: 'none', error: { category: 'auth' } })
    expect(wordsOf(result)).toContain(words)
    expect(
      tracesIn(
        `${JSON.stringify(result)}${String(result.error?.cause)}${String((result.error?.cause as Error | undefined)?.cause)}`,
      ),
    ).toEqual([])
    expect(requests).toEqual([])
  })

  test('that never comes ends with its call', async () => {
    const { url } = await serve()
    const { call } = await ready(documentOf({ 'POST /p': { operationId: 'run' } }, bearer), {
      baseUrl: url,
      auth: { token: () => new Promise<string>(() => {}) },
    })
    const leaving = new AbortController()
    const result = call('run', {}, { signal: leaving.signal })
    setTimeout(() => leaving.abort())
    expect((await result).status).toBe('cancelled')
  })

  test('that comes after the end of its call is sent nowhere', async () => {
    const { url, requests } = await serve()
    const [asked, token] = [Promise.withResolvers<void>(), Promise.withResolvers<string>()]
    const mint = (): Promise<string> => {
      asked.resolve()
      return token.promise
    }
    const { call } = await ready(documentOf({ 'POST /p': { operationId: 'run' } }, bearer), {
      baseUrl: url,
      auth: { token: mint },
    })
    const leaving = new AbortController()
    const result = call('run', {}, { signal: leaving.signal })
    await asked.promise
    leaving.abort()
    expect((await result).status).toBe('cancelled')
    token.resolve('token-that-came-late')
    expect((await call('run')).status).toBe('ok')
    expect(requests).toHaveLength(1)
  })

  test('of one principal is never that of another, whoever asks at the same time', async () => {
    const { url } = await serve(({ headers, url: path }, response) =>
      reply(response, headers.authorization === `Bearer token-of-${path.slice(4)}` ? 200 : 500, {}),
    )
    const mint = cached(
      async ({ principal }) => ({ value: `token-of-${principal}`, until: Date.now() + Math.random() * 4 }),
      { until: ({ until }) => until, max: 3 },
    )
    const parameters = [{ name: 'q', in: 'query' }]
    const { call } = await ready(
      documentOf({ 'GET /': { operationId: 'run', parameters } }, bearer),
      { baseUrl: url, auth: { token: mint }, responses: 'off' },
      { concurrency: 16 },
    )
    const principals = ['ada', 'bob', 'eve', 'kim']
    const statuses = await Promise.all(
      Array.from({ length: 1_000 }, async (_, round) => {
        const principal = principals[round % 4]!
        return (await call('run', { q: principal }, { principal })).status
      }),
    )
    expect(statuses.filter((status) => status !== 'ok')).toEqual([])
  })

  test('is for handlers of your own too', async () => {
    const github = credential('github', { mint: ({ principal, operation }) => `token-${principal}-${operation}` })
    const show = tool('show', (_, context) => github(context))
    const { content } = await createExecutor({ tools: [show] }).execute({ name: 'show' }, { principal: 'ada' })
    expect(content).toEqual([{ type: 'text', text: 'token-ada-show' }])
  })
})

describe('a cached credential', () => {
  const request = (more: Partial<CredentialRequest> = {}): CredentialRequest => ({
    scheme: 'a',
    scopes: [],
    host: 'h',
    operation: 'o',
    session: 's',
    principal: 'ada',
    invocationId: 'i',
    attempt: 1,
    rejected: false,
    signal: new AbortController().signal,
    ...more,
  })

  test('is made once for those who need it at the same time, and for each of the others', async () => {
    let mints = 0
    const mint = cached(async () => `token-${++mints}`, { until: () => Infinity })
    expect(
      await Promise.all([mint(request()), mint(request({ session: 't' })), mint(request({ principal: 'bob' }))]),
    ).toEqual(['token-1', 'token-1', 'token-2'])
    expect(await mint(request({ scopes: ['x', 'y'] }))).toBe('token-3')
    expect(await mint(request({ scopes: ['y', 'x'] }))).toBe('token-3')
    expect(await mint(request({ host: 'other' }))).toBe('token-4')
    expect(await mint(request({ principal: undefined }))).toBe('token-5')
    expect(await mint(request({ principal: undefined, session: 't' }))).toBe('token-6')
    expect(await mint(request({ principal: 's' }))).toBe('token-7')
  })

  test('is made anew when it has expired, failed or been refused', async () => {
    let mints = 0
    const outcomes = [new Error('down'), 'token-2', 'token-3', 'token-4']
    const mint = cached(
      async () => {
        const outcome = outcomes[mints++]
        if (outcome instanceof Error) throw outcome
        return outcome!
      },
      { until: (token) => (token === 'token-3' ? 0 : Infinity) },
    )
    await expect(mint(request())).rejects.toThrow('down')
    expect(await mint(request())).toBe('token-2')
    expect(await mint(request({ rejected: true }))).toBe('token-3')
    expect(await mint(request())).toBe('token-4')
    expect(await mint(request())).toBe('token-4')
  })

  test('is not aborted by the call that was first', async () => {
    const leaving = new AbortController()
    const mint = cached(
      async ({ signal }) => {
        await new Promise((resolve) => setTimeout(resolve, 5))
        signal.throwIfAborted()
        return 'token-1'
      },
      { until: () => Infinity },
    )
    const both = Promise.all([mint(request({ signal: leaving.signal })), mint(request())])
    leaving.abort()
    expect(await both).toEqual(['token-1', 'token-1'])
  })
})

describe('consent', () => {
  const url = 'https://github.example/login?state=1'

  test('is asked of a person before there is a credential, and is told to the person alone', async () => {
    const server = await serve()
    const connected = new Set<string>()
    let mints = 0
    const token = credential('token', {
      ready: ({ principal = '' }) => (connected.has(principal) ? undefined : { url, message: 'Connect your account' }),
      mint: ({ principal = '' }) => (mints++, connected.has(principal) ? 'p455word' : ''),
    })
    const { executor, call } = await ready(documentOf({ 'POST /p': { operationId: 'run' } }, bearer), {
      baseUrl: server.url,
      auth: { token },
    })
    const waiting = await call('run', {}, { principal: 'ada', session: 's' })
    expect(waiting.status).toBe('waiting')
    expect(JSON.stringify(waiting.content)).not.toContain('state=1')
    const [shown] = await executor.calls.waiting({ session: 's' })
    expect(shown).toMatchObject({
      why: 'Connect your account (github.example)',
      meta: { consent: { scheme: 'token', url } },
    })
    expect(mints).toBe(0)
    connected.add('ada')
    expect(await executor.calls.decide(waiting.token!, 'allow', { session: 's' })).toMatchObject({ status: 'ok' })
    // Of another person nothing is known.
    expect((await call('run', {}, { principal: 'bob' })).status).toBe('waiting')
  })

  test('that was only claimed fails without an effect', async () => {
    const server = await serve()
    const token = credential('token', { ready: () => ({ url, message: 'Connect' }), mint: () => '' })
    const { executor, call } = await ready(documentOf({ 'POST /p': { operationId: 'run' } }, bearer), {
      baseUrl: server.url,
      auth: { token },
    })
    const waiting = await call('run')
    expect(await executor.calls.decide(waiting.token!, 'allow')).toMatchObject({
      status: 'error',
      effect: 'none',
      error: { category: 'auth' },
    })
    expect(server.requests).toEqual([])
  })

  test('is no confirmation: a tool that asks for one is confirmed as itself', async () => {
    const server = await serve()
    const token = credential('token', { ready: () => ({ url, message: 'Connect' }), mint: () => '' })
    const { executor, call } = await ready(documentOf({ 'POST /p': { operationId: 'run' } }, bearer), {
      baseUrl: server.url,
      auth: { token },
      tools: { run: { requiresConfirmation: true } },
    })
    const waiting = await call('run', {}, { session: 's' })
    const [shown] = await executor.calls.waiting({ session: 's' })
    expect(shown?.prompt).toBe('Allow run to execute?')
    expect(await executor.calls.decide(waiting.token!, 'allow', { session: 's' })).toMatchObject({
      status: 'error',
      effect: 'none',
    })
  })

  test('at an address that is not https is refused', async () => {
    const server = await serve()
    const token = credential('token', {
      ready: () => ({ url: 'javascript:alert(1)', message: 'Connect' }),
      mint: () => 'p455word',
    })
    const { call } = await ready(documentOf({ 'POST /p': { operationId: 'run' } }, bearer), {
      baseUrl: server.url,
      auth: { token },
    })
    expect((await call('run')).status).toBe('denied')
  })
})

describe('a credential that the server repeats', () => {
  const document = documentOf(
    {
      'GET /json': { operationId: 'json' },
      'POST /refuse': { operationId: 'refuse' },
      'POST /problem': { operationId: 'problem' },
      'GET /text': { operationId: 'text' },
      'GET /bytes': { operationId: 'bytes' },
      'GET /headers': { operationId: 'headers', responses: { 200: { headers: { 'X-Told': {} } } } },
      'GET /drop': { operationId: 'drop' },
      'GET /away': { operationId: 'away' },
      'GET /large': { operationId: 'large' },
    },
    {
      components: {
        securitySchemes: {
          token: { type: 'apiKey', in: 'query', name: 'key' },
          basic: { type: 'http', scheme: 'basic' },
        },
      },
      security: [{ token: [], basic: [] }],
    },
  )
  const all = formsOf(secret).join(' | ') + Buffer.from(`ada:${secret}`).toString('base64')
  const escapes = Array.from(secret, (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`).join(
    '',
  )

  test('is in no result, error, event, record, artifact, span or message of a provider', async () => {
    const { url } = await serve(({ url: path }, response) => {
      const place = path.slice(1).replace(/\?.*/, '')
      if (place === 'drop') return void response.socket?.destroy()
      if (place === 'away')
        return void response
          .writeHead(302, {
            location: `http://evil.example/${encodeURIComponent(secret)}?${all.replace(/[^\x21-\x7e]/g, '')}`,
          })
          .end()
      if (place === 'refuse') return reply(response, 422, { message: all })
      if (place === 'problem')
        return reply(
          response,
          403,
          { title: all, detail: secret, errors: [formsOf(secret)] },
          { 'content-type': 'application/problem+json' },
        )
      if (place === 'headers')
        return void response
          .writeHead(200, {
            'content-type': 'text/plain',
            location: `/x?${encodeURIComponent(secret)}`,
            'x-told': secret,
            link: `<${Buffer.from(secret).toString('base64')}>`,
            'set-cookie': secret,
          })
          .end('told')
      if (place === 'json')
        return void response
          .writeHead(200, { 'content-type': 'application/json' })
          .end(`{"${escapes}":["${escapes}",${JSON.stringify(formsOf(secret))}]}`)
      response.writeHead(200, { 'content-type': place === 'bytes' ? 'application/pdf' : 'text/plain' })
      // One byte at a time, so that every form is cut at every place.
      if (place === 'bytes') for (const byte of Buffer.from(all)) response.write(Buffer.of(byte))
      else if (place === 'large') response.write(`${'x'.repeat(5_000_000)}${all}${'y'.repeat(5_000_000)}`)
      else response.write(all)
      response.end()
    })
    const store = memoryStore()
    const journal = memoryJournal()
    const events: ToolEvent[] = []
    const reports: string[] = []
    const api = await openapiTools(document, {
      baseUrl: url,
      auth: { token: () => secret, basic: () => ({ value: secret, username: 'ada' }) },
      report: (error) => reports.push(String(error)),
    })
    const executor = createExecutor({ use: [api, { store }, journal] })
    executor.on('*', (event) => void events.push(event))
    const results: ToolResult[] = []
    for (const { name } of api.tools())
      results.push(await executor.execute({ id: name, name, args: {} }, { session: 's' }))
    expect(results.map(({ status }) => status).filter((status) => status === 'ok')).toHaveLength(5)
    const errors = results.map(
      ({ error }) =>
        `${error?.stack} ${String(error?.cause)} ${(error?.cause as Error | undefined)?.stack} ${String((error?.cause as Error | undefined)?.cause)}`,
    )
    const artifacts = await Promise.all(
      executor.artifacts.list('s').map(async ({ handle }) => (await executor.artifacts.open(handle, 's')).asString()),
    )
    const records = (await executor.calls.list({})) as unknown
    const snapshots = await Promise.all(results.map(({ invocationId }) => executor.calls.get(invocationId)))
    const messages = [anthropic(), gemini(), mcp(), openai(), openaiResponses(), aiSdk()].map((format) => {
      try {
        return JSON.stringify([format.definitions(api.tools()), format.results(results)])
      } catch (error) {
        return String(error)
      }
    })
    const sinks = {
      results,
      values: results.map(({ value }) => value),
      errors,
      events,
      artifacts,
      records,
      snapshots,
      messages,
      reports,
    }
    expect(artifacts.length).toBeGreaterThan(1)
    for (const [name, sink] of Object.entries(sinks)) expect([name, tracesIn(JSON.stringify(sink))]).toEqual([name, []])
    expect(JSON.stringify(results)).toContain('[credential]')
  })
})
