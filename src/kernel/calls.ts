import { idOf, noJournal, noRecord, type ToolResult } from './call/call.ts'
import type { CallOptions } from './call/context-types.ts'
import type { RecoverOptions, Recovery, ToolCallSnapshot } from './call/record.ts'
import { optionsOf } from './call/options.ts'
import type { ExecutorCalls, RecordedCalls } from './calls-types.ts'
import type { Confirmed } from './call/parcel.ts'
import type { Kernel } from './kernel.ts'
import type { EarlierCalls } from './ports.ts'
import type { Recorder, Resume, WaitKeeper } from './recorder.ts'
import { isObject } from './schema/json-schema.ts'

const answerOptions = 'session, holder, values, signal'

export class Calls implements ExecutorCalls {
  readonly #kernel: Kernel
  readonly #resume: Resume
  readonly #closed: () => AbortSignal

  /** @param closed Returns the signal that ends the waits for other executors. */
  constructor(kernel: Kernel, resume: Resume, closed: () => AbortSignal) {
    this.#kernel = kernel
    this.#resume = resume
    this.#closed = closed
  }

  readonly waiting: RecordedCalls['waiting'] = async (query = {}) =>
    (await this.#keeper).calls.waiting(optionsOf('calls.waiting', query, 'session, invocationId, reason'))
  readonly list: RecordedCalls['list'] = async (query = {}) =>
    (await this.#keeper).calls.list(optionsOf('calls.list', query, 'session, parent, before, limit'))
  readonly lease: RecordedCalls['lease'] = async (...lease) => (await this.#keeper).calls.lease(...lease)
  readonly cancel: RecordedCalls['cancel'] = async (id, reason) => (await this.#keeper).calls.cancel(idOf(id), reason)
  readonly expire: RecordedCalls['expire'] = async () => (await this.#keeper).calls.expire()
  readonly prune: RecordedCalls['prune'] = async (query) =>
    (await this.#keeper).calls.prune(optionsOf('calls.prune', query, 'settledBefore, limit'))
  readonly watch: RecordedCalls['watch'] = (listener) => this.#kernel.recorder?.calls.watch(listener) ?? (() => {})
  readonly settled: RecordedCalls['settled'] = async (call, options = {}) => {
    const { signal } = optionsOf('calls.settled', options, 'signal')
    if (isObject(call) && call.status !== 'waiting') return call
    const id = idOf(isObject(call) ? call.invocationId : call)
    return (await this.#keeper).calls.settled(id, { signal, closed: this.#closed() })
  }

  readonly decide: ExecutorCalls['decide'] = async (token, decision, options = {}) =>
    optionsOf('calls.decide', options, `${answerOptions}, note, always, decidedBy, editedArgs`) &&
    this.#resume<never>(token, async () => (await this.#keeper).answers.decide(token, decision, options), options)

  readonly respond: ExecutorCalls['respond'] = async (token, value, options = {}) =>
    optionsOf('calls.respond', options, answerOptions) &&
    this.#resume<never>(token, async () => (await this.#keeper).answers.respond(token, value, options), options)

  readonly get = async (invocationId: string): Promise<ToolCallSnapshot> => {
    const [id, { recorder, inFlight }] = [idOf(invocationId), this.#kernel]
    const snapshot = await recorder?.snapshot(id, inFlight.get(id))
    if (snapshot === undefined) throw noRecord(id)
    return snapshot
  }

  readonly recover = async (options: RecoverOptions = {}): Promise<Recovery> => {
    const { recorder } = this.#kernel
    const own = optionsOf('calls.recover', options, 'strategy, approvals, staleAfter, rerun, attempts, reconcile')
    if (recorder !== undefined) return recorder.recover(own)
    throw noJournal('Nothing is recovered')
  }

  readonly reconcile = async (invocationId: string): Promise<ToolResult> => reconcileCall(invocationId, this.#kernel)

  get #keeper(): WaitKeeper | Promise<WaitKeeper> {
    return this.#kernel.waits()
  }
}

/** Does what `calls.reconcile` does. */
async function reconcileCall(invocationId: string, { recorder }: Pick<Kernel, 'recorder'>): Promise<ToolResult> {
  const id = idOf(invocationId)
  if (recorder !== undefined) return recorder.findings.reconcile(id)
  throw noJournal('Nothing is known of a call')
}

/** Makes what gates may ask about the calls before. */
export function earlierCalls(kernel: Pick<Kernel, 'inFlight' | 'recorder' | 'report'>): EarlierCalls {
  const { recorder, inFlight, report } = kernel
  return {
    report,
    settled: (id, options) => earlierResult(id, kernel, options),
    reconcile: (id) => reconcileCall(id, kernel),
    get: async (id) => recorder?.snapshot(id, inFlight.get(id)),
    ...(recorder?.claimEffect && {
      // The record is there before its claim, so that others who find the claim know that the call is under way.
      claim: async (scope, call, former) => {
        await recorder.commit(call)
        return claimed(recorder, scope, call, call.invocationId, former)
      },
      giveBack: (scope, call, former) => claimed(recorder, scope, call, former, call.invocationId),
    }),
  }
}

async function claimed(
  recorder: Recorder,
  scope: string,
  { effectKey }: Confirmed,
  invocationId: string,
  former: string | undefined,
): Promise<string> {
  return (await recorder.claimEffect?.(scope, effectKey?.digest ?? '', invocationId, former)) ?? invocationId
}

/** Waits for the result of a call. Returns nothing if there is no such call. */
async function earlierResult(
  invocationId: string,
  { inFlight, recorder }: Pick<Kernel, 'inFlight' | 'recorder'>,
  options?: Pick<CallOptions, 'signal'>,
): Promise<ToolResult | undefined> {
  const here = await inFlight.left(invocationId)
  if (here !== undefined && here.status !== 'waiting') return here
  if ((await recorder?.snapshot(invocationId)) === undefined) return undefined
  return recorder?.calls.settled(invocationId, options)
}
