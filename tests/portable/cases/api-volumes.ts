// What shows only in many values, or in large ones. Each case tries a few on every platform, and all where the place says so.
import type { Span, SpanContext, TracerProvider } from '@opentelemetry/api'
import type { Extension, ToolResult } from 'toolwright'
import { memoryJournal } from 'toolwright/journals/memory'
import { retry } from 'toolwright/middleware/retry'
import { has, refused, same } from '../_assert.ts'
import type { Case, Place } from '../run.ts'
import { bearer, documentOf, localApi, readyApi, scripted, type Json, type Script } from './_api.ts'
import {
  canary,
  echoCharacters,
  echoMediaTypes,
  echoResponse,
  echoStatuses,
  echoWays,
  leftBehind,
  showsNothing,
  sixFormats,
  wordsOfError,
} from './_canary.ts'
import { garbage, numbers } from './_garbage.ts'

const baseUrl = 'https://api.example.com'
const json = { 'content-type': 'application/json' }

/** How many values a case tries, and the numbers that choose them. */
function amountOf({ isFull = false, seed = 7 }: Place, all: number, few: number) {
  return { count: isFull ? all : few, seed, random: numbers(seed) }
}

/** Returns spans of everything that is told of calls, as text. */
function recordedSpans(): { readonly tracerProvider: TracerProvider; readonly text: () => string } {
  const notes: unknown[] = []
  const spanContext: SpanContext = { traceId: '1'.repeat(32), spanId: '1'.repeat(16), traceFlags: 1 }
  const note = (...words: unknown[]): Span => (notes.push(words), span)
  const span: Span = {
    spanContext: () => spanContext,
    isRecording: () => true,
    setAttribute: note,
    setAttributes: note,
    addEvent: note,
    addLink: note,
    addLinks: note,
    setStatus: note,
    updateName: note,
    recordException: (...words) => void note(...words),
    end: () => {},
  }
  const tracer = {
    startSpan: (name: string, options: unknown) => note(name, options),
    startActiveSpan: () => {
      throw new Error('Nothing makes a span active here.')
    },
  }
  return { tracerProvider: { getTracer: () => tracer }, text: () => JSON.stringify(notes) }
}

