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
import { progressTo } from './_progress.ts'
import { failedResult, toolResult } from './_result.ts'
import { Conversation } from './_rounds.ts'
import type { Peer, Settings } from './_settings.ts'
import { callerOf, isUiHost } from './_tools.ts'

/** The client whose call a handler serves. */
export interface McpClient {
  /** What it calls itself; nobody has checked it. */
  readonly name: string | undefined
  /** What it says that it can be asked. */
  readonly capabilities: Readonly<Record<string, unknown>>
  /**
   * Asks it: its user (`inputRequired.elicit`), its model (`createMessage`) or for its roots. The time that the answer takes
   * counts: give the tool a `timeout` that leaves enough of it. What comes back is the client's word; check it.
   *
   * @param requests By names of your own, under which the answers come back.
   * @throws {ToolFailure} Where it cannot be asked, or does not answer.
   */
  ask(requests: InputRequests): Promise<Readonly<Record<string, unknown>>>
}

/** Characters of the args that a question shows at most. */
const longestShown = 1_000

// By the object of the host's data, which a call keeps through all its pauses.
const clients = new WeakMap<ToolValues, McpClient>()

/** The client whose call a handler serves; nothing where the call did not come over the protocol. */
export function mcpClient(context: ToolContext): McpClient | undefined {
  return clients.get(context.values)
}

/** Answers `tools/call`: begins a call, or goes on with one for which the client was asked something. */
export async function callTool(
  { params }: CallToolRequest,
  context: ServerContext,
  peer: Peer,
  server: McpServer,
  settings: Settings,
): Promise<CallToolResult | InputRequiredResult> {
  const { requestState, inputResponses, signal, _meta: meta } = context.mcpReq
  const subject = (): string => subjectOf(params)
  const token = requestState<string>()
  let conversation: Conversation | undefined
  if (token === undefined) {
    conversation = begin(params, context, { peer, server, settings, subject })
  } else {
    conversation = settings.rounds.take(token, peer.owner, subject())
    if (conversation === undefined) {
      throw new ProtocolError(ProtocolErrorCode.InvalidParams, 'Invalid or expired requestState', {
        reason: 'invalid_request_state',
      })
    }
    conversation.answer(inputResponses ?? {})
  }
  const open = conversation
  const leave = (): void => open.leave(signal.reason)
  const progress = progressTo(context.mcpReq, meta?.progressToken, open.counter)
  open.tell = progress.tell
  signal.addEventListener('abort', leave, { once: true })
  if (signal.aborted) leave()
  try {
    const turn = await open.next()
    await progress.end()
    if ('requests' in turn) {
      return inputRequired({ inputRequests: turn.requests, requestState: settings.rounds.keep(open) })
    }
    return await toolResult(turn.result, peer, server, settings)
  } catch (error) {
    if (isToolError(error)) return failedResult(error)
    throw error
  } finally {
    open.tell = () => {}
    signal.removeEventListener('abort', leave)
  }
}

interface Serving {
  readonly peer: Peer
  readonly server: McpServer
  readonly settings: Settings
  readonly subject: () => string
}

function begin(params: CallToolRequest['params'], context: ServerContext, serving: Serving): Conversation {
  const { peer, server, settings, subject } = serving
  const { name, arguments: args = {} } = params
  const capabilities = capabilitiesOf(context, server)
  const values = { ...settings.values?.({ session: peer.session, principal: peer.principal }) }
  const { session } = peer
  const caller = callerOf(name, session, isUiHost(capabilities), settings)
  const run = (conversation: Conversation): Promise<ToolResult> => {
    clients.set(values, {
      name: server.server.getClientVersion()?.name,
      capabilities: { ...capabilities },
      ask(requests) {
        const missing = missingFor(requests, capabilities)
        const asked = missing === undefined ? conversation.ask(requests) : refuse(missing, conversation, peer)
        asked.catch(() => {}) // a handler that does not wait for the answer hears of nothing
        return asked
      },
    })
    const call = { name, args }
    const options = { caller, session, principal: peer.party, values, signal: conversation.signal }
    const asks = (requests: InputRequests): boolean =>
      settings.approvals === 'client' && missingFor(requests, capabilities) === undefined
    return settings.around(context.mcpReq._meta, () => walk(call, options, conversation, asks, settings))
  }
  return new Conversation(peer, subject, context.mcpReq.inputResponses ?? {}, run)
}

