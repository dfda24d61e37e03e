import { publish } from '../kernel/call/emit.ts'
import type { Received, Resumption } from '../kernel/call/parcel.ts'
import { Wait, type ResumableCall } from '../kernel/call/wait.ts'
import type { WaitRecord, QueuedWork, ToolCallRecord } from '../kernel/call/record.ts'
import { isToolError, UnavailableError } from '../kernel/errors.ts'
import type { Bus, RunOptions } from '../kernel/queue-types.ts'
import type { WorkQueue } from '../kernel/recorder.ts'
import { toolEndOf } from './close.ts'
import { remark, type OpenRecord } from './fold.ts'
import { awaitJournal, journalErrorOf } from './journal-timeout.ts'
import { requireUnchanged } from './fingerprint.ts'
import type { Fence, FoundRecord, Journal, ListedRecord } from './journal.ts'
import { resumableCallOf } from './resumable.ts'
import { resumptionOf } from './resumption.ts'
import { isSettled } from './record.ts'
import type { JournalRecorder } from './recorder.ts'
import { SessionOrder } from './session-order.ts'
import type { RecordsContext } from '../kernel/executor-context.ts'

/** How many calls are told to the workers again at a time. */
const mostUnsent = 1_000

/** How many workers a call may have lost before it runs beside no other such call: one may have ended the workers. */
const mostLost = 2

/** How many tools that are not here are remembered. */
const mostLacking = 1_000

/** The calls in a journal that wait for workers. */
export class JournalQueue implements WorkQueue {
  readonly #recorder: JournalRecorder
  readonly #journal: Journal
  readonly #kernel: RecordsContext
  readonly #order: SessionOrder
  /** The calls that were taken and are about to run. */
  readonly #taken = new Map<string, FoundRecord>()
  /** The takes that the journal has not answered yet. */
  readonly #taking = new Set<Promise<unknown>>()
  /** The fingerprints of tools that are not here, with their names. Their calls are left to other workers. */
  readonly #lacking = new Map<string, string>()
  /** Resolves when the last call in the line of those that lost workers has ended. */
  #line: Promise<void> | undefined
  /** The calls in that line, and what tells of their end. */
  readonly #inLine = new Map<string, () => void>()

  constructor(recorder: JournalRecorder, journal: Journal, kernel: RecordsContext) {
    this.#recorder = recorder
    this.#journal = journal
    this.#kernel = kernel
    this.#order = new SessionOrder(journal, () => kernel.owner())
  }

  readonly onOrder: WorkQueue['onOrder'] = (listener) => this.#order.on(listener)

