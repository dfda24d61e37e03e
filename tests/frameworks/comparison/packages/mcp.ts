import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client'
import { acceptedContent, createMcpHandler, inputRequired, McpServer } from '@modelcontextprotocol/server'
import { z } from 'zod'
import type { Compared, Heard, Scene } from '../_scene.ts'

const consent = z.object({ isAllowed: z.boolean() })

function serverOf({ offers, isAsked }: Scene): McpServer {
  const server = new McpServer({ name: 'payer', version: '1.0.0' })
  for (const { name, description, schema, run } of offers) {
    server.registerTool(name, { description, inputSchema: schema }, async (args, { mcpReq }) => {
      if (isAsked && acceptedContent(mcpReq.inputResponses, 'consent', consent)?.isAllowed !== true) {
        const question = inputRequired.elicit({ message: `May ${name} run?`, requestedSchema: consent })
        return inputRequired({ inputRequests: { consent: question } })
      }
      return { content: [{ type: 'text', text: String(await run(args as never, mcpReq.signal)) }] }
    })
  }
  return server
}

async function call(scene: Scene, options: object = {}): Promise<Heard & { readonly last: unknown }> {
  const { turns, signal, timeout } = scene
  const handler = createMcpHandler(() => serverOf(scene))
  const transport = new StreamableHTTPClientTransport(new URL('http://localhost/mcp'), {
    fetch: async (url, init) => handler.fetch(new Request(url, init)),
  })
  const settings = { capabilities: { elicitation: {} }, versionNegotiation: { mode: 'auto' as const } }
  const client = new Client({ name: 'model', version: '1.0.0' }, settings)
  await client.connect(transport)
  const words = new Map<string, string>()
  let last: unknown
  try {
    const { tools } = await client.listTools()
    for (const turn of turns) {
      for (const { id, name, args } of turn) {
        const limits = { ...(signal && { signal }), ...(timeout !== undefined && { timeout }) }
        const request = { name, arguments: args as { [key: string]: unknown }, ...options }
        const result = await client.callTool(request, { allowInputRequired: true, ...limits })
        last = result
        if ('content' in result)
          words.set(id, result.content.map((block) => ('text' in block ? block.text : '')).join('\n'))
      }
    }
    return { resultOf: (id) => words.get(id), offered: tools.map(({ name }) => name), last }
  } finally {
    await client.close()
  }
}

export const compared: Compared = {
  name: 'MCP SDK, client and server',
  packages: ['@modelcontextprotocol/client', '@modelcontextprotocol/server'],
  uses:
    '`createMcpHandler` with `registerTool`, and `callTool` of the client with `timeout` and `signal`; ' +
    '`inputRequired`, whose answer the client sends with the call. A call has no id that the model gives',
  beside:
    'signed request states, progress, tasks and OAuth. It is a protocol: what a model reads is what its client passes on',
  noStorage: {
    modules: ['@modelcontextprotocol/client', '@modelcontextprotocol/server'],
    but: ['InMemoryResponseCacheStore'],
  },
  run: (scene) => call(scene),
  async ask(scene) {
    const { last } = await call(scene)
    const { requestState } = last as { readonly requestState?: string }
    const inputResponses = { consent: { action: 'accept', content: { isAllowed: true } } }
    return { inputResponses, ...(requestState !== undefined && { requestState }) }
  },
  answer: (scene, kept) => call(scene, kept as object),
}
