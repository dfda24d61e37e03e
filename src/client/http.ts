/**
 * Serves the calls of an executor to browsers: those that wait for approval or for a page, and those that run or are over.
 * Speaks version 2 of the protocol in `client/protocol`. Runs wherever there are web standards.
 *
 * @module
 */
import type { ToolExecutor, ToolValues } from '../index.ts'
import {
  checkOptions,
  functionOption,
  numberFrom,
  reporterOf,
  stringOption,
  timerOption,
  type OptionChecks,
} from '../extension.ts'
import { executorOption, hostNames, pageToolsOption, tokenOption } from './_options.ts'
import { PageAnswers } from './http/_answers.ts'
import { PageCalls } from './http/_calls.ts'
import { AudienceChannels } from './http/_channels.ts'
import { pageGuard } from './http/_guard.ts'
import { faultAnswer, answerOfThrown } from './http/_reply.ts'
import { route } from './http/_routes.ts'
import type { PageTools } from './page-tools.ts'
import type { Right } from './protocol.ts'

/** Who sends a request. */
export interface PageUser {
  /** The session whose calls the user sees; `'*'` for all. A call of another session is as one that does not exist. */
  readonly session: string
  /**
   * Who the records say has decided, and whose open streams count together. Default: `'user'`, and the streams of the session
   * count together.
   */
  readonly name?: string
  /** Default: everything. */
  readonly may?: readonly Right[]
  /** The application's data for the rest of a call that the user answers. */
  readonly values?: ToolValues
}

/** Limits of what is kept and sent. */
export interface HttpClientsLimits {
  /** The largest body of a request, in bytes. Default: 262,144. */
  readonly body?: number
  /** The most open streams of one user, in all sessions. Default: 32. */
  readonly streams?: number
  /** The most open streams of all users. Default: 1,000. */
  readonly allStreams?: number
  /** How many bytes a stream may lag behind before it gets a list instead. Default: 1,048,576. */
  readonly backlog?: number
  /** How many frames of a session are kept for pages that come back. Default: 2,000, of at most 4 MiB. */
  readonly frames?: number
  /** How many calls of a session are kept in this process. Default: 1,000. */
  readonly calls?: number
}

/** The options of `httpClients`. */
export interface HttpClientsOptions {
  readonly executor: ToolExecutor
  /** Says who sends a request. `undefined` refuses it. */
  readonly authorize?: (request: Request) => PageUser | undefined | Promise<PageUser | undefined>
  /** What every client has to send as `Authorization: Bearer …`. Each then sees all sessions. */
  readonly token?: string
  /** The path where it is mounted, such as `/api/tools`. Default: the root. */
  readonly base?: string
  /** The host names under which pages reach this server, without ports. Default: those of this machine. */
  readonly hosts?: readonly string[]
  /**
   * The host names of the sites whose pages may send requests, without ports. If set, answers have CORS headers for them.
   * Default: those of this machine, without CORS headers.
   */
  readonly origins?: readonly string[]
  /** Lets pages declare tools. Default: no page may. */
  readonly pageTools?: PageTools
  readonly limits?: HttpClientsLimits
  /** How often a stream gives a sign of life, in milliseconds. Default: 15,000. */
  readonly heartbeat?: number
  /** Receives the errors that no answer tells. Default: `console.error`. */
  readonly report?: (error: unknown) => void
}

const checks: OptionChecks<HttpClientsOptions> = {
  executor: executorOption,
  authorize: functionOption,
  token: tokenOption,
  base: stringOption,
  hosts: hostNames,
  origins: hostNames,
  pageTools: pageToolsOption,
  limits: { expected: 'an object of limits', accepts: (value) => typeof value === 'object' && value !== null },
  heartbeat: timerOption,
  report: functionOption,
}

const pageLimitChecks: OptionChecks<HttpClientsLimits> = {
  body: numberFrom(1),
  streams: numberFrom(1),
  allStreams: numberFrom(1),
  backlog: numberFrom(1),
  frames: numberFrom(1),
  calls: numberFrom(1),
}

/** Answers the requests of pages. */
export interface HttpClients {
  /** Answers a request. Never rejects. A request that goes away cancels nothing. */
  readonly fetch: (request: Request) => Promise<Response>
  /** Ends the streams, and answers no more requests. Calls that were decided go on. */
  readonly close: () => Promise<void>
}

/**
 * Makes a handler that any web-standard server can mount, such as `app.all('/api/tools/*', (c) => clients.fetch(c.req.raw))`.
 *
 * State is sent, not history: a stream begins with the calls that wait and the newest others, and goes on with what changes.
 * With a journal, calls of other processes are seen too, and calls that are over have their content. Without one, pages see
 * the calls of this process, and no content of those that are over.
 *
 * @param options The executor, and either `authorize`, which says who a user is, or a `token` for one operator.
 * @throws `E_INVALID_CONFIGURATION` if neither `authorize` nor `token` is given, or an option is wrong.
 * @example
 * ```ts
 * import { createExecutor, tool } from 'toolwright'
 * import { httpClients } from 'toolwright/client/http'
 *
 * const executor = createExecutor({ tools: [tool('now', () => new Date().toISOString())] })
 * const clients = httpClients({
 *   executor,
 *   authorize: (request) => (request.headers.get('cookie') === 'user=ada' ? { session: 'ada', name: 'Ada' } : undefined),
 * })
 * const response = await clients.fetch(new Request('http://localhost/calls', { headers: { cookie: 'user=ada' } }))
 * console.log(response.status) // 200
 * await clients.close()
 * ```
 */
export function httpClients(options: HttpClientsOptions): HttpClients {
  checkOptions('httpClients', options, checks)
  checkOptions('httpClients.limits', options.limits ?? {}, pageLimitChecks)
  const { executor, pageTools, limits: candidate = {}, heartbeat = 15_000 } = options
  const report = reporterOf(options.report)
  const base = `/${options.base ?? ''}/`.replaceAll(/\/+/g, '/').slice(0, -1)
  const limits = {
    body: candidate.body ?? 262_144,
    streams: candidate.streams ?? 32,
    allStreams: candidate.allStreams ?? 1_000,
    backlog: candidate.backlog ?? 1_048_576,
    frames: candidate.frames ?? 2_000,
    calls: candidate.calls ?? 1_000,
  }
  const admit = pageGuard(options)
  const channels = new AudienceChannels(limits, heartbeat, report)
  const calls = new PageCalls(executor, channels, limits, report)
  const answers = new PageAnswers(executor, calls)
  const api = { executor, pageTools, calls, channels, answers, limits, heartbeat }
  const answerError = (error: unknown): Response => answerOfThrown(error, report)
  let isClosed = false

  return {
    async fetch(request) {
      try {
        if (isClosed) return faultAnswer(503, 'E_LIMIT', 'This server is closing. Try again.', { 'retry-after': '1' })
        const admission = await admit(request)
        const answer = admission.answer ?? (await route(request, base, admission.user, api).catch(answerError))
        return admission.sign(answer)
      } catch (error) {
        return answerError(error)
      }
    },
    async close() {
      isClosed = true
      calls.close()
      channels.close()
    },
  }
}