/** A client that cannot be asked: the newer era has an error of its own for it. */
function refuse(missing: ClientCapabilities, conversation: Conversation, { era }: Peer): Promise<never> {
  if (era === 'modern') conversation.fail(new MissingRequiredClientCapabilityError({ requiredCapabilities: missing }))
  return Promise.reject(new ToolFailure(`The client cannot be asked: it lacks ${Object.keys(missing).join(', ')}.`))
}

/** Walks a call to its end; where it waits for approval, the client's user is asked as far as that can be done. */
async function walk(
  call: { readonly name: string; readonly args: unknown },
  options: NonNullable<Parameters<Settings['executor']['stream']>[1]>,
  conversation: Conversation,
  asks: (requests: InputRequests) => boolean,
  { executor }: Settings,
): Promise<ToolResult> {
  const events = executor.stream(call, options)
  let asked: ToolEventOf<'call:paused'> | undefined
  let step = await events.next()
  for (; step.done !== true; step = await events.next()) {
    const event = step.value
    if (event.event === 'tool:progress') conversation.tell(event)
    if (event.event === 'call:paused' && event.reason === 'approval') asked = event
  }
  const result = step.value
  if (result.token === undefined || asked === undefined) return result
  const question = { approval: elicitation(questionOf(asked)) }
  if (!asks(question)) return result
  // Answers to what nobody asked yet do not count.
  const answers = await conversation.ask(question, { isFresh: true })
  const answer = inputResponse(answers, 'approval')
  const isAllowed = answer.kind === 'elicit' && answer.action === 'accept' && answer.content?.['approve'] === true
  const { session } = options
  const silence = executor.on('tool:progress', (event) => {
    if (event.invocationId === result.invocationId) conversation.tell(event)
  })
  try {
    return await executor.decide(result.token, isAllowed ? 'allow' : 'deny', {
      decidedBy: 'mcp client',
      signal: conversation.signal,
      ...(session === undefined ? undefined : { session }),
    })
  } finally {
    silence()
  }
}

/** What the client's user is asked: what would run, with what, and why it is asked. */
function questionOf({ toolName, prompt, why, input }: ToolEventOf<'call:paused'>): string {
  let args: string | undefined
  try {
    args = JSON.stringify(input)
  } catch {
    // what a schema made of the args need not be JSON
  }
  return [prompt, why === undefined ? '' : `Reason: ${shown(why)}`, `${toolName} ${shown(args ?? '(not shown)')}`]
    .filter((line) => line !== '')
    .join('\n')
}

/** A bounded line in which no character deceives its reader. */
function shown(text: string): string {
  const line = text
    .slice(0, longestShown)
    .replace(
      /[\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}]/gu,
      (character) => `\\u{${character.codePointAt(0)?.toString(16) ?? ''}}`,
    )
  return text.length > longestShown ? `${line}… (${text.length - longestShown} more characters)` : line
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

/** What a call is about, in a form that is the same when the client repeats it. */
function subjectOf({ name, arguments: args = {} }: CallToolRequest['params']): string {
  try {
    return canonicalize([name, args])
  } catch {
    return JSON.stringify([name, args]) // the passage will refuse it, and say why
  }
}

/** What the client says that it can do: in the request itself, or when the connection was made. */
export function capabilitiesOf(context: ServerContext, server: McpServer): ClientCapabilities {
  const said = (context.mcpReq.envelope as Readonly<Record<string, unknown>> | undefined)?.[
    CLIENT_CAPABILITIES_META_KEY
  ]
  return (said as ClientCapabilities | undefined) ?? server.server.getClientCapabilities() ?? {}
}

/** What the client would have to be able to do, and is not. */
function missingFor(requests: InputRequests, capabilities: ClientCapabilities): ClientCapabilities | undefined {
  const missing: ClientCapabilities = {}
  const { elicitation: asking, sampling, roots } = capabilities
  for (const { method, params } of Object.values(requests)) {
    if (method === 'elicitation/create') {
      const isUrl = params.mode === 'url'
      // A client that names no mode has forms.
      const isAble = isUrl
        ? asking?.url !== undefined
        : asking !== undefined && (asking.form !== undefined || asking.url === undefined)
      if (!isAble) missing.elicitation = isUrl ? { url: {} } : { form: {} }
    } else if (method === 'sampling/createMessage' && sampling === undefined) missing.sampling = {}
    else if (method === 'roots/list' && roots === undefined) missing.roots = {}
  }
  return Object.keys(missing).length === 0 ? undefined : missing
}
