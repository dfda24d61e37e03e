import { gzipSync } from 'node:zlib'
import { createServer } from 'node:net'
import { BinaryArtifact } from 'toolwright'
import { memoryJournal } from 'toolwright/journals/memory'
import { retry } from 'toolwright/middleware/retry'
import { describe, expect, onTestFinished, test } from 'vitest'
import { documentOf, ready, reply, serve, wordsOf, type Json } from './_server.ts'

const operation = (more: Json = {}): Json => ({ operationId: 'run', ...more })

describe('an answer', () => {
  test('of JSON is its value, whatever it says', async () => {
    const { url } = await serve((_, response) => reply(response, 200, { ok: false, error: 'data' }))
    const { call } = await ready(documentOf({ 'GET /p': operation() }), { baseUrl: url })
    expect(await call('run')).toMatchObject({ status: 'ok', value: { ok: false, error: 'data' } })
  })

  test('is a failure if the application says so, and has an effect unless it says otherwise', async () => {
    const { url } = await serve((_, response) => reply(response, 200, { ok: false, error: 'no_channel' }))
    const failed = ({ body }: { body: unknown }): string | undefined =>
      (body as Json)['ok'] === false ? String((body as Json)['error']) : undefined
    const { call } = await ready(documentOf({ 'POST /p': operation() }), { baseUrl: url, failed })
    expect(await call('run')).toMatchObject({ status: 'error', effect: 'unknown' })
    const other = await ready(documentOf({ 'POST /p': operation() }), { baseUrl: url, failed, refuses: () => true })
    expect(await other.call('run')).toMatchObject({ status: 'error', effect: 'none' })
  })

  test.each([
    [204, {}, '', '204 No Content'],
    [200, { 'content-type': 'application/json' }, '', '200 OK (no content)'],
    [200, { 'content-type': 'text/plain; charset=iso-8859-1' }, Buffer.from([228]), 'ä'],
    [200, { 'content-type': 'application/x-ndjson' }, '{"a":1}\n{"a":2}\n', '{"a":1}\n{"a":2}\n'],
    [200, { 'content-type': 'text/event-stream' }, 'data: 1\n\ndata: 2\n\n', 'data: 1\n\ndata: 2\n\n'],
    [200, { 'content-type': 'application/json' }, '{"a":', '{"a":'],
    [304, {}, '', '304 Not Modified'],
  ])('of %i %j is text', async (status, headers, body, expected) => {
    const { url } = await serve((_, response) => void response.writeHead(status, headers as never).end(body))
    const { call } = await ready(documentOf({ 'GET /p': operation() }), { baseUrl: url })
    const result = await call('run')
    expect([result.status, wordsOf(result)]).toEqual(['ok', expected])
  })

  test('of other bytes goes to the store with its media type', async () => {
    const { url } = await serve(
      (_, response) =>
        void response.writeHead(200, { 'content-type': 'application/pdf' }).end(Buffer.alloc(3_000_000, 1)),
    )
    const { call } = await ready(documentOf({ 'GET /p': operation() }), { baseUrl: url })
    const { artifact } = await call('run')
    expect(artifact).toBeInstanceOf(BinaryArtifact)
    expect([artifact?.mediaType, artifact?.byteLength(), artifact?.handle === undefined]).toEqual([
      'application/pdf',
      3_000_000,
      false,
    ])
  })

  test('tells the headers that a model may need, and never cookies', async () => {
    const headers = {
      link: '<https://api.example.com/p?page=2>; rel="next"',
      'x-rate': '9',
      'x-other': 'no',
      'set-cookie': 'sid=1',
    }
    const { url } = await serve((_, response) => reply(response, 200, [1, 2], headers))
    const responses = { 200: { headers: { 'X-Rate': {}, 'Set-Cookie': {} } } }
    const { call } = await ready(documentOf({ 'GET /p': operation({ responses }) }), { baseUrl: url })
    const result = await call('run')
    expect(result.value).toEqual([1, 2])
    expect(wordsOf(result)).toContain('x-rate: 9\nlink: <https://api.example.com/p?page=2>; rel="next"')
    expect(wordsOf(result)).not.toMatch(/x-other|sid=1/)
  })

  test('that is too large ends the call, and its effect is known', async () => {
    const large = gzipSync('x'.repeat(200_000_000).slice(0, 20_000_000))
    const { url } = await serve(({ url: path }, response) => {
      response
        .writeHead(200, { 'content-type': path === '/bytes' ? 'image/png' : 'text/plain', 'content-encoding': 'gzip' })
        .end(large)
    })
    const document = documentOf({ 'POST /text': operation(), 'POST /bytes': { operationId: 'bytes' } })
    const { call } = await ready(document, { baseUrl: url, limits: { response: 1_000_000, binary: 2_000_000 } })
    const result = await call('run')
    expect(result).toMatchObject({ status: 'error', effect: 'completed' })
    expect(wordsOf(result)).toContain('more than 1,000,000 bytes')
    const other = await call('bytes')
    expect(other).toMatchObject({ status: 'error', effect: 'completed', error: { code: 'E_ARTIFACT' } })
    expect(wordsOf(other)).toContain('more than 2,000,000 bytes')
  })

  test('that does not fit its schema is reported once for each place, and stays a success', async () => {
    const { url } = await serve((_, response) => reply(response, 200, { items: [{ id: 'a' }, { id: 'b' }] }))
    const schema = {
      type: 'object',
      properties: { items: { type: 'array', items: { type: 'object', properties: { id: { type: 'integer' } } } } },
    }
    const document = documentOf({
      'POST /p': operation({ responses: { '2XX': { content: { 'application/json': { schema } } } } }),
    })
    const { call, reports } = await ready(document, { baseUrl: url })
    expect((await call('run')).status).toBe('ok')
    await call('run')
    expect(reports).toEqual([expect.stringContaining('/items/*/id')])
    const strict = await ready(document, { baseUrl: url, responses: 'strict' })
    expect(await strict.call('run')).toMatchObject({
      status: 'error',
      effect: 'completed',
      error: { code: 'E_INVALID_TOOL_RESULT' },
    })
    const off = await ready(document, { baseUrl: url, responses: 'off' })
    expect([(await off.call('run')).status, off.reports]).toEqual(['ok', []])
  })

  test('whose schema cannot be used is told, and stays a success', async () => {
    const { url } = await serve()
    const content = { 'application/json': { schema: { $ref: '#/components/schemas/None' } } }
    const document = documentOf({ 'GET /p': { operationId: 'run', responses: { 200: { content } } } })
    const { call, reports } = await ready(document, { baseUrl: url })
    expect([(await call('run')).status, (await call('run')).status]).toEqual(['ok', 'ok'])
    expect(reports).toEqual([
      expect.stringContaining('The operation "GET /p" has a schema of the answer 200 that cannot be used: $ref'),
    ])
  })

  test('that never ends is given up with its call', async () => {
    const closed = Promise.withResolvers<void>()
    const { url } = await serve((_, response) => {
      response.on('close', () => closed.resolve())
      response.writeHead(200, { 'content-type': 'text/plain' }).write('begin')
    })
    const { call } = await ready(documentOf({ 'POST /p': operation() }), {
      baseUrl: url,
      tools: { run: { timeout: 100 } },
    })
    expect(await call('run')).toMatchObject({ status: 'timed_out', effect: 'unknown' })
    await closed.promise
  })

  test('of a `fetch` that knows no abort is dropped with its call, whether it comes late or never ends', async () => {
    const { url } = await serve()
    const [late, asked] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()]
    const dropped: string[] = []
    const bodies = { late: Promise.withResolvers<void>(), endless: Promise.withResolvers<void>() }
    const answerOf = (name: keyof typeof bodies): Response => {
      const cancel = (): void => {
        dropped.push(name)
        bodies[name].resolve()
      }
      const start = (controller: ReadableStreamDefaultController<Uint8Array>): void => {
        controller.enqueue(new TextEncoder().encode('{'))
      }
      return new Response(new ReadableStream({ start, cancel }), { headers: { 'content-type': 'application/json' } })
    }
    const fetchAnyhow = async (address: unknown): Promise<Response> => {
      asked.resolve()
      if (!String(address).endsWith('/late')) return answerOf('endless')
      await late.promise
      return answerOf('late')
    }
    const document = documentOf({ 'GET /late': { operationId: 'late' }, 'GET /endless': { operationId: 'endless' } })
    const { call, reports } = await ready(document, { baseUrl: url, fetch: fetchAnyhow })
    const leaving = new AbortController()
    const results = ['late', 'endless'].map((name) => call(name, {}, { signal: leaving.signal }))
    await asked.promise
    await new Promise((resolve) => setImmediate(resolve))
    leaving.abort()
    expect((await Promise.all(results)).map(({ status }) => status)).toEqual(['cancelled', 'cancelled'])
    await bodies.endless.promise
    late.resolve()
    await bodies.late.promise
    expect([dropped, reports]).toEqual([['endless', 'late'], []])
  })

  test('that is cut anywhere is a failure whose effect is what the status said', async () => {
    const whole = 'HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: 12\r\n\r\n{"done":123}'
    const head = whole.indexOf('{')
    let cut = 0
    const server = createServer((socket) => {
      socket.on('error', () => {})
      socket.once('data', () => socket.end(whole.slice(0, cut)))
    })
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
    onTestFinished(() => void server.close())
    const { port } = server.address() as { port: number }
    const { call } = await ready(documentOf({ 'POST /p': operation(), 'GET /p': { operationId: 'get' } }), {
      baseUrl: `http://127.0.0.1:${port}`,
    })
    for (cut = 0; cut < whole.length; cut++) {
      expect([cut, await call('run')]).toMatchObject([
        cut,
        { status: 'error', effect: cut < head ? 'unknown' : 'completed', error: { category: 'network' } },
      ])
      if (cut % 9 === 0) expect((await call('get')).effect).toBe('none')
    }
    expect((await call('run')).status).toBe('ok')
  })
})

