import { sha256 } from '#sha256'
import { bounded } from '../kernel/json/bounded.ts'
import { toldId, type Caller, type ToolCall, type ToolValues } from '../kernel/call/call.ts'
import { ApprovalExpiredError, ApprovalInvalidError, InvalidToolResultError } from '../kernel/errors.ts'
import { fingerprint, requireUnchanged } from './fingerprint.ts'
import type { JournalLedger } from '../records/recorder.ts'
import { progressOf, type Approval, type Received, type Resumption } from '../kernel/call/parcel.ts'
import type { Pause } from '../kernel/call/pause.ts'
import type { Fence } from '../kernel/ports.ts'
import { isSettled, type Awaited, type ToolCallRecord } from '../records/record.ts'
import type { ToolRegistry } from '../kernel/tool/registry.ts'
import { randomDigits } from '../kernel/json/text.ts'
import { ownJson } from '../kernel/json/written.ts'

const mostHeld = 10_000
const longestAwaited = 262_144
/** The last millisecond that a `Date` can hold. */
const endOfTime = 8.64e15

/** What may be said with an answer, beside yes and no. */
export interface DecideOptions {
  /** A word to the model where the answer is `deny`; for the record where it is `allow`. */
  readonly note?: string
  /** The person does not want to be asked again; remembering it is the host's policy. */
  readonly always?: boolean
  /** Args to run with instead: they make a new call, identified and validated anew. */
  readonly editedArgs?: unknown
  readonly decidedBy?: string
  /** Where it is given, the call has to be of this session. */
  readonly session?: string
  /** The host's own data for the rest of the call. Default: what it was given, where that is still in this process. */
  readonly values?: ToolValues
  /** Gives the rest of the call up. */
  readonly signal?: AbortSignal | undefined
}

/** A paused call, ready to walk the passage again from its canonical text. */
export interface Redeemed {
  readonly call: ToolCall
  readonly invocationId: string
  readonly session: string
  readonly principal: string | undefined
  readonly caller: Caller
  readonly values: ToolValues
  readonly resumption: Resumption
  /** Where its events go on; known only once the leg before has ended. */
  readonly seq: () => number
  readonly record: ToolCallRecord | undefined
  readonly fence: Fence | undefined
}

/** A paused call, wherever it was kept. */
type Held = Omit<Redeemed, 'resumption'> & { readonly awaits: Awaited; readonly callId: string | null }

/** The paused calls of one executor. Their tokens are capabilities: random, of use once, and kept as a hash alone. */
export class Holding {
  readonly #held = new Map<string, Held>()
  /** The host's data of calls that a journal keeps, which is not written down. */
  readonly #values = new Map<string, ToolValues>()
  readonly #registryFor: (session: string) => ToolRegistry
  readonly #ledger: JournalLedger | undefined

  constructor(registryFor: (session: string) => ToolRegistry, ledger: JournalLedger | undefined) {
    this.#registryFor = registryFor
    this.#ledger = ledger
  }

