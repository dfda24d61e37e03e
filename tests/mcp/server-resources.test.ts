import type { Client } from '@modelcontextprotocol/client'
import { json, tool, type Tool } from 'toolwright'
import { fileStore } from 'toolwright/stores/file'
import { describe, expect, test } from 'vitest'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { z } from 'zod'
import { closing, connect, eras, start, textOf } from './_server.ts'

const lines = Array.from({ length: 5_000 }, (_, index) => `line ${index} ünïcödé 🦊`).join('\n')
const report = tool('report', () => lines)
const bytes = Uint8Array.from({ length: 100_000 }, (_, index) => index % 251)

interface Content {
  readonly uri: string
  readonly mimeType?: string
  readonly text?: string
  readonly blob?: string
  readonly _meta?: Readonly<Record<string, unknown>>
}

async function read(client: Client, uri: string): Promise<Content> {
  const [first] = (await client.readResource({ uri }, { cacheMode: 'bypass' })).contents
  return first as Content
}

/** The address of what a call left behind. */
async function leave(client: Client, name = 'report'): Promise<string> {
  const { content, isError } = await client.callTool({ name, arguments: {} })
  expect(isError).not.toBe(true)
  const link = content.find((block) => block.type === 'resource_link')
  return link?.type === 'resource_link' ? link.uri : ''
}

describe.each(eras)('in the era of %s, a large result', (_, mode) => {
  test('is shown in its beginning, and linked to', async () => {
    const { url } = await start({ tools: [report] })
    const client = await connect(url, mode)
    const result = await client.callTool({ name: 'report', arguments: {} })
    expect(JSON.stringify(result).length).toBeLessThan(4_000)
    expect(textOf(result)).toContain('line 0 ')
    expect(result.content.at(-1)).toMatchObject({
      type: 'resource_link',
      uri: expect.stringMatching(/^toolwright:\/\/artifact\//),
      mimeType: 'text/plain',
      size: Buffer.byteLength(lines),
    })
  })

  test('is read by its address, in parts that end with whole characters', async () => {
    const { url } = await start({ tools: [report] }, { readLimit: 1_001 })
    const client = await connect(url, mode)
    let uri: string | undefined = await leave(client)
    let text = ''
    let parts = 0
    while (uri !== undefined) {
      const content: Content = await read(client, uri)
      expect(Buffer.byteLength(content.text ?? '')).toBeLessThanOrEqual(1_001)
      text += content.text
      uri = content._meta?.['toolwright/next'] as string | undefined
      parts++
    }
    expect(text).toBe(lines)
    expect(parts).toBeGreaterThan(100)
  })

  test('is read in the range that is asked for, as far as the limit goes', async () => {
    const { url } = await start({ tools: [report, tool('data', () => bytes)] }, { readLimit: 1_000 })
    const client = await connect(url, mode)
    const uri = await leave(client, 'data')
    const ranges = [
      ['?start=10&end=20', 10, 20],
      ['?start=10', 10, 1_010],
      ['?start=99990&end=5000000', 99_990, 100_000],
      ['?start=100000', 100_000, 100_000],
      ['?start=30&end=20', 30, 30],
      ['', 0, 1_000],
    ] as const
    for (const [range, first, last] of ranges) {
      const { blob, mimeType, _meta } = await read(client, uri + range)
      expect(Buffer.from(blob ?? '', 'base64')).toEqual(Buffer.from(bytes.subarray(first, last)))
      expect([mimeType, _meta?.['toolwright/size']]).toEqual(['application/octet-stream', 100_000])
    }
    for (const range of ['?start=-1', '?start=1e3', '?end=x', '?start=9999999999999999999']) {
      await expect(read(client, uri + range)).rejects.toMatchObject({ code: -32_602 })
    }
  })

  test("of another client's is no result, and neither is one that never was", async () => {
    const { url } = await start({ tools: [report] }, {}, { token: (key) => key })
    const as = (name: string): Promise<Client> => connect(url, mode, {}, { authorization: `Bearer ${name}` })
    const [ada, ben] = [await as('ada'), await as('ben')]
    const uri = await leave(ada)
    expect((await read(ada, uri)).text).toContain('line 0')
    for (const one of [uri, 'toolwright://artifact/nothing', 'toolwright://artifact/%', 'toolwright://artifact/']) {
      await expect(read(ben, one)).rejects.toMatchObject({ code: -32_602, data: { uri: one } })
    }
    expect((await ada.listResources()).resources.map((resource) => resource.uri)).toEqual([uri])
    expect((await ben.listResources()).resources).toEqual([])
  })

  test('with an output schema comes as a value all the same, and else as an error that says that the tool has run', async () => {
    const rows = Array.from({ length: 3_000 }, (__, index) => ({ index }))
    const all = tool({
      name: 'all',
      description: 'x',
      outputSchema: z.object({ rows: z.array(z.object({ index: z.number() })) }),
      handler: () => ({ rows }),
    }) as Tool
    const whole = await connect((await start({ tools: [all] })).url, mode)
    await whole.listTools()
    const result = await whole.callTool({ name: 'all', arguments: {} })
    expect(result.structuredContent).toEqual({ rows })
    expect(result.content.at(-1)?.type).toBe('resource_link')

    const cut = await connect((await start({ tools: [all] }, { structuredLimit: 1_000 })).url, mode)
    await cut.listTools()
    const failure = await cut.callTool({ name: 'all', arguments: {} })
    expect(failure.isError).toBe(true)
    expect(textOf(failure)).toMatch(/has run to its end; do not call it again/)
    expect(failure.structuredContent).toBeUndefined()
  })

  test('is read from whatever store there is', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'toolwright-mcp-'))
    closing(() => rmSync(folder, { recursive: true, force: true }))
    const rows = tool('rows', () => json(lines.split('\n')))
    const { url } = await start({ tools: [rows], use: [fileStore(folder)] })
    const client = await connect(url, mode)
    const { text, mimeType } = await read(client, await leave(client, 'rows'))
    expect(mimeType).toBe('application/json')
    expect(JSON.parse(text ?? '')).toEqual(lines.split('\n'))
  })
})

