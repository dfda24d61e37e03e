import { createExecutor, type ToolExecutor } from 'toolwright'
import { anthropic } from 'toolwright/formats/anthropic'
import { openapiTools, type OpenApiOptions } from 'toolwright/imports/openapi'
import { memoryJournal } from 'toolwright/journals/memory'
import { describe, expect, test } from 'vitest'
import { documentOf, ready, serve, type Json } from './_server.ts'

const baseUrl = 'https://api.example.com'
const answers =
  (value: unknown): typeof fetch =>
  async () =>
    Response.json(value)

function answerOf(...types: string[]): Json {
  return { responses: { 200: { content: Object.fromEntries(types.map((type) => [type, {}])) } } }
}

test.each<[Json, OpenApiOptions['tools'], string]>([
  [
    answerOf('text/csv', 'application/json', 'application/problem+json'),
    {},
    'application/json, application/problem+json',
  ],
  [answerOf('text/event-stream', 'application/vnd.api+json'), {}, 'application/vnd.api+json'],
  [answerOf('text/csv'), {}, '*/*'],
  [{}, {}, '*/*'],
  [answerOf('application/json', 'text/csv'), { run: { accept: 'text/csv' } }, 'text/csv'],
])('an operation with %j and the options %j asks for %s', async (operation, tools, accept) => {
  const { url, requests } = await serve()
  const { call } = await ready(documentOf({ 'GET /p': { operationId: 'run', ...operation } }), {
    baseUrl: url,
    tools: tools!,
  })
  await call('run')
  expect(requests[0]?.headers['accept']).toBe(accept)
})

test.each([
  'DEPTH_ZERO_SELF_SIGNED_CERT',
  'CERT_HAS_EXPIRED',
  'ERR_TLS_CERT_ALTNAME_INVALID',
  'UNABLE_TO_VERIFY_LEAF_SIGNATURE',
  'UND_ERR_CONNECT_TIMEOUT',
  'EAI_AGAIN',
])('a connection that fails with %s has sent nothing', async (code) => {
  const fetch = (): Promise<never> =>
    Promise.reject(new TypeError('fetch failed', { cause: Object.assign(new Error(), { code }) }))
  const { call } = await ready(documentOf({ 'POST /p': { operationId: 'run' } }), { baseUrl, fetch })
  expect(await call('run')).toMatchObject({
    status: 'error',
    effect: 'none',
    error: { category: 'network', retryable: true },
  })
})

test.each<[string, object]>([
  ['a code', { code: 'ECONNREFUSED' }],
  ['the words of Deno', { message: 'error sending request (http://x): client error (Connect): refused' }],
])('a connection that was not made has sent nothing, however deep %s says so', async (_, said) => {
  let thrown: Error = Object.assign(new Error(), said)
  for (let depth = 0; depth < 6; depth++) thrown = new TypeError('fetch failed', { cause: thrown })
  const { call } = await ready(documentOf({ 'POST /p': { operationId: 'run' } }), {
    baseUrl,
    fetch: () => Promise.reject(thrown),
  })
  expect(await call('run')).toMatchObject({ status: 'error', effect: 'none' })
})

test("names that a provider refuses are others in its request, and the document's in ours", async () => {
  const { url, requests } = await serve()
  const parameters = ['filter[id]', '$top'].map((name) => ({ name, in: 'query', schema: { type: 'string' } }))
  const { api, executor } = await ready(documentOf({ 'GET /p': { operationId: 'run', parameters } }), { baseUrl: url })
  const format = anthropic()
  const [definition] = format.definitions(api.tools()) as unknown as [{ input_schema: { properties: Json } }]
  const names = Object.keys(definition.input_schema.properties)
  expect(names.filter((name) => !/^[a-zA-Z0-9_.-]{1,64}$/.test(name))).toEqual([])
  const input = { [names[0]!]: 'a', [names[1]!]: 'b' }
  const content = [{ type: 'tool_use', id: 'toolu_1', name: 'run', input }]
  await executor.executeToolCalls(format.calls({ role: 'assistant', content }, api.tools()))
  expect(requests.map((request) => request.url)).toEqual(['/p?filter%5Bid%5D=a&%24top=b'])
})

