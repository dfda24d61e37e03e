import { appendFileSync, readFileSync } from 'node:fs'
import pg from 'pg'
import {
  createExecutor,
  tool,
  type Extension,
  type Tool,
  type ToolCall,
  type ToolExecutor,
  type ToolResult,
} from 'toolwright'
import { bullmq } from 'toolwright/distributed/bullmq'
import { fleet, type Dispatcher } from 'toolwright/distributed/fleet'
import { postgresJournal } from 'toolwright/journals/postgres'
import type { Journal } from 'toolwright/records'
import { postgresStore } from 'toolwright/stores/postgres'

/** Where a fleet works, in words that fit into a command line. */
export interface Site {
  readonly engine: 'bullmq on Redis' | 'bullmq on Postgres' | 'the journal alone'
  readonly redis: string
  readonly postgres: string
  /** The schema of the journal and the store, and the prefix of the engine. */
  readonly schema: string
  /** The file to which handlers append a line at their start and at their end. */
  readonly log: string
  readonly seed: number
}

/** How long a worker may be silent, in milliseconds. */
export const staleAfter = 10_000
/** The session of all calls. */
export const session = 'fleet'

const kinds = ['charge', 'lookup', 'put', 'charge', 'put', 'slow'] as const
type Kind = (typeof kinds)[number] | 'poison' | 'poison_again' | 'alone' | 'alone_again'

/** The tools that may run again after a worker has died. */
export const repeatable: ReadonlySet<string> = new Set(['lookup', 'put', 'poison_again', 'alone_again'])

export interface PlannedCall {
  readonly call: ToolCall & { readonly name: Kind }
  readonly invocationId: string
  /** Default: that of all calls. */
  readonly session?: string
}

const besides = ['alone', 'put', 'alone_again', 'lookup', 'slow', 'alone'] as const

/** Returns calls of some sessions, many of which run alone: the same in each process. */
export function aloneCallsOf({ seed }: Site, count: number): PlannedCall[] {
  return Array.from({ length: count }, (_, index) => {
    const mixed = Math.imul(index + seed, 2_654_435_761) >>> 0
    const name = besides[mixed % besides.length] ?? 'alone'
    const call = { name, args: { index, pause: (mixed >>> 8) % 20 } }
    return { call, invocationId: `call ${index}`, session: `session ${index % 12}` }
  })
}

/** Returns the calls of a scenario: the same in each process. */
export function callsOf({ seed }: Site, count: number): PlannedCall[] {
  return Array.from({ length: count }, (_, index) => {
    const mixed = Math.imul(index + seed, 2_654_435_761) >>> 0
    const name = kinds[mixed % kinds.length] ?? 'put'
    return { call: { name, args: { index, pause: (mixed >>> 8) % 20 } }, invocationId: `call ${index}` }
  })
}

/** A line that a handler appended. */
export interface Line {
  readonly at: 'start' | 'end'
  readonly tool: Kind
  readonly id: string
  readonly session: string
  readonly pid: number
  readonly fence: number
  /** Milliseconds since the epoch. */
  readonly time: number
}

export function linesOf({ log }: Site): Line[] {
  const lines = readFileSync(log, 'utf8').split('\n').filter(Boolean)
  return lines.map((line) => JSON.parse(line) as Line)
}

export function toolsOn({ log }: Site): Tool[] {
  const make = (name: Kind, traits: object, run?: () => void): Tool =>
    tool({
      name,
      description: `Leaves a line as ${name}`,
      inputSchema: {
        type: 'object',
        properties: { index: { type: 'integer' }, pause: { type: 'number' } },
        required: ['index'],
      },
      traits,
      handler: async ({ index, pause = 0 }, { invocationId: id, session: own, fence }) => {
        const append = (at: Line['at']): void =>
          appendFileSync(
            log,
            `${JSON.stringify({ at, tool: name, id, session: own, pid: process.pid, fence, time: Date.now() })}\n`,
          )
        append('start')
        run?.()
        await new Promise((resolve) => setTimeout(resolve, name === 'slow' ? 500 + pause : pause))
        append('end')
        return { index, filling: 'x'.repeat((index * 37) % 2_000) }
      },
    })
  const die = (): void => void process.kill(process.pid, 'SIGKILL')
  return [
    make('charge', {}),
    make('slow', {}),
    make('lookup', { readonly: true }),
    make('put', { idempotent: true }),
    make('alone', { concurrent: false }),
    make('alone_again', { concurrent: false, idempotent: true }),
    make('poison', {}, die),
    make('poison_again', { idempotent: true }, die),
  ]
}

/** What a process of a fleet has open. */
export interface Open {
  readonly use: readonly Extension[]
  readonly journal: Journal
  readonly dispatcher: Dispatcher | undefined
  close(): Promise<void>
}

export function open({ engine, redis, postgres, schema }: Site): Open {
  const pool = new pg.Pool({ connectionString: postgres, max: 6 })
  pool.on('error', () => {}) // the server crashed: the next statement opens another connection
  const journal = postgresJournal(pool, { schema })
  const dispatcher =
    engine === 'the journal alone'
      ? undefined
      : bullmq(
          engine === 'bullmq on Redis'
            ? { connection: redis, prefix: schema }
            : { postgres: { connectionString: postgres, max: 4 }, prefix: `${schema}_jobs` },
        )
  return {
    use: [journal, postgresStore(pool, { schema })],
    journal: journal.journal,
    dispatcher,
    async close() {
      await dispatcher?.close?.()
      await pool.end()
    },
  }
}

/** Makes the executor of a caller. */
export function callerOn(site: Site, { use, dispatcher }: Open, send?: () => void): ToolExecutor {
  const sending: Dispatcher | undefined = send && {
    work: () => Promise.reject(new Error('A caller takes no calls.')),
    ...dispatcher,
    async send(calls) {
      send()
      await dispatcher?.send(calls)
    },
  }
  // That a server is down is what is tested.
  return createExecutor({
    tools: toolsOn(site),
    use: [...use, fleet({ dispatcher: sending ?? dispatcher })],
    report: () => {},
  })
}

/** Makes a call. Asks again, as a host does, if the journal was too busy or down. */
export async function askedUntilWritten(
  executor: ToolExecutor,
  { call, invocationId, session: own = session }: PlannedCall,
): Promise<ToolResult> {
  for (;;) {
    const result = await executor.execute(call, { session: own, invocationId })
    if (result.error?.code !== 'E_JOURNAL' || !result.error.retryable) return result
    await new Promise((resolve) => setTimeout(resolve, 200))
  }
}
