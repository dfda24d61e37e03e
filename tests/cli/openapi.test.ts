import { writeFileSync } from 'node:fs'
import { createServer, type IncomingHttpHeaders } from 'node:http'
import type { AddressInfo } from 'node:net'
import { mcpTools } from 'toolwright/mcp/client'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { ended, place, program, start, toolwright, type Ended } from './_command.ts'

const document = {
  openapi: '3.1.0',
  info: { title: 'Pets', version: '1' },
  components: {
    securitySchemes: { token: { type: 'http', scheme: 'bearer' }, pair: { type: 'http', scheme: 'basic' } },
  },
  paths: {
    '/pets': {
      get: { operationId: 'listPets', tags: ['pets'], security: [{ token: [] }], responses: {} },
      post: {
        operationId: 'addPet',
        tags: ['pets'],
        security: [{ pair: [] }],
        requestBody: { content: { 'application/json': { schema: { type: 'object' } } } },
        responses: {},
      },
    },
    '/cancel': { get: { operationId: 'cancelOrder', responses: {} } },
    '/bad': { post: { requestBody: { content: { 'application/cbor': {} } }, responses: {} } },
  },
}
const path = place('pets.json')
const got: IncomingHttpHeaders[] = []
const server = createServer((request, response) => {
  got.push(request.headers)
  response
    .writeHead(200, { 'content-type': 'application/json' })
    .end(JSON.stringify({ path: request.url, token: request.headers.authorization }))
})
let baseUrl = ''

beforeAll(async () => {
  writeFileSync(path, JSON.stringify(document))
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  baseUrl = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
})
afterAll(() => server.close())

const variables = { API_TOKEN: 'p455word-1234', API_USER: 'ada' }

/** Runs a command with credentials in its environment. */
function withVariables(words: readonly string[], stdin = ''): Promise<Ended> {
  const child = start([...program, ...words], variables)
  child.stdin.end(stdin)
  return ended(child)
}

