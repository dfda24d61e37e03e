// A Worker whose executors are made when the module is loaded, and shared by all requests; and the same in a Durable Object.
import { createExecutor, tool } from 'toolwright'
import { openapiTools } from 'toolwright/imports/openapi'
import { memoryJournal } from 'toolwright/journals/memory'
import { mcpServer } from 'toolwright/mcp/server'
import { records, type Journal } from 'toolwright/records'
import { never, wait } from '../_assert.ts'
import { cases } from '../cases.ts'
import { documentOf } from '../cases/_api.ts'
import { apiVolumes } from '../cases/api-volumes.ts'
import { mcpRefusals } from '../cases/mcp.ts'
import { run, type Need, type Place } from '../run.ts'

const kept = memoryJournal()
let beats = 0
const journal: Journal = {
  ...kept.journal,
  isDurable: true,
  beat: async (owner) => {
    beats++
    return kept.journal.beat(owner)
  },
}
const tools = [
  tool('quick', async () => 'ok'),
  tool('slow', async ({ time }: { time: number }) => wait(time).then(() => 'ok')),
  tool('hang', () => never),
]
const use = [records(journal)]
const executors = {
  plain: createExecutor({ timeout: 400, tools }),
  recorded: createExecutor({ timeout: 30_000, tools, use }),
  other: createExecutor({ tools, use }),
}
const listed = executors.plain.tools().map(({ name }) => name)
executors.plain.on('tools:changed', () => {})
const { fetch: served } = mcpServer({ executor: executors.plain }).http()

/** Makes a document of so many operations, each with schemas that take a while to read. */
function largeDocument(count: number): object {
  const properties = Object.fromEntries(
    Array.from({ length: 40 }, (_, at) => [`p${at}`, { type: 'object', properties: { q: { type: 'string' } } }]),
  )
  const requestBody = { content: { 'application/json': { schema: { type: 'object', properties } } } }
  return documentOf(Object.fromEntries(Array.from({ length: count }, (_, at) => [`POST /p${at}`, { requestBody }])))
}

const baseUrl = 'https://api.example.com'
// While the module loads there are no timers yet.
const { length: loaded } = (await openapiTools(largeDocument(200), { baseUrl })).tools()

async function answer(request: Request, { PUBLIC }: Environment): Promise<unknown> {
  const { pathname, searchParams } = new URL(request.url)
  const parameter = (name: string): string => searchParams.get(name) ?? ''
  switch (pathname) {
    case '/cases': {
      const place = JSON.parse(parameter('place')) as Place
      const chosen = place.isFull === true ? apiVolumes : [...cases, ...mcpRefusals]
      return run(chosen, JSON.parse(parameter('lacks')) as Need[], place, Number(parameter('limit')))
    }
    case '/loaded':
      return loaded
    case '/document':
      return (await openapiTools(largeDocument(1_000), { baseUrl })).tools().length
    case '/public': {
      const fetch = PUBLIC.fetch.bind(PUBLIC) as typeof globalThis.fetch
      const operations = documentOf({ 'GET /p': { operationId: 'get' }, 'POST /p': { operationId: 'post' } })
      const executor = createExecutor({ use: [await openapiTools(operations, { baseUrl: parameter('api'), fetch })] })
      const results = await Promise.all(['get', 'post'].map((name) => executor.execute({ name })))
      return results.map(({ status, error }) => [status, error?.category])
    }
    case '/listed':
      return listed
    case '/recover':
      return executors.other.calls.recover({ staleAfter: Number(parameter('staleAfter')) })
    case '/beats':
      return beats
    default: {
      const { [pathname.slice(1) as 'plain']: executor } = executors
      const call = { name: parameter('tool'), args: { time: Number(parameter('time')) } }
      return (await executor.execute(call, { session: 's', signal: request.signal })).status
    }
  }
}

async function respond(request: Request, environment: Environment): Promise<Response> {
  if (new URL(request.url).pathname === '/mcp') return served(request)
  return Response.json(await answer(request, environment))
}

interface Environment {
  readonly OBJECTS: {
    idFromName(name: string): unknown
    get(id: unknown): { fetch(request: Request): Promise<Response> }
  }
  /** A network that leads to no private address. */
  readonly PUBLIC: { fetch(request: Request): Promise<Response> }
  readonly IN_OBJECT: boolean
}

export class Durable {
  readonly #environment: Environment

  constructor(_state: unknown, environment: Environment) {
    this.#environment = environment
  }

  fetch(request: Request): Promise<Response> {
    return respond(request, this.#environment)
  }
}

export default {
  fetch(request: Request, environment: Environment): Promise<Response> {
    const { OBJECTS, IN_OBJECT } = environment
    return IN_OBJECT ? OBJECTS.get(OBJECTS.idFromName('one')).fetch(request) : respond(request, environment)
  },
}
