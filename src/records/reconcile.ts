import { findingMark, noRecord, type ToolResult } from '../kernel/call/call.ts'
import { CallResult } from '../kernel/call/call-result.ts'
import type { ToolValues } from '../kernel/call/context-types.ts'
import { publish } from '../kernel/call/emit.ts'
import { stageFields, type Received } from '../kernel/call/parcel.ts'
import type { ToolCallRecord } from '../kernel/call/record.ts'
import { JournalError, SealedError, ToolCancelledError, UnavailableError } from '../kernel/errors.ts'
import type { RecordsContext } from '../kernel/executor-context.ts'
import type { FoundOut, Settlement } from '../kernel/recorder.ts'
import { aliveFor, close, envelopeOf, journaledOf, toolEndOf } from './close.ts'
import { concludedRecord, findingOf, happenedNot, isAbout, startOfCall, type Conclusion } from './finding.ts'
import { foldEvent } from './fold.ts'
import type { Fence, FoundRecord } from './journal.ts'
import { isSettled } from './record.ts'
import type { JournalRecorder } from './recorder.ts'
import { replay } from './replay.ts'
import type { OpenJournaled } from './settlement.ts'

/** How long to wait for another executor that writes down what it has found out, in milliseconds. */
const findingPatience = 1_000
/** How often it is looked whether it has. */
const findingPause = 50
/** How many records of an executor are looked at for its signs of life: others may have written some of them. */
const mostOwnerRecords = 20

/** Keeps the args of a call in its record, if its tool can be asked later what became of it. */
export function keepArgs(call: Received, journal: OpenJournaled): void {
  const { tool, identity } = stageFields(call)
  if (tool?.reconcile !== undefined && identity !== undefined) journal.args = identity.text
}

/** Finds out what calls did of which it is not known, and writes it down: once for each call. */
export class Findings {
  readonly #recorder: JournalRecorder
  readonly #kernel: RecordsContext
  /** The questions under way, by the invocations that they are about. */
  readonly #asking = new Map<string, Promise<ToolResult | undefined>>()
  /** Calls that settled while their work went on, by their invocations. */
  readonly #late = new Map<string, Received>()
  #ended: AbortController | undefined

  constructor(recorder: JournalRecorder, kernel: RecordsContext) {
    this.#recorder = recorder
    this.#kernel = kernel
  }

