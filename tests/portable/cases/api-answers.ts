import type { ToolResult } from 'toolwright'
import { retry } from 'toolwright/middleware/retry'
import { memoryJournal } from 'toolwright/journals/memory'
import { has, same, words } from '../_assert.ts'
import type { Case, Place } from '../run.ts'
import { bearer, documentOf, localApi, readyApi, scripted, shortly, type Script } from './_api.ts'

const token = 'p455word-1234'
const json = { 'content-type': 'application/json' }
const text = { 'content-type': 'text/plain' }
const unpackable: Script = { headers: { ...text, 'content-encoding': 'gzip' }, body: 'no gzip' }

/** Has the API answer both operations, and returns what came of them. */
async function outcomesOf(
  place: Place,
  scripts: readonly Script[],
  limits: Readonly<Record<string, number>> = {},
): Promise<ToolResult[]> {
  const { answered } = await readyApi(documentOf(scripted), { baseUrl: localApi(place).url, limits })
  const results: ToolResult[] = []
  for (const script of scripts) for (const name of ['get', 'post']) results.push(await answered(name, script))
  return results
}

/** The value of a result, or the text that was too long for one. */
async function wholeOf({ value, artifact }: ToolResult): Promise<unknown> {
  return value ?? (await artifact?.asString())
}

const redirectTo = (status: string, location: string): Script => ({ status, headers: { location } })

