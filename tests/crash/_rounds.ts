import { spawn, type ChildProcess } from 'node:child_process'
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { createExecutor, isToolError, type ToolResult } from 'toolwright'
import type { ToolCallRecord } from 'toolwright/extension'
import { isSettled } from 'toolwright/records'
import { expect } from 'vitest'
import { callOf, callsOfRound, openJournal, toolsOn, type Place } from './_work.ts'

/** What a process promised before it died. */
type Promised = Pick<ToolResult, 'invocationId' | 'status' | 'content' | 'token'> & { readonly digest?: string }

/** What all rounds came to, to see that something was tested. */
export interface Tally {
  promised: number
  sealed: number
  keptApprovals: number
  answeredApprovals: number
  replayed: number
  runAgain: number
}

/** How many rounds, and the seed of their chances. */
export const rounds: number = Number(process.env['CRASH_ROUNDS'] ?? 100)
const seed = Number(process.env['CRASH_SEED'] ?? Date.now() % 1_000_000_007)

/** The same row of numbers from 0 up to 1 for the same seed (mulberry32). */
function randomOf(first: number): () => number {
  let state = first >>> 0
  return () => {
    state = (state + 0x6d2b79f5) >>> 0
    let mixed = Math.imul(state ^ (state >>> 15), state | 1)
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61)
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32
  }
}

/** What every round has to do with. */
export interface Rounds {
  readonly place: Place
  /** A directory for what the handlers leave behind, and for compiled code, without which each process starts slowly. */
  readonly directory: string
  /** Waits until nothing of the dead process is under way any more. */
  readonly gone?: () => Promise<void>
}

/** By which name a database knows the processes that are killed. */
export const applicationName: string = `toolwright crash ${process.pid}`

function start(directory: string, task: unknown): ChildProcess {
  const child = fileURLToPath(new URL('_child.ts', import.meta.url))
  const flags = ['-C', '@toolwright/source', '--disable-warning=ExperimentalWarning']
  const env = { ...process.env, PGAPPNAME: applicationName, NODE_COMPILE_CACHE: join(directory, 'compiled') }
  return spawn(process.execPath, [...flags, child, JSON.stringify(task)], { stdio: 'pipe', env })
}

/** A process that is ready and waits, and what it has said. */
class Worker {
  readonly #process: ChildProcess
  readonly #ended: Promise<string>
  readonly killAfter: number
  readonly delay: number
  #output = ''
  #errors = ''
  #lines = 0
  #isDoomed = false

  constructor({ place, directory }: Rounds, round: number, random: () => number) {
    // Some kill themselves at a moment that counts, some are killed while they work, some while they open the journal.
    const [manner, when, delay] = [random(), random(), random()]
    const lastMoment = manner < 0.45 ? 1 + Math.floor(when * callsOfRound * 5) : 0
    this.killAfter = manner < 0.9 ? Math.floor(when * callsOfRound) : -1
    this.delay = manner < 0.9 ? delay * 3 : delay * 40
    this.#process = start(directory, { place, traces: join(directory, 'traces'), round, lastMoment })
    this.#process.stdin?.on('error', () => {}) // it may be gone already
    this.#process.stderr?.on('data', (data) => (this.#errors += String(data)))
    this.#process.stdout?.on('data', (data) => {
      this.#output += String(data)
      this.#lines += String(data).split('\n').length - 1
      const isOver = this.#output.endsWith('"done"\n')
      if (isOver || (lastMoment === 0 && this.killAfter >= 0 && this.#lines >= this.killAfter)) this.#kill(this.delay)
    })
    this.#ended = new Promise((resolve) => this.#process.on('close', (_, signal) => resolve(String(signal))))
  }

  /** Lets it work until it is dead; gives what it had promised. */
  async live(): Promise<Promised[]> {
    this.#process.stdin?.write('go\n')
    if (this.killAfter < 0) this.#kill(this.delay)
    const signal = await this.#ended
    if (signal !== 'SIGKILL') throw new Error(`the process ended by itself (${signal}): ${this.#errors}`)
    const whole = this.#output.slice(0, this.#output.lastIndexOf('\n') + 1)
    const lines = whole.split('\n').filter((line) => line !== '' && line !== '"done"')
    return lines.map((line) => JSON.parse(line) as Promised)
  }

  end(): void {
    this.#process.kill('SIGKILL')
  }

