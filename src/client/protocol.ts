/**
 * What a page and a server say to each other about calls: version 2. Both ends share the types, and the fold of events into
 * views. Times are milliseconds since the epoch by the server's clock; fields that a reader does not know are to be ignored.
 *
 * @module
 */
import type { CallStatus, ContentBlock, ErrorCode, Issue, SideEffect, Tool, ToolEvent, ToolEventOf } from '../index.ts'
import type { ClientToolDescription, WaitReason, ToolCallAuditEntry, ToolCallState } from '../extension.ts'

/**
 * The version of the protocol that this release speaks. Both ends compare it, and a page says it as `?protocol=2`.
 *
 * @example
 * ```ts
 * import { createExecutor, tool } from 'toolwright'
 * import { httpClients } from 'toolwright/client/http'
 * import { protocolVersion } from 'toolwright/client/protocol'
 *
 * const executor = createExecutor({ tools: [tool('now', () => '12:00')] })
 * const { fetch } = httpClients({ executor, authorize: () => ({ session: executor.session }) })
 * const response = await fetch(new Request(`http://localhost/calls?protocol=${protocolVersion}`))
 * console.log(response.status) // 200; another version is 403
 * ```
 */
export const protocolVersion = 2

/**
 * Says which end speaks an older version of the protocol, and what to do about it.
 *
 * @param page The version of the page.
 * @param server The version of the server, which is another one.
 * @example
 * ```ts
 * import { protocolVersion, versionMismatch, type Hello } from 'toolwright/client/protocol'
 *
 * // Is given the first frame of the stream, in a client of your own.
 * function requireSameVersion({ protocol }: Hello): void {
 *   if (protocol !== protocolVersion) throw new Error(versionMismatch(protocolVersion, protocol))
 * }
 * ```
 */
export function versionMismatch(page: number, server: number): string {
  const advice =
    page < server
      ? 'The page is older: reload it, or build it with the release of toolwright that the server has.'
      : 'The server is older: give it the release of toolwright that the page has.'
  return `The page speaks version ${page} of the protocol, and the server version ${server}. ${advice}`
}

/** What a user may do: see calls, decide on approvals, answer client tools, cancel calls, read artifacts. */
export type Right = 'watch' | 'decide' | 'answer' | 'cancel' | 'artifacts'

/** A client that reserved a call, and until when. */
export interface Lease {
  readonly holder: string
  readonly until: number
}

/** What a waiting call waits for. */
export interface Wait {
  readonly reason: WaitReason
  readonly prompt: string
  readonly expiresAt: number
  /** Why a policy wants it asked. */
  readonly why?: string
  readonly meta?: Readonly<Record<string, unknown>>
  readonly lease?: Lease
}

/** An error, as pages see it. */
export interface ErrorView {
  readonly code: string
  readonly message: string
}

/** The description of a result's artifact. */
export interface ArtifactView {
  readonly kind: string
  readonly mediaType: string
  readonly byteLength: number
  /** Opens it with `ToolClient.artifact`. A small result has none. */
  readonly handle?: string
}

/** A value that a running tool emitted. */
export interface ProgressView {
  readonly type: string
  readonly data: unknown
  readonly timestamp: number
}

/** One call, as pages see it. Secrets in its args are masked. */
export interface CallView {
  readonly invocationId: string
  readonly callId: string | null
  /** The provider's id of the call. */
  readonly id?: string | number
  readonly toolName: string
  readonly session: string
  readonly state: ToolCallState
  readonly status?: CallStatus
  readonly effect?: SideEffect
  /** Absent if the server does not know them, or the call is over and they are long. Then `argsPreview` has their beginning. */
  readonly args?: unknown
  /** The beginning of the args as JSON text. */
  readonly argsPreview?: string
  /** The number of the next event. */
  readonly seq: number
  readonly createdAt: number
  readonly startedAt?: number
  readonly completedAt?: number
  readonly durationMs?: number
  /** Present while the call waits for an answer that a page can give. */
  readonly waiting?: Wait
  /** What the call waits for before it starts, such as a gate, or another call. */
  readonly blocked?: Pick<ToolEventOf<'call:blocked'>, 'by' | 'gate' | 'keys' | 'behind'>
  readonly approval?: {
    readonly decision: 'allow' | 'deny'
    readonly decidedBy?: string
    readonly note?: string
    readonly always?: boolean
  }
  readonly error?: ErrorView
  /** The content for the model, of a settled call. At most 16 KiB: the rest is cut, and images are named by their sizes. */
  readonly content?: readonly ContentBlock[]
  /** Set if `content` is cut. */
  readonly truncated?: true
  readonly artifact?: ArtifactView
  /** The last values that the running tool emitted: of those that this page has seen, at most 50. */
  readonly progress?: readonly ProgressView[]
  /** Only in the answer to a request for this one call. */
  readonly auditTrail?: readonly ToolCallAuditEntry[]
}

