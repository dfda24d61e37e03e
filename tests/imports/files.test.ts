import { createExecutor, memoryStore, tool } from 'toolwright'
import { openapiTools } from 'toolwright/imports/openapi'
import { describe, expect, onTestFinished, test } from 'vitest'
import { bearer, documentOf, reply, serve, wordsOf, type GotRequest, type Json, type TestServer } from './_server.ts'

/** Keeps bytes as the artifacts of a session, and calls an upload with their handles. */
async function uploads(operation: Json, more: Json = {}, options: Json = {}, answer?: Parameters<typeof serve>[0]) {
  const server: TestServer = await serve(answer)
  const api = await openapiTools(documentOf({ 'POST /files': { operationId: 'upload', ...operation } }, more), {
    baseUrl: server.url,
    ...options,
  })
  const keep = tool(
    'keep',
    async ({ text, count, mediaType }: { text: string; count: number; mediaType: string }, context) =>
      (await context.keep(text.repeat(count), { mediaType })).handle,
  )
  const executor = createExecutor({ tools: [keep], use: [api, { store: memoryStore() }] })
  onTestFinished(() => executor.close())
  const kept = async (text: string, mediaType = 'application/pdf', session = 's', count = 1): Promise<string> => {
    return String((await executor.execute({ name: 'keep', args: { text, count, mediaType } }, { session })).value)
  }
  const upload = (args: unknown, session = 's') => executor.execute({ name: 'upload', args }, { session })
  return { ...server, api, kept, upload }
}

/** The parts of a multipart body, byte for byte: the parsers of platforms differ in types and in names with quotes. */
function partsOf({ headers, body }: GotRequest): [string, string | { name: string; type: string; text: string }][] {
  const [, boundary = ''] = /^multipart\/form-data; boundary=([\w-]+)$/.exec(String(headers['content-type'])) ?? []
  const pieces = body.toString().split(`--${boundary}`)
  expect([pieces[0], pieces.at(-1)]).toEqual(['', '--\r\n'])
  return pieces.slice(1, -1).map((piece) => {
    const [, name = '', file, type = '', text = ''] =
      /^\r\nContent-Disposition: form-data; name="([^"\r\n]*)"(?:; filename="([^"\r\n]*)")?\r\n(?:Content-Type: (.*)\r\n)?\r\n([^]*)\r\n$/.exec(
        piece,
      ) ?? []
    const decoded = name.replaceAll('%22', '"')
    return [decoded, file === undefined ? text : { name: file, type, text }]
  })
}

const file = { type: 'string', format: 'binary' }
const form = (properties: Json, media: Json = {}): Json => ({
  requestBody: {
    required: true,
    content: { 'multipart/form-data': { schema: { type: 'object', properties, required: ['file'] }, ...media } },
  },
})

describe('a body of bytes', () => {
  const pdf = { requestBody: { required: true, content: { 'application/pdf': { schema: file } } } }

  test('is the handle of an artifact, whose bytes are sent with their length', async () => {
    const { api, kept, upload, requests } = await uploads(pdf)
    expect(api.tools()[0]!.describe().inputSchema.properties).toEqual({
      body: { type: 'string', description: 'The handle of the artifact to send' },
    })
    expect((await upload({ body: await kept('%PDF ä') })).status).toBe('ok')
    expect(requests[0]).toMatchObject({ headers: { 'content-type': 'application/pdf', 'content-length': '7' } })
    expect(requests[0]?.body.toString()).toBe('%PDF ä')
  })

  test('that is large is streamed, and opened anew for each attempt', async () => {
    const large = 'x'.repeat(3_000_000)
    const { kept, upload, requests } = await uploads(
      pdf,
      bearer,
      { auth: { token: ({ rejected }: { rejected: boolean }) => `token-${String(rejected)}` } },
      ({ headers }, response) => reply(response, headers.authorization === 'Bearer token-true' ? 200 : 401, 1),
    )
    expect((await upload({ body: await kept('x', 'application/pdf', 's', large.length) })).status).toBe('ok')
    expect(requests.map(({ body }) => body.toString() === large)).toEqual([true, true])
    expect(requests[0]?.headers['transfer-encoding']).toBe('chunked')
  })

  test('of another session, or that is no handle, is not sent', async () => {
    const { kept, upload, requests } = await uploads(pdf)
    const handle = await kept('secret', 'text/plain', 'other')
    for (const body of [handle, 'artifact_none', '../../etc/passwd', '']) {
      expect(await upload({ body })).toMatchObject({
        status: 'error',
        effect: 'none',
        error: { code: 'E_INVALID_TOOL_ARGS' },
      })
    }
    expect(requests).toEqual([])
  })

  test('of JSON takes a handle as the text that it is', async () => {
    const { kept, upload, requests } = await uploads({
      requestBody: { content: { 'application/json': { schema: {} } } },
    })
    const handle = await kept('secret')
    await upload({ body: { file: handle } })
    expect(requests[0]?.body.toString()).toBe(JSON.stringify({ file: handle }))
  })
})

