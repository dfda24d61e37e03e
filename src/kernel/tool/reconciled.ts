import type { ToolValues } from '../call/context-types.ts'

/** What a tool says of an earlier call of its own. `Result` is what its handler returns. */
export type Reconciled<Result = unknown> =
  | { readonly effect: 'completed'; readonly result: Result }
  | { readonly effect: 'none' }
  | {
      readonly effect: 'unknown'
      /** Why it cannot be said, for the model: at most 1,024 characters. */
      readonly note?: string
    }

/** The call that a tool is asked about. */
export interface ReconcileContext {
  /** The idempotency key that the handler had. */
  readonly invocationId: string
  readonly callId: string
  readonly session: string
  /** Aborts at the tool's `timeout`, which counts anew. */
  readonly signal: AbortSignal
  /** When the handler began, in milliseconds since the epoch. */
  readonly startedAt: number
  /** The application's data, if the call is made again with it, or a middleware asks. */
  readonly values?: ToolValues
}