/** The outcome of a call, in the answer to a decision or a result. */
export type ResultView = Pick<
  CallView,
  | 'invocationId'
  | 'callId'
  | 'toolName'
  | 'status'
  | 'effect'
  | 'content'
  | 'truncated'
  | 'error'
  | 'artifact'
  | 'durationMs'
>

/** The server's answer to a decision or a result. */
export interface Answer {
  /** Whether the same answer had been given before. */
  readonly repeated: boolean
  readonly state: ToolCallState
  /** Absent if the call still runs: its view comes by the stream. */
  readonly result?: ResultView
}

/** The answer to a lease. */
export interface LeaseAnswer {
  /** The args of a client's call, unmasked. */
  readonly args: unknown
  readonly lease: Lease
  readonly expiresAt: number
}

/** Who the user is to the server. */
export interface Hello {
  readonly protocol: typeof protocolVersion
  /** The server's time, since clocks differ. */
  readonly now: number
  /** How often a stream gives a sign of life, in milliseconds. */
  readonly heartbeat: number
  /** `'*'` for all sessions. */
  readonly session: string
  readonly may: readonly Right[]
  /** The tools of the session. */
  readonly tools: readonly { readonly name: string; readonly title?: string; readonly type: string }[]
}

/** A page of calls: first those that wait, then the others, newest first. */
export interface CallPage {
  readonly calls: readonly CallView[]
  /** For `?before=`, if there are older calls. */
  readonly next?: string
  readonly hello: Hello
  /** The id of the last frame before the page was made. A stream after it misses nothing. */
  readonly at: string
}

/** An event as it goes to pages: never with a token. */
export type WireEvent = {
  readonly [Name in ToolEvent['event']]: Name extends 'call:waiting'
    ? Omit<ToolEventOf<'call:waiting'>, 'token'> & {
        /** Whether a page can answer. It cannot if an approver of the application was asked. */
        readonly answerable: boolean
      }
    : Name extends 'call:settled'
      ? Omit<ToolEventOf<'call:settled'>, 'error'> & { readonly error?: ErrorView }
      : ToolEventOf<Name>
}[ToolEvent['event']]

/** The frames of a stream, by their names. */
export interface Frames {
  readonly hello: Hello
  readonly calls: Pick<CallPage, 'calls' | 'next'>
  readonly call: CallView
  readonly event: WireEvent
}

/** The codes of errors over HTTP: those that only a request has, and those of tools. */
export type WireCode =
  | 'E_BODY'
  | 'E_FORBIDDEN'
  | 'E_HOST'
  | 'E_LIMIT'
  | 'E_METHOD'
  | 'E_NETWORK'
  | 'E_NOT_FOUND'
  | 'E_ORIGIN'
  | 'E_PROTOCOL'
  | 'E_RANGE'
  | 'E_UNAUTHORIZED'
  | ErrorCode

/** The body of every answer that is no success. */
export interface WireFault {
  readonly error: { readonly code: WireCode; readonly message: string; readonly issues?: readonly Issue[] }
}

/** What a client tool in a page gets beside its args. */
export interface ClientContext {
  readonly invocationId: string
  readonly toolName: string
  /** Aborts when the call is over, or another page has taken it on. What the handler returns then is dropped. */
  readonly signal: AbortSignal
  /** When the call expires. */
  readonly expiresAt: number
  /** Gives the call back, so that another page or handler takes it at once. It aborts `signal`. */
  readonly release: () => void
}

