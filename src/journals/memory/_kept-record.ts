import type { ContentBlock } from '../../index.ts'
import type { ToolCallRecord, ToolCallState } from '../../extension.ts'
import { isSettled } from '../../records/record.ts'
import { standingOf, type RecordFacts } from '../../records/facts.ts'
import type { OpenRecord } from '../../records/fold.ts'
import {
  ownJson,
  readText,
  settlementFields,
  type Journaled,
  type OpenJournaled,
  type RecordedSettlement,
  type RecordFormat,
} from '../../records/settlement.ts'
import type { Standing } from '../../records/journal.ts'
import { blockLength, blocksOf, JsonText, keptContent, type KeptContent } from './_kept-content.ts'
import { hasUsualTrail, packed, unpacked, usualTrail, type Trail } from './_trail.ts'

/** The format of a journal in this process. It keeps the records themselves, without a copy or JSON text. */
export const keptRecords: RecordFormat = {
  args(args, text = JSON.stringify(args)) {
    return text === undefined ? undefined : new JsonText(text)
  },
  complete(record, journal, settlement) {
    if (typeof journal.caller === 'object') journal.caller = ownJson(journal.caller)
    return keptRecord(record, journal, settlement) as unknown as ToolCallRecord
  },
}

function keptRecord(
  record: ToolCallRecord,
  journal: OpenJournaled,
  settlement: RecordedSettlement | undefined,
): RunningRecord | KeptRecord {
  if (settlement === undefined)
    return journal.awaits === undefined
      ? new RunningRecord(record, journal)
      : new KeptRecord(record, journal, undefined)
  settlementFields(settlement, journal, ownJson)
  return new KeptRecord(record, journal, settlement.result.content)
}

/** The record of a running call in a journal in memory. The next write replaces it soon, so it is not made compact. */
export class RunningRecord implements RecordFacts {
  // Only declared: a running call has none of these.
  declare readonly reason: undefined
  declare readonly expiresAt: undefined
  declare readonly queue: undefined
  declare readonly fingerprint: undefined
  declare readonly settledAt: undefined
  readonly #record: ToolCallRecord
  readonly #approval: ToolCallRecord['approval'] | undefined
  readonly #journal: Omit<Journaled, 'result'>

  /**
   * @param record The journal's own. Only values that people gave may be shared; they are copied.
   * @param journal The journal's part of the record. It is not shared.
   * @throws `E_JOURNAL` if a part is not JSON.
   */
  constructor(record: ToolCallRecord, journal: Omit<Journaled, 'result'>) {
    this.#record = record
    this.#approval = record.approval.required ? ownJson(record.approval) : undefined
    this.#journal = journal
  }

  get standing(): 'running' {
    return 'running'
  }

  get id(): string {
    return this.#record.id
  }

  get session(): string {
    return this.#record.session
  }

  get createdAt(): number {
    return this.#record.createdAt
  }

  get isAlone(): boolean | undefined {
    const own = this.#journal.work?.work
    return own && own.isAlone === true
  }