describe('a failure', () => {
  const rows: readonly (readonly [number, string, string, boolean])[] = [
    ...[400, 422, 428].map((status) => [status, 'none', 'validation', false] as const),
    ...[402, 404, 405, 406, 409, 410, 411, 412, 413, 414, 415, 416, 417, 421, 423, 424, 426, 431, 451, 501, 505].map(
      (status) => [status, 'none', 'application', false] as const,
    ),
    ...[401, 403].map((status) => [status, 'none', 'auth', false] as const),
    ...[408, 425].map((status) => [status, 'none', 'timeout', true] as const),
    [429, 'none', 'rate_limit', true],
    ...[500, 502, 503, 504, 599].map((status) => [status, 'unknown', 'network', false] as const),
    [418, 'unknown', 'application', false],
  ]

  test.each(rows)(
    'of %i has the effect %s, the category %s, and is retryable: %s',
    async (status, effect, category, retryable) => {
      const { url, requests } = await serve((_, response) => reply(response, status, { why: 'because' }))
      const { call, executor } = await ready(
        documentOf({ 'POST /p': operation(), 'GET /p': { operationId: 'get' } }),
        { baseUrl: url },
        { use: [memoryJournal()] },
      )
      const result = await call('run')
      expect(result).toMatchObject({ status: 'error', effect, error: { category, retryable } })
      expect(wordsOf(result)).toMatch(new RegExp(`^${status}.*because`))
      // Node itself sends a misdirected request again.
      expect(requests.length).toBeLessThanOrEqual(status === 421 ? 2 : 1)
      expect(await executor.calls.get(result.invocationId)).toMatchObject({ effect })
      expect((await call('get')).effect).toBe('none')
    },
  )

  test('of a proxy that wants to know who asks has no effect', async () => {
    const fetch = async (): Promise<Response> => new Response('', { status: 407 })
    const { call } = await ready(documentOf({ 'POST /p': operation() }), { baseUrl: 'https://api.example.com', fetch })
    expect(await call('run')).toMatchObject({ status: 'error', effect: 'none', error: { category: 'auth' } })
  })

  test('with a key of idempotency may be repeated', async () => {
    const { url } = await serve(({ url: path }, response) => reply(response, Number(path.slice(1)), {}))
    const document = documentOf({ 'POST /503': { operationId: 'busy' }, 'POST /409': { operationId: 'flying' } })
    const { call } = await ready(document, { baseUrl: url, idempotency: true })
    expect([(await call('busy')).error?.retryable, (await call('flying')).error?.retryable]).toEqual([true, true])
  })

  test('says when to try again, in seconds or as a date', async () => {
    const dates = ['7', new Date(Date.now() + 61_000).toUTCString(), 'soon']
    const { url } = await serve((_, response) => reply(response, 503, {}, { 'retry-after': dates.shift() ?? '' }))
    const { call } = await ready(documentOf({ 'GET /p': operation() }), { baseUrl: url })
    const advice = [await call('run'), await call('run'), await call('run')].map(({ error }) => error?.recommendations)
    expect(advice).toEqual([['Try again in 7 s.'], [expect.stringMatching(/^Try again in [56]\d s\.$/)], []])
  })

  test('says when to try again by the clock of the server, which may be another', async () => {
    const headers = { date: 'Mon, 01 Jan 2001 00:00:00 GMT', 'retry-after': 'Mon, 01 Jan 2001 00:00:30 GMT' }
    const { url } = await serve((_, response) => reply(response, 503, {}, headers))
    const { call } = await ready(documentOf({ 'GET /p': operation() }), { baseUrl: url })
    expect((await call('run')).error?.recommendations).toEqual(['Try again in 30 s.'])
  })

  test('of a problem tells its title, its detail and its errors, and of any other the beginning', async () => {
    const problem = {
      type: 'https://example.com/x',
      title: 'Out of credit',
      detail: 'You have 3.',
      errors: [{ at: '/cents' }],
    }
    const { url } = await serve(({ url: path }, response) => {
      if (path === '/long') response.writeHead(500, { 'content-type': 'text/html' }).end('x'.repeat(50_000))
      else reply(response, 403, problem, { 'content-type': 'application/problem+json' })
    })
    const { call } = await ready(documentOf({ 'GET /p': operation(), 'GET /long': { operationId: 'long' } }), {
      baseUrl: url,
      limits: { error: 100 },
    })
    expect(wordsOf(await call('run'))).toBe('403 Forbidden: Out of credit. You have 3.. [{"at":"/cents"}]')
    expect(wordsOf(await call('long'))).toBe(`500 Internal Server Error: ${'x'.repeat(100)}…`)
  })

  test('without a connection has no effect, and may be repeated', async () => {
    const closed = createServer()
    await new Promise<void>((resolve) => closed.listen(0, '127.0.0.1', resolve))
    const { port } = closed.address() as { port: number }
    await new Promise((resolve) => closed.close(resolve))
    const { call } = await ready(documentOf({ 'POST /p': operation() }), { baseUrl: `http://127.0.0.1:${port}` })
    expect(await call('run')).toMatchObject({
      status: 'error',
      effect: 'none',
      error: { category: 'network', retryable: true },
    })
    const { url: plain } = await serve()
    for (const baseUrl of ['https://none.invalid', plain.replace('http:', 'https:')]) {
      const lost = await ready(documentOf({ 'POST /p': operation() }), { baseUrl })
      const result = await lost.call('run')
      expect(result).toMatchObject({ status: 'error', error: { category: 'network' } })
      expect(result.effect).toBe(baseUrl === 'https://none.invalid' || !('Bun' in globalThis) ? 'none' : 'unknown')
    }
  })

  test('after one whose effect is not known leaves it not known', async () => {
    const statuses = [503, 429]
    const { url, requests } = await serve((_, response) => reply(response, statuses.shift() ?? 429, {}))
    const { call } = await ready(
      documentOf({ 'POST /p': operation() }),
      { baseUrl: url, idempotency: true },
      { use: [retry({ attempts: 2, delay: 0 })] },
    )
    expect(await call('run')).toMatchObject({ status: 'error', effect: 'unknown' })
    expect(new Set(requests.map(({ headers }) => headers['idempotency-key'])).size).toBe(1)
  })

  test('of what fetch throws without meaning it is not taken for one without an effect', async () => {
    for (const thrown of [
      new TypeError('fetch failed'),
      null,
      'words',
      Object.defineProperty({}, 'code', {
        get: () => {
          throw new Error('no')
        },
      }),
    ]) {
      const { call } = await ready(documentOf({ 'POST /p': operation() }), {
        baseUrl: 'https://api.example.com',
        fetch: () => Promise.reject(thrown),
      })
      expect(await call('run')).toMatchObject({ status: 'error', effect: 'unknown', error: { category: 'network' } })
    }
  })
})
