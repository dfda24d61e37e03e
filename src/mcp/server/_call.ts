import {
  CLIENT_CAPABILITIES_META_KEY,
  inputRequired,
  inputResponse,
  MissingRequiredClientCapabilityError,
  ProtocolError,
  ProtocolErrorCode,
  type CallToolRequest,
  type CallToolResult,
  type ClientCapabilities,
  type InputRequests,
  type InputRequiredResult,
  type McpServer,
  type ServerContext,
} from '@modelcontextprotocol/server'
import {
  canonicalize,
  isToolError,
  ToolFailure,
  type ToolContext,
  type ToolEventOf,
  type ToolResult,
  type ToolValues,
} from '../../index.ts'
import { escapeDeceptive, escapeOf } from '../../kernel/json/deceptive.ts'
import { invocationIdOf, isCut, onAbort } from './_once.ts'
import { progressTo } from './_progress.ts'
import { failedResult, protocolResult } from './_result.ts'
import { Conversation } from './_rounds.ts'
import type { Peer, ServerSettings } from './_settings.ts'
import { callerOf, isUiHost } from './_tools.ts'

/** The client whose call a handler serves. */
export interface McpClient {
  /** The client's own name, unverified. */
  readonly name: string | undefined
  /** The capabilities that the client declares. */
  readonly capabilities: Readonly<Record<string, unknown>>
  /**
   * Asks the client's user (`inputRequired.elicit`), its model (`createMessage`), or for its roots. The wait counts towards the
   * deadline of the call: give the tool a `timeout` that is long enough. Check the answers: the client may send anything.
   *
   * @param requests The questions under names that you choose. The answers have the same names.
   * @throws {ToolFailure} If the client cannot be asked, or does not answer.
   */
  ask(requests: InputRequests): Promise<Readonly<Record<string, unknown>>>
}

/** The most characters of a question. */
const longestElicitation = 262_144
/** The most characters of args that are shown on one line. */
const longestArgsLine = 100

// By the `values` object, which a call keeps through all its waits.
const clients = new WeakMap<ToolValues, McpClient>()

/**
 * Returns the client whose call a handler serves, or `undefined` if the call did not come over the protocol.
 *
 * @param context The context of the handler.
 * @example
 * ```ts
 * import { tool } from 'toolwright'
 * import { mcpClient } from 'toolwright/mcp/server'
 *
 * const where = tool('where', (_input: object, context) => (mcpClient(context) ? 'over MCP' : 'in this program'))
 * ```
 */
export function mcpClient(context: ToolContext): McpClient | undefined {
  return clients.get(context.values)
}

/** Answers `tools/call`: begins a call, or resumes one with the client's answers. */
export async function callTool(
  { params }: CallToolRequest,
  context: ServerContext,
  peer: Peer,
  server: McpServer,
  settings: ServerSettings,
): Promise<CallToolResult | InputRequiredResult> {
  const { requestState, inputResponses, signal, _meta: meta } = context.mcpReq
  const subject = subjectOf.bind(undefined, params)
  const token = requestState<string>()
  let conversation: Conversation | undefined
  if (token === undefined) {
    conversation = conversationOf(params, context, { peer, server, settings, subject })
  } else {
    conversation = settings.openQuestions.take(token, peer.owner, subject())
    if (conversation === undefined) {
      throw new ProtocolError(ProtocolErrorCode.InvalidParams, 'Invalid or expired requestState', {
        reason: 'invalid_request_state',
      })
    }
    conversation.answer(inputResponses ?? {})
  }
  const open = conversation
  const progress = progressTo(context.mcpReq, meta?.progressToken, open.counter)
  const detach = open.attach(progress.tell)
  const forget = onAbort(signal, () => detach({ reason: signal.reason, isCut: isCut(signal.reason) }))
  const keep = onAbort(peer.leaving, () => open.leave(peer.leaving?.reason))
  try {
    const outcome = await open.next()
    await progress.end()
    if ('requests' in outcome) {
      return inputRequired({ inputRequests: outcome.requests, requestState: settings.openQuestions.keep(open) })
    }
    return await protocolResult(outcome.result, { ...peer, session: open.session }, server, settings)
  } catch (error) {
    if (isToolError(error)) return failedResult(error)
    throw error
  } finally {
    detach()
    forget()
    keep()
  }
}

interface Serving {
  readonly peer: Peer
  readonly server: McpServer
  readonly settings: ServerSettings
  readonly subject: () => string
}