describe.each(eras)('in the era of %s, what the host gives', (_, mode) => {
  const view = {
    uri: 'ui://weather/view',
    name: 'view',
    title: 'Weather',
    mimeType: 'text/html;profile=mcp-app',
    meta: { ui: { csp: { connectDomains: [] } } },
    read: () => '<h1>Weather</h1>',
  }
  const page = {
    uri: 'docs://{book}/page-{number}.md',
    name: 'page',
    mimeType: 'text/markdown',
    read: (uri: string, names: Readonly<Record<string, string>>) => JSON.stringify([uri, names]),
  }
  const broken = {
    uri: 'docs://broken',
    name: 'broken',
    read: (): string => {
      throw new Error('secret of the application')
    },
  }

  test('is listed and read: views, and pages of a template', async () => {
    const { url, reports } = await start({ tools: [] }, { resources: [view, page, broken] })
    const client = await connect(url, mode)
    const { resources } = await client.listResources()
    expect(resources).toMatchObject([
      { uri: view.uri, title: 'Weather', mimeType: view.mimeType, _meta: view.meta },
      { uri: 'docs://broken' },
    ])
    const { resourceTemplates } = await client.listResourceTemplates()
    expect(resourceTemplates.map(({ uriTemplate }) => uriTemplate)).toEqual([
      page.uri,
      'toolwright://artifact/{handle}{?start,end}',
    ])
    expect(await read(client, view.uri)).toMatchObject({ text: '<h1>Weather</h1>', _meta: view.meta })
    const uri = 'docs://moby-dick/page-12.md'
    expect(JSON.parse((await read(client, uri)).text ?? '')).toEqual([uri, { book: 'moby-dick', number: '12' }])
    const failure: unknown = await read(client, 'docs://broken').catch((error: unknown) => error)
    expect(failure).toMatchObject({ code: -32_602 })
    expect(String(failure)).not.toContain('secret')
    expect(reports.map(String).join()).toContain('secret of the application')
  })

  test.each([
    ['one in which a name is empty', 'docs://moby-dick/page-.md'],
    ['one in which another name is empty', 'docs:///page-1.md'],
    ['one that goes on', 'docs://moby-dick/page-1.md/more'],
    ['one that ends early', 'docs://moby-dick'],
    ['one with a query', 'ui://weather/view?more'],
    ['that of a file', 'file:///etc/passwd'],
    ['one of very many parts', `docs://${'a/'.repeat(2_000)}`],
    ['one that is a pattern itself', `docs://${'{'.repeat(4_000)}/page-1.txt`],
    ['what is no address', 'nothing at all'],
    ['nothing', ''],
  ])('is read under its own address, and not under %s', async (__, uri) => {
    const { url } = await start({ tools: [] }, { resources: [view, page] })
    await expect(read(await connect(url, mode), uri)).rejects.toMatchObject({ code: -32_602 })
  })
})

test('a client without a session reads what its own calls left, and lists nothing', async () => {
  const { url } = await start({ tools: [report] })
  const client = await connect(url, { pin: '2026-07-28' })
  const uri = await leave(client)
  expect((await read(client, uri)).text).toContain('line 0')
  expect((await client.listResources()).resources).toEqual([])
  const other = await connect(url, 'legacy')
  await expect(read(other, uri)).rejects.toMatchObject({ code: -32_602 })
  await expect(read(client, await leave(other))).rejects.toMatchObject({ code: -32_602 })
})
