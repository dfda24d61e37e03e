import { createHash } from 'node:crypto'
import dns from 'node:dns'
import {
  createServer as createHttpServer,
  type IncomingHttpHeaders,
  type IncomingMessage,
  type ServerResponse,
} from 'node:http'
import type { AddressInfo } from 'node:net'
import { gzipSync } from 'node:zlib'
import { createExecutor, tool } from 'toolwright'
import { InvalidConfigurationError } from 'toolwright/errors'
import type { ArtifactStore } from 'toolwright/extension'
import { describeStore } from 'toolwright/conformance/stores'
import { s3Store, type S3StoreOptions } from 'toolwright/stores/s3'
import { afterAll, afterEach, describe, expect, onTestFinished, test } from 'vitest'
import { signedHeaders } from '../../src/stores/s3/_signing.ts'
import { missing } from '../servers/installed.ts'
import { closedPort } from '../servers/listener.ts'
import { bucket, credentials, startS3, type Asked, type Intervention } from './_s3-server.ts'

if (missing !== undefined) console.warn(`The tests of s3Store on a server are skipped: ${missing}.`)

const spooling = { session: 'one', mediaType: 'text/plain' }
const decoder = new TextDecoder()
const megabyte = new Uint8Array(1_048_576)
const partLength = 5_242_880

async function* megabytes(
  count: number,
  each: (index: number) => unknown = () => {},
): AsyncGenerator<Uint8Array, void> {
  for (let index = 0; index < count; index++) {
    await each(index)
    yield megabyte.fill(index)
  }
}

describe('s3Store takes', () => {
  const right = { bucket, credentials }
  test.each<[string, unknown]>([
    ['no options', undefined],
    ['no bucket of an impossible name', { ...right, bucket: 'A/../B' }],
    ['no prefix that leads elsewhere', { ...right, prefix: '../other/' }],
    ['no prefix that signatures write in two ways', { ...right, prefix: 'a+b c/' }],
    ['no prefix that begins with a slash', { ...right, prefix: '/a' }],
    ['no endpoint that is no URL', { ...right, endpoint: 'localhost:9000' }],
    ['no endpoint that is a file', { ...right, endpoint: 'file:///etc/passwd' }],
    ['no endpoint with credentials', { ...right, endpoint: 'http://me:secret@localhost:9000' }],
    ['no credentials without a secret', { ...right, credentials: { accessKeyId: 'a', secretAccessKey: '' } }],
    ['no parts below 5 MiB', { ...right, partLength: 5_242_879 }],
    ['no parts in fractions', { ...right, partLength: 5_242_880.5 }],
    ['no timeout of 0', { ...right, timeout: 0 }],
    ['no maximum of 0', { ...right, maximumBytes: 0 }],
    ['no region with a line break', { ...right, region: 'eu\n' }],
    ['no style that is no yes or no', { ...right, pathStyle: 'path' }],
    ['no option that it does not have', { ...right, buckets: ['artifacts'] }],
  ])('%s, and says no secret', (_, options) => {
    const refusal = (() => {
      try {
        return s3Store(options as S3StoreOptions)
      } catch (error) {
        return error
      }
    })()
    expect(refusal).toBeInstanceOf(InvalidConfigurationError)
    expect(String(refusal)).not.toMatch(/secret@|S3RVER/)
  })
})