export const apiVolumes: readonly Case[] = [
  {
    name: 'imports: documents of garbage give tools or omissions, and change no prototype',
    needs: ['web'],
    async run(place) {
      const before = Object.getOwnPropertyNames(Object.prototype).length
      const { count, seed, random } = amountOf(place, 10_000, 300)
      let operations = 0
      for (let round = 0; round < count; round++) {
        const [operation, item, components] = [garbage(random), garbage(random), garbage(random)]
        const document = {
          openapi: '3.1.0',
          paths: { '/a': { get: operation, post: operation, parameters: item }, '/b': item },
          components,
          security: item,
        }
        try {
          const { api } = await readyApi(document, { baseUrl })
          for (const tool of api.tools()) tool.describe()
          operations += api.tools().length + api.omitted.length
        } catch (error) {
          throw new Error(`the seed ${seed}, the round ${round}: ${String(error)}`, { cause: error })
        }
      }
      has(operations > count / 3, `${operations} operations`)
      same([Object.getOwnPropertyNames(Object.prototype).length, ({} as Json)['a']], [before, undefined])
    },
  },
  {
    name: 'imports: one operation that cannot be described among many takes no definitions from the others',
    needs: ['web'],
    async run(place) {
      const { count } = amountOf(place, 1_000, 200)
      const parameters = [{ name: 'q', in: 'query', schema: { type: 'string' } }]
      const operations = Array.from({ length: count }, (_, at): [string, Json] => [
        `GET /p${at}`,
        {
          operationId: `op${at}`,
          parameters: at === count / 2 ? [{ name: 'q', in: 'query', schema: { $dynamicRef: '#x' } }] : parameters,
        },
      ])
      const { api } = await readyApi(documentOf(Object.fromEntries(operations)), { baseUrl })
      same([api.tools().length, api.omitted.length], [count - 1, 1])
      for (const format of sixFormats) {
        const shown = JSON.stringify(format.definitions(api.tools()))
        has(shown.split('"op').length >= count - 1, shown.slice(0, 200))
      }
    },
  },
  {
    name: 'imports: a document of 65 MB is refused, and one that is nearly as large is read',
    needs: ['web'],
    async run({ isFull = false }) {
      const { openapiTools } = await import('toolwright/imports/openapi')
      const most = 67_108_864
      same(await refused(() => openapiTools(' '.repeat(65 * 1_048_576), { baseUrl })), 'E_INVALID_CONFIGURATION')
      const longest = isFull ? most : 1_000_000
      const document = documentOf({ 'GET /p': { operationId: 'get' } }, { 'x-more': '' })
      const text = JSON.stringify(document).replace('"x-more":""', (found) => {
        return found.replace('""', `"${'x'.repeat(longest - JSON.stringify(document).length)}"`)
      })
      same(text.length, longest)
      const options = { baseUrl, report: () => {} }
      same((await openapiTools(text, options)).tools().length, 1)
    },
  },
  {
    name: 'imports: a bomb of YAML is refused',
    needs: ['web', 'yaml'],
    async run() {
      const { openapiTools } = await import('toolwright/imports/openapi')
      const options = { baseUrl, report: () => {} }
      const levels = 'abcdefghi'.split('')
      const bomb = levels.map((name, at) => {
        const parts = Array.from({ length: 9 }, () => (at === 0 ? 'x' : `*${levels[at - 1]}`))
        return `${name}: &${name} [${parts.join()}]`
      })
      const good = 'openapi: 3.1.0\npaths: { /p: { get: { operationId: get, x-more: *i } } }'
      const yaml = `${bomb.join('\n')}\n${good}`
      same(await refused(() => openapiTools(yaml, options)), 'E_INVALID_CONFIGURATION')
      same((await openapiTools(good.replace(', x-more: *i', ''), options)).tools().length, 1)
    },
  },
  {
    name: 'imports: no token is in anything that a call leaves behind, whatever the server makes of it',
    needs: ['web'],
    async run(place) {
      const { openTelemetry } = await import('toolwright/observers/open-telemetry')
      const { count, seed, random } = amountOf(place, 10_000, 100)
      const pick = <Value>(values: readonly Value[]): Value => values[random(values.length)]!
      const text = (longest: number): string =>
        Array.from({ length: random(longest) }, () => pick(echoCharacters)).join('')
      const schemes = { key: { type: 'apiKey', in: 'query', name: 'key' }, basic: { type: 'http', scheme: 'basic' } }
      const schema = { type: 'object', required: ['none'] }
      const operation = {
        operationId: 'run',
        parameters: [
          { name: 'q', in: 'query', schema: {} },
          { name: 'X-H', in: 'header', schema: {} },
        ],
        responses: { 200: { headers: { 'X-Told': {} }, content: { 'application/json': { schema } } } },
      }
      const more = { components: { securitySchemes: schemes }, security: [{ key: [], basic: [] }] }
      let token = ''
      let answer = (): Response => new Response()
      const options = {
        baseUrl,
        auth: { key: () => token, basic: () => ({ value: token, username: 'ada' }) },
        fetch: async () => answer(),
      }
      const { tracerProvider, text: spans } = recordedSpans()
      // All of an executor is read after each of these parts, and nothing is kept longer.
      const part = 500
      for (let round = 0; round < count; round += part) {
        const use: Extension[] = [
          memoryJournal(),
          openTelemetry({ tracerProvider, recordArgs: true, recordResult: true }),
        ]
        const ready = await readyApi(documentOf({ 'POST /a/{id}': operation }, more), options, use)
        const results: ToolResult[] = []
        for (let each = 0; each < Math.min(part, count - round); each++) {
          token = canary + text(40)
          const echo = pick(echoWays)(token, text(6))
          const mediaType = pick(echoMediaTypes)
          const isWhole = mediaType.endsWith('json') && random(2) === 0
          const [status, cut] = [pick(echoStatuses), random(80)]
          answer = () => echoResponse({ token, echo, status, mediaType, isWhole }, cut)
          const args = { id: `i${text(9)}`, q: garbage(random, 4), 'X-H': text(9) }
          const result = await ready.call('run', args)
          results.push(result)
          const seen = [result, result.value, wordsOfError(result), await result.artifact?.asString()]
          const messages = sixFormats.map((format) => format.results([result]))
          const where = `what came of the seed ${seed}, the round ${round + each}, ${status} ${mediaType}`
          showsNothing(JSON.stringify([seen, messages]), where)
        }
        showsNothing(
          await leftBehind(ready, results),
          `what is left of the seed ${seed} up to the round ${round + part}`,
        )
        await ready.executor.close()
      }
      has(spans().length > count * 100, 'the spans')
      showsNothing(spans(), 'the spans')
    },
  },
  {
    name: 'imports: an answer that is cut at any byte says what is known of the effect',
    needs: ['network', 'heads'],
    async run(place) {
      const { isFull = false } = place
      const { answered } = await readyApi(documentOf(scripted), { baseUrl: localApi(place).url })
      const body = '{"done":123}'
      const script: Script = { headers: json, body }
      const head = `HTTP/1.1 200 OK\r\ncache-control: no-store\r\nconnection: close\r\ncontent-type: application/json\r\ncontent-length: ${body.length}\r\n\r\n`
      for (let cut = 0; cut < head.length + body.length; cut += isFull ? 1 : 13) {
        const { status, effect, error } = await answered('post', { ...script, cut })
        const expected = ['error', cut < head.length ? 'unknown' : 'completed', 'network']
        same([cut, status, effect, error?.category], [cut, ...expected])
        same([cut, (await answered('get', { ...script, cut })).effect], [cut, 'none'])
      }
      const whole = await answered('post', { ...script, cut: head.length + body.length })
      same([whole.status, whole.value], ['ok', { done: 123 }])
    },
  },
  {
    name: 'imports: a payment whose answer is cut anywhere, and which is sent again with its key, is made once',
    needs: ['network', 'heads'],
    async run(place) {
      const { count, seed } = amountOf(place, 2_000, 40)
      const local = localApi(place)
      const parameters = [{ name: 'seed', in: 'query', schema: { type: 'integer' } }]
      const document = documentOf({ 'POST /pay': { operationId: 'pay', parameters } })
      const { call } = await readyApi(document, { baseUrl: local.url, idempotency: true, responses: 'off' }, [
        retry({ attempts: 100, delay: 0, maximumDelay: 0 }),
      ])
      const results: ToolResult[] = []
      for (let round = 0; round < count; round += 20)
        results.push(...(await Promise.all(Array.from({ length: 20 }, () => call('pay', { seed })))))
      const values = results.map(({ status, value }) => JSON.stringify([status, value]))
      same([...new Set(values)], ['["ok",{"paid":1}]'], `what came of the seed ${seed}`)
      const { requests, times } = await local.paid()
      has(requests > count * 1.5, `${requests} requests`)
      same([times.length, [...new Set(times)]], [count, [1]], `what was paid with the seed ${seed}`)
    },
  },
  {
    name: 'imports: an answer of 10 MB that repeats the credential shows it nowhere',
    needs: ['network'],
    async run(place) {
      const options = { baseUrl: localApi(place).url, auth: { token: () => canary } }
      const ready = await readyApi(documentOf(scripted, bearer), options, [memoryJournal()])
      const [piece, times] = [`${'x'.repeat(9_900)}{{plain}} {{base64 1}}`, place.isFull === true ? 1_040 : 20]
      const results: ToolResult[] = []
      for (const type of ['text/plain', 'application/pdf'])
        results.push(await ready.answered('get', { headers: { 'content-type': type }, body: piece, times }))
      same([...new Set(results.map(({ status }) => status))], ['ok'])
      for (const { artifact } of results) {
        const text = (await artifact?.asString()) ?? ''
        showsNothing(text)
        same(text.split('[credential]').length > times, true)
      }
      showsNothing(await leftBehind(ready, results))
    },
  },
  {
    name: 'imports: two principals at once never get the credential of each other',
    needs: ['network'],
    async run(place) {
      const { cached } = await import('toolwright/imports/credentials')
      const { count } = amountOf(place, 1_000, 20)
      const local = localApi(place)
      const mint = cached(async ({ principal }) => `p455word-of-${principal}`, { until: () => Infinity })
      const operation = { operationId: 'run', parameters: [{ name: 'who', in: 'query', schema: { type: 'string' } }] }
      const { call } = await readyApi(documentOf({ 'GET /p': operation }, bearer), {
        baseUrl: local.url,
        auth: { token: mint },
      })
      for (let round = 0; round < count; round++)
        await Promise.all(['ada', 'bob'].map((principal) => call('run', { who: principal }, { principal })))
      const got = await local.got()
      same(got.length, 2 * count)
      for (const { url, headers } of got) same(headers['authorization'], `Bearer p455word-of-${url.slice(-3)}`)
    },
  },
]