describe('a multipart body', () => {
  test('has texts, JSON and files, each with its media type', async () => {
    const properties = {
      file,
      files: { type: 'array', items: file },
      title: { type: 'string' },
      count: { type: 'integer' },
      tags: { type: 'array', items: { type: 'string' } },
      meta: { type: 'object' },
      raw: {},
      'na"me': { type: 'string' },
    }
    const media = { encoding: { raw: { contentType: 'application/json' }, files: { contentType: 'image/png' } } }
    const { kept, upload, requests } = await uploads(form(properties, media))
    const [one, two] = [await kept('%PDF'), await kept('PNG', 'image/png')]
    const result = await upload({
      body: {
        file: one,
        files: [one, two],
        title: 'ä "b"',
        count: 7,
        tags: ['x', 'y'],
        meta: { a: [1] },
        raw: 'text',
        'na"me': 'q',
      },
    })
    expect(result.status, wordsOf(result)).toBe('ok')
    expect(partsOf(requests[0]!)).toEqual([
      ['file', { name: 'file.pdf', type: 'application/pdf', text: '%PDF' }],
      ['files', { name: 'files.png', type: 'image/png', text: '%PDF' }],
      ['files', { name: 'files.png', type: 'image/png', text: 'PNG' }],
      ['title', 'ä "b"'],
      ['count', '7'],
      ['tags', 'x'],
      ['tags', 'y'],
      ['meta', '{"a":[1]}'],
      ['raw', '"text"'],
      ['na"me', 'q'],
    ])
  })

  test('that is large is streamed', async () => {
    const { kept, upload, requests } = await uploads(form({ file, title: { type: 'string' } }))
    const handle = await kept('y', 'text/csv', 's', 2_000_000)
    await upload({ body: { file: handle, title: 't' } })
    const [first] = partsOf(requests[0]!)
    const sent = first![1] as { type: string; text: string }
    expect([requests[0]?.headers['transfer-encoding'], sent.type, sent.text.length]).toEqual([
      'chunked',
      'text/csv',
      2_000_000,
    ])
  })

  test('finds files behind references and in parts of a schema', async () => {
    const schemas = {
      File: file,
      Base: { type: 'object', properties: { file: { $ref: '#/components/schemas/File' } } },
    }
    const schema = {
      allOf: [
        { $ref: '#/components/schemas/Base' },
        { type: 'object', properties: { other: { type: 'string', contentMediaType: 'image/png' } } },
      ],
    }
    const { kept, upload, requests } = await uploads(
      { requestBody: { content: { 'multipart/form-data': { schema } } } },
      { components: { schemas } },
    )
    const handle = await kept('bytes')
    await upload({ body: { file: handle, other: handle } })
    expect(partsOf(requests[0]!).map(([name, value]) => [name, (value as { text: string }).text])).toEqual([
      ['file', 'bytes'],
      ['other', 'bytes'],
    ])
  })

  test('finds files where a schema has a choice: one, several, none, or an object that says where it is', async () => {
    const reference = { type: 'object', properties: { url: { type: 'string' } } }
    const properties = {
      image: { anyOf: [file, { type: 'array', maxItems: 2, items: file }], description: 'What is edited' },
      mask: { anyOf: [file, { type: 'null' }] },
      first: { oneOf: [file, reference] },
    }
    const { kept, upload, requests } = await uploads(form({}, { schema: { type: 'object', properties } }))
    const handle = await kept('bytes', 'image/png')
    await upload({ body: { image: handle, mask: null, first: { url: 'https://example.com' } } })
    await upload({ body: { image: [handle, handle], mask: handle, first: handle } })
    const image = ['image', { name: 'image.png', type: 'image/png', text: 'bytes' }]
    const [mask, first] = ['mask', 'first'].map((name) => [
      name,
      { name: `${name}.png`, type: 'image/png', text: 'bytes' },
    ])
    expect(partsOf(requests[0]!)).toEqual([image, ['first', '{"url":"https://example.com"}']])
    expect(partsOf(requests[1]!)).toEqual([image, image, mask, first])
    expect((await upload({ body: { image: [handle, handle, handle] } })).error?.code).toBe('E_INVALID_TOOL_ARGS')
  })

  test('takes no name that ends a header', async () => {
    const { upload, requests } = await uploads(form({ title: { type: 'string' } }))
    const name = 'a"\r\nX-Evil: 1\r\n\r\nb'
    await upload({ body: { file: 'plain', [name]: 'x' } })
    expect(requests[0]?.body.toString()).not.toMatch(/^X-Evil/m)
  })
})
