import { createExecutor, tool } from 'toolwright'
import { has, refused, same, words } from '../_assert.ts'
import type { Case } from '../run.ts'

const greet = tool({
  name: 'greet',
  description: 'Greets',
  inputSchema: { type: 'object', properties: { name: { type: 'string' } }, required: ['name'] },
  handler: async function* ({ name }) {
    yield 'x'
    return `Hello, ${name}!`
  },
})

/** Gives a request the `host`, which a server sees and a program may not set. */
function received(request: Request): Request {
  const headers = new Headers(request.headers)
  headers.set('host', 'localhost')
  return new Proxy(request, {
    get(target, key) {
      if (key === 'headers') return headers
      const value: unknown = Reflect.get(target, key, target)
      return typeof value === 'function' ? (value.bind(target) as unknown) : value
    },
  })
}

export const mcp: readonly Case[] = (['2025-11-25', '2026-07-28'] as const).flatMap((protocol): readonly Case[] => [
  {
    name: `mcp: a server and a client of ${protocol}, joined by fetch`,
    needs: ['web'],
    async run() {
      const { mcpServer } = await import('toolwright/mcp/server')
      const { mcpTools } = await import('toolwright/mcp/client')
      const reports: unknown[] = []
      const report = (error: unknown): void => void reports.push(error)
      const handler = mcpServer({ executor: createExecutor({ tools: [greet] }), report }).http({ hosts: ['localhost'] })
      const join = async (input: string | URL | Request, init?: RequestInit): Promise<Response> =>
        handler.fetch(received(new Request(input, init)))
      const server = await mcpTools({ name: 'g', url: 'http://localhost/mcp', fetch: join, protocol }).catch(
        (error: unknown) => {
          throw reports[0] ?? error
        },
      )
      const executor = createExecutor({ use: [server] })
      const greeting = await executor.execute({ name: 'greet', args: { name: 'Ann' } })
      same([greeting.status, words(greeting)], ['ok', 'Hello, Ann!'], greeting.error?.message ?? '')
      same((await executor.execute({ name: 'greet', args: {} })).error?.code, 'E_INVALID_TOOL_ARGS')
      await executor.close()
      await handler.close()
    },
  },
  {
    name: `mcp: a server that listens, and a client of ${protocol} with its token`,
    needs: ['sockets'],
    async run() {
      const { mcpServer } = await import('toolwright/mcp/server')
      const { mcpTools } = await import('toolwright/mcp/client')
      const listening = await mcpServer({ executor: createExecutor({ tools: [greet] }) }).listen({ token: 'secret' })
      const headers = { authorization: 'Bearer secret' }
      const executor = createExecutor({ use: [await mcpTools({ name: 'g', url: listening.url, headers, protocol })] })
      const greeting = await executor.execute({ name: 'greet', args: { name: 'Ann' } })
      same([greeting.status, words(greeting)], ['ok', 'Hello, Ann!'], greeting.error?.message ?? '')
      await executor.close()
      await listening.close()
    },
  },
])

/** What the servers of Bun and Deno have in common: they serve a handler of web requests. */
interface Runtime {
  Bun?: { serve(options: object): { readonly url: URL; stop(now: boolean): unknown } }
  Deno?: { serve(options: object, fetch: unknown): { readonly addr: { readonly port: number }; shutdown(): unknown } }
}

export const mcpServed: Case = {
  name: 'mcp: a handler in the own server of the runtime',
  needs: ['serve'],
  async run() {
    const { mcpServer } = await import('toolwright/mcp/server')
    const { mcpTools } = await import('toolwright/mcp/client')
    const handler = mcpServer({ executor: createExecutor({ tools: [greet] }) }).http()
    const { Bun, Deno } = globalThis as Runtime
    const here = { port: 0, hostname: '127.0.0.1' }
    const bun = Bun?.serve({ ...here, fetch: handler.fetch })
    const deno = Deno?.serve({ ...here, onListen() {} }, handler.fetch)
    const url = bun?.url.href ?? `http://127.0.0.1:${deno?.addr.port}/`
    const executor = createExecutor({ use: [await mcpTools({ name: 'g', url })] })
    same(words(await executor.execute({ name: 'greet', args: { name: 'Ann' } })), 'Hello, Ann!')
    await executor.close()
    await handler.close()
    await (bun?.stop(true) ?? deno?.shutdown())
  },
}

/** What a platform without sockets and processes refuses. It runs in bundles for such platforms alone. */
export const mcpRefusals: readonly Case[] = [
  {
    name: 'mcp: without sockets and processes, `listen` and `command` are refused by name',
    needs: ['web'],
    async run() {
      const { mcpServer } = await import('toolwright/mcp/server')
      const { mcpTools } = await import('toolwright/mcp/client')
      const server = mcpServer({ executor: createExecutor({ tools: [greet] }) })
      same(await refused(() => server.listen()), 'E_INVALID_CONFIGURATION')
      const code = await refused(() => mcpTools({ name: 'g', command: 'node', connectTimeout: 5_000 }))
      has(code === 'E_INVALID_CONFIGURATION' || code === 'E_TOOL_DOWNSTREAM_ERROR', String(code))
      const { postgresStore } = await import('toolwright/stores/postgres')
      const { store } = postgresStore('postgres://localhost/x')
      has(await refused(() => store.write('x', { session: 's', mediaType: 'text/plain' })), 'a connection string')
    },
  },
]