// The examples that Amazon publishes for those who write signers, with the signatures that it gives for them.
describe('s3Store signs', () => {
  const example = { accessKeyId: 'AKIAIOSFODNN7EXAMPLE', secretAccessKey: 'wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY' }
  const host = 'https://examplebucket.s3.amazonaws.com'
  const nothing = createHash('sha256').digest('hex')

  test.each([
    [
      'a GET of a range',
      { method: 'GET', url: `${host}/test.txt`, headers: { range: 'bytes=0-9' }, bodyHash: nothing },
      'host;range;x-amz-content-sha256;x-amz-date',
      'f0e8bdb87c964420e857bd35b5d6ed310bd44f0170aba48dd91039c6036bdb41',
    ],
    [
      'a PUT of an object',
      {
        method: 'PUT',
        url: `${host}/test$file.text`,
        headers: { date: 'Fri, 24 May 2013 00:00:00 GMT', 'x-amz-storage-class': 'REDUCED_REDUNDANCY' },
        bodyHash: createHash('sha256').update('Welcome to Amazon S3.').digest('hex'),
      },
      'date;host;x-amz-content-sha256;x-amz-date;x-amz-storage-class',
      '98ad721746da40c64f1a55b78f14c238d841ea1380cd77a1b5971af0ece108bd',
    ],
    [
      'a GET of a parameter without a value',
      { method: 'GET', url: `${host}/?lifecycle`, bodyHash: nothing },
      'host;x-amz-content-sha256;x-amz-date',
      'fea454ca298b7da1c68078a5d1bdbfbbe0d65c699e0f91ac7a200a0136783543',
    ],
    [
      'a GET of parameters',
      { method: 'GET', url: `${host}/?max-keys=2&prefix=J`, bodyHash: nothing },
      'host;x-amz-content-sha256;x-amz-date',
      '34b48302e7b5fa45bde8084f4b7868a86f0a534bc59db6670ed5711ef69dc6f7',
    ],
  ])('%s as in the example', async (_, request, names, signature) => {
    const headers = await signedHeaders(request, example, 'us-east-1', '20130524T000000Z')
    expect(headers.get('authorization')).toBe(
      `AWS4-HMAC-SHA256 Credential=AKIAIOSFODNN7EXAMPLE/20130524/us-east-1/s3/aws4_request, SignedHeaders=${names}, Signature=${signature}`,
    )
  })

  test('the token of credentials that last for a while', async () => {
    const request = { method: 'GET', url: `${host}/test.txt`, bodyHash: nothing }
    const headers = await signedHeaders(request, { ...example, sessionToken: 'token' }, 'us-east-1')
    expect(headers.get('x-amz-security-token')).toBe('token')
    expect(headers.get('authorization')).toContain('x-amz-security-token')
  })
})

