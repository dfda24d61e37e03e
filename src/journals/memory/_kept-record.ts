import type { ContentBlock } from '../../index.ts'
import type { ToolCallAuditEntry, ToolCallRecord, ToolCallState } from '../../extension.ts'
import { isSettled } from '../../records/record.ts'
import { standingOf, type RecordFacts } from '../../records/facts.ts'
import type { OpenRecord } from '../../records/fold.ts'
import {
  keptText,
  ownJson,
  readText,
  settlementFields,
  type Journaled,
  type OpenJournaled,
  type RecordedSettlement,
  type RecordFormat,
} from '../../records/settlement.ts'
import type { Standing } from '../../records/journal.ts'

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
  readonly isSettled: boolean
  readonly #callId: string | null
  readonly #name: string
  readonly #session: string
  readonly #toolCallId: string | number | undefined
  readonly #editedFrom: string | undefined
  /** What few records have. */
  readonly #rare: Pick<ToolCallRecord, 'repairedFrom' | 'repairs' | 'via' | 'effectKey' | 'parent'> | undefined
  readonly #input: unknown
  readonly #state: ToolCallState
  readonly #approval: ToolCallRecord['approval'] | undefined
  readonly #status: ToolCallRecord['status']
  readonly #effect: ToolCallRecord['effect']
  readonly #error: string | undefined
  readonly #isError: boolean | undefined
  readonly #createdAt: number
  // Times are relative to `createdAt`: engines store small integers without an object.
  readonly #updated: number
  readonly #started: number | undefined
  readonly #completed: number | undefined
  readonly #durationMs: number | undefined
  readonly #trail: Trail
  readonly #seq: number
  readonly #journal: Omit<Journaled, 'result'>
  readonly #result: KeptContent | undefined

  /**
   * @param record Its values never change. Only those that people gave may be shared; they are copied.
   * @param journal The journal's part of the record. It is not shared.
   * @param content The content for the model. It may be shared, and is copied.
   * @throws `E_JOURNAL` if a part is not JSON.
   */
  constructor(record: ToolCallRecord, journal: Omit<Journaled, 'result'>, content?: readonly ContentBlock[]) {
    const { createdAt, startedAt, completedAt, approval } = record
    this.id = record.id
    this.isSettled = isSettled(record.state)
    this.#callId = record.callId
    this.#name = record.name
    this.#session = record.session
    this.#toolCallId = record.toolCallId
    this.#editedFrom = record.editedFrom
    const { repairedFrom, repairs, via, effectKey, parent } = record
    const isRare = (repairs ?? via ?? effectKey ?? parent) !== undefined
    const rare = { repairedFrom, repairs, via, effectKey, parent } as Partial<ToolCallRecord>
    this.#rare = isRare ? ownJson(rare) : undefined
    this.#input = record.input
    this.#state = record.state
    this.#approval = approval.required ? ownJson(approval) : undefined
    this.#status = record.status
    this.#effect = record.effect
    this.#error = record.error
    this.#isError = record.isError
    this.#createdAt = createdAt
    this.#updated = record.updatedAt - createdAt
    this.#started = startedAt === undefined ? undefined : startedAt - createdAt
    this.#completed = completedAt === undefined ? undefined : completedAt - createdAt
    this.#durationMs = record.durationMs
    this.#trail = packed(record.auditTrail, createdAt)
    this.#seq = record.seq
    this.#journal = journal
    this.#result = content && keptContent(content)
  }

  get standing(): Standing {
    return standingOf(this.isSettled, this.#journal.awaits)
  }

  get session(): string {
    return this.#session
  }

  get createdAt(): number {
    return this.#createdAt
  }

  get reason(): RecordFacts['reason'] {
    return this.#journal.awaits?.reason
  }

  get expiresAt(): number | undefined {
    return this.#journal.awaits?.expiresAt
  }

  get queue(): string | undefined {
    return this.#journal.awaits?.work?.queue
  }

  get fingerprint(): string | undefined {
    const { awaits } = this.#journal
    return awaits?.work && awaits.fingerprint
  }

  get isAlone(): boolean | undefined {
    const { awaits, work } = this.#journal
    const own = this.isSettled ? undefined : (awaits ?? work)?.work
    return own && own.isAlone === true
  }

  get settledAt(): number | undefined {
    return this.isSettled ? this.#createdAt + (this.#completed ?? this.#updated) : undefined
  }

  /** About how many bytes it takes. */
  get weight(): number {
    let weight = weightOf(this.#journal, this.#approval, this.#trail.length, this.#input) + (this.#error?.length ?? 0)
    const result = this.#result
    if (typeof result === 'string') return weight + result.length
    if (result instanceof JsonText) return weight + result.text.length + 100
    for (const block of result ?? []) weight += 100 + blockLength(block)
    return weight
  }

  toJSON(): ToolCallRecord {
    const createdAt = this.#createdAt
    const openRecord: OpenRecord = {
      id: this.id,
      callId: this.#callId,
      name: this.#name,
      session: this.#session,
      input: this.#input,
      state: this.#state,
      approval: this.#approval ?? { required: false },
      effect: this.#effect,
      createdAt,
      updatedAt: createdAt + this.#updated,
      auditTrail: unpacked(this.#trail, createdAt),
      seq: this.#seq,
    }
    const others = {
      toolCallId: this.#toolCallId,
      editedFrom: this.#editedFrom,
      ...this.#rare,
      status: this.#status,
      error: this.#error,
      isError: this.#isError,
      startedAt: this.#started === undefined ? undefined : createdAt + this.#started,
      completedAt: this.#completed === undefined ? undefined : createdAt + this.#completed,
      durationMs: this.#durationMs,
      journal: { ...this.#journal, result: blocksOf(this.#result) },
    }
    return Object.assign(openRecord, others as Partial<ToolCallRecord>) // JSON leaves undefined members out
  }
}

function weightOf(
  { awaits, work, args = '', failure }: Omit<Journaled, 'result'>,
  approval: ToolCallRecord['approval'] | undefined,
  trailLength: number,
  input: unknown,
): number {
  const parts = partLength(awaits) + partLength(work) + partLength(approval) + partLength(failure)
  return 600 + args.length + trailLength * 8 + parts + (input instanceof JsonText ? input.text.length : 0)
}

function partLength(part: object | undefined): number {
  return part === undefined ? 0 : JSON.stringify(part).length
}

/** For each line its state, milliseconds since `createdAt`, and note. */
type Trail = readonly (string | number | undefined)[]

function packed(lines: readonly ToolCallAuditEntry[], since: number): Trail {
  // oxlint-disable-next-line unicorn/no-new-array -- allocated at its exact length, since it lives as long as its record
  const trail = new Array<string | number | undefined>(lines.length * 3)
  let index = 0
  for (const { state, timestamp, note } of lines) {
    trail[index++] = state
    trail[index++] = timestamp - since
    trail[index++] = note
  }
  return trail
}

function unpacked(trail: Trail, since: number): ToolCallAuditEntry[] {
  const lines: ToolCallAuditEntry[] = []
  for (let index = 0; index < trail.length; index += 3) {
    const [state, passed, note] = trail.slice(index, index + 3) as [ToolCallState, number, string | undefined]
    const timestamp = since + passed
    lines.push(note === undefined ? { state, timestamp } : { state, timestamp, note })
  }
  return lines
}

function blockLength(block: ContentBlock): number {
  if (block.type === 'text') return block.text.length
  return (block.type === 'json' ? block.text : JSON.stringify(block))?.length ?? 0
}

/** Stores a value as JSON text: immutable and compact. */
class JsonText {
  readonly text: string

  constructor(text: string) {
    this.text = text
  }

  toJSON(): unknown {
    return readText(this.text)
  }
}

/** Content in few objects: the text of a single text block, the JSON of a single JSON block, or blocks. */
type KeptContent = string | JsonText | readonly ContentBlock[]

/** Returns a private copy of content. A block that keeps its JSON text is kept as the text. */
function keptContent(content: readonly ContentBlock[]): KeptContent {
  const [only] = content
  if (content.length !== 1 || only === undefined) return content.map(keptBlock)
  const json = keptText(only)
  if (json !== undefined) return new JsonText(json)
  const { type, text } = only as { readonly type: string; readonly text?: unknown }
  return type === 'text' && typeof text === 'string' && Object.keys(only).length === 2 ? text : [ownJson(only)]
}

function keptBlock(block: ContentBlock): ContentBlock {
  const text = keptText(block)
  return text === undefined ? ownJson(block) : textBlockOf(new JsonText(text))
}

function textBlockOf(data: JsonText): ContentBlock {
  return { type: 'json', data, text: data.text }
}

function blocksOf(content: KeptContent | undefined): readonly ContentBlock[] | undefined {
  if (typeof content === 'string') return [{ type: 'text', text: content }]
  return content instanceof JsonText ? [textBlockOf(content)] : content
}
