import { spawn, type ChildProcess } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { Redis } from 'ioredis'
import pg from 'pg'
import type { ToolExecutor, ToolResult } from 'toolwright'
import type { ToolCallRecord } from 'toolwright/extension'
import { digestOf, isSettled } from 'toolwright/records'
import { afterAll, describe, expect, test } from 'vitest'
import { startPostgres, type PostgresServer } from '../servers/postgres.ts'
import { startRedis, type RedisServer } from '../servers/redis.ts'
import {
  aloneCallsOf,
  askedUntilWritten,
  callerOn,
  callsOf,
  linesOf,
  open,
  repeatable,
  type Line,
  type PlannedCall,
  type Site,
} from './_fleet.ts'

/** How many calls a scenario makes. Those of a killed worker are four times as many. */
const calls = Number(process.env['FLEET_CALLS'] ?? 60)
const seed = Number(process.env['FLEET_SEED'] ?? Date.now() % 1_000_003)
const patience = 600_000
/** How many calls wait for their results at a time. */
const atOnce = 100
const directory = mkdtempSync(join(tmpdir(), 'toolwright-fleet-'))
const servers: (PostgresServer | RedisServer)[] = []
afterAll(async () => {
  for (const server of servers) await server.stop()
  rmSync(directory, { recursive: true, force: true })
})

async function started<Server extends PostgresServer | RedisServer>(
  starting: Promise<Server | string>,
): Promise<Server> {
  const server = await starting
  if (typeof server === 'string') throw new Error(server)
  servers.push(server)
  return server
}

const [redis, postgres] = await Promise.all([startRedis(), startPostgres()])
for (const server of [redis, postgres]) {
  if (typeof server === 'string') console.warn(`No fleet is killed: ${server}.`)
  else servers.push(server)
}
console.log(`${calls} calls in each scenario; FLEET_SEED=${seed} repeats them`)

/** Whether a process has been stopped, or has ended. */
function isStopped({ pid, exitCode, signalCode }: ChildProcess): boolean {
  if (exitCode !== null || signalCode !== null) return true
  return / [TtZX] /.test(readFileSync(`/proc/${pid}/stat`, 'utf8').replace(/^.*\)/s, ''))
}

function start(file: string, task: unknown): ChildProcess {
  const child = fileURLToPath(new URL(file, import.meta.url))
  const flags = ['-C', '@toolwright/source', '--disable-warning=ExperimentalWarning']
  const env = { ...process.env, NODE_COMPILE_CACHE: join(directory, 'compiled') }
  return spawn(process.execPath, [...flags, child, JSON.stringify(task)], { stdio: 'pipe', env })
}

/** A fleet of two workers, and the caller in this process. */
class Stage {
  readonly site: Site
  readonly #open: ReturnType<typeof open>
  readonly executor: ToolExecutor
  readonly workers: ChildProcess[] = []
  #words = ''
  #isOver = false

