import pg from 'pg'
import { createExecutor, memoryStore, tool, type ToolEvent } from 'toolwright'
import { fleet, type Bus } from 'toolwright/distributed/fleet'
import { memoryDispatcher } from 'toolwright/distributed/memory'
import { postgresJournal } from 'toolwright/journals/postgres'
import { describe, expect, onTestFinished, test, vi } from 'vitest'
import { startPostgres } from '../servers/postgres.ts'
import { sqliteGround, workerOn, type Ground } from './_fleet.ts'

const server = await startPostgres()
if (typeof server === 'string') console.warn(`Events of other releases are not sent over Postgres: ${server}.`)

const soon = { timeout: 60_000, interval: 10 }
let count = 0

/** A fleet with a tool that ends when it is let, and the bus of another process of it. */
interface Mixed {
  readonly ground: Ground
  readonly other: Bus
  readonly letEnd: () => void
}

function waiting(): { readonly tools: Ground['tools']; readonly letEnd: () => void } {
  const let_ = { end: (): void => {} }
  const wait = tool('wait', () => new Promise<string>((resolve) => (let_.end = () => resolve('done'))))
  return { tools: [wait], letEnd: () => let_.end() }
}

async function overMemory(): Promise<Mixed> {
  const { tools, letEnd } = waiting()
  const dispatcher = memoryDispatcher()
  return { ground: sqliteGround(tools, dispatcher), other: dispatcher.bus!, letEnd }
}

async function overPostgres(connectionString: string): Promise<Mixed> {
  const { tools, letEnd } = waiting()
  const pool = new pg.Pool({ connectionString })
  const schema = `releases_${process.pid}_${Date.now().toString(36)}_${count++}`
  await pool.query(`CREATE SCHEMA ${schema}`)
  onTestFinished(async () => {
    await pool.query(`DROP SCHEMA ${schema} CASCADE`)
    await pool.end()
  })
  const store = memoryStore()
  const another = postgresJournal(pool, { schema })
  onTestFinished(() => another.close?.())
  const ground = { tools, dispatcher: undefined, use: () => [postgresJournal(pool, { schema }), { store }] }
  return { ground, other: another.journal.bus!, letEnd }
}

const buses: readonly (readonly [string, () => Promise<Mixed>])[] = [
  ['memory', overMemory],
  ...(typeof server === 'string' ? [] : [['Postgres', () => overPostgres(server.connectionString)] as const]),
]

describe.each(buses)('an event of another release, over the bus of %s,', (bus, make) => {
  test('is left out, reported once for its name, and given to no observer', async () => {
    const { ground, other, letEnd } = await make()
    workerOn(ground)
    const reports: unknown[] = []
    const events: ToolEvent[] = []
    const caller = createExecutor({
      tools: ground.tools,
      use: [...ground.use(), fleet(ground.dispatcher && { dispatcher: ground.dispatcher })],
      report: (error) => void reports.push(error),
    })
    onTestFinished(() => caller.close())

    async function readAll(stream: AsyncIterable<ToolEvent>): Promise<void> {
      for await (const event of stream) events.push(event)
    }

    /** Sends events of another release while a call runs, and waits until the last was reported. */
    async function sendWhileItRuns(invocationId: string, names: readonly string[], reported: number): Promise<void> {
      const ended = readAll(caller.stream({ name: 'wait' }, { session: 's', invocationId }))
      await vi.waitFor(
        () => expect(events).toContainEqual(expect.objectContaining({ event: 'tool:start', invocationId })),
        soon,
      )
      for (const event of names) {
        const message = { event, invocationId, callId: null, toolName: 'wait', session: 's', seq: 90, timestamp: 1 }
        other.publish(`events:${invocationId}`, JSON.stringify(message))
      }
      for (const message of ['null', '[]', '{', '{"event":7}']) other.publish(`events:${invocationId}`, message)
      await vi.waitFor(() => expect(reports).toHaveLength(reported), soon)
      letEnd()
      await ended
      expect(events.at(-1)).toMatchObject({ event: 'call:settled', status: 'ok', invocationId })
    }

    const [paused, last] = [`call:paused over ${bus}`, `call:rested\u202e over ${bus}`]
    const inherited = bus === 'memory' ? 'toString' : 'valueOf'
    await sendWhileItRuns('first', [paused, paused, inherited, last], 3)
    const [report] = reports
    expect(report).toMatchObject({ code: 'E_INVALID_CONFIGURATION' })
    expect(String((report as Error).message)).toContain(`"${paused}", which this release does not have`)
    expect(String(reports.at(-1))).toContain(String.raw`call:rested\u202e over ${bus}`)
    const before = reports.length
    await sendWhileItRuns('second', [paused, `call:slept over ${bus}`], before + 1)

    expect(new Set(events.map(({ event }) => event))).toEqual(
      new Set(['call:received', 'call:waiting', 'call:resumed', 'tool:start', 'tool:end', 'call:settled']),
    )
    expect(events.every(({ seq }) => seq < 90)).toBe(true)
  })
})