  /** Makes the token of a call that is paused; with a journal it is kept there, else here, and the oldest gives way. */
  hold(received: Received, pause: Pause): { readonly token: string; readonly awaits: Awaited } {
    const token = `${received.invocationId}.${randomDigits(32)}`
    const { tool, identity } = progressOf(received)
    if (tool === undefined || identity === undefined) throw new TypeError('a call is paused only once it is identified')
    const { result } = received.call
    if (bounded(result, longestAwaited) !== result) {
      throw new InvalidToolResultError(
        `The provider's result of ${tool.name} is too large to be kept while the call waits.`,
      )
    }
    const awaits: Awaited = {
      reason: pause.reason,
      digest: sha256(token),
      fingerprint: fingerprint(tool),
      expiresAt: Math.min(Date.now() + (pause.timeout === 0 ? Infinity : pause.timeout), endOfTime),
      text: identity.text,
      ...(this.#ledger !== undefined && result !== undefined && ownJson({ result })),
      ...(typeof received.id === 'string' && toldId(received.id) !== received.id && { id: received.id }),
      ...(progressOf(received).approval && { isApproved: true as const }),
    }
    if (this.#ledger === undefined) this.#keep(received, awaits)
    else keep(this.#values, awaits.digest, received.context.values)
    return { token, awaits }
  }

  /** The call that waits for a person's word. */
  async decided(token: string, decision: 'allow' | 'deny', options: DecideOptions): Promise<Redeemed> {
    const { awaits, callId, ...held } = await this.#redeem(token, 'approval', options)
    const { note, always, decidedBy = 'user', editedArgs } = options
    const approval: Approval = { decision: decision === 'allow' ? 'allow' : 'deny', decidedBy, note, always }
    const resumption = resumptionOf(awaits, approval)
    if (editedArgs === undefined || decision !== 'allow') return { ...held, resumption }
    const call = { ...held.call, args: editedArgs }
    return { ...held, resumption: callId === null ? resumption : { ...resumption, editedFrom: callId }, call }
  }

  /** The call that waits for a client's answer. */
  async answered(token: string, value: unknown, options: Pick<DecideOptions, 'session' | 'values'>): Promise<Redeemed> {
    const { awaits, callId: _callId, ...held } = await this.#redeem(token, 'client', options)
    const { expiresAt, isApproved } = awaits
    const resumption = resumptionOf(awaits, { decision: 'allow', decidedBy: 'client' })
    if (Date.now() > expiresAt) return { ...held, resumption: { ...resumption, isExpired: true } }
    return { ...held, resumption: { ...resumption, reply: { value }, ...(isApproved && { isApproved }) } }
  }

  #keep(received: Received, awaits: Awaited): void {
    const { call, invocationId, session, principal, caller, callId, context } = received
    keep(this.#held, awaits.digest, {
      call: { ...call, name: received.name, args: awaits.text },
      invocationId,
      session,
      principal,
      caller,
      callId,
      values: context.values,
      seq: () => received.seq,
      record: undefined,
      fence: undefined,
      awaits,
    })
  }

  /** Asks everything before it touches anything: who is refused leaves the call to those who may answer. */
  async #redeem(
    token: unknown,
    reason: Awaited['reason'],
    options: Pick<DecideOptions, 'session' | 'values'>,
  ): Promise<Held> {
    const digest = typeof token === 'string' ? sha256(token) : ''
    const held =
      this.#ledger === undefined ? this.#held.get(digest) : await this.#read(String(token), digest, this.#ledger)
    const { session, values } = options
    if (held === undefined || held.awaits.reason !== reason || (session !== undefined && session !== held.session)) {
      throw new ApprovalInvalidError(
        'This token is unknown, used already, or of another session. Ask for approval anew.',
      )
    }
    if (reason === 'approval' && Date.now() > held.awaits.expiresAt) {
      this.#held.delete(digest)
      throw new ApprovalExpiredError('This token has expired. Let the call be made again, and ask anew.')
    }
    const { name } = held.call
    requireUnchanged(this.#registryFor(held.session).get(name), name, held.awaits.fingerprint)
    const used = await this.#use(digest, held)
    if (used === undefined) throw new ApprovalInvalidError('This token is used already.')
    return values === undefined ? used : { ...used, values }
  }

  /** Uses a token up: of many who hold it, one succeeds. A journal's record is taken over from whoever paused the call. */
  async #use(digest: string, held: Held): Promise<Held | undefined> {
    const { record, fence } = held
    if (this.#ledger === undefined || record === undefined) return this.#held.delete(digest) ? held : undefined
    if (fence === undefined || record.journal === undefined) return undefined
    const taken = await this.#ledger.takeOver(record, fence)
    if (taken === null) return undefined
    const { awaits: _used, ...journal } = record.journal
    const decided = { ...record, journal: { ...journal, owner: taken.owner, fence: taken.number } }
    if (!(await this.#ledger.write(decided, taken))) return undefined
    this.#values.delete(digest)
    return { ...held, record: decided, fence: taken }
  }

  /** The call that a journal keeps for a token. */
  async #read(token: string, digest: string, ledger: JournalLedger): Promise<Held | undefined> {
    if (digest === '') return undefined
    const invocationId = invocationOf(token)
    const found = await ledger.read(invocationId)
    const awaits = found?.record.journal?.awaits
    if (found === null || awaits?.digest !== digest || isSettled(found.record.state)) return undefined
    const { record, fence } = found
    const { name, session, toolCallId: id, callId, seq } = record
    return {
      call: { id: awaits.id ?? id, name, args: awaits.text, ...('result' in awaits && { result: awaits.result }) },
      invocationId,
      session,
      principal: record.journal?.principal,
      caller: record.journal?.caller ?? 'model',
      callId,
      values: this.#values.get(digest) ?? {},
      seq: () => seq,
      record,
      fence,
      awaits,
    }
  }
}

function resumptionOf({ reason, fingerprint: asked }: Awaited, approval: Approval): Resumption {
  return { reason, fingerprint: asked, approval }
}

/** The invocation that a token speaks of, whether there is one or not. */
export function invocationOf(token: unknown): string {
  return typeof token === 'string' ? token.slice(0, Math.max(0, token.lastIndexOf('.'))) : ''
}

/** Keeps one more, and lets the oldest go where there are too many. */
function keep<Value>(kept: Map<string, Value>, key: string, value: Value): void {
  kept.set(key, value)
  for (const oldest of kept.keys()) {
    if (kept.size <= mostHeld) break
    kept.delete(oldest)
  }
}
