import type { ContentBlock } from '../kernel/result/content.ts'
import { keptContent } from '../kernel/result/json-block.ts'
import {
  isSettled,
  type Journaled,
  type OpenRecord,
  type ToolCallAuditEntry,
  type ToolCallRecord,
  type ToolCallState,
} from './record.ts'
import { ownJson } from '../kernel/json/written.ts'

/**
 * A record as a journal in memory keeps it: it never changes, nobody else holds any part of it, and it is in as few pieces as
 * can be, since the engine moves every piece of what is kept. Its JSON is that of the record.
 */
export class KeptRecord {
  readonly id: string
  readonly isSettled: boolean
  readonly #callId: string | null
  readonly #name: string
  readonly #session: string
  readonly #toolCallId: string | number | undefined
  readonly #editedFrom: string | undefined
  readonly #input: unknown
  readonly #state: ToolCallState
  readonly #approval: ToolCallRecord['approval'] | undefined
  readonly #status: ToolCallRecord['status']
  readonly #effect: ToolCallRecord['effect']
  readonly #error: string | undefined
  readonly #isError: boolean | undefined
  readonly #createdAt: number
  // Times are counted from the first: a small number is no piece of its own.
  readonly #updated: number
  readonly #started: number | undefined
  readonly #completed: number | undefined
  readonly #durationMs: number | undefined
  readonly #trail: Trail
  readonly #seq: number
  readonly #journal: Omit<Journaled, 'result'>
  readonly #result: string | readonly ContentBlock[] | undefined

  /**
   * @param record What its fields refer to is never changed, and is nobody else's but for what people said.
   * @param journal What journals are told beside, which is nobody else's.
   * @param content What the model was shown, which others may hold.
   * @throws `E_JOURNAL` where something of it is no JSON.
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
    this.#result = content && (onlyText(content) ?? keptContent(content))
  }

  toJSON(): ToolCallRecord {
    const createdAt = this.#createdAt
    const result = this.#result
    const known: OpenRecord = {
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
      status: this.#status,
      error: this.#error,
      isError: this.#isError,
      startedAt: this.#started === undefined ? undefined : createdAt + this.#started,
      completedAt: this.#completed === undefined ? undefined : createdAt + this.#completed,
      durationMs: this.#durationMs,
      journal: { ...this.#journal, result: typeof result === 'string' ? [{ type: 'text', text: result }] : result },
    }
    return Object.assign(known, others as Partial<ToolCallRecord>) // what is undefined is nothing in JSON
  }
}

/** States, milliseconds from the first time, and notes, in turn. */
type Trail = readonly (string | number | undefined)[]

function packed(lines: readonly ToolCallAuditEntry[], since: number): Trail {
  const trail: (string | number | undefined)[] = []
  for (const { state, timestamp, note } of lines) trail.push(state, timestamp - since, note)
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

/** The text of content that is one text and nothing else. */
function onlyText(content: readonly ContentBlock[]): string | undefined {
  const [only] = content
  if (content.length !== 1 || only?.type !== 'text' || Object.keys(only).length !== 2) return undefined
  const { text } = only
  return typeof text === 'string' ? text : undefined
}
