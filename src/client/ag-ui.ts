/**
 * Serves tools to front ends of AG-UI 1.0, such as `HttpAgent`: approvals are interrupts, and the tools of the page are client
 * tools.
 *
 * @module
 */
import type { ToolCall, ToolExecutor, ToolValues } from '../index.ts'
import { checkOptions, functionOption, numberFrom, reporterOf } from '../extension.ts'
import { executorOption, hostNames, pageToolsOption, tokenOption } from './_options.ts'
import { DeclaredTools } from './ag-ui/_declared-tools.ts'
import { requireInput } from './ag-ui/_input.ts'
import { Run, type RunParts } from './ag-ui/_run.ts'
import type { AgUiEvent, AgUiInput, AgUiModel } from './ag-ui/_types.ts'
import type { PageUser } from './http.ts'
import { pageGuard } from './http/_guard.ts'
import { jsonBody, commonHeaders, answerOfThrown, RefusedRequest } from './http/_reply.ts'
import type { PageTools } from './page-tools.ts'

export type { AgUiEvent, AgUiInput, AgUiMessage, AgUiModel, AgUiToolCall, AgUiTurn } from './ag-ui/_types.ts'

/** The options of `agUi`. */
export interface AgUiOptions {
  readonly executor: ToolExecutor
  /** Asks the model. Default: a run has the calls that it is given, and the answers to what waits. */
  readonly model?: AgUiModel
  /**
   * Gives the tools of pages to the model, for the run and as long as a call of one of them waits. The executor has to have it
   * in `use`. Default: they are ignored.
   */
  readonly pageTools?: PageTools
  /** How often the model may call tools in one run. Default: 20. */
  readonly mostTurns?: number
  /** Receives faults of the application, which no page is told. Default: `console.error`. */
  readonly report?: (error: unknown) => void
  /** Says who sends a request. `undefined` refuses it. `fetch` needs it, or `token`. */
  readonly authorize?: (request: Request) => PageUser | undefined | Promise<PageUser | undefined>
  /** What every client has to send as `Authorization: Bearer …`. */
  readonly token?: string
  /** Returns the session of a request. Default: that of the user; of `'*'`, the thread. */
  readonly session?: (user: PageUser, input: AgUiInput) => string
  /** The host names under which pages reach this server, without ports. Default: those of this machine. */
  readonly hosts?: readonly string[]
  /** The host names of the sites whose pages may send requests, without ports. Default: those of this machine. */
  readonly origins?: readonly string[]
  /** The largest body of a request, in bytes. Default: 4,194,304. */
  readonly body?: number
}

/** What the application says of one run. */
export interface AgUiRunOptions {
  /** Calls to run, instead of those of the model. */
  readonly calls?: readonly ToolCall[]
  /** Default: the thread. A front end chooses it, so name the session if others must not answer its calls. */
  readonly session?: string
  /** The application's data for the calls. */
  readonly values?: ToolValues
  /** Who the records say has decided. Default: `'user'`. */
  readonly decidedBy?: string
  /** Gives the run up: its calls are cancelled, but not those that were approved before. */
  readonly signal?: AbortSignal
}

/** A server of AG-UI. */
export interface AgUi {
  /**
   * Runs what a front end asks for, and yields the events. Answers come first, then calls. Never throws: what goes wrong is a
   * `RUN_ERROR`. Leaving early gives the run up.
   */
  run(input: AgUiInput, options?: AgUiRunOptions): AsyncGenerator<AgUiEvent, void, undefined>
  /**
   * Answers a request of `HttpAgent` with server-sent events. Never rejects. Without `authorize` and `token` it answers nothing
   * but an error. A request that goes away gives its run up.
   */
  readonly fetch: (request: Request) => Promise<Response>
}

/** How many events wait for a slow reader before the model waits too, and progress is left out. */
const mostEvents = 1_000

