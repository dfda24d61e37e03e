import { createExecutor, memoryStore, tool, type SpooledArtifact } from 'toolwright'
import { has, same, words } from '../_assert.ts'
import type { Case } from '../run.ts'

const lines = (count: number): string =>
  Array.from({ length: count }, (_, order) => `GET /orders/${order} 200`).join('\n')

export const artifacts: readonly Case[] = [
  {
    name: 'artifacts: text, JSON and bytes above the limit',
    needs: ['decoder'],
    async run() {
      const tools = [
        tool('text', () => lines(9_000)),
        tool('json', () => ({ list: Array.from({ length: 9_000 }, (_, order) => order) })),
        tool('bytes', () => new Uint8Array(40_000).fill(7)),
      ]
      const executor = createExecutor({ tools })
      const results = await Promise.all(tools.map(({ name }) => executor.execute({ name })))
      const [text, json, bytes] = results.map(({ artifact }) => artifact)
      has(
        results.every(({ status, handle }) => status === 'ok' && handle !== undefined),
        'handles',
      )
      same(await text?.lineCount(), 9_000)
      same((await text?.grep(/\/8999 /))?.length, 1)
      same(await (json as SpooledArtifact & { get(pointer: string): Promise<unknown> }).get('/list/8999'), 8_999)
      same(bytes?.byteLength(), 40_000)
    },
  },
  {
    name: 'artifacts: a stream of bytes',
    needs: ['streams'],
    async run() {
      const stream = (): ReadableStream<Uint8Array> =>
        new ReadableStream({
          start(controller) {
            for (let piece = 0; piece < 50; piece++) controller.enqueue(new Uint8Array(1_000).fill(65))
            controller.close()
          },
        })
      const { artifact } = await createExecutor({ tools: [tool('stream', stream)] }).execute({ name: 'stream' })
      same(artifact?.byteLength(), 50_000)
    },
  },
  {
    name: 'artifacts: a model asks for lines with a pattern',
    needs: ['decoder'],
    async run() {
      const { artifactTools } = await import('toolwright/artifacts/tools')
      const log = tool('log', () => `${lines(3_999)}\nGET /orders/x 503`)
      const executor = createExecutor({ tools: [log], use: [artifactTools()] })
      const { handle } = await executor.execute({ name: 'log' }, { session: 's' })
      const args = { artifact: handle, pattern: ' 5\\d\\d$' }
      const found = await executor.execute({ name: 'artifact_grep', args }, { session: 's' })
      has(found.status === 'ok' && words(found).includes('/orders/x 503'), `${found.status} ${words(found)}`)
    },
  },
  {
    name: 'artifacts: JSON lines, tables, Markdown, tokens',
    needs: ['decoder'],
    async run() {
      const { filter, JsonLinesArtifact } = await import('toolwright/artifacts/json')
      const { TableArtifact } = await import('toolwright/artifacts/table')
      const { MarkdownArtifact } = await import('toolwright/artifacts/markdown')
      const { estimateTokens } = await import('toolwright/artifacts/tokens')
      const made = { description: 'Makes one' }
      const executor = createExecutor({
        tools: [
          tool({ ...made, name: 'log', artifact: JsonLinesArtifact, handler: () => '{"a":1}\n{"a":2}\n' }),
          tool({ ...made, name: 'table', artifact: TableArtifact, handler: () => 'id,total\n1,9\n2,120\n' }),
          tool({ ...made, name: 'page', artifact: MarkdownArtifact, handler: () => '# H\n\ntext [l](http://x)\n' }),
        ],
      })
      const artifactOf = async (name: string): Promise<unknown> => (await executor.execute({ name })).artifact
      same(await filter((await artifactOf('log')) as InstanceType<typeof JsonLinesArtifact>, '$[?@.a == 2].a'), [2])
      const table = (await artifactOf('table')) as InstanceType<typeof TableArtifact>
      has(JSON.stringify(await table.where([{ column: 'total', operator: '>', value: 100 }])).includes('120'), 'rows')
      const page = (await artifactOf('page')) as InstanceType<typeof MarkdownArtifact>
      same([(await page.headings()).length, (await page.links()).length], [1, 1])
      has(estimateTokens('hello world') > 0, 'tokens')
    },
  },
  {
    name: 'artifacts: front matter',
    needs: ['env'],
    async run() {
      const { MarkdownArtifact } = await import('toolwright/artifacts/markdown')
      const page = { description: 'A page', artifact: MarkdownArtifact, handler: () => '---\na: 1\n---\n# H\n' }
      const { artifact } = await createExecutor({ tools: [tool({ name: 'page', ...page })] }).execute({ name: 'page' })
      same(await (artifact as InstanceType<typeof MarkdownArtifact>).frontMatter(), { a: 1 })
    },
  },
  {
    name: 'stores: memory, with the digest of what it keeps',
    async run() {
      const kept = memoryStore()
      const { handle, sha256 } = await kept.write('abc', { session: 's', mediaType: 'text/plain' })
      same(sha256, 'ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad')
      same((await kept.open(handle, { session: 's' })).byteLength, 3)
    },
  },
  {
    name: 'stores: S3 over fetch',
    needs: ['web'],
    async run() {
      const { s3Store } = await import('toolwright/stores/s3')
      const credentials = { accessKeyId: 'a', secretAccessKey: 's' }
      const { store } = s3Store({ bucket: 'bucket', region: 'r', endpoint: 'http://localhost:1', credentials })
      const { fetch } = globalThis
      globalThis.fetch = bucket()
      try {
        const { signal } = new AbortController()
        const { handle } = await store.write('x'.repeat(1_000), { session: 's', mediaType: 'text/plain', signal })
        const reader = await store.open(handle, { session: 's' })
        same([reader.byteLength, (await reader.read(0, 3)).length], [1_000, 3])
      } finally {
        globalThis.fetch = fetch
      }
    },
  },
]

/** A bucket behind `fetch`: what was put is got. */
function bucket(): typeof fetch {
  const kept = new Map<string, { readonly bytes: Uint8Array<ArrayBuffer>; readonly headers: Headers }>()
  return async (input, init) => {
    const request = new Request(input, init)
    const key = new URL(request.url).pathname
    if (request.method === 'PUT') {
      kept.set(key, { bytes: new Uint8Array(await request.arrayBuffer()), headers: request.headers })
      return new Response('', { headers: { etag: '"x"' } })
    }
    const found = kept.get(key)
    if (found === undefined) return new Response('', { status: 404 })
    const headers = new Headers()
    for (const [name, value] of found.headers) {
      if (name.startsWith('x-amz-meta') || name === 'content-type') headers.set(name, value)
    }
    const [, first = '0', last = String(found.bytes.length - 1)] =
      /bytes=(\d+)-(\d+)/.exec(request.headers.get('range') ?? '') ?? []
    const part = found.bytes.slice(Number(first), Number(last) + 1)
    const isPart = request.headers.has('range')
    headers.set('content-length', String(part.length))
    if (isPart) headers.set('content-range', `bytes ${first}-${Number(first) + part.length - 1}/${found.bytes.length}`)
    return new Response(request.method === 'HEAD' ? null : part, { status: isPart ? 206 : 200, headers })
  }
}