test('what is written alone is in no answer, also of those that are checked', async () => {
  const schema = {
    type: 'object',
    required: ['id', 'password'],
    properties: { id: { type: 'integer' }, password: { type: 'string', writeOnly: true } },
  }
  const responses = { 200: { content: { 'application/json': { schema } } } }
  const { call } = await ready(documentOf({ 'GET /p': { operationId: 'run', responses } }), {
    baseUrl,
    responses: 'strict',
    fetch: answers({ id: 7 }),
  })
  expect((await call('run')).value).toEqual({ id: 7 })
})

test('tools are of a server, and always the same', async () => {
  const { api } = await ready(documentOf({ 'GET /p': { operationId: 'run' } }), { baseUrl })
  expect(api.tools()).toBe(api.tools())
  expect(api.tools()[0]?.type).toBe('server')
})

describe('a schema of the dialect', () => {
  const operation = (more: Json): Json => ({
    requestBody: { content: { 'application/json': { schema: { ...more } } } },
  })

  test.each([
    ['https://json-schema.org/draft/2020-12/schema', { prefixItems: [{ type: 'string' }] }],
    ['https://json-schema.org/draft/2019-09/schema', { items: { type: 'string' } }],
    ['http://json-schema.org/draft-07/schema#', { items: { type: 'string' } }],
    ['https://spec.openapis.org/oas/3.1/dialect/base', { prefixItems: [{ type: 'string' }] }],
  ])('%s is read as such', async (jsonSchemaDialect, schema) => {
    const document = documentOf(
      { 'POST /p': { operationId: 'run', ...operation({ type: 'array', ...schema }) } },
      { jsonSchemaDialect },
    )
    const { call } = await ready(document, { baseUrl, fetch: answers(1) })
    expect((await call('run', { body: ['a'] })).status).toBe('ok')
    expect((await call('run', { body: [7] })).error?.code).toBe('E_INVALID_TOOL_ARGS')
  })

  test('that models would read in another way leaves its operation out', async () => {
    const document = documentOf(
      { 'POST /p': operation({ type: 'array', items: [{ type: 'string' }] }), 'GET /p': {} },
      { jsonSchemaDialect: 'http://json-schema.org/draft-07/schema#' },
    )
    const { api } = await ready(document, { baseUrl })
    expect([api.tools().length, api.omitted[0]?.why]).toEqual([
      1,
      expect.stringContaining('would read the JSON Schema differently'),
    ])
  })

  test('that is not known here leaves its operations out', async () => {
    const { api } = await ready(
      documentOf({ 'POST /p': operation({}) }, { jsonSchemaDialect: 'https://example.com/mine' }),
      { baseUrl },
    )
    expect(api.omitted[0]?.why).toContain('of a dialect that is not known here')
  })
})

test('an approval of a tool is void once its document is another', async () => {
  const journal = memoryJournal()
  const { url, requests } = await serve()
  const executorOf = async (path: string): Promise<ToolExecutor> => {
    const document = documentOf({ [`POST ${path}`]: { operationId: 'run', summary: `Posts to ${path}` } })
    const tools = { run: { requiresConfirmation: true } }
    return createExecutor({ use: [await openapiTools(document, { baseUrl: url, tools }), journal] })
  }
  const waiting = await (await executorOf('/one')).execute({ name: 'run' })
  expect(waiting.status).toBe('waiting')
  const decided = (await executorOf('/two')).calls.decide(waiting.token!, 'allow')
  await expect(decided).rejects.toMatchObject({ code: 'E_APPROVAL_INVALID' })
  expect(requests).toEqual([])
})