  /** Remembers a call that has settled while its work goes on, if its tool can be asked later. */
  settled(call: Received): void {
    if (call.deadline.works === 0 || stageFields(call).tool?.reconcile === undefined) return
    for (const [id, { deadline }] of this.#late) if (deadline.works === 0) this.#late.delete(id)
    this.#late.set(call.invocationId, call)
  }

  /** Returns the result of a settled record. If its effect is not known, asks its tool first. */
  async outcome(found: FoundRecord, values?: ToolValues): Promise<ToolResult> {
    return (await this.#findingOf(found, values)) ?? replay(found.record, this.#kernel)
  }

  /** Does `executor.calls.reconcile`. */
  async reconcile(invocationId: string): Promise<ToolResult> {
    const found = await this.#recorder.read(invocationId)
    if (found === null) throw noRecord(invocationId)
    if (isSettled(found.record.state)) return this.outcome(found)
    throw new UnavailableError(
      `Invocation ${JSON.stringify(invocationId)} has not settled, so nothing is asked. If its process has died, \`recover\` closes it.`,
    )
  }

  /** Asks again about a call, if another executor died while it wrote what it had found out. */
  async again({ record, fence }: FoundRecord): Promise<void> {
    const found = await this.#recorder.read(record.reconciles ?? '')
    if (found !== null) return void (await this.#findingOf(found, undefined, fence.owner))
    const error = new SealedError('The record of the call that this was about is gone.')
    await close({ record, fence }, error, 'unknown', this.#recorder, this.#kernel)
  }

  /**
   * Asks about a call whose executor has died while it ran. Settles it, if it was done.
   *
   * @returns What the tool said; its record, if it is settled; `'taken'` if another executor was first. Nothing, if its tool cannot
   * be asked.
   */
  async recover(
    found: FoundRecord,
  ): Promise<Exclude<FoundOut, { effect: 'completed' }> | ToolCallRecord | 'taken' | undefined> {
    const { record, fence } = found
    if (record.state !== 'EXECUTING' || !this.#canAsk(record)) return undefined
    const answer = await this.#ask(found)
    if (answer.effect !== 'completed') return answer
    try {
      const held = await this.#recorder.takeOver(record, fence)
      if (held === null) return 'taken'
      const resumed = { ...envelopeOf(record), event: 'call:resumed' as const, decision: 'allow' as const }
      const begun = { ...resumed, decidedBy: 'recover', note: 'reconciled' }
      const end = record.journal?.hasStarted === true ? [toolEndOf({ ...record, seq: record.seq + 1 }, false)] : []
      const seq = record.seq + 1 + end.length
      const conclusion = { ...(await answer.settle()), events: [begun, ...end], seq }
      return (await this.#conclude(foldEvent(record, begun), held, conclusion)) ?? 'taken'
    } finally {
      answer.end()
    }
  }

  /** Ends the questions under way. */
  close(): void {
    this.#ended?.abort(new ToolCancelledError('The executor was closed.'))
  }

  /** Returns what was or is found out about a settled call. Asks once for all who want to know it here. */
  async #findingOf(
    found: FoundRecord,
    values: ToolValues | undefined,
    deadOwner?: string,
  ): Promise<ToolResult | undefined> {
    const { id, effect, journal } = found.record
    if (effect !== 'unknown' || (journal?.args === undefined && journal?.finding === undefined)) return undefined
    const underWay = this.#asking.get(id)
    if (underWay !== undefined) return underWay
    const asking = this.#find(found, values, deadOwner).finally(() => this.#asking.delete(id))
    this.#asking.set(id, asking)
    return asking
  }

  async #find(found: FoundRecord, values: ToolValues | undefined, deadOwner?: string): Promise<ToolResult | undefined> {
    const { record } = found
    const earlier = await this.#earlier(record)
    if (earlier !== undefined) return isAbout(earlier, record) ? this.#resultOf(record, earlier) : undefined
    if (!this.#canAsk(record)) return undefined
    const answer = await this.#ask(found, values)
    if (answer.effect === 'unknown') {
      const meanwhile = await this.#earlier(record) // of another who asked
      return meanwhile && isAbout(meanwhile, record) ? this.#resultOf(record, meanwhile) : undefined
    }
    try {
      const finding = await this.#write(record, answer, deadOwner)
      return await this.#resultOf(record, finding)
    } finally {
      if (answer.effect === 'completed') answer.end()
    }
  }

  /** Returns what was found out before, if it is written. */
  async #earlier({ id }: ToolCallRecord): Promise<ToolCallRecord | undefined> {
    const found = await this.#recorder.read(id + findingMark)
    return found !== null && isSettled(found.record.state) ? found.record : undefined
  }

  /** Writes down what was found out. The first finding stands: returns the record of that. */
  async #write(record: ToolCallRecord, answer: FoundOut, deadOwner: string | undefined): Promise<ToolCallRecord> {
    const { pending, received } = findingOf(record, this.#kernel.owner())
    const giveUpAt = performance.now() + findingPatience
    let held = await this.#recorder.claim(pending)
    if (held !== null) publish(received, undefined, this.#kernel)
    let settlement: Settlement | undefined
    for (;;) {
      if (held === null) {
        const other = await this.#recorder.read(pending.id)
        if (other === null) throw new JournalError(`The record ${pending.id} is gone.`, { retryable: true })
        if (isSettled(other.record.state)) return other.record
        // Its owner most likely writes it now, and its chain would have a gap. If not, it has died.
        if (other.fence.owner !== deadOwner && performance.now() < giveUpAt)
          await new Promise((resolve) => setTimeout(resolve, findingPause))
        else held = await this.#recorder.takeOver(other.record, other.fence)
        if (held === null) continue
      }
      settlement ??= answer.effect === 'completed' ? await answer.settle() : happenedNot(record)
      const { completedAt } = record // they are deleted together
      const finding = await this.#conclude(pending, held, { ...settlement, events: [], seq: 1, completedAt })
      if (finding !== undefined) return finding
      held = null
    }
  }

  /** Writes a settlement, then emits its events. Returns nothing if another executor has taken the record. */
  async #conclude(record: ToolCallRecord, held: Fence, conclusion: Conclusion): Promise<ToolCallRecord | undefined> {
    const { settled, written } = await concludedRecord(record, held, conclusion, this.#kernel)
    const sealed = await this.#recorder.seal(written, held)
    if (sealed === undefined) return undefined
    const digest = sealed.journal?.digest
    for (const event of conclusion.events) publish(event, undefined, this.#kernel)
    publish(digest === undefined ? settled : { ...settled, digest }, undefined, this.#kernel)
    this.#kernel.inFlight.tell(sealed.id)
    return sealed
  }

  /** Returns a finding's result as that of its call, whose record needs the args no more. */
  async #resultOf({ id, journal }: ToolCallRecord, finding: ToolCallRecord): Promise<ToolResult | undefined> {
    const { effect, status = 'error' } = finding
    if (effect === 'unknown') return undefined
    if (journal?.args !== undefined || journal?.finding === undefined) {
      await this.#forgetArgs(id, { status, effect }).catch(this.#kernel.report) // the next to ask tries again
    }
    const result = await replay(finding, this.#kernel)
    if (result.error !== undefined) Object.assign(result.error, { invocationId: id })
    return CallResult.of(result, { invocationId: id })
  }

  async #forgetArgs(
    invocationId: string,
    finding: NonNullable<ReturnType<typeof journaledOf>['finding']>,
  ): Promise<void> {
    const found = await this.#recorder.read(invocationId)
    if (found === null || !isSettled(found.record.state)) return
    const { args: _args, ...journal } = journaledOf(found.record)
    await this.#recorder.write({ ...found.record, journal: { ...journal, finding } }, found.fence)
  }

  /** Whether the tool of a record can be asked about its call. */
  #canAsk({ session, name, journal }: ToolCallRecord): boolean {
    if ((journal?.args ?? journal?.work?.text) === undefined) return false
    try {
      return this.#kernel.registryFor(session).get(name)?.reconcile !== undefined
    } catch (error) {
      this.#kernel.report(error)
      return false
    }
  }

  /** Asks the tool of a call. What fails, or cannot be believed, is `unknown`. */
  async #ask(found: FoundRecord, values?: ToolValues): Promise<FoundOut> {
    const { id: invocationId, callId, name, session, toolCallId: id } = found.record
    const { caller, principal, program, args, work } = journaledOf(found.record)
    const wasLate = this.#isRunningHere(invocationId) // before it is asked, since the work may end meanwhile
    const askedAt = performance.now()
    try {
      const { signal } = (this.#ended ??= new AbortController())
      const call = { invocationId, callId, id, name, session, principal, caller, program, values, signal }
      const text = args ?? work?.text ?? ''
      const answer = await this.#kernel.findOut({ ...call, text, startedAt: startOfCall(found.record) })
      if (answer.effect !== 'none') return answer
      const mayRun = wasLate || (await this.#isRunningElsewhere(found, askedAt))
      return mayRun ? { effect: 'unknown', note: 'The handler may still run.' } : answer
    } catch (error) {
      this.#kernel.report(error)
      return { effect: 'unknown' }
    }
  }

  #isRunningHere(invocationId: string): boolean {
    return (this.#late.get(invocationId)?.deadline.works ?? 0) > 0
  }

  /** Whether a handler may run in another executor, since that gave a sign of life after the call had settled there. */
  async #isRunningElsewhere({ record, fence: { owner } }: FoundRecord, askedAt: number): Promise<boolean> {
    // No other settles a call of a living executor, and a client is no executor.
    const isOfDead = record.state === 'SEALED' || !isSettled(record.state)
    const { session, name, createdAt } = record
    const isClients = this.#kernel.registryFor(session).get(name)?.type === 'client'
    if (isOfDead || isClients || owner === this.#kernel.owner()) return false
    const before = { createdAt: createdAt + 1, id: '' }
    let longest = 0
    for await (const { idle } of this.#recorder.list({ owner, session, before, limit: mostOwnerRecords })) {
      longest = Math.max(longest, idle)
    }
    return longest - (performance.now() - askedAt) < aliveFor
  }
}