/** Returns the conversation of a call: that of the same call, if the client makes it again since it was cut off. */
function conversationOf(params: CallToolRequest['params'], context: ServerContext, serving: Serving): Conversation {
  const { peer, server, settings, subject } = serving
  const { name, arguments: args = {} } = params
  const { _meta: meta, inputResponses: responses = {} } = context.mcpReq
  const capabilities = capabilitiesOf(context, server)
  const { session, principal } = peer
  const caller = callerOf(name, session, isUiHost(capabilities), settings)
  const ownId = invocationIdOf(meta, peer, settings.executor)
  const { id, invocationId = ownId } = settings.identify?.(meta, { session, principal }) ?? {}
  const onceId = ownId === undefined ? undefined : invocationId
  // An id of the application could be that of another client.
  const onceKey = onceId && JSON.stringify([onceId, caller, onceId === ownId ? undefined : peer.owner])
  const earlier = onceKey === undefined ? undefined : settings.onceCalls.get(onceKey)
  if (earlier?.subject() === subject()) {
    earlier.owner = peer.owner // the questions of the call go to the client that came last
    return earlier
  }
  const values = { ...settings.values?.({ session, principal }) }
  const clientName = server.server.getClientVersion()?.name
  // A call may wait long after its request. So what it keeps holds neither the SDK's server nor the request.
  const run = async (conversation: Conversation): Promise<ToolResult> => {
    const client = new AskedClient(clientName, capabilities, peer.era, conversation)
    clients.set(values, client)
    const call = { id, name, args }
    const options = { caller, session, principal: peer.party, invocationId, values, signal: conversation.signal }
    const asks = (requests: InputRequests): boolean =>
      settings.approvals === 'client' && missingFor(requests, capabilities) === undefined
    const mayBeElsewhere = onceId !== undefined && earlier === undefined
    try {
      return await settings.around(meta, async () => {
        const result = await walk(call, options, conversation, asks, settings)
        if (!mayBeElsewhere || result.error?.code !== 'E_DUPLICATE_INVOCATION') return result
        const there = await settledSession(onceId, conversation.signal, settings)
        if (onceId !== ownId && there !== session) return result
        conversation.session = there
        return walk(call, { ...options, session: there }, conversation, asks, settings)
      })
    } finally {
      client.leave()
      if (onceKey !== undefined) settings.onceCalls.delete(onceKey, conversation)
    }
  }
  const patience = onceId === undefined ? 0 : settings.reissueTimeout
  const conversation = new Conversation(peer, { subject, patience, responses }, run)
  if (onceKey !== undefined && earlier === undefined) settings.onceCalls.set(onceKey, conversation)
  return conversation
}

/**
 * Waits until a call has settled that another process runs, or that runs for another session of the same principal. Returns its
 * session.
 */
async function settledSession(
  invocationId: string,
  signal: AbortSignal,
  { executor, answerTimeout }: ServerSettings,
): Promise<string> {
  const { session } = await executor.calls.get(invocationId)
  const waiting = new AbortController()
  const end = (): void => waiting.abort(signal.reason)
  const timer = setTimeout(end, answerTimeout)
  signal.addEventListener('abort', end)
  try {
    await executor.calls.settled(invocationId, { signal: waiting.signal })
    return session
  } finally {
    clearTimeout(timer)
    signal.removeEventListener('abort', end)
  }
}

/** The client of a call. It can be asked until its request has its result. */
class AskedClient implements McpClient {
  readonly name: string | undefined
  readonly capabilities: Readonly<Record<string, unknown>>
  readonly #era: Peer['era']
  #conversation: Conversation | undefined

  constructor(
    name: string | undefined,
    capabilities: ClientCapabilities,
    era: Peer['era'],
    conversation: Conversation,
  ) {
    this.name = name
    this.capabilities = { ...capabilities }
    this.#era = era
    this.#conversation = conversation
  }

  ask(requests: InputRequests): Promise<Readonly<Record<string, unknown>>> {
    const answers = this.#ask(requests)
    answers.catch(() => {}) // a handler may ask without awaiting the answer
    return answers
  }

  /** Forgets the conversation, whose request is over. */
  leave(): void {
    this.#conversation = undefined
  }

  async #ask(requests: InputRequests): Promise<Readonly<Record<string, unknown>>> {
    const conversation = this.#conversation
    if (conversation === undefined) throw new ToolFailure('The client cannot be asked: its request is over.')
    const missing = missingFor(requests, this.capabilities)
    if (missing === undefined) return conversation.ask(requests)
    // The newer era has its own error for that.
    if (this.#era === 'modern') {
      conversation.fail(new MissingRequiredClientCapabilityError({ requiredCapabilities: missing }))
    }
    throw new ToolFailure(`The client cannot be asked: it lacks ${Object.keys(missing).join(', ')}.`)
  }
}

/** Runs a call to its end. If the call waits for approval, and the client can ask its user, the client is asked. */
async function walk(
  call: { readonly name: string; readonly args: unknown },
  options: NonNullable<Parameters<ServerSettings['executor']['stream']>[1]>,
  conversation: Conversation,
  asks: (requests: InputRequests) => boolean,
  { executor }: ServerSettings,
): Promise<ToolResult> {
  const events = executor.stream(call, options)
  let waitingEvent: ToolEventOf<'call:waiting'> | undefined
  let step = await events.next()
  for (; step.done !== true; step = await events.next()) {
    const event = step.value
    if (event.event === 'tool:progress') conversation.tell(event)
    if (event.event === 'call:waiting' && event.reason === 'approval' && !event.inProcess) waitingEvent = event
  }
  const result = step.value
  if (result.token === undefined || waitingEvent === undefined) return result
  const message = elicitedQuestion(waitingEvent)
  if (message === undefined) return result
  const consent = consentQuestion(waitingEvent)
  const questions = { approval: elicitation(message), ...(consent && { consent }) }
  if (!asks(questions)) return result
  // Fresh: an answer that the client sent before this question does not count.
  const answers = await conversation.ask(questions, { isFresh: true })
  const [approved, opened] = [inputResponse(answers, 'approval'), inputResponse(answers, 'consent')]
  const isAllowed =
    approved.kind === 'elicit' &&
    approved.action === 'accept' &&
    approved.content?.['approve'] === true &&
    (consent === undefined || (opened.kind === 'elicit' && opened.action === 'accept'))
  const { session } = options
  const silence = executor.on('tool:progress', (event) => {
    if (event.invocationId === result.invocationId) conversation.tell(event)
  })
  try {
    return await executor.calls.decide(result.token, isAllowed ? 'allow' : 'deny', {
      decidedBy: 'mcp client',
      signal: conversation.signal,
      ...(session === undefined ? undefined : { session }),
    })
  } finally {
    silence()
  }
}