test('s3Store refuses with a typed error if no server listens, and names no host', async () => {
  const port = await closedPort()
  const { store } = s3Store({ bucket, credentials, endpoint: `http://127.0.0.1:${port}` })
  const refusal: unknown = await store.write('text', spooling).catch((error: unknown) => error)
  expect(refusal).toMatchObject({ code: 'E_ARTIFACT', retryable: true })
  expect(String(refusal)).toContain('ECONNREFUSED')
  expect(String(refusal)).not.toMatch(/127\.0\.0\.1|S3RVER|artifacts\//)
}, 20_000)

describe('s3Store behind something that compresses', () => {
  /** Keeps what is put, and gives it compressed where that is allowed, so that no length is told. */
  async function compressing(isStubborn: boolean): Promise<ArtifactStore> {
    const kept = new Map<string | undefined, { readonly body: Buffer; readonly headers: IncomingHttpHeaders }>()
    const answer = async (request: IncomingMessage, response: ServerResponse): Promise<unknown> => {
      const body = Buffer.concat(await Array.fromAsync(request as AsyncIterable<Buffer>))
      if (request.method === 'PUT') kept.set(request.url, { body, headers: request.headers })
      const object = kept.get(request.url)
      const metadata = Object.entries(object?.headers ?? {}).filter(([name]) => name.startsWith('x-amz-meta'))
      for (const [name, value] of metadata) response.setHeader(name, value ?? '')
      if (request.method === 'PUT' || object === undefined) return response.end()
      const isCompressed = isStubborn || /gzip/.test(String(request.headers['accept-encoding']))
      if (isCompressed) return response.setHeader('content-encoding', 'gzip').end(gzipSync(object.body))
      return response.setHeader('content-length', object.body.length).end(object.body)
    }
    const server = createHttpServer((request, response) => void answer(request, response))
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
    onTestFinished(() => void server.close())
    const endpoint = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
    return s3Store({ bucket: 'agents', endpoint, credentials: { accessKeyId: 'key', secretAccessKey: 'secret' } }).store
  }

  test('asks for the bytes as they are, and tells their length', async () => {
    const store = await compressing(false)
    const { handle } = await store.write('hello', { session: 'one', mediaType: 'text/plain' })
    expect((await store.open(handle, { session: 'one' })).byteLength).toBe(5)
  })

  test('takes no length for it that is none', async () => {
    const store = await compressing(true)
    const { handle } = await store.write('hello', { session: 'one', mediaType: 'text/plain' })
    await expect(store.open(handle, { session: 'one' })).rejects.toMatchObject({ code: 'E_ARTIFACT' })
  })
})

test('s3Store without credentials sends no request', async () => {
  const refused = s3Store({
    bucket,
    endpoint: 'http://127.0.0.1:1',
    credentials: () => Promise.reject(new Error('secret')),
  })
  const empty = s3Store({ bucket, endpoint: 'http://127.0.0.1:1', credentials: () => ({}) as never })
  for (const { store } of [refused, empty]) {
    const refusal: unknown = await store.write('text', spooling).catch((error: unknown) => error)
    expect(refusal).toMatchObject({ code: 'E_ARTIFACT', message: expect.not.stringContaining('secret') })
  }
})

describe.skipIf(missing !== undefined)('on a server,', async () => {
  if (missing !== undefined) return
  const server = await startS3()
  let number = 0

  afterAll(() => server.stop())
  afterEach(() => {
    server.intervene = () => undefined
    server.asked.length = 0
  })

  function create(options: Partial<S3StoreOptions> = {}): ReturnType<typeof s3Store> & { count: () => number } {
    const prefix = `${process.pid}-${number++}/`
    const endpoint = `http://127.0.0.1:${server.port}`
    return {
      ...s3Store({ bucket, endpoint, credentials, prefix, partLength, ...options }),
      count: () => server.count(prefix),
    }
  }

  function isComplete({ method, query }: Asked): boolean {
    return method === 'POST' && query.has('uploadId')
  }

  describeStore('s3Store', create)

  test('s3Store puts what is small with one request, and reads a range with another', async () => {
    const { store } = create({ prefix: '' })
    const { handle } = await store.write('0123456789', spooling)
    expect(server.asked.map(({ method, path }) => [method, path])).toEqual([['PUT', `/${bucket}/${handle}`]])
    server.asked.length = 0
    const reader = await store.open(handle, { session: 'one' })
    expect(decoder.decode(await reader.read(2, 5))).toBe('234')
    expect(server.asked.map(({ method, headers }) => [method, headers.range])).toEqual([
      ['HEAD', undefined],
      ['GET', 'bytes=2-4'],
    ])
  })

  test.each([
    [partLength - 1, 0],
    [partLength, 1],
    [partLength + 1, 2],
    [partLength * 2, 2],
  ])('s3Store takes %i bytes in %i parts, all but the last of one length', async (length, parts) => {
    const { store } = create()
    const bytes = new Uint8Array(length).fill(3)
    const { handle, byteLength, sha256 } = await store.write(bytes, spooling)
    const lengths = server.asked.filter(({ query }) => query.has('partNumber')).map((asked) => asked.length)
    expect(lengths).toHaveLength(parts)
    expect(lengths.slice(0, -1).every((each) => each === partLength)).toBe(true)
    expect([byteLength, sha256]).toEqual([length, createHash('sha256').update(bytes).digest('hex')])
    const reader = await store.open(handle, { session: 'one' })
    expect([reader.byteLength, [...(await reader.read(length - 2, length))]]).toEqual([length, [3, 3]])
  })

  test('s3Store speaks to a bucket whose name stands in the host', async () => {
    const lookup = dns.lookup
    const local = ((host: string, ...rest: [never, never]) =>
      lookup(host.endsWith('.localhost') ? '127.0.0.1' : host, ...rest)) as typeof lookup
    dns.lookup = local
    try {
      const { store } = create({ endpoint: `http://s3.localhost:${server.port}`, pathStyle: false, prefix: 'a/b/' })
      const { handle } = await store.write(megabytes(6), spooling)
      expect((await store.open(handle, { session: 'one' })).byteLength).toBe(6_291_456)
      expect(server.asked[0]).toMatchObject({ host: `artifacts.s3.localhost:${server.port}`, path: `/a/b/${handle}` })
    } finally {
      dns.lookup = lookup
    }
  })

  test('s3Store asks for credentials before each request', async () => {
    let count = 0
    const { store } = create({
      credentials: async () => {
        count++
        return credentials
      },
    })
    await store.write(megabytes(6), spooling)
    expect(count).toBe(server.asked.length)
    expect(count).toBe(4)
  })

  test('s3Store writes no session and no secret where others can read them', async () => {
    const { store } = create()
    await store.write('text', { session: 'alice@example.org', mediaType: 'text/plain' })
    const sent = JSON.stringify(server.asked.map(({ path, headers }) => [path, headers]))
    expect(sent).not.toContain('alice')
    expect(sent).toContain('text/plain')
  })

  describe('s3Store tries again', () => {
    /** Is in the way of the first requests of a kind. */
    function inTheWay(times: number, is: (asked: Asked) => boolean, how: Intervention): void {
      let left = times
      server.intervene = (asked) => (is(asked) && left-- > 0 ? how : undefined)
    }

    const busy = { status: 503, body: '<Error><Code>SlowDown</Code></Error>' }
    test.each<[string, (asked: Asked) => boolean, Intervention]>([
      ['a put while the server is busy', ({ method }) => method === 'PUT', busy],
      ['a part whose connection breaks', ({ query }) => query.has('partNumber'), 'drop'],
      ['to complete what the server failed at', isComplete, { status: 500 }],
      [
        'to complete what the server failed at after it had said 200',
        isComplete,
        { status: 200, body: '<?xml version="1.0"?>\n  \n<Error><Code>InternalError</Code></Error>' },
      ],
      ['a look that was limited', ({ method }) => method === 'HEAD', { status: 429 }],
      ['a read', ({ method }) => method === 'GET', busy],
    ])('%s', async (_, is, how) => {
      const { store } = create()
      inTheWay(2, is, how)
      for (const source of ['small', megabytes(6)]) {
        const { handle, byteLength } = await store.write(source, spooling)
        const reader = await store.open(handle, { session: 'one' })
        expect((await reader.read(0, byteLength)).byteLength).toBe(byteLength)
      }
    })

    test('and finds complete what was completed though the answer was lost', async () => {
      const { store } = create()
      let isLost = false
      server.intervene = (asked) => {
        if (!isComplete(asked)) return undefined
        if (isLost) return { status: 404, body: '<Error><Code>NoSuchUpload</Code></Error>' }
        isLost = true
        return 'drop the answer'
      }
      const { handle } = await store.write(megabytes(6), spooling)
      expect((await store.open(handle, { session: 'one' })).byteLength).toBe(6_291_456)
    })

    test('not what is refused for good', async () => {
      const { store } = create()
      server.intervene = ({ method }) => (method === 'PUT' ? { status: 403 } : undefined)
      await expect(store.write('text', spooling)).rejects.toMatchObject({ code: 'E_ARTIFACT', retryable: false })
      expect(server.asked.filter(({ method }) => method === 'PUT')).toHaveLength(1)
    })
  })

  describe('s3Store fails typed, keeps nothing, and is fine with the next call,', () => {
    test.each<[string, (asked: Asked) => boolean, Intervention, string]>([
      [
        'where the put is refused',
        ({ method }) => method === 'PUT',
        { status: 403, body: denied() },
        '403 AccessDenied',
      ],
      [
        'where no upload may begin',
        ({ query }) => query.has('uploads'),
        { status: 403, body: denied() },
        '403 AccessDenied',
      ],
      ['where an upload has no name', ({ query }) => query.has('uploads'), { status: 200, body: '<a/>' }, 'no upload'],
      ['where the second part is refused', ({ query }) => query.get('partNumber') === '2', { status: 400 }, '400'],
      [
        'where the parts cannot be completed',
        isComplete,
        { status: 500, body: denied('InternalError') },
        '500 InternalError',
      ],
      [
        'where the parts cannot be completed after the server had said 200',
        isComplete,
        { status: 200, body: denied('MalformedXML') },
        'MalformedXML',
      ],
      ['where it is told to ask elsewhere', ({ method }) => method === 'PUT', { status: 307 }, '307'],
    ])(
      '%s',
      async (_, is, how, words) => {
        const { store, count } = create()
        const executor = createExecutor({
          tools: [tool('report', () => ReadableStream.from(megabytes(6))), tool('text', () => 'line\n'.repeat(10_000))],
          use: [{ store }],
        })
        server.intervene = (asked) => (is(asked) ? how : undefined)
        const name = is({ method: 'PUT', query: new URLSearchParams() } as Asked) ? 'text' : 'report'
        const result = await executor.execute({ name }, { session: 'one' })
        expect(result).toMatchObject({ status: 'error', effect: 'completed', error: { code: 'E_ARTIFACT' } })
        expect(JSON.stringify(result.content)).toContain(words)
        expect(JSON.stringify(result.content)).not.toMatch(/127\.0\.0\.1|S3RVER|very secret|artifact_/)
        server.intervene = () => undefined
        expect(count()).toBe(0)
        expect(await executor.execute({ name }, { session: 'one' })).toMatchObject({ status: 'ok' })
      },
      20_000,
    )

    test('where the server goes silent', async () => {
      const { store, count } = create({ timeout: 200 })
      server.intervene = ({ method }) => (method === 'PUT' ? 'stall' : undefined)
      await expect(store.write('text', spooling)).rejects.toMatchObject({
        code: 'E_ARTIFACT',
        message: expect.stringContaining('200 ms'),
      })
      server.intervene = () => undefined
      expect(count()).toBe(0)
      await store.write('text', spooling)
    }, 20_000)

    test('where it is given up while a part is on its way', async () => {
      const { store, count } = create()
      const leaving = new AbortController()
      server.intervene = ({ query }) => {
        if (query.get('partNumber') !== '2') return undefined
        leaving.abort()
        return 'stall'
      }
      const failure: unknown = await store
        .write(megabytes(20), { ...spooling, signal: leaving.signal })
        .catch((error: unknown) => error)
      expect(failure).toBe(leaving.signal.reason)
      expect(count()).toBe(0)
    })

    test('where a range is answered with another', async () => {
      const { store } = create()
      const { handle } = await store.write('0123456789', spooling)
      const reader = await store.open(handle, { session: 'one' })
      server.intervene = ({ method }) => (method === 'GET' ? { status: 200, body: 'all of it and more' } : undefined)
      await expect(reader.read(2, 5)).rejects.toMatchObject({ code: 'E_ARTIFACT' })
    })

    test('where the signature is wrong', async () => {
      const { store } = create({ credentials: { ...credentials, secretAccessKey: 'another' } })
      await expect(store.write('text', spooling)).rejects.toMatchObject({
        code: 'E_ARTIFACT',
        message: expect.stringContaining('403 SignatureDoesNotMatch'),
      })
    })
  })

  test('a reader of what was deleted meanwhile says that it is gone', async () => {
    const { store } = create()
    const { handle } = await store.write('gone', spooling)
    const reader = await store.open(handle, { session: 'one' })
    await store.delete(handle)
    await expect(reader.read(0, 4)).rejects.toThrow('There is no artifact')
  })

  test('an artifact that looks like a refusal is none', async () => {
    const { store } = create()
    const text = '<Error><Code>AccessDenied</Code></Error>'
    const { handle } = await store.write(text, spooling)
    const reader = await store.open(handle, { session: 'one' })
    expect(decoder.decode(await reader.read(0, text.length))).toBe(text)
  })

  function denied(code = 'AccessDenied'): string {
    return `<Error><Code>${code}</Code><Message>very secret</Message><Resource>/artifacts/artifact_1</Resource></Error>`
  }
})