export const apiAnswers: readonly Case[] = [
  {
    name: 'imports: an answer is told by its media type',
    needs: ['network'],
    async run(place) {
      const results = await outcomesOf(place, [
        { headers: json, body: '{"ok":false}' },
        { headers: { 'content-type': 'application/vnd.api+json; charset=utf-8' }, body: '["ä"]' },
        { headers: json, body: 'no JSON' },
        { headers: { 'content-type': 'text/html' }, body: '<p>' },
        { headers: { 'content-type': 'application/x-ndjson' }, body: '1\n2\n' },
        { headers: { 'content-type': 'text/event-stream' }, body: 'data: 1\n\n' },
        { headers: { 'content-type': 'application/pdf' }, body: '%PDF' },
        { headers: {}, body: '7' },
        { status: '204 No Content' },
        { body: '' },
        { status: '304 Not Modified' },
        { headers: { ...json, link: '</p?page=2>', 'set-cookie': 'a=b' }, body: '[1]' },
      ])
      const values = await Promise.all(results.map(wholeOf))
      const withoutContent = ['204 No Content', '200 OK (no content)', '304 Not Modified']
      const expected = [
        { ok: false },
        ['ä'],
        'no JSON',
        '<p>',
        '1\n2\n',
        'data: 1\n\n',
        '%PDF',
        7,
        ...withoutContent,
        [1],
      ]
      same(
        values,
        expected.flatMap((value) => [value, value]),
      )
      same([...new Set(results.map(({ status }) => status))], ['ok'])
      same(words(results.at(-1)!).includes('link: </p?page=2>'), true, words(results.at(-1)!))
      has(!JSON.stringify(results).includes('a=b'), 'the cookie')
    },
  },
  {
    name: 'imports: an answer is read up to its limit, however it is packed and whatever it says of its length',
    needs: ['network'],
    async run(place) {
      const large: Script = { headers: text, body: 'x'.repeat(1_000), times: 1_000 }
      const results = await outcomesOf(
        place,
        [
          large,
          { ...large, framing: 'chunked', piece: 50_000 },
          { ...large, framing: 'close' },
          { ...large, isGzip: true },
          { ...large, headers: json },
          { ...large, headers: { 'content-type': 'application/pdf' } },
          { ...large, headers: { 'content-type': 'application/pdf' }, isGzip: true, framing: 'chunked' },
        ],
        { response: 100_000, binary: 100_000 },
      )
      same([...new Set(results.map(shortly))], ['error none application', 'error completed application'])
      for (const result of results) has(/100,?000 bytes/.test(words(result)), words(result))
      const [events] = await outcomesOf(place, [{ ...large, headers: { 'content-type': 'text/event-stream' } }], {
        response: 100_000,
      })
      same([events?.status, String(await wholeOf(events!)).length], ['ok', 100_000])
      const [failed] = await outcomesOf(place, [{ ...large, status: '500 No' }], { error: 50 })
      same(words(failed!).length < 200, true, words(failed!))
    },
  },
  {
    name: 'imports: an answer that is cut, and one that never ends, says what is known of the effect',
    needs: ['network'],
    async run(place) {
      const body = `"${'x'.repeat(200)}"`
      const unanswered: readonly Script[] = [{ headers: json, body, cut: 0 }]
      const inBody: readonly Script[] = [
        { headers: json, body, framing: 'length', cutBody: 100 },
        { headers: text, body, framing: 999 },
      ]
      const outcomes = (results: readonly ToolResult[]): string[] => [...new Set(results.map(shortly))]
      same(
        outcomes(await outcomesOf(place, unanswered)),
        ['error none network', 'error unknown network'],
        'before the answer',
      )
      const [bytes] = await outcomesOf(place, [{ headers: { 'content-type': 'application/pdf' }, body, framing: 999 }])
      same(bytes?.status, 'error')
      same(outcomes(await outcomesOf(place, inBody)), ['error none network', 'error completed network'], 'in the body')
      const { executor, answered } = await readyApi(documentOf(scripted), {
        baseUrl: localApi(place).url,
        tools: { get: { timeout: 300 }, post: { timeout: 300 } },
      })
      const endless: Script = { headers: text, body, framing: 'chunked', isUnfinished: true, isEndless: true }
      const late = await Promise.all([answered('get', endless), answered('post', endless)])
      same(
        late.map(({ status }) => status),
        ['timed_out', 'timed_out'],
      )
      const controller = new AbortController()
      const running = answered('get', endless, { signal: controller.signal })
      setTimeout(() => controller.abort(), 50)
      same((await running).status, 'cancelled')
      await executor.close()
    },
  },
  {
    name: 'imports: half a gzip whose end is told, and chunks that break off, are no value of JSON on any platform',
    needs: ['network'],
    async run(place) {
      const body = JSON.stringify(Array.from({ length: 99 }, (_, index) => Math.sin(index)))
      const half: Script = { headers: json, body, isGzip: true, cutBody: 400 }
      const scripts = (['close', 'chunked', 'length'] as const).map((framing): Script => ({ ...half, framing }))
      scripts.push({ ...half, isGzip: false, framing: 'chunked', isUnfinished: true })
      for (const script of scripts) {
        const results = await outcomesOf(place, [script])
        for (const { status, value } of results)
          has(status === 'error' || typeof value === 'string', JSON.stringify(value))
      }
    },
  },
  {
    name: 'imports: an answer whose head is strange is told as it is',
    needs: ['network'],
    async run(place) {
      const results = await outcomesOf(place, [
        { status: '204 No Content', framing: 5, body: 'extra' },
        { headers: json, body: '7', moreHeaders: 50 },
        { headers: { 'content-type': 'text/plain; charset=utf-7' }, body: 'abc' },
        { headers: { 'content-type': 'text/plain; charset=iso-8859-1' }, body: 'abc' },
      ])
      same(
        results.map(({ status }) => status),
        results.map(() => 'ok'),
      )
      const broken = await outcomesOf(place, [{ headers: json, body: '7', moreHeaders: 10_000 }])
      for (const result of broken) has(result.status === 'ok' || result.error?.category === 'network', shortly(result))
    },
  },
  {
    name: 'imports: an answer that cannot be unpacked has broken off',
    needs: ['network', 'unpacking'],
    async run(place) {
      for (const result of await outcomesOf(place, [unpackable]))
        has(result.status === 'ok' || result.error?.category === 'network', shortly(result))
    },
  },
  {
    name: 'imports: an answer that cannot be unpacked takes no longer than its call may',
    needs: ['network'],
    async run(place) {
      const tools = { get: { timeout: 1_000 }, post: { timeout: 1_000 } }
      const { answered } = await readyApi(documentOf(scripted), { baseUrl: localApi(place).url, tools })
      for (const name of ['get', 'post']) {
        const result = await answered(name, unpackable)
        // The `fetch` of Node 22 waits for ever if the answer has come whole before it is unpacked.
        has(['ok', 'error', 'timed_out'].includes(result.status), shortly(result))
      }
    },
  },
  {
    name: 'imports: a status says what has happened, and the journal keeps it',
    needs: ['network'],
    async run(place) {
      const { answered, executor } = await readyApi(documentOf(scripted), { baseUrl: localApi(place).url }, [
        memoryJournal(),
      ])
      const rows: Readonly<Record<string, readonly number[]>> = {
        'error none validation': [400, 422, 428],
        'error none auth': [401, 403],
        'error none application': [
          402, 404, 405, 406, 409, 410, 411, 412, 413, 414, 415, 416, 417, 423, 424, 426, 431, 451, 501, 505,
        ],
        'error none timeout': [425],
        'error none rate_limit': [429],
        'error unknown network': [500, 502, 503, 504],
        'error unknown application': [418],
        'ok completed': [200, 201, 202, 204],
      }
      for (const [expected, statuses] of Object.entries(rows)) {
        for (const status of statuses) {
          const script: Script = {
            status: `${status} Words`,
            headers: { ...json, 'retry-after': '7' },
            body: '{"why":"because"}',
          }
          const result = await answered('post', script)
          same([status, shortly(result)], [status, expected])
          same((await executor.calls.get(result.invocationId)).effect, result.effect)
          if (status >= 400)
            has(words(result).startsWith(String(status)) && words(result).includes('because'), words(result))
          if (status >= 400)
            same(
              shortly(await answered('get', script))
                .split(' ')
                .slice(0, 2),
              ['error', 'none'],
            )
        }
      }
      const { answered: unreached } = await readyApi(documentOf(scripted), { baseUrl: 'http://127.0.0.1:1' })
      const lost = await unreached('post', {})
      has(lost.error?.category === 'network' && !words(lost).includes('127.0.0.1'), words(lost))
    },
  },
  {
    name: 'imports: an answer that a platform could take for its own says what has happened',
    needs: ['network', 'heads'],
    async run(place) {
      const local = localApi(place)
      const { answered } = await readyApi(documentOf(scripted), { baseUrl: local.url })
      const [late, elsewhere] = [
        await answered('post', { status: '408 Late', body: 'no' }),
        await answered('post', { status: '421 Elsewhere', body: 'no' }),
      ]
      same([late, elsewhere].map(shortly), ['error none timeout', 'error none application'])
      const got = await local.got()
      // A platform may send a misdirected request again by itself.
      has(got.length === 2 || got.length === 3, `${got.length} requests`)
      const proxied = await answered('post', { status: '407 Who', body: 'no' })
      // Some runtimes take it for an answer of a proxy, and show nothing of it.
      has(['error none auth', 'error unknown network'].includes(shortly(proxied)), shortly(proxied))
      const fetch = async (): Promise<Response> => new Response('', { status: 407 })
      const own = await readyApi(documentOf(scripted), { baseUrl: local.url, fetch })
      same(shortly(await own.call('post')), 'error none auth')
    },
  },
  {
    name: 'imports: an effect that is not known stays so, whatever the answers to later attempts say',
    needs: ['network'],
    async run(place) {
      const local = localApi(place)
      const { answered } = await readyApi(documentOf(scripted), { baseUrl: local.url, idempotency: true }, [
        retry({ attempts: 2, delay: 0, maximumDelay: 0 }),
      ])
      for (const status of ['429 Later', '409 Conflict', '422 No', '503 Busy']) {
        const result = await answered('post', { status: '503 Busy', next: { status } })
        same([status, result.status, result.effect], [status, 'error', 'unknown'])
      }
      const keys = (await local.got()).map(({ headers }) => headers['idempotency-key'])
      same([keys.length, new Set(keys).size], [8, 4])
    },
  },
  {
    name: 'imports: an order whose answer is lost, and which is sent again with its key, is made once',
    needs: ['network'],
    async run(place) {
      const local = localApi(place)
      const { answered } = await readyApi(documentOf(scripted), { baseUrl: local.url, idempotency: true }, [
        retry({ attempts: 3, delay: 0, maximumDelay: 0 }),
      ])
      const cuts = [0, 10, 60, 100, 150]
      for (const cut of cuts) await answered('post', { headers: json, body: '{"order":1}', cut })
      const keys = (await local.got()).map(({ headers }) => headers['idempotency-key'])
      same(new Set(keys).size, cuts.length)
      has(keys.length > cuts.length, `${keys.length} requests`)
    },
  },
  {
    name: 'imports: no redirect leads to a host that the application does not name',
    needs: ['network'],
    async run(place) {
      const [local, other] = [localApi(place), localApi({ ...place, api: place.otherApi })]
      const { answered } = await readyApi(documentOf(scripted, bearer), {
        baseUrl: local.url,
        auth: { token: () => token },
      })
      const locations = [
        other.url,
        other.url.replace('127.0.0.1', '0x7f000001'),
        'https://evil.example',
        'file:///etc/passwd',
        'javascript:1',
        '//evil.example',
      ]
      for (const location of locations) {
        const status = '302 Found'
        same(shortly(await answered('get', redirectTo(status, location))), 'error none application', location)
        same((await answered('post', redirectTo(status, location))).effect, 'unknown', location)
        same((await answered('post', redirectTo('307 Temporary', location))).effect, 'unknown', location)
      }
      same((await local.got()).length, locations.length * 3)
      same((await other.got()).length, 0, 'what the other host got')
    },
  },
  {
    name: 'imports: redirects within the host, and to hosts that are named, are followed',
    needs: ['network', 'redirects'],
    async run(place) {
      const local = localApi(place)
      const hosts = [new URL(place.otherApi).host]
      const limits = { redirects: 3 }
      const { answered } = await readyApi(documentOf(scripted, bearer), {
        baseUrl: local.url,
        hosts,
        limits,
        auth: { token: () => token },
      })
      const path = new URL(local.url).pathname
      const other = localApi({ ...place, api: place.otherApi })
      same(shortly(await answered('get', redirectTo('302 Found', `${path}/home`))), 'ok none')
      same(shortly(await answered('get', redirectTo('302 Found', `${other.url}/away`))), 'ok none')
      same(shortly(await answered('post', redirectTo('308 Permanent', `${path}/again`))), 'ok completed')
      same(shortly(await answered('post', redirectTo('303 See Other', `${path}/done`))), 'ok completed')
      same((await answered('post', redirectTo('308 Permanent', `${other.url}/away`))).effect, 'unknown')
      const loop = await answered('get', redirectTo('302 Found', '{{self}}'))
      has(words(loop).includes('redirects more than 3 times'), words(loop))
      const got = [...(await local.got()), ...(await other.got())]
      const followed = got.filter(({ url }) => !url.startsWith('/p'))
      same(
        followed.map(({ method, url, headers }) => [method, url, headers['authorization'] ?? 'none']),
        [
          ['GET', '/home', `Bearer ${token}`],
          ['POST', '/again', `Bearer ${token}`],
          ['GET', '/done', `Bearer ${token}`],
          ['GET', '/away', 'none'],
        ],
      )
    },
  },
]