  constructor(site: Site) {
    this.site = site
    writeFileSync(site.log, '')
    this.#open = open(site)
    this.executor = callerOn(site, this.#open)
  }

  /** Starts a worker, and resolves once it takes calls. Starts another in its place if `again` and it dies. */
  async startWorker(again = false): Promise<ChildProcess> {
    const worker = start('_fleet-worker.ts', this.site)
    this.workers.push(worker)
    worker.stdin?.on('error', () => {})
    worker.stderr?.on('data', (data) => (this.#words = (this.#words + String(data)).slice(-2_000)))
    if (again) worker.on('exit', () => this.#isOver || void this.startWorker(true))
    await new Promise<void>((resolve) => {
      worker.stdout?.once('data', () => resolve())
      worker.once('exit', () => resolve())
    })
    return worker
  }

  /** Makes calls. Calls `then` once two fifths of them have ended. */
  async execute(planned: readonly PlannedCall[], then?: () => unknown): Promise<ToolResult[]> {
    let ended = 0
    let done: unknown
    const results: ToolResult[] = []
    const next = planned.values()
    const caller = async (): Promise<void> => {
      for (const planned_ of next) {
        results.push(await askedUntilWritten(this.executor, planned_))
        if (++ended === Math.ceil(planned.length * 0.4)) done = then?.()
      }
    }
    await Promise.all(Array.from({ length: atOnce }, caller))
    await done
    return results
  }

  /** Signals a worker while one of its handlers runs that may not run again. Returns the worker. */
  async harm(signal: NodeJS.Signals, tools: readonly string[] = ['slow']): Promise<ChildProcess | undefined> {
    const runningOf = (): Line | undefined => {
      const slow = linesOf(this.site).filter(({ tool }) => tools.includes(tool))
      const ended = new Set(slow.filter(({ at }) => at === 'end').map(({ id }) => id))
      return slow.findLast(({ id }) => !ended.has(id))
    }
    for (const until = Date.now() + 60_000; Date.now() < until; await pause(5)) {
      const running = runningOf()
      const worker = this.workers.find(({ pid }) => pid === running?.pid)
      // It stands still before it is looked at again: its handler may have ended since the log was read.
      if (worker?.kill('SIGSTOP') !== true) continue
      while (!isStopped(worker)) await pause(1)
      const isRunning = linesOf(this.site).every(({ at, id }) => at === 'start' || id !== running?.id)
      if (isRunning && (signal === 'SIGSTOP' || worker.kill(signal))) return worker
      worker.kill('SIGCONT')
    }
    return undefined
  }

  /**
   * Returns the calls that ran beside others of their session although one of the two runs alone. The lines are in order. A call
   * has ended too once its worker was taken for dead: a busy machine may let one look so that lives.
   */
  async overlaps(): Promise<string[]> {
    const running = new Map<string, Line>()
    const found: string[] = []
    const givenUp = async ({ id, time }: Line): Promise<number> => {
      const { state, completedAt = Infinity, auditTrail = [] } = (await this.record(id)) ?? {}
      const again = auditTrail.find(({ note, timestamp }) => note === 'queued again' && timestamp >= time)
      return again?.timestamp ?? (state === 'SEALED' ? completedAt : Infinity)
    }
    for (const line of linesOf(this.site)) {
      running.delete(line.id)
      if (line.at === 'end') continue
      for (const other of running.values()) {
        const isMet = other.session === line.session && `${other.tool} ${line.tool}`.includes('alone')
        if (isMet && line.time < (await givenUp(other))) found.push(`${other.id} and ${line.id}`)
      }
      running.set(line.id, line)
    }
    return found
  }

  record(invocationId: string): Promise<ToolCallRecord | undefined> {
    return Promise.resolve(this.#open.journal.read(invocationId)).then((found) => found?.record)
  }

  /** Returns the records of calls, as far as there are any. Read in pages: hundreds of reads at once would wait for each other. */
  async records(planned: readonly PlannedCall[]): Promise<ToolCallRecord[]> {
    const found = new Map<string, ToolCallRecord>()
    for await (const { record } of this.#open.journal.list({})) found.set(record.id, record)
    return planned.flatMap(({ invocationId }) => found.get(invocationId) ?? [])
  }

  /**
   * Looks whether all is kept that a fleet promises. Returns what it came to.
   *
   * @param crashes How often Postgres crashed.
   */
  async verify(
    planned: readonly PlannedCall[],
    results: readonly ToolResult[],
    { poisons = 0, crashes = 0 } = {},
  ): Promise<Tally> {
    const starts = new Map<string, number>()
    const torn = new Set<string>()
    for (const { at, id } of linesOf(this.site)) {
      if (at === 'start') starts.set(id, (starts.get(id) ?? 0) + 1)
      if (at === 'start') torn.add(id)
      else torn.delete(id)
    }
    const records = new Map<string, ToolCallRecord>()
    for await (const { record } of this.#open.journal.list({})) records.set(record.id, record)
    const all = [...records.values()]
    expect(all.length).toBe(planned.length)
    expect(all.filter(({ state }) => !isSettled(state)).map(({ id, state }) => [id, state])).toEqual([])
    const once = planned.filter(({ call }) => !repeatable.has(call.name)).map(({ invocationId }) => invocationId)
    expect(once.filter((id) => (starts.get(id) ?? 0) > 1)).toEqual([])
    const failed = all.filter(({ status }) => status !== 'ok')
    const failures = failed.map(({ id, name, state, effect, status, journal, auditTrail }) => {
      const hasBegun = auditTrail.some((line) => line.state === 'EXECUTING')
      const again = auditTrail.filter(({ note }) => note === 'queued again').length
      const count = starts.get(id) ?? 0
      return { id, hasBegun, again, name, state, effect, status, starts: count, code: journal?.failure?.code }
    })
    // One beside calls that kill every worker may lose its own as often as they do.
    const isFair = ({ name, state, effect, starts: count, again, hasBegun }: (typeof failures)[number]): boolean =>
      name.startsWith('poison') ||
      (state === 'SEALED' &&
        effect === 'unknown' &&
        hasBegun &&
        (repeatable.has(name) ? poisons > 0 && again === 2 && count <= 3 : count <= 1))
    expect(
      failures.filter((each) => !isFair(each)),
      this.#words,
    ).toEqual([])
    for (const { invocationId, status } of results) {
      expect([invocationId, status]).toEqual([invocationId, records.get(invocationId)?.status])
    }
    // What was told is not taken back, and no two settlements of an owner follow the same one, unless a server that crashes has
    // kept the last and not answered: the next then follows the one before it.
    for (const record of all) expect(digestOf(record.journal?.previous ?? '', record)).toBe(record.journal?.digest)
    const previous = all.flatMap(({ journal }) => journal?.previous || [])
    expect(previous.length - new Set(previous).size).toBeLessThanOrEqual(crashes * (this.workers.length + 1))
    // What a worker needs to begin a call goes with its settlement.
    expect(all.filter(({ journal }) => journal?.work !== undefined || journal?.awaits !== undefined)).toEqual([])
    const tally = {
      sealed: failed.length - poisons,
      again: [...starts.values()].filter((count) => count > 1).length,
      torn: torn.size,
    }
    console.log(`${this.site.engine}, ${this.site.schema}: ${JSON.stringify(tally)}`)
    return tally
  }

  async end(): Promise<void> {
    this.#isOver = true
    for (const worker of this.workers) worker.kill('SIGKILL')
    await this.executor.close()
    await this.#open.close()
  }
}

interface Tally {
  readonly sealed: number
  readonly again: number
  readonly torn: number
}

let stages = 0

async function staged(engine: Site['engine'], own: Partial<Site>, act: (stage: Stage) => Promise<void>): Promise<void> {
  if (typeof redis === 'string' || typeof postgres === 'string') return
  const schema = `fleet_${process.pid}_${stages++}`
  const log = join(directory, schema)
  const site = { engine, redis: redis.url, postgres: postgres.connectionString, schema, log, seed, ...own }
  const client = new pg.Client({ connectionString: site.postgres })
  await client.connect()
  await client.query(`CREATE SCHEMA "${schema}"; CREATE SCHEMA IF NOT EXISTS "${schema}_jobs"`)
  await client.end()
  const stage = new Stage(site)
  try {
    await act(stage)
  } catch (error) {
    throw new Error(`FLEET_SEED=${seed}, ${schema}: ${String(error)}`, { cause: error })
  } finally {
    await stage.end()
  }
}

const scenario = test.skipIf(typeof redis === 'string' || typeof postgres === 'string')

describe.concurrent.each(['bullmq on Redis', 'bullmq on Postgres', 'the journal alone'] as const)(
  'a fleet over %s',
  (engine) => {
    scenario(
      'loses nothing and runs nothing twice if a worker is killed',
      () =>
        staged(engine, {}, async (stage) => {
          await Promise.all([stage.startWorker(), stage.startWorker()])
          const planned = callsOf(stage.site, calls * 4)
          const results = await stage.execute(planned, () => stage.harm('SIGKILL'))
          const tally = await stage.verify(planned, results)
          expect(tally.sealed + tally.again).toBeGreaterThan(0)
        }),
      patience,
    )

    scenario(
      'runs no call beside one that runs alone, also if a worker is killed',
      () =>
        staged(engine, {}, async (stage) => {
          await Promise.all([stage.startWorker(), stage.startWorker(), stage.startWorker()])
          const planned = aloneCallsOf(stage.site, calls)
          const results = await stage.execute(planned, () => stage.harm('SIGKILL', ['alone', 'alone_again', 'slow']))
          await stage.verify(planned, results)
          expect(await stage.overlaps()).toEqual([])
        }),
      patience,
    )

    scenario(
      'refuses what a worker writes that was stopped for too long',
      () =>
        staged(engine, {}, async (stage) => {
          await Promise.all([stage.startWorker(), stage.startWorker()])
          const planned = callsOf(stage.site, Math.max(calls, 120))
          let first: ChildProcess | undefined
          const results = await stage.execute(planned, async () => (first = await stage.harm('SIGSTOP')))
          const before = await stage.verify(planned, results)
          expect(before.sealed + before.again).toBeGreaterThan(0)
          const unended = new Set(
            linesOf(stage.site)
              .filter(({ pid }) => pid === first?.pid)
              .map(({ id }) => id),
          )
          const records = await stage.records(planned)
          first?.kill('SIGCONT')
          const ends = (): number =>
            linesOf(stage.site).filter(({ pid, at }) => pid === first?.pid && at === 'end').length
          while (ends() < unended.size) await pause(20)
          // It takes calls again, after what it would have written for those that it had lost.
          const more = planned.map(({ call, invocationId }) => ({ call, invocationId: `${invocationId} after` }))
          const after = await stage.execute(more)
          expect(await stage.records(planned)).toEqual(records)
          await stage.verify([...planned, ...more], [...results, ...after])
        }),
      patience,
    )

    scenario(
      'goes on after a crash of Postgres',
      async ({ skip }) => {
        if (process.env['POSTGRES_URL']) return skip('left out: $POSTGRES_URL is not ours to crash')
        const own = await started(startPostgres())
        await staged(engine, { postgres: own.connectionString }, async (stage) => {
          await Promise.all([stage.startWorker(), stage.startWorker()])
          const planned = callsOf(stage.site, calls)
          await stage.verify(planned, await stage.execute(planned, () => own.crash?.()), { crashes: 1 })
        })
      },
      patience,
    )

    scenario(
      'gives a second caller the results if the first is killed',
      () =>
        staged(engine, {}, async (stage) => {
          await Promise.all([stage.startWorker(), stage.startWorker()])
          const planned = callsOf(stage.site, calls)
          const caller = start('_fleet-caller.ts', { site: stage.site, count: calls, unsent: 0 })
          stage.workers.push(caller)
          let words = ''
          const dead = new Promise((resolve) => caller.on('exit', resolve))
          caller.stdout?.on('data', (data) => {
            words += String(data)
            if (words.split('\n').length > calls * 0.4) caller.kill('SIGKILL')
          })
          await dead
          const results = await stage.execute(planned)
          const answers = words
            .slice(0, words.lastIndexOf('\n'))
            .split('\n')
            .map((line) => JSON.parse(line) as ToolResult)
          for (const { invocationId, status, content } of answers) {
            const again = results.find((result) => result.invocationId === invocationId)
            expect({ status: again?.status, content: again?.content }).toEqual({ status, content })
          }
          const tally = await stage.verify(planned, results)
          expect([answers.length >= calls * 0.4, tally.sealed, tally.again]).toEqual([true, 0, 0])
        }),
      patience,
    )

    scenario(
      'runs what a caller wrote that died before it told the workers',
      () =>
        staged(engine, {}, async (stage) => {
          const unsent = Math.ceil(calls * 0.4)
          const caller = start('_fleet-caller.ts', { site: stage.site, count: calls, unsent })
          await new Promise((resolve) => caller.on('exit', resolve))
          await Promise.all([stage.startWorker(), stage.startWorker()])
          const written = await stage.records(callsOf(stage.site, calls))
          expect(written.length).toBeGreaterThanOrEqual(unsent)
          for (const { id } of written) await stage.executor.calls.settled(id)
          const planned = callsOf(stage.site, calls)
          const tally = await stage.verify(planned, await stage.execute(planned))
          expect([tally.sealed, tally.again]).toEqual([0, 0])
        }),
      patience,
    )

    scenario(
      'outlives calls that kill every worker',
      () =>
        staged(engine, {}, async (stage) => {
          await Promise.all([stage.startWorker(true), stage.startWorker(true)])
          const planned = callsOf(stage.site, calls)
          const poisons = (['poison', 'poison_again'] as const).map((name, index) => ({
            call: { name, args: { index } },
            invocationId: name,
          }))
          planned.splice(Math.ceil(calls * 0.4), 0, ...poisons)
          const results = await stage.execute(planned)
          await stage.verify(planned, results, { poisons: poisons.length })
          const ends = await Promise.all(poisons.map(({ invocationId }) => stage.record(invocationId)))
          expect(ends.map((record) => [record?.state, record?.effect])).toEqual([
            ['SEALED', 'unknown'],
            ['SEALED', 'unknown'],
          ])
          const startsOf = (name: string): number => linesOf(stage.site).filter(({ id }) => id === name).length
          // Another may end the worker between the record of its start and the handler.
          expect(startsOf('poison')).toBeLessThanOrEqual(1)
          expect(startsOf('poison_again')).toBeLessThanOrEqual(3)
          expect(startsOf('poison') + startsOf('poison_again')).toBeGreaterThan(2)
        }),
      patience,
    )
  },
)

describe.concurrent('a fleet over bullmq on a Redis of its own', () => {
  scenario.for([
    ['is killed', (server: RedisServer) => server.crash?.()],
    ['forgets everything', ({ url }: RedisServer) => flush(url)],
  ] as const)('loses nothing and runs nothing twice if Redis %s', { timeout: patience }, async ([, harm], { skip }) => {
    if (process.env['REDIS_URL']) return skip('left out: $REDIS_URL is not ours to harm')
    const own = await started(startRedis())
    await staged('bullmq on Redis', { redis: own.url }, async (stage) => {
      await Promise.all([stage.startWorker(), stage.startWorker()])
      const planned = callsOf(stage.site, calls)
      const tally = await stage.verify(planned, await stage.execute(planned, () => harm(own)))
      expect([tally.sealed, tally.again]).toEqual([0, 0])
    })
  })
})

async function flush(url: string): Promise<void> {
  const client = new Redis({ path: new URL(url).pathname })
  await client.flushall()
  client.disconnect()
}