/**
 * Returns the question for the client's user: which tool would run, with which args, and why approval is needed. Returns
 * `undefined` if it cannot show the whole args, since nothing may run that the user has not seen.
 */
function elicitedQuestion({ toolName, prompt, why, input }: ToolEventOf<'call:waiting'>): string | undefined {
  const args = shownArgs(input)
  if (args === undefined) return undefined
  const reason = why === undefined ? [] : [`Reason: ${escapedText(why)}`]
  const question = [escapedText(prompt), ...reason, `${toolName} ${args}`].join('\n')
  return question.length <= longestElicitation ? question : undefined
}

/**
 * Returns the question whether the client's user opens an address first, such as to connect an account. It stands beside the
 * question about the call: another policy may want that one answered.
 */
function consentQuestion({ toolName, meta }: ToolEventOf<'call:waiting'>): InputRequests[string] | undefined {
  const { url } = Object(meta?.['consent']) as Readonly<Record<string, unknown>>
  const address = typeof url === 'string' ? URL.parse(url) : null
  if (address?.protocol !== 'https:') return undefined
  const message = `${toolName} needs an access that you give at ${address.host}.`
  return inputRequired.elicitUrl({ message, url: address.href })
}

/** Returns whole args, large ones over several lines, or `undefined` if they are no JSON or the event has only their beginning. */
function shownArgs(input: unknown): string | undefined {
  const { truncated, head } = Object(input) as Readonly<Record<string, unknown>>
  if (truncated === true && typeof head === 'string') return undefined
  try {
    const line = JSON.stringify(input) as string | undefined
    if (line === undefined || line.length > longestElicitation) return undefined
    const text = line.length <= longestArgsLine ? line : JSON.stringify(input, null, 2)
    return text.split('\n').map(escapedText).join('\n') // JSON text has a raw line break only between its members
  } catch {
    return undefined // the output of a schema need not be JSON
  }
}

/** Returns a line with deceptive characters and wide gaps escaped, so that it cannot deceive its reader. */
function escapedText(text: string): string {
  return escapeDeceptive(text).replace(/(?<=[^ ])[\p{Zs}\u2800]{8,}/gu, escapeOf)
}

function elicitation(message: string): InputRequests[string] {
  return inputRequired.elicit({
    message,
    requestedSchema: {
      type: 'object',
      properties: { approve: { type: 'boolean', title: 'Allow it to run', default: false } },
      required: ['approve'],
    },
  })
}

/** Returns the name and args of a call as canonical text, to compare a repeated request with the first one. */
function subjectOf({ name, arguments: args = {} }: CallToolRequest['params']): string {
  try {
    return canonicalize([name, args])
  } catch {
    return JSON.stringify([name, args]) // the executor will refuse the args, and say why
  }
}

/** Returns the client's capabilities, from the request itself or from the handshake of the connection. */
export function capabilitiesOf(context: ServerContext, server: McpServer): ClientCapabilities {
  const envelopeValue = (context.mcpReq.envelope as Readonly<Record<string, unknown>> | undefined)?.[
    CLIENT_CAPABILITIES_META_KEY
  ]
  return (envelopeValue as ClientCapabilities | undefined) ?? server.server.getClientCapabilities() ?? {}
}

/** Returns the capabilities that the requests need and the client lacks, or `undefined` if it lacks none. */
function missingFor(requests: InputRequests, capabilities: ClientCapabilities): ClientCapabilities | undefined {
  const missing: ClientCapabilities = {}
  const { elicitation: asking, sampling, roots } = capabilities
  for (const { method, params } of Object.values(requests)) {
    if (method === 'elicitation/create') {
      const isUrl = params.mode === 'url'
      // A client that declares no mode supports forms.
      const isAble = isUrl
        ? asking?.url !== undefined
        : asking !== undefined && (asking.form !== undefined || asking.url === undefined)
      if (!isAble) missing.elicitation = isUrl ? { url: {} } : { form: {} }
    } else if (method === 'sampling/createMessage' && sampling === undefined) missing.sampling = {}
    else if (method === 'roots/list' && roots === undefined) missing.roots = {}
  }
  return Object.keys(missing).length === 0 ? undefined : missing
}