  #kill(delay: number): void {
    if (this.#isDoomed) return
    this.#isDoomed = true
    setTimeout(() => this.#process.kill('SIGKILL'), delay)
  }
}

function tracesIn(file: string): string[] {
  return readFileSync(file, 'utf8').split('\n').filter(Boolean)
}

/**
 * Lets processes work on a journal and kills them, again and again, and looks each time whether everything is kept that was
 * promised, and nothing ran twice.
 */
export async function crashRounds(setting: Rounds): Promise<Tally> {
  const { place, directory, gone } = setting
  const traces = join(directory, 'traces')
  console.log(`${rounds} rounds on ${place.journal}; CRASH_SEED=${seed} repeats the kills`)
  const random = randomOf(seed)
  const tally: Tally = { promised: 0, sealed: 0, keptApprovals: 0, answeredApprovals: 0, replayed: 0, runAgain: 0 }
  writeFileSync(traces, '')
  const compiling = start(directory, { place, traces, round: 0, lastMoment: 0 })
  compiling.stdin?.end()
  await new Promise((ended) => compiling.on('close', ended))
  const ready: Worker[] = []
  try {
    for (let round = 0; round < rounds; round++) {
      for (let ahead = round + ready.length; ahead < Math.min(rounds, round + 2); ahead++) {
        ready.push(new Worker(setting, ahead, random))
      }
      const promised = (await ready.shift()?.live()) ?? []
      await gone?.()
      try {
        await lookAfter(round, promised, place, traces, tally)
      } catch (error) {
        throw new Error(`round ${round} of CRASH_SEED=${seed}: ${String(error)}`, { cause: error })
      }
    }
  } finally {
    for (const worker of ready) worker.end()
  }
  console.log(JSON.stringify(tally))
  return tally
}

async function lookAfter(
  round: number,
  promised: Promised[],
  place: Place,
  traces: string,
  tally: Tally,
): Promise<void> {
  const [extension, another] = [openJournal(place), openJournal(place)]
  const { journal } = extension
  const executor = createExecutor({ tools: toolsOn(traces), use: [extension] })
  const other = createExecutor({ tools: toolsOn(traces), use: [another] })
  const recordOf = async (id: string): Promise<ToolCallRecord | undefined> => (await journal.read(id))?.record
  tally.promised += promised.length

  const { sealed } = await executor.calls.recover({ strategy: 'crash', staleAfter: 0 })
  const kept = await executor.calls.waiting()
  tally.sealed += sealed.length
  tally.keptApprovals += kept.length
  const left: ToolCallRecord[] = []
  for await (const { record } of journal.list({})) if (!isSettled(record.state)) left.push(record)
  expect(left.map(({ id }) => id).toSorted()).toEqual(kept.map(({ invocationId }) => invocationId).toSorted())
  expect(left.filter(({ state }) => state !== 'APPROVAL_REQUIRED')).toEqual([])

  // What was sealed says of itself whether it may have run; whoever believes that it did not has to be right.
  const linesBefore = new Set(tracesIn(traces))
  for (const { invocationId, effect } of sealed) {
    const record = await recordOf(invocationId)
    expect([record?.state, record?.effect, effect]).toEqual(['SEALED', effect, record?.effect])
    if (effect === 'none') expect(linesBefore.has(invocationId), `${invocationId} ran`).toBe(false)
  }

  // What was promised is kept, to the letter.
  const last = new Map(promised.map((promise) => [promise.invocationId, promise]))
  const sealedIds = new Set(sealed.map(({ invocationId }) => invocationId))
  const keptIds = new Set(kept.map(({ invocationId }) => invocationId))
  const answered = new Set(answeredIn(round))
  for (const [id, { status, content, digest }] of last) {
    const record = await recordOf(id)
    if (status === 'waiting') {
      if (!answered.has(id)) expect(keptIds.has(id), `the approval of ${id} is kept`).toBe(true)
      continue
    }
    expect(sealedIds.has(id), `${id} was promised and sealed`).toBe(false)
    expect(record && isSettled(record.state)).toBe(true)
    expect({ status: record?.status, content: record?.journal?.result, digest: record?.journal?.digest }).toEqual({
      status,
      content,
      digest,
    })
  }

  // The host does not know what came through, and makes every call again, in two processes' worth.
  const found = await Promise.all(callsIn(round).map(({ invocationId }) => recordOf(invocationId)))
  const settledBefore = new Set(found.flatMap((record) => (record && isSettled(record.state) ? record.id : [])))
  const again = await Promise.all(
    callsIn(round).flatMap(({ call, invocationId }) =>
      [executor, other].map((each) => each.execute(call, { invocationId, session: 'crash' })),
    ),
  )
  for (const result of again) {
    const { invocationId: id, status, content, token } = result
    if (settledBefore.has(id)) {
      tally.replayed++
      const before = last.get(id)
      if (before !== undefined && before.status !== 'waiting')
        expect({ status, content }).toEqual({ status: before.status, content: before.content })
    } else if (keptIds.has(id)) {
      expect({ status, token }).toEqual({ status: 'waiting', token: undefined }) // it still waits for its person
    } else {
      tally.runAgain++
    }
  }

  // Every token that was given out is good for one run at most, in whichever process it is redeemed.
  const tokens = promised.flatMap(({ token }) => token ?? [])
  await Promise.all(
    tokens.flatMap((token) =>
      [executor, other].map(async (each) => {
        try {
          await each.calls.decide(token, 'allow')
          tally.answeredApprovals++
        } catch (error) {
          if (!isToolError(error) || error.code !== 'E_APPROVAL_INVALID') throw error
        }
      }),
    ),
  )

  const lines = tracesIn(traces)
  const counts = new Map<string, number>()
  for (const line of lines) counts.set(line, (counts.get(line) ?? 0) + 1)
  expect([...counts].filter(([, count]) => count > 1)).toEqual([])
  for (const [id, { status }] of last) if (status === 'ok') expect(counts.get(id)).toBe(1)

  // Approvals that nobody will answer would be found by every later round.
  for await (const { record, fence } of journal.list({ state: 'waiting' })) {
    expect(record.state).toBe('APPROVAL_REQUIRED')
    const mine = await journal.takeOver(record.id, fence, 'the test')
    expect(mine && (await journal.write({ ...record, state: 'DENIED' }, mine))).toBe(true)
  }
  await executor.close()
  await other.close()
}

function callsIn(round: number): ReturnType<typeof callOf>[] {
  return Array.from({ length: callsOfRound }, (_, index) => callOf(round, index))
}

function answeredIn(round: number): string[] {
  return callsIn(round).flatMap(({ isAnswered, invocationId }) => (isAnswered ? [invocationId] : []))
}
