// What stands on a tape.
import type { ToolFailure } from '../../errors.ts'
import type { SettledStatus } from '../../kernel/errors.ts'
import type { CallStatus, ContentBlock, SideEffect } from '../../index.ts'

/** What a handler threw. */
export interface RecordedError {
  readonly name?: string
  readonly message?: string
  /** The advice of a `ToolFailure`, and what it tells of the call. */
  readonly failure?: Partial<Omit<ToolFailure, keyof Error>>
  /** The JSON of an error of this package. */
  readonly error?: Readonly<Record<string, unknown>>
  /** What tells the category of an error. */
  readonly fields?: Readonly<Record<string, unknown>>
  /** It was no instance of `Error`. */
  readonly isPlain?: true
  /** What was thrown, if it was no object. */
  readonly value?: unknown
}

/** How a call ended while its handler still ran. */
export interface RecordedEnd {
  readonly status: 'timed_out' | 'cancelled'
  readonly message: string
}

/** The outcome of a call, as a journal has it. */
export interface ToldOutcome {
  readonly status: SettledStatus
  readonly effect: SideEffect
  readonly content: readonly ContentBlock[]
  /** The JSON of the error. */
  readonly error?: Readonly<Record<string, unknown>>
}

/** Whether a file has less than the handler gave, since something in it was hidden. Its size then is another. */
interface Masked {
  readonly isMasked?: true
}

/** What a handler gave. Texts above 16 KiB and bytes lie in files, which are named by their SHA-256. */
export type RecordedOutcome =
  /** JSON, in which an object with the member `$` is what JSON lacks, such as a date. */
  | { readonly json: unknown }
  /** What `content`, `json` or `shown` marked. */
  | { readonly marked: { readonly blocks?: unknown; readonly value?: unknown } }
  | ({ readonly file: string; readonly as: 'text' | 'json' | 'marked' | 'bytes' | 'buffer' } & Masked)
  | ({
      readonly stream: string
      readonly as: 'text' | 'bytes' | 'mixed'
      /** It was a `ReadableStream`. */
      readonly isReadable?: true
      /** What `bytes` marked it with. */
      readonly mediaType?: string
      /** The error with which it ended. */
      readonly thrown?: RecordedError
      readonly ended?: RecordedEnd
    } & Masked)
  | ({
      readonly artifact: string
      readonly kind: string
      readonly mediaType: string
      readonly isTrusted?: true
      readonly handle?: string
    } & Masked)
  | { readonly thrown: RecordedError }
  | { readonly ended: RecordedEnd }
  /** It gave nothing before the call settled. */
  | { readonly isOpen: true }
  /** What the model was told, if a journal alone knows it. Middleware and hooks have made it what it is. */
  | { readonly told: ToldOutcome }
  /** It could not be kept. */
  | { readonly lost: string }

/** What a handler did through its context, or yielded. */
export type RecordedStep =
  | { readonly emit: string; readonly data?: unknown }
  | { readonly keep: string; readonly mediaType: string; readonly hasFailed?: true }
  | { readonly yielded: unknown }

/** One run of a handler. A retry is another one. */
export interface RecordedAttempt {
  readonly steps?: readonly RecordedStep[]
  readonly outcome: RecordedOutcome
  /** How long it took, in milliseconds. */
  readonly ms?: number
}

/** The answer to a call that waited. */
export type RecordedAnswer =
  | {
      readonly reason: 'approval'
      readonly decision: 'allow' | 'deny'
      readonly decidedBy?: string
      readonly note?: string
      readonly always?: boolean
      /** The args as the person edited them, with secrets masked, and their `callId`. */
      readonly args?: unknown
      readonly callId?: string | null
    }
  | { readonly reason: 'client'; readonly value: unknown }

/** A call on a tape. */
export interface RecordedCall {
  readonly tool: string
  /** `null` if the args have no canonical form or the tool is not known. */
  readonly callId: string | null
  /** How many equal calls of the session came before: from 0. */
  readonly occurrence: number
  /** The session, by a name that is the same each time. */
  readonly label: string
  /** With secrets masked. */
  readonly args?: unknown
  readonly attempts: readonly RecordedAttempt[]
  readonly answers?: readonly RecordedAnswer[]
  readonly status: CallStatus | 'running'
  readonly effect: SideEffect
  readonly code?: string
  readonly result?: { readonly kind?: string; readonly mediaType: string; readonly byteLength?: number }
  /** What the model was told. */
  readonly content?: readonly ContentBlock[]
  /** In place of `content`, its SHA-256, if the outcome gives it back. */
  readonly digest?: string
}

/** A tool when its calls were recorded. */
export interface RecordedTool {
  readonly fingerprint: string
  readonly definition: unknown
}

/** The first line of a tape. */
export interface TapeHead {
  readonly cassette: 1
  readonly seed: string
  readonly tools: Readonly<Record<string, RecordedTool>>
}