  get weight(): number {
    const { auditTrail, input } = this.#record
    return weightOf(this.#journal, this.#approval, auditTrail.length * 3, input)
  }

  toJSON(): ToolCallRecord {
    const record = { ...this.#record, journal: this.#journal }
    return this.#approval === undefined ? record : { ...record, approval: this.#approval }
  }
}

/**
 * A record in a journal in memory. It never changes and shares no part with other code. It consists of few objects, since
 * the garbage collector moves each of them. Its JSON is that of the record.
 */
export class KeptRecord implements RecordFacts {
  readonly id: string
  readonly #callId: string | null
  readonly #name: string
  readonly #session: string
  readonly #toolCallId: string | number | undefined
  /** What few records have. */
  readonly #rare: Rare | undefined
  /** JSON text, or a value that is not text. */
  readonly #input: unknown
  readonly #state: ToolCallState
  readonly #approval: ToolCallRecord['approval'] | undefined
  readonly #status: ToolCallRecord['status']
  readonly #effect: ToolCallRecord['effect']
  readonly #error: string | undefined
  readonly #isError: boolean | undefined
  // Engines store small integers without an object: times are relative to `createdAt`, and that to about the first of the process.
  readonly #created: number
  readonly #updated: number
  readonly #started: number | undefined
  readonly #completed: number | undefined
  readonly #durationMs: number | undefined
  /** Nothing for the usual trail, which the times tell. */
  readonly #trail: Trail | undefined
  readonly #seq: number
  readonly #caller: Journaled['caller']
  readonly #owner: string
  readonly #fence: number
  // The artifact of a usual record.
  readonly #kind: string | undefined
  readonly #mediaType: string | undefined
  readonly #byteLength: number | undefined
  /** The journal's part, if it has more than the fields above. */
  readonly #journal: Omit<Journaled, 'result'> | undefined
  readonly #result: KeptContent | undefined

  /**
   * @param record Its values never change. Only those that people gave may be shared; they are copied.
   * @param journal The journal's part of the record. It is not shared.
   * @param content The content for the model. It may be shared, and is copied.
   * @throws `E_JOURNAL` if a part is not JSON.
   */
  constructor(record: ToolCallRecord, journal: Omit<Journaled, 'result'>, content?: readonly ContentBlock[]) {
    const { createdAt, startedAt, completedAt, approval } = record
    firstCreation ??= Date.now()
    const { artifact } = journal
    this.id = record.id
    this.#callId = record.callId
    this.#name = record.name
    this.#session = record.session
    this.#toolCallId = record.toolCallId
    this.#rare = rareOf(record)
    this.#input = keptInput(record.input)
    this.#state = record.state
    this.#approval = approval.required ? ownJson(approval) : undefined
    this.#status = record.status
    this.#effect = record.effect
    this.#error = record.error
    this.#isError = record.isError
    this.#created = createdAt - firstCreation
    this.#updated = record.updatedAt - createdAt
    this.#started = startedAt === undefined ? undefined : startedAt - createdAt
    this.#completed = completedAt === undefined ? undefined : completedAt - createdAt
    this.#durationMs = record.durationMs
    this.#trail = hasUsualTrail(record) ? undefined : packed(record.auditTrail, createdAt)
    this.#seq = record.seq
    this.#caller = journal.caller
    this.#owner = journal.owner
    this.#fence = journal.fence
    this.#kind = artifact?.kind
    this.#mediaType = artifact?.mediaType
    this.#byteLength = artifact?.byteLength
    this.#journal = isUsual(journal) ? undefined : journal
    this.#result = content && keptContent(content)
  }

  get isSettled(): boolean {
    return isSettled(this.#state)
  }

  get standing(): Standing {
    return standingOf(this.isSettled, this.#journal?.awaits)
  }

  get session(): string {
    return this.#session
  }

  get createdAt(): number {
    return this.#created + firstCreation!
  }

  get reason(): RecordFacts['reason'] {
    return this.#journal?.awaits?.reason
  }

  get expiresAt(): number | undefined {
    return this.#journal?.awaits?.expiresAt
  }

  get queue(): string | undefined {
    return this.#journal?.awaits?.work?.queue
  }

  get fingerprint(): string | undefined {
    const awaits = this.#journal?.awaits
    return awaits?.work && awaits.fingerprint
  }

  get isAlone(): boolean | undefined {
    if (this.#journal === undefined || this.isSettled) return undefined
    const { awaits, work } = this.#journal
    const own = (awaits ?? work)?.work
    return own && own.isAlone === true
  }

  get settledAt(): number | undefined {
    return this.isSettled ? this.createdAt + (this.#completed ?? this.#updated) : undefined
  }

  /** About how many bytes it takes. */
  get weight(): number {
    const trailLength = this.#trail?.length ?? 0
    let weight = weightOf(this.#journal, this.#approval, trailLength, this.#input) + (this.#error?.length ?? 0)
    const result = this.#result
    if (typeof result === 'string') return weight + result.length
    if (result instanceof JsonText) return weight + result.text.length + 100
    for (const block of result ?? []) weight += 100 + blockLength(block)
    return weight
  }

  toJSON(): ToolCallRecord {
    const { createdAt } = this
    const startedAt = this.#started === undefined ? undefined : createdAt + this.#started
    const completedAt = this.#completed === undefined ? undefined : createdAt + this.#completed
    const [kind, mediaType, byteLength] = [this.#kind, this.#mediaType, this.#byteLength]
    const artifact = kind === undefined ? undefined : { kind, mediaType, byteLength }
    const own = this.#journal ?? { caller: this.#caller, owner: this.#owner, fence: this.#fence, artifact }
    const openRecord: OpenRecord = {
      id: this.id,
      callId: this.#callId,
      name: this.#name,
      session: this.#session,
      input: typeof this.#input === 'string' ? readText(this.#input) : this.#input,
      state: this.#state,
      approval: this.#approval ?? { required: false },
      effect: this.#effect,
      createdAt,
      updatedAt: createdAt + this.#updated,
      auditTrail:
        this.#trail === undefined
          ? usualTrail(createdAt, startedAt!, this.#state, completedAt!)
          : unpacked(this.#trail, createdAt),
      seq: this.#seq,
    }
    const others = {
      toolCallId: this.#toolCallId,
      ...this.#rare,
      status: this.#status,
      error: this.#error,
      isError: this.#isError,
      startedAt,
      completedAt,
      durationMs: this.#durationMs,
      journal: { ...own, result: blocksOf(this.#result) },
    }
    return Object.assign(openRecord, others as Partial<ToolCallRecord>) // JSON leaves undefined members out
  }
}

/** When the first of these records was made, in milliseconds since the epoch. */
let firstCreation: number | undefined

type Rare = Pick<ToolCallRecord, 'editedFrom' | 'repairedFrom' | 'repairs' | 'via' | 'effectKey' | 'parent'>

function rareOf({ editedFrom, repairedFrom, repairs, via, effectKey, parent }: ToolCallRecord): Rare | undefined {
  if ((editedFrom ?? repairs ?? via ?? effectKey ?? parent) === undefined) return undefined
  return ownJson({ editedFrom, repairedFrom, repairs, via, effectKey, parent } as Rare)
}

/** Returns the text of args that are kept as such: a text alone is one object less. A value that is text becomes JSON text. */
function keptInput(input: unknown): unknown {
  if (typeof input === 'string') return JSON.stringify(input)
  return input instanceof JsonText ? input.text : input
}

/** Whether the journal's part of a record has nothing but what every record has, and a plain artifact. */
function isUsual(journal: Omit<Journaled, 'result'>): boolean {
  const { principal, program, awaits, work, args, finding, stored, handle, failure, skipped, hasStarted } = journal
  const rare = principal ?? program ?? awaits ?? work ?? args ?? finding ?? stored ?? handle ?? failure ?? skipped
  return (rare ?? hasStarted ?? journal.digest ?? journal.previous) === undefined && isPlainArtifact(journal.artifact)
}

function isPlainArtifact({ kind, mediaType, byteLength }: Partial<NonNullable<Journaled['artifact']>> = {}): boolean {
  if (kind === undefined) return mediaType === undefined
  return typeof kind === 'string' && typeof mediaType === 'string' && typeof byteLength === 'number'
}

function weightOf(
  journal: Omit<Journaled, 'result'> | undefined,
  approval: ToolCallRecord['approval'] | undefined,
  trailLength: number,
  input: unknown,
): number {
  const weight = 600 + trailLength * 8 + inputLength(input) + partLength(approval)
  if (journal === undefined) return weight
  const { awaits, work, args = '', failure } = journal
  return weight + args.length + partLength(awaits) + partLength(work) + partLength(failure)
}

function inputLength(input: unknown): number {
  if (typeof input === 'string') return input.length
  return input instanceof JsonText ? input.text.length : 0
}

function partLength(part: object | undefined): number {
  return part === undefined ? 0 : JSON.stringify(part).length
}