/**
 * Makes a server of AG-UI 1.0 over an executor.
 *
 * @param options The executor, `model`, which calls your model, and who the users are.
 * @throws `E_INVALID_CONFIGURATION` if an option is wrong.
 * @example
 * ```ts
 * import { createExecutor, tool } from 'toolwright'
 * import { agUi } from 'toolwright/client/ag-ui'
 *
 * const executor = createExecutor({ tools: [tool('now', () => '12:00')] })
 * const server = agUi({ executor })
 * const input = { threadId: 'thread-1', runId: 'run-1', messages: [] }
 * for await (const { type } of server.run(input, { calls: [{ id: 'call_1', name: 'now' }] })) console.log(type)
 * ```
 */
export function agUi(options: AgUiOptions): AgUi {
  checkOptions('agUi', options, {
    executor: executorOption,
    model: functionOption,
    pageTools: pageToolsOption,
    mostTurns: numberFrom(1),
    report: functionOption,
    authorize: functionOption,
    token: tokenOption,
    session: functionOption,
    hosts: hostNames,
    origins: hostNames,
    body: numberFrom(1),
  })
  const { executor, model, pageTools, mostTurns = 20, body: largestBody = 4_194_304, authorize, token } = options
  const report = reporterOf(options.report)
  const admit = authorize === undefined && token === undefined ? undefined : pageGuard(options)
  const declaredTools = pageTools && new DeclaredTools(executor, pageTools)
  const own = { executor, model, declaredTools, mostTurns, report }

  /** Yields the events of a run as they come. */
  async function* events(
    parts: Omit<RunParts, keyof typeof own | 'signal'>,
    signal: AbortSignal | undefined,
    stop = new AbortController(),
  ): AsyncGenerator<AgUiEvent> {
    const leave = (): void => stop.abort(signal?.reason)
    signal?.addEventListener('abort', leave, stop) // some platforms have no `AbortSignal.any`
    if (signal?.aborted) leave()
    const waiting: AgUiEvent[] = []
    let [wake, drain, isOver] = [(): void => {}, (): void => {}, false]
    const emit = (one: AgUiEvent): void | Promise<void> => {
      const isFull = waiting.length >= mostEvents
      if (isFull && one.type === 'CUSTOM') return undefined
      waiting.push(one)
      wake()
      return isFull ? new Promise((resolve) => (drain = resolve)) : undefined
    }
    const run = new Run({ ...own, ...parts, signal: stop.signal }, emit)
    void run.perform().finally(() => {
      isOver = true
      wake()
    })
    try {
      for (;;) {
        while (waiting.length > 0) yield* waiting.splice(0)
        drain()
        if (isOver) return
        await new Promise<void>((resolve) => {
          wake = resolve
          if (waiting.length > 0 || isOver) resolve()
        })
      }
    } finally {
      stop.abort()
      drain()
    }
  }

  async function answer(request: Request, user: PageUser): Promise<Response> {
    if (request.method !== 'POST')
      throw new RefusedRequest(405, 'E_METHOD', 'A run is started with POST.', { allow: 'POST' })
    const input: unknown = await jsonBody(request, largestBody)
    requireInput(input)
    const { name: decidedBy, values, may } = user
    const session = options.session?.(user, input) ?? (user.session === '*' ? input.threadId : user.session)
    const stop = new AbortController()
    const run = events({ input, calls: undefined, session, values, decidedBy, may }, request.signal, stop)
    const encoder = new TextEncoder()
    const body = new ReadableStream<Uint8Array>({
      async pull(controller) {
        const { done, value } = await run.next()
        if (done === true) controller.close()
        else controller.enqueue(encoder.encode(`data: ${JSON.stringify(value)}\n\n`))
      },
      cancel: () => stop.abort(),
    })
    return new Response(body, { headers: { ...commonHeaders, 'content-type': 'text/event-stream' } })
  }

  const fault = (error: unknown): Response => answerOfThrown(error, report)

  return {
    run(input, { calls, session = input?.threadId, values, decidedBy, signal } = {}) {
      return events({ input, calls, session, values, decidedBy, may: undefined }, signal)
    },
    async fetch(request) {
      try {
        if (admit === undefined)
          throw new TypeError('agUi.fetch lets in only users that it knows: give agUi `authorize` or `token`.')
        const admission = await admit(request)
        return admission.sign(admission.answer ?? (await answer(request, admission.user).catch(fault)))
      } catch (error) {
        return fault(error)
      }
    },
  }
}