/** Answers a client tool in a page. */
export type ClientHandler<Args = unknown> = (args: Args, context: ClientContext) => unknown

/** The options of a decision. */
export interface DecisionOptions {
  /** A message to the model if the decision is `deny`, to the record if it is `allow`. */
  readonly note?: string
  /** The person does not want to be asked again. */
  readonly always?: boolean
  /** Args to use instead. */
  readonly editedArgs?: unknown
  /** How long the server holds the answer back for the result, in seconds. Default: 0. */
  readonly wait?: number
}

/** A page's connection to `httpClients`. Made by `connect`. */
export interface ToolClient {
  /** The name of this page in leases. */
  readonly holder: string
  /** `'refused'` if the server does not let the page in, or speaks another version: it does not try again. */
  readonly state: 'connecting' | 'open' | 'refused'
  /** Why the page was refused, in words. */
  readonly refusal: Pick<WireFault['error'], 'code' | 'message'> | undefined
  /** What the server said of the user, once it is reached. */
  readonly hello: Hello | undefined
  /** Returns the known calls, newest first: the same array until something changed. */
  calls(): readonly CallView[]
  /** Subscribes to changes of `calls()` and `state`. The listener gets the event, if one caused it. Returns an unsubscribe function. */
  subscribe(listener: (event?: WireEvent) => void): () => void
  /** Returns the server's time, for countdowns. */
  now(): number
  /** Answers a call that waits for approval. @throws A `WireError`. */
  decide(invocationId: string, decision: 'allow' | 'deny', options?: DecisionOptions): Promise<Answer>
  /** Answers a client's call. A value that does not fit (`E_INVALID_TOOL_RESULT`) leaves it waiting. @throws A `WireError`. */
  respond(invocationId: string, value: unknown): Promise<Answer>
  /** Answers a client's call with a failure, in words for the model. @throws A `WireError`. */
  fail(invocationId: string, message: string, recommendations?: readonly string[]): Promise<Answer>
  /** Cancels a call. @throws A `WireError`. */
  cancel(invocationId: string, reason?: string): Promise<{ readonly state: 'cancelled' | 'asked' }>
  /** Reads a call with its audit trail and content. @throws A `WireError`. */
  call(invocationId: string): Promise<CallView>
  /** Reads an artifact: bytes from `start` up to but not including `end`, at most 4 MiB. Default: all of it. @throws A `WireError`. */
  artifact(handle: string, range?: { readonly start: number; readonly end: number }): Promise<Response>
  /**
   * Answers the calls of a client tool in this page, also those that came before. Of many pages, one gets each call.
   *
   * @param tool The name of the tool; or the tool itself, whose schemas then check args and answer in the page too.
   * @param handler Default: the tool's own handler.
   * @param description Declares the tool to the server, if the server lets pages declare tools.
   * @returns A function that takes the handler away.
   * @throws If the name has a handler.
   */
  tool<Args = unknown>(
    tool: string | Tool,
    handler?: ClientHandler<Args>,
    description?: ClientToolDescription,
  ): () => void
  /** Loads older calls. Resolves with `false` if there are none. @throws A `WireError`. */
  more(): Promise<boolean>
  /** Ends the connection. */
  close(): void
}

const mostProgress = 50

/**
 * Returns whether a call is over: it has settled, or was closed after its process died.
 *
 * @example
 * ```ts
 * import { isOver, type CallView } from 'toolwright/client/protocol'
 *
 * // The calls for which a page shows a spinner.
 * function running(calls: readonly CallView[]): CallView[] {
 *   return calls.filter((call) => !isOver(call) && call.waiting === undefined)
 * }
 * ```
 */
export function isOver({ state }: Pick<CallView, 'state'>): boolean {
  return state === 'COMPLETED' || state === 'FAILED' || state === 'DENIED' || state === 'SEALED'
}

