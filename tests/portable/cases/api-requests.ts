import { tool } from 'toolwright'
import { same, words } from '../_assert.ts'
import type { Case } from '../run.ts'
import { documentOf, localApi, readyApi, scripted, shortly, type Json } from './_api.ts'

/** A parameter, its value, and what is sent of it: the rest of the URL, or the header. */
type ParameterRow = readonly [place: string, more: Json, value: unknown, sent: string]

const inAddress: readonly ParameterRow[] = [
  ['path', {}, 'a/b c', '/a%2Fb%20c'],
  ['path', {}, "ä!'()*~", '/%C3%A4%21%27%28%29%2A~'],
  ['path', {}, ['a', 'b,c'], '/a,b%2Cc'],
  ['path', { explode: true }, { a: 1, b: 'x' }, '/a=1,b=x'],
  ['path', { style: 'label' }, ['a', 'b'], '/.a.b'],
  ['path', { style: 'label', explode: true }, { a: 1, b: 2 }, '/.a=1.b=2'],
  ['path', { style: 'matrix' }, ['a', 'b'], '/;v=a,b'],
  ['path', { style: 'matrix', explode: true }, ['a', 'b'], '/;v=a;v=b'],
  ['path', {}, '?x=1', '/%3Fx%3D1'],
  ['path', {}, '#', '/%23'],
  ['path', {}, '//evil.example', '/%2F%2Fevil.example'],
  ['path', {}, '@evil.example', '/%40evil.example'],
  ['path', {}, 'a%2eb', '/a%252eb'],
  ['query', {}, 'a b&c=d+e', '?v=a%20b%26c%3Dd%2Be'],
  ['query', {}, ['a', 'b'], '?v=a&v=b'],
  ['query', {}, [], ''],
  ['query', {}, null, ''],
  ['query', {}, { a: 1, b: 2 }, '?a=1&b=2'],
  ['query', { explode: false }, { a: 1, b: 2 }, '?v=a,1,b,2'],
  ['query', { style: 'spaceDelimited', explode: false }, ['a', 'b'], '?v=a%20b'],
  ['query', { style: 'pipeDelimited', explode: false }, ['a', 'b'], '?v=a%7Cb'],
  [
    'query',
    { style: 'deepObject' },
    { a: { b: 1 }, c: ['x', 'y'] },
    '?v%5Ba%5D%5Bb%5D=1&v%5Bc%5D%5B0%5D=x&v%5Bc%5D%5B1%5D=y',
  ],
  ['query', { allowReserved: true }, 'a/b?c#d', '?v=a/b?c%23d'],
  [
    'query',
    { schema: undefined, content: { 'application/json': { schema: {} } } },
    { a: [1] },
    '?v=%7B%22a%22%3A%5B1%5D%7D',
  ],
]
const inHeaders: readonly ParameterRow[] = [
  ['header', {}, ['a', 'b'], 'a,b'],
  ['header', { explode: true }, { a: 1, b: 2 }, 'a=1,b=2'],
  ['header', {}, 'a "b", c', 'a "b", c'],
  // One character for each byte of UTF-8
  ['header', {}, 'é', '\u00c3\u00a9'],
  ['header', {}, '\u20ac', '\u00e2\u0082\u00ac'],
]
const inCookies: readonly ParameterRow[] = [
  ['cookie', {}, { k: 'v w', l: 2 }, 'k=v%20w; l=2'],
  ['cookie', { explode: false }, ['x', 'y'], 'v=x,y'],
  ['cookie', {}, 'a\r\nb', 'v=a%0D%0Ab'],
]

/** Makes an operation for each row, calls it, and compares what was sent. */
async function compareRows(place: Parameters<Case['run']>[0], rows: readonly ParameterRow[]): Promise<void> {
  const local = localApi(place)
  const operations = rows.map(([where, more], index): [string, Json] => {
    const parameters = [{ name: where === 'header' ? 'X-V' : 'v', in: where, schema: {}, ...more }]
    return [`GET /r${index}${where === 'path' ? '/{v}' : ''}`, { operationId: `r${index}`, parameters }]
  })
  const { call } = await readyApi(documentOf(Object.fromEntries(operations)), { baseUrl: local.url })
  for (const [index, [where, , value]] of rows.entries()) {
    const { status } = await call(`r${index}`, { [where === 'header' ? 'X-V' : 'v']: value })
    same(status, 'ok', `what came of ${JSON.stringify(rows[index])}`)
  }
  const got = (await local.got()).map(({ url, headers }, index) => {
    const [where] = rows[index]!
    if (where === 'path' || where === 'query') return url.replace(`/r${index}`, '')
    return headers[where === 'header' ? 'x-v' : 'cookie']
  })
  same(
    got,
    rows.map(([, , , sent]) => sent),
    'what was sent',
  )
}