describe('--openapi', () => {
  test('of check tells each operation, what is left out, and what speaks of a change', async () => {
    const { code, stdout } = await toolwright(['check', '--openapi', path, '--format', 'openai'])
    expect(code).toBe(0)
    expect(stdout).toMatch(
      /^listPets {2}GET \/pets {2}readonly,idempotent {2}token\naddPet {2}POST \/pets {2}– {2}pair\n/,
    )
    expect(stdout).toContain('left out:\n  POST /bad: its body is of no kind that can be sent: "application/cbor"\n')
    expect(stdout).toContain('speak of a change: set their traits in code\n  GET /cancel')
    expect(stdout).toMatch(/^listPets +as it is$/m)
    expect((await toolwright(['check', '--openapi', path, '--fail-on', 'omitted'])).code).toBe(1)
    expect((await toolwright(['check', '--openapi', path, '--only', 'tag:pets', '--fail-on', 'omitted'])).code).toBe(0)
  })

  test('of a document without operations says so', async () => {
    const empty = place('empty.json')
    const servers = { url: 'https://{region}.example.com', variables: { region: { default: 'eu' } } }
    writeFileSync(empty, JSON.stringify({ ...document, paths: {} }))
    expect((await toolwright(['check', '--openapi', empty])).stdout).toContain(
      'No operation of the document becomes a tool.',
    )
    const called = await toolwright(['call', '--openapi', empty, '--base-url', baseUrl, 'listPets'])
    expect(called.stderr).toContain('No operation of the document becomes a tool.')
    writeFileSync(
      empty,
      JSON.stringify({ ...document, paths: { '/x': { get: { servers: [servers], responses: {} } } } }),
    )
    const { stdout } = await toolwright(['check', '--openapi', empty])
    expect(stdout).toContain('is no address: give `baseUrl` in `tools`')
  })

  test('of check says how an operation at another host is taken, and takes it', async () => {
    const other = place('hosts.json')
    const at = (url: string) => ({
      get: { operationId: new URL(url).pathname.slice(1), servers: [{ url }], responses: {} },
    })
    const paths = { '/a': at('https://uploads.example.com/up'), '/b': at('https://api.example.com/own') }
    writeFileSync(other, JSON.stringify({ ...document, servers: [{ url: 'https://api.example.com/v1' }], paths }))
    const { stdout } = await toolwright(['check', '--openapi', other])
    expect(stdout).toContain('left out:\n  GET /a: it is served by another host: add --host uploads.example.com\n')
    const { stdout: all } = await toolwright(['list', '--openapi', other, '--host', 'uploads.example.com'])
    expect((JSON.parse(all) as { name: string }[]).map(({ name }) => name)).toEqual(['up', 'own'])
  })

  test('of check says that a large API is too much for one request, and which tags are the largest', async () => {
    const large = place('large.json')
    const paths = Object.fromEntries(
      Array.from({ length: 130 }, (_, at) => [
        `/p${at}`,
        { get: { tags: [at % 3 === 0 ? 'few' : 'many'], responses: {} } },
      ]),
    )
    writeFileSync(large, JSON.stringify({ ...document, paths }))
    const { stdout } = await toolwright(['check', '--openapi', large])
    expect(stdout).toContain(
      '130 tools are too many for one request: choose with --only. The largest tags: tag:many (86), tag:few (44).',
    )
  })

  test('of list and lock has the tools, those that read alone with --read-only', async () => {
    const { stdout, stderr: notes } = await toolwright(['list', '--openapi', path, '--read-only'])
    expect(notes).toContain('The operation "POST /bad" is left out')
    expect((JSON.parse(stdout) as { name: string }[]).map(({ name }) => name)).toEqual(['listPets', 'cancelOrder'])
    const { stderr } = await toolwright(['lock', '--openapi', path, '--file', place('pets.lock.json')])
    expect(stderr).toContain('has 3 tools.')
  })

  test('of call takes credentials from the environment by name, and prints none', async () => {
    const options = [
      '--openapi',
      path,
      '--base-url',
      baseUrl,
      '--auth',
      'token=API_TOKEN',
      '--auth',
      'pair=API_USER,API_TOKEN',
    ]
    const { code, stdout, stderr } = await withVariables(['call', ...options, 'listPets'])
    expect([code, JSON.parse(stdout)]).toMatchObject([
      0,
      { status: 'ok', content: [{ data: { path: '/pets', token: 'Bearer [credential]' } }] },
    ])
    expect(`${stdout}${stderr}`).not.toContain('p455word')
    await withVariables(['call', ...options, 'addPet', '{"body":{}}'])
    expect(got.map(({ authorization }) => authorization)).toEqual([
      'Bearer p455word-1234',
      `Basic ${btoa('ada:p455word-1234')}`,
    ])
  })

  test('of run answers the message of a provider', async () => {
    const message = { role: 'assistant', content: [{ type: 'tool_use', id: 'toolu_1', name: 'listPets', input: {} }] }
    const { stdout } = await withVariables(
      ['run', '--openapi', path, '--base-url', baseUrl, '--auth', 'token=API_TOKEN'],
      JSON.stringify(message),
    )
    expect(JSON.parse(stdout)).toMatchObject({
      role: 'user',
      content: [{ type: 'tool_result', tool_use_id: 'toolu_1' }],
    })
    expect(stdout).toContain('/pets')
  })

  test('of mcp serves an API to clients of the protocol', async () => {
    const [command, ...words] = [
      ...program,
      'mcp',
      '--openapi',
      path,
      '--only',
      'listPets',
      '--base-url',
      baseUrl,
      '--auth',
      'token=API_TOKEN',
    ]
    const client = await mcpTools({
      name: 'pets',
      command,
      args: words,
      env: { ...process.env, ...variables },
    })
    try {
      expect(client.tools().map(({ name }) => name)).toEqual(['listPets'])
      expect(JSON.stringify(await client.tools()[0]!.invoke({}))).toContain('Bearer [credential]')
    } finally {
      await client.close()
    }
  })

  test.each<[object, object]>([
    [
      { title: 'Pets ', version: '2.1.0' },
      { name: 'toolwright', title: 'Pets', version: '2.1.0' },
    ],
    [
      { title: 'a\nb\u202e', version: 2.5 },
      { name: 'toolwright', title: 'a b\\u202e', version: '2.5' },
    ],
    [{}, { name: 'toolwright', version: '0.0.0' }],
  ])('of mcp tells clients of %j that the server is %j', async (info, serverInfo) => {
    const named = place('named.json')
    writeFileSync(named, JSON.stringify({ ...document, info }))
    const params = { protocolVersion: '2025-11-25', capabilities: {}, clientInfo: { name: 'tests', version: '1' } }
    const message = JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'initialize', params })
    const words = ['mcp', '--openapi', named, '--base-url', baseUrl, '--auth', 'token=API_TOKEN']
    const { stdout } = await withVariables(words, `${message}\n`)
    expect((JSON.parse(stdout) as { result: { serverInfo: object } }).result.serverInfo).toEqual(serverInfo)
  })

  test.each([
    [['call', '--openapi', 'none.yaml', 'x'], 'There is no file none.yaml'],
    [['call', '--openapi', path, 'listPets', '--auth', 'token=NOT_SET'], 'no variable NOT_SET'],
    [
      ['call', '--openapi', path, 'listPets', '--auth', 'ghp_p455word'],
      '--auth takes the name of a scheme and of a variable',
    ],
    [['call', '--openapi', path, 'listPets'], 'The command needs --base-url: the document names no server'],
    [
      ['list', '--openapi', path, '--only', 'tag:pet'],
      'The command finds no operation for "tag:pet" of --only; there is "tag:pets"',
    ],
    [['list', '--openapi', 'https://api.example/v1.yaml'], '--openapi takes the path of a file'],
    [['call', 'x.ts', 'listPets', '--only', 'x'], '--only needs --openapi'],
    [['check', path, '--openapi', path], 'one of them alone'],
    [['run'], 'Something is missing'],
    [['mcp'], 'there is nothing to serve'],
  ])('of %j is refused in words that repeat no token', async (words, expected) => {
    const { code, stderr } = await toolwright(words)
    expect(code).toBe(2)
    expect(stderr).toContain(expected)
    expect(stderr).not.toContain('p455word')
  })
})
