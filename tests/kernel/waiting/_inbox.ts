import pg from 'pg'
import { createExecutor, type ExecutorOptions, type ToolExecutor, type ToolResult, type WaitingCall } from 'toolwright'
import { postgresJournal } from 'toolwright/journals/postgres'
import { expect, onTestFinished } from 'vitest'
import { startPostgres } from '../../servers/postgres.ts'
import { work } from '../_calls.ts'
import { places, type Place } from '../_journals.ts'

const server = await startPostgres()
if (typeof server === 'string') console.warn(`The tests of calls that wait in Postgres are skipped: ${server}.`)

let count = 0

/** A schema of its own on the server. */
function postgres(connectionString: string): Place {
  const schema = `waiting_${process.pid}_${Date.now().toString(36)}_${count++}`
  const pool = new pg.Pool({ connectionString })
  const made = pool.query(`CREATE SCHEMA "${schema}"`)
  onTestFinished(async () => {
    await made
    await pool.query(`DROP SCHEMA "${schema}" CASCADE`)
    await pool.end()
  })
  const own = { query: async (text: string, values?: unknown[]) => (await made, pool.query(text, values)) }
  return {
    open: () => {
      const mounted = postgresJournal(own, { schema })
      onTestFinished(() => mounted.close?.())
      return mounted
    },
  }
}

/** Every journal that is at hand, by name. */
export const everyPlace: readonly (readonly [string, () => Place])[] =
  typeof server === 'string' ? places : [...places, ['Postgres', () => postgres(server.connectionString)]]

/** Two executors on one journal, as of two processes. */
export interface Pair {
  readonly asking: ToolExecutor
  readonly answering: ToolExecutor
  /** What ran, by the args. */
  readonly ran: unknown[]
  readonly place: Place
}

export function pairOn(place: Place, options: ExecutorOptions = {}): Pair {
  const ran: unknown[] = []
  const open = (): ToolExecutor => {
    const executor = createExecutor({ tools: toolsOf(ran), use: [place.open()], report: () => {}, ...options })
    onTestFinished(() => executor.close())
    return executor
  }
  return { asking: open(), answering: open(), ran, place }
}

export function toolsOf(ran: unknown[]): ReturnType<typeof work>[] {
  const schema = { type: 'object', properties: { email: { type: 'string' } }, required: ['email'] }
  return [
    work('deploy', (input) => (ran.push(input), 'deployed'), {
      requiresConfirmation: true,
      confirmationMessage: 'Deploy?',
      secrets: ['/key'],
    }),
    work('form', () => 1, { type: 'client', requiresResponse: true, timeout: 60_000, outputSchema: schema }),
    work('quick', () => 1, { type: 'client', requiresResponse: true, timeout: 20 }),
    work('runs', () => new Promise(() => {})),
  ]
}

export function ask(executor: ToolExecutor, name = 'deploy', session = 's', args: object = {}): Promise<ToolResult> {
  return executor.execute({ id: 'x', name, args }, { session })
}

/** The only call that waits. */
export async function only(executor: ToolExecutor, query: { session?: string } = {}): Promise<WaitingCall> {
  const waiting = await executor.calls.waiting(query)
  expect(waiting).toHaveLength(1)
  return waiting[0]!
}

export const invalid = { code: 'E_APPROVAL_INVALID' }