const boundary = /----toolwright[\da-f]{32}/g

export const apiRequests: readonly Case[] = [
  {
    name: 'imports: parameters are written byte for byte into paths, queries and headers',
    needs: ['network'],
    run: (place) => compareRows(place, [...inAddress, ...inHeaders]),
  },
  {
    name: 'imports: parameters are written byte for byte into cookies',
    needs: ['network', 'cookies'],
    run: (place) => compareRows(place, inCookies),
  },
  {
    name: 'imports: headers and credentials are sent as UTF-8, and read so',
    needs: ['network'],
    async run(place) {
      const local = localApi(place)
      const text = 'ä \u20ac \u{1f600}'
      const bytes = Array.from(new TextEncoder().encode(text), (byte) => String.fromCharCode(byte)).join('')
      const schemes = {
        key: { type: 'apiKey', in: 'header', name: 'X-Key' },
        token: { type: 'http', scheme: 'bearer' },
      }
      const more = { components: { securitySchemes: schemes }, security: [{ key: [], token: [] }] }
      const secret = `p455word-${text}`
      const { answered } = await readyApi(documentOf(scripted, more), {
        baseUrl: local.url,
        headers: { 'X-Own': text },
        auth: { key: () => secret, token: () => secret },
      })
      const headers = { 'content-type': 'text/plain', link: `<${bytes}> p455word-${bytes}` }
      const result = await answered('get', { headers, body: 'told' })
      same(words(result), `told|link: <${text}> [credential]`)
      const [got] = await local.got()
      same(
        ['x-own', 'x-key', 'authorization'].map((name) => got?.headers[name]),
        [bytes, `p455word-${bytes}`, `Bearer p455word-${bytes}`],
      )
    },
  },
  {
    name: 'imports: bodies are written byte for byte, and what is absent, null and empty is told apart',
    needs: ['network'],
    async run(place) {
      const rows: readonly (readonly [type: string, media: Json, value: unknown, sent: string])[] = [
        ...[{ a: null }, {}, null, 'text', [1, { b: [] }], 0].map(
          (value) => ['application/merge-patch+json', {}, value, JSON.stringify(value)] as const,
        ),
        [
          'application/x-www-form-urlencoded',
          { encoding: { deep: { style: 'deepObject' }, list: { style: 'form', explode: false } } },
          { plain: 'a b&c', deep: { x: 1 }, list: ['a', 'b'], all: ['c', 'd'], nested: { z: [1] } },
          'plain=a%20b%26c&deep%5Bx%5D=1&list=a,b&all=c&all=d&nested=%7B%22z%22%3A%5B1%5D%7D',
        ],
        ['text/csv', {}, 'a,b\r\n1,2', 'a,b\r\n1,2'],
        ['application/json', {}, undefined, ''],
      ]
      const local = localApi(place)
      const operations = rows.map(([type, media], index): [string, Json] => [
        `PATCH /r${index}`,
        { operationId: `r${index}`, requestBody: { content: { [type]: { schema: {}, ...media } } } },
      ])
      const { call } = await readyApi(documentOf(Object.fromEntries(operations)), { baseUrl: local.url })
      for (const [index, [, , body]] of rows.entries())
        same((await call(`r${index}`, body === undefined ? {} : { body })).status, 'ok')
      const got = (await local.got()).map(({ headers, body }) => [headers['content-type'] ?? '', body])
      same(
        got,
        rows.map(([type, , value, sent]) => [value === undefined ? '' : type, sent]),
      )
    },
  },
  {
    name: 'imports: files are sent from artifacts, also large ones, and none of another session',
    needs: ['network'],
    async run(place) {
      const local = localApi(place)
      const file = { type: 'string', format: 'binary' }
      const properties = {
        file,
        more: { type: 'array', items: file },
        title: { type: 'string' },
        meta: { type: 'object' },
      }
      const operations = {
        'POST /form': {
          operationId: 'form',
          requestBody: { content: { 'multipart/form-data': { schema: { type: 'object', properties } } } },
        },
        'PUT /bytes': { operationId: 'bytes', requestBody: { content: { 'application/pdf': {} } } },
        'POST /json': { operationId: 'json', requestBody: { content: { 'application/json': {} } } },
      }
      const keep = tool('keep', async ({ size }: { size: number }, context) => {
        return (await context.keep('%PDF'.repeat(size), { mediaType: 'application/pdf' })).handle
      })
      const { call } = await readyApi(documentOf(operations), { baseUrl: local.url }, [{ tools: () => [keep] }])
      const { value: handle } = await call('keep', { size: 1 })
      const { value: large } = await call('keep', { size: 400_000 })
      const answers = [
        await call('form', { body: { file: handle, more: [handle], title: 'ä', meta: { a: 1 } } }),
        await call('bytes', { body: handle }),
        await call('json', { body: handle }),
        await call('bytes', { body: large }),
        await call('form', { body: { file: large } }),
        await call('bytes', { body: handle }, { session: 'other' }),
        await call('bytes', { body: 'no handle' }),
      ]
      same(answers.map(shortly), [
        'ok completed',
        'ok completed',
        'ok completed',
        'ok completed',
        'ok completed',
        'error none validation',
        'error none validation',
      ])
      const [form, bytes, json, streamed, largeForm, ...others] = await local.got()
      const part = (head: string, body: string): string =>
        `--B\r\nContent-Disposition: form-data; ${head}\r\n\r\n${body}\r\n`
      const pdf = '\r\nContent-Type: application/pdf'
      same(
        form?.body.replace(boundary, 'B'),
        `${part(`name="file"; filename="file.pdf"${pdf}`, '%PDF')}${part(`name="more"; filename="more.pdf"${pdf}`, '%PDF')}${part('name="title"', 'Ã¤')}${part('name="meta"\r\nContent-Type: application/json', '{"a":1}')}--B--\r\n`,
      )
      same(form?.headers['content-type']?.replace(boundary, 'B'), 'multipart/form-data; boundary=B')
      same(
        [bytes?.headers['content-type'], bytes?.body, json?.body],
        ['application/pdf', '%PDF', JSON.stringify(handle)],
      )
      same([streamed?.body.length, streamed?.body.slice(-8)], [1_600_000, '%PDF%PDF'], 'the large body')
      same(
        largeForm?.body.replace(boundary, 'B').length,
        part(`name="file"; filename="file.pdf"${pdf}`, '').length + 1_600_000 + '--B--\r\n'.length,
      )
      same(others.length, 0)
    },
  },
  {
    name: 'imports: args that no request can have are not sent',
    needs: ['network'],
    async run(place) {
      const local = localApi(place)
      const header = { name: 'X-A', in: 'header', schema: { type: 'string' } }
      const body = { type: 'object', properties: { tenant: { type: 'string' } } }
      const operations = {
        'GET /p/{id}': { operationId: 'get' },
        'GET /h': { operationId: 'head', parameters: [header, { name: 'tenant', in: 'query', schema: {} }] },
        'POST /b': { operationId: 'post', requestBody: { content: { 'application/json': { schema: body } } } },
        'GET /transport': { parameters: [{ name: 'Host', in: 'header' }] },
      }
      const fixed = { tenant: 't-1', '/body/tenant': 't-1' }
      const { api, call } = await readyApi(documentOf(operations), { baseUrl: local.url, fixed })
      same(
        api.omitted.map(({ operation }) => operation),
        ['GET /transport'],
      )
      const outcomes: string[] = []
      for (const id of ['', '.', '..', '../x', 'a/../../b', '\\..\\', '%2e%2e'])
        outcomes.push(shortly(await call('get', { id })))
      for (const text of ['a\r\nX-Evil: 1', 'a\nb', 'a\0b', 'a\x7fb'])
        outcomes.push(shortly(await call('head', { 'X-A': text })))
      outcomes.push(
        shortly(await call('head', { tenant: 't-2' })),
        shortly(await call('post', { body: { tenant: 't-2' } })),
      )
      same([...new Set(outcomes)], ['error none validation'])
      same((await local.got()).length, 0)
      await call('head')
      await call('post', { body: {} })
      same(
        (await local.got()).map(({ url, body: sent }) => url + sent),
        ['/h?tenant=t-1', '/b{"tenant":"t-1"}'],
      )
    },
  },
]