  async take(queue: string, limit: number, except: readonly string[] = []): Promise<readonly string[]> {
    const lacking = await this.#stillLacking()
    const wanted = { queue, limit, except, ...(lacking.length > 0 && { lacking }) }
    const taking = this.#ask(this.#journal.take?.(wanted, this.#kernel.owner())).then((found = []) => {
      for (const each of found) this.#taken.set(each.record.id, each)
      return found.map(({ record }) => record.id)
    })
    this.#taking.add(taking)
    return taking.finally(() => this.#taking.delete(taking))
  }

  /** Whether a call was taken and is about to run. Waits for the takes whose answers are under way, which may have it. */
  async has(invocationId: string): Promise<boolean> {
    await Promise.allSettled(this.#taking)
    return this.#taken.has(invocationId)
  }

  async redeem(invocationId: string, { receive }: RunOptions): Promise<Resumption | undefined> {
    const call = await this.#take(invocationId)
    if (call === undefined) return undefined
    if (this.#kernel.inFlight.isEnding) {
      await this.#putBack(call)
      return undefined
    }
    const name = JSON.stringify(call.call.name)
    try {
      const tool = this.#kernel.registryFor(call.session).get(call.call.name)
      if (tool === undefined) throw new UnavailableError(`There is no tool ${name} here.`)
      requireUnchanged(tool, tool.name, call.fingerprint)
      const carried = call.taken?.work?.values
      const values = carried === undefined || receive === undefined ? {} : await receive(carried, call)
      return resumptionOf({ ...call, values, approval: { decision: 'allow', decidedBy: 'worker' } }, this.#kernel)
    } catch (cause) {
      this.#lack(call)
      await this.#putBack(call)
      throw new UnavailableError(`This worker cannot run ${name} as its caller knows it. Another may.`, { cause })
    }
  }

  /** Remembers a tool that the caller knows in another way, if all sessions have the same tools. */
  #lack({ fingerprint, call: { name }, session }: ResumableCall): void {
    const { registryFor } = this.#kernel
    if (this.#lacking.size < mostLacking && registryFor(session) === registryFor(''))
      this.#lacking.set(fingerprint, name)
  }

  /** Returns the fingerprints of tools that are not here. A tool may have come meanwhile, or the call failed for another reason. */
  async #stillLacking(): Promise<string[]> {
    if (this.#lacking.size === 0) return []
    const registry = this.#kernel.registryFor('')
    for (const [fingerprint, name] of this.#lacking) {
      const tool = registry.get(name)
      try {
        if (tool === undefined) continue
        requireUnchanged(tool, name, fingerprint)
        this.#lacking.delete(fingerprint)
      } catch {
        // it is another version
      }
    }
    return [...this.#lacking.keys()]
  }

  waitAgain({ resumption, startedAt }: Received, thrown: unknown): Wait | undefined {
    const { prompt = '', expiresAt, work } = resumption?.taken ?? {}
    const isCancelled = this.#kernel.inFlight.isClosing && isToolError(thrown) && thrown.code === 'E_TOOL_CANCELLED'
    if (work === undefined || expiresAt === undefined || !isCancelled) return undefined
    if (startedAt !== undefined && work.isRepeatable !== true) return undefined
    const attempts = startedAt === undefined ? work.attempts - 1 : work.attempts
    const left = Math.max(1, expiresAt - Date.now())
    return new Wait('worker', { prompt, input: undefined }, left, { ...work, attempts })
  }

  async #take(invocationId: string): Promise<ResumableCall | undefined> {
    const claim = await this.#claim(invocationId)
    const before = claim?.record.journal?.awaits
    if (claim === undefined || before?.work === undefined) return undefined
    if (before.work.attempts >= mostLost) await this.#waitInLine(invocationId)
    const work = { ...before, work: { ...before.work, attempts: before.work.attempts + 1 } }
    const recording = this.#recorder.resume(begunAgain(claim.record, claim.fence, { work }), claim.fence)
    return { ...resumableCallOf(claim.record, before, recording), taken: work }
  }

  /** Waits for the calls in the line. */
  async #waitInLine(invocationId: string): Promise<void> {
    const before = this.#line
    this.#line = new Promise((resolve) => this.#inLine.set(invocationId, resolve))
    await before
    this.#kernel.inFlight.next(invocationId, () => this.#leaveLine(invocationId))
  }

  #leaveLine(invocationId: string): void {
    this.#inLine.get(invocationId)?.()
    this.#inLine.delete(invocationId)
  }

  async #claim(invocationId: string): Promise<FoundRecord | undefined> {
    const earlierRecord = this.#taken.get(invocationId)
    if (this.#taken.delete(invocationId)) return earlierRecord
    if (this.#journal.take !== undefined) return (await this.#takeOne(invocationId)) ?? this.#takeInOrder(invocationId)
    const found = await this.#recorder.read(invocationId)
    if (found === null || !isQueued(found.record)) return undefined
    const fence = await this.#recorder.takeOver(found.record, found.fence)
    if (fence === null) return undefined
    const { awaits, ...journal } = found.record.journal!
    const record = { ...found.record, journal: { ...journal, work: awaits! } }
    return (await this.#recorder.write(record, fence)) ? { record: found.record, fence } : undefined
  }

  async #takeOne(invocationId: string): Promise<FoundRecord | undefined> {
    const found = await this.#ask(this.#journal.take?.({ invocationId, limit: 1 }, this.#kernel.owner()))
    return found?.[0]
  }

  /** Remembers a call if others of its session keep it from running. Takes it if they have just ended. */
  async #takeInOrder(invocationId: string): Promise<FoundRecord | undefined> {
    const found = await this.#recorder.read(invocationId)
    const isKept = found !== null && isQueued(found.record) && this.#order.add(found.record)
    return isKept ? this.#takeOne(invocationId) : undefined
  }

  /** Lets a call that was taken and has not started wait for another worker. */
  async #putBack({ taken, recording }: ResumableCall): Promise<void> {
    const { record, fence } = this.#recorder.release(recording)
    this.#leaveLine(record.id)
    if (taken?.work === undefined || fence === undefined) return
    await this.#await(record, fence, { ...taken, work: { ...taken.work, attempts: taken.work.attempts - 1 } })
  }

  /**
   * Lets a call whose worker died wait for another, if it may run again.
   *
   * @param attempts How many workers may take it.
   * @param hasHappenedNot Whether it was found out that its run had no effect, so that any tool may run again.
   * @returns Its queue; `'over'` if it may not, so that it has to be closed; `'taken'` if another executor was first.
   */
  async rerun(
    { record, fence }: ListedRecord,
    attempts: number,
    hasHappenedNot = false,
  ): Promise<Pick<QueuedWork, 'queue' | 'attempts'> | 'over' | 'taken'> {
    const { work: running, awaits } = record.journal ?? {}
    const wait = running ?? awaits
    if (wait?.work === undefined) return 'over'
    // A worker that died before it wrote the record did not die of this call.
    const count = wait.work.attempts
    const hasStarted = record.state === 'EXECUTING'
    if (count >= attempts || (hasStarted && wait.work.isRepeatable !== true && !hasHappenedNot)) return 'over'
    const next = await this.#recorder.takeOver(record, fence)
    if (next === null) return 'taken'
    const isReadonly = this.#kernel.registryFor(record.session).get(record.name)?.traits.readonly === true
    const again: OpenRecord = {
      ...record,
      effect: hasStarted && !isReadonly && !hasHappenedNot ? 'unknown' : record.effect,
    }
    const end = record.journal?.hasStarted === true ? toolEndOf(record) : undefined
    if (end !== undefined) again.seq++
    remark(again, Date.now(), 'queued again')
    const isWritten = await this.#await(again, next, wait)
    if (isWritten && end !== undefined) publish(end, undefined, this.#kernel)
    return isWritten ? { queue: wait.work.queue, attempts: count + (running === undefined ? 1 : 0) } : 'taken'
  }

  #await(record: ToolCallRecord, fence: Fence, awaits: WaitRecord): boolean | Promise<boolean> {
    return this.#recorder.write(begunAgain(record, fence, { awaits }), fence)
  }

  async unsent(queues: readonly string[], milliseconds: number): ReturnType<WorkQueue['unsent']> {
    const unsentRecords = this.#journal.unsent?.({ queues, silentFor: milliseconds, limit: mostUnsent })
    if (unsentRecords !== undefined) return (await this.#ask(unsentRecords)) ?? []
    const found: { invocationId: string; queue: string }[] = []
    for await (const { record } of this.#recorder.list({ reason: 'worker', limit: mostUnsent })) {
      const queue = record.journal?.awaits?.work?.queue
      if (queue !== undefined && queues.includes(queue)) found.push({ invocationId: record.id, queue })
    }
    return found
  }

  async depth(queue: string, atMost: number): Promise<number> {
    return (await this.#ask(this.#journal.depth?.(queue, atMost))) ?? 0
  }

  cancelRequested(): Promise<void> {
    return this.#recorder.beat()
  }

  get bus(): Bus | undefined {
    return this.#journal.bus
  }

  async record(invocationId: string): Promise<ToolCallRecord | undefined> {
    const found = await this.#recorder.read(invocationId)
    const { awaits, owner } = found?.record.journal ?? {}
    // The record of a call that was just taken still says that it waits.
    const isTaken = found !== null && awaits !== undefined && owner !== found.fence.owner
    return isTaken ? begunAgain(found.record, found.fence, { work: awaits }) : found?.record
  }

  async #ask<Value>(answer: Promise<Value> | undefined): Promise<Value | undefined> {
    try {
      return answer && (await awaitJournal(answer, (value) => value))
    } catch (cause) {
      throw journalErrorOf(cause)
    }
  }
}

function isQueued({ state, journal }: ToolCallRecord): boolean {
  return !isSettled(state) && journal?.awaits?.reason === 'worker' && journal.awaits.expiresAt >= Date.now()
}

/** Returns a record that waits for a worker, or that one has taken. */
function begunAgain(
  record: ToolCallRecord,
  { owner, number }: Fence,
  state: { readonly awaits: WaitRecord } | { readonly work: WaitRecord },
): ToolCallRecord {
  const {
    awaits: _awaits,
    work: _work,
    hasStarted: _hasStarted,
    ...journal
  } = record.journal ?? { caller: 'model' as const }
  return { ...record, journal: { ...journal, owner, fence: number, ...state } }
}