/**
 * Folds an event into the view of its call. Returns a new view.
 *
 * @param view The view before. Without it, the view has only what the event says: the beginning may be missing.
 * @param event The next event of the call, as a stream sends it.
 * @example
 * ```ts
 * import { createExecutor, tool } from 'toolwright'
 * import { foldView, type CallView, type WireEvent } from 'toolwright/client/protocol'
 *
 * const executor = createExecutor({ tools: [tool('now', () => '12:00')] })
 * const views = new Map<string, CallView>()
 * executor.on('*', (event) => {
 *   const wireEvent = event as unknown as WireEvent // a page gets it as a frame of the stream
 *   views.set(event.invocationId, foldView(views.get(event.invocationId), wireEvent))
 * })
 * await executor.execute({ name: 'now' })
 * console.log([...views.values()].map(({ toolName, state }) => `${toolName} ${state}`)) // [ 'now COMPLETED' ]
 * ```
 */
export function foldView(view: CallView | undefined, event: WireEvent): CallView {
  const { invocationId, id, toolName, session, seq, timestamp } = event
  // Without a journal, an id may be used again once its call is over.
  const isAnother = view?.session !== session || (event.event === 'call:received' && isOver(view))
  const former = isAnother ? undefined : view
  const callId = event.callId ?? former?.callId ?? null
  const first = { invocationId, ...(id !== undefined && { id }), session, state: 'PENDING', createdAt: timestamp }
  const { blocked: _free, ...before } = former ?? (first as CallView)
  return { ...before, callId, toolName, seq: seq + 1, ...changedFields(before, event) } as CallView
}

/** What an event changes in a view. What is `undefined` is no more, or was never there. */
function changedFields(
  { state, startedAt, progress }: Pick<CallView, 'state' | 'startedAt' | 'progress'>,
  event: WireEvent,
): { readonly [Field in keyof CallView]?: CallView[Field] | undefined } {
  const { timestamp } = event
  const starts = { state: 'EXECUTING', startedAt: startedAt ?? timestamp } as const
  switch (event.event) {
    case 'call:received':
    case 'call:repaired':
      return { args: event.args }
    case 'call:waiting': {
      const { reason, prompt, expiresAt, why, meta, answerable, inProcess } = event
      const waiting = answerable ? ({ reason, prompt, expiresAt, why, meta } as Wait) : undefined
      return {
        waiting,
        ...(inProcess === undefined && { status: 'waiting' }),
        ...(reason === 'client' ? { ...starts, effect: 'unknown' } : { state: 'APPROVAL_REQUIRED' }),
      }
    }
    case 'call:resumed': {
      const { decision, decidedBy, note, always, args } = event
      const edited = { waiting: undefined, ...(args !== undefined && { args }) }
      if (state !== 'APPROVAL_REQUIRED') return edited
      const approval = { decision, decidedBy, note, always } as NonNullable<CallView['approval']>
      return { ...edited, approval, state: decision === 'allow' ? 'APPROVED' : state }
    }
    case 'tool:start':
      return { waiting: undefined, ...starts }
    case 'tool:progress': {
      const { type, data } = event
      return { progress: [...(progress ?? []), { type, data, timestamp }].slice(-mostProgress) }
    }
    case 'call:blocked': {
      const { by, gate, keys, behind } = event
      return { blocked: { by, gate, keys, behind } as NonNullable<CallView['blocked']> }
    }
    case 'tool:end':
      return {}
    case 'call:settled': {
      const { status, effect, error, result, durationMs } = event
      const artifact = result as ArtifactView | undefined
      const over = {
        waiting: undefined,
        status,
        effect,
        state: stateAfterEvent(state, event),
        completedAt: timestamp,
        durationMs,
      }
      return { ...over, ...(error && { error }), ...(artifact && { artifact }) }
    }
  }
}

function stateAfterEvent(
  state: ToolCallState,
  { status, error }: Extract<WireEvent, { event: 'call:settled' }>,
): ToolCallState {
  if (error?.code === 'E_SEALED') return 'SEALED'
  if (status === 'ok') return 'COMPLETED'
  return status === 'denied' && state !== 'EXECUTING' ? 'DENIED' : 'FAILED'
}
