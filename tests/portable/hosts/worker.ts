// A Worker whose executors are made when the module is loaded, and shared by all requests; and the same in a Durable Object.
import { createExecutor, tool } from 'toolwright'
import { memoryJournal } from 'toolwright/journals/memory'
import { mcpServer } from 'toolwright/mcp/server'
import { records, type Journal } from 'toolwright/records'
import { never, wait } from '../_assert.ts'
import { cases } from '../cases.ts'
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

async function answer(request: Request): Promise<unknown> {
  const { pathname, searchParams } = new URL(request.url)
  const parameter = (name: string): string => searchParams.get(name) ?? ''
  switch (pathname) {
    case '/cases':
      return run(
        [...cases, ...mcpRefusals],
        JSON.parse(parameter('lacks')) as Need[],
        JSON.parse(parameter('place')) as Place,
      )
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

async function respond(request: Request): Promise<Response> {
  if (new URL(request.url).pathname === '/mcp') return served(request)
  return Response.json(await answer(request))
}

interface Environment {
  readonly OBJECTS: {
    idFromName(name: string): unknown
    get(id: unknown): { fetch(request: Request): Promise<Response> }
  }
  readonly IN_OBJECT: boolean
}

export class Durable {
  fetch(request: Request): Promise<Response> {
    return respond(request)
  }
}

export default {
  fetch(request: Request, { OBJECTS, IN_OBJECT }: Environment): Promise<Response> {
    return IN_OBJECT ? OBJECTS.get(OBJECTS.idFromName('one')).fetch(request) : respond(request)
  },
}
