// What a tool of an OpenAPI document costs beside a handler that sends the same request by hand, over loopback.
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import process from 'node:process'
import { createExecutor, json, tool } from 'toolwright'
import { openapiTools } from 'toolwright/imports/openapi'
import { printTable } from './_results.ts'
import { compareProcessorTime } from './_runner.ts'

// The server has a process of its own: what it takes is no cost of a call.
const code = `
  const order = JSON.stringify({ id: 7, item: 'tea', paid: true, lines: Array.from({ length: 8 }, (_, at) => ({ at, text: 'x'.repeat(40) })) })
  const server = require('node:http').createServer((request, response) => {
    request.resume().on('end', () => response.setHeader('content-type', 'application/json').end(order))
  })
  server.listen(0, '127.0.0.1', () => process.send(server.address().port))
`
const server = spawn(process.execPath, ['-e', code], { stdio: ['ignore', 'inherit', 'inherit', 'ipc'] })
const [port] = (await once(server, 'message')) as [number]
const baseUrl = `http://127.0.0.1:${port}`
const token = 'ghp_0123456789abcdefABCDEF0123456789'

const inputSchema = {
  type: 'object',
  properties: {
    id: { type: 'string' },
    full: { type: 'boolean' },
    body: { type: 'object', properties: { item: { type: 'string' } }, required: ['item'] },
  },
  required: ['id', 'body'],
  additionalProperties: false,
} as const

/** Sends the request as a handler would that was written for this API alone. */
function byHand(name: string, headers: Readonly<Record<string, string>>): ReturnType<typeof tool> {
  return tool({
    name,
    description: 'Changes an order',
    inputSchema,
    traits: { destructive: true, openWorld: true },
    handler: async ({ id, full, body }, { signal }) => {
      const query = full === undefined ? '' : `?full=${full}`
      const response = await fetch(`${baseUrl}/orders/${encodeURIComponent(id)}${query}`, {
        method: 'PATCH',
        headers: { 'content-type': 'application/json', accept: 'application/json', ...headers },
        body: JSON.stringify(body),
        signal,
      })
      if (!response.ok) throw new Error(`The API answered ${response.status}`)
      return json(await response.json())
    },
  }) as never
}

const schemaOf = (name: keyof (typeof inputSchema)['properties']): object => inputSchema.properties[name]
const order = { type: 'object', properties: { id: { type: 'integer' }, item: { type: 'string' } }, required: ['id'] }
const operation = {
  parameters: [
    { name: 'id', in: 'path', required: true, schema: schemaOf('id') },
    { name: 'full', in: 'query', schema: schemaOf('full') },
  ],
  requestBody: { required: true, content: { 'application/json': { schema: schemaOf('body') } } },
  responses: { 200: { description: 'The order', content: { 'application/json': { schema: order } } } },
}
const document = {
  openapi: '3.1.0',
  info: { title: 'Orders', version: '1' },
  components: { securitySchemes: { token: { type: 'http', scheme: 'bearer' } } },
  paths: {
    '/orders/{id}': { patch: { ...operation, operationId: 'openly' } },
    '/signed/{id}': { patch: { ...operation, operationId: 'signed', security: [{ token: [] }] } },
  },
}
const api = await openapiTools(document, { baseUrl, auth: { token: () => token } })
const tools = [byHand('hand', {}), byHand('hand_signed', { authorization: `Bearer ${token}` })]
const executor = createExecutor({ use: [api], tools })
const args = { id: 'a-7', full: true, body: { item: 'tea' } }
let calls = 0
const call = (name: string) => async (): Promise<void> => {
  const { status, error } = await executor.execute({ id: `call_${calls++}`, name, args })
  if (status !== 'ok') throw error ?? new Error(status)
}

try {
  for (const [title, names] of [
    ['a request', ['hand', 'openly']],
    ['a request with a credential', ['hand_signed', 'signed']],
  ] as const) {
    const [own, made] = names
    const variants = { 'a handler with `fetch`': call(own), 'a tool of the document': call(made) }
    printTable(await compareProcessorTime(title, variants))
  }
} finally {
  server.kill()
  await executor.close()
}
