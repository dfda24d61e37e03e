import {
  Client,
  SdkError,
  SdkErrorCode,
  StreamableHTTPClientTransport,
  UnauthorizedError,
  type CallToolResult,
  type Transport,
} from '@modelcontextprotocol/client'
import { isToolError, type ToolContext } from '../../index.ts'
import { timerLength } from '../../extension.ts'
import { onceKey } from '../_once-key.ts'
import type { Elicitation, ServerTool, Target } from './_options.ts'
import { unheldPause } from './_pauses.ts'
import { unreachable } from './_result.ts'
import { prepareTransport, type PreparedTransport } from './_transport.ts'
import { watch, type MessageWatch } from './_watch.ts'

const mostRounds = 3
const clientVersion = '0.1.0'

/** One open connection. */
export interface Live {
  readonly client: Client
  readonly transport: Transport
  readonly watching: MessageWatch
  /** How many calls run on it. */
  calls: number
}

/** Asks the application to authorize with a person, once at a time. */
export class Authorization {
  readonly #authorize: Target['authorize']
  #waiting: Promise<void> | undefined

  constructor(authorize: Target['authorize']) {
    this.#authorize = authorize
  }

  /** Authorizes if that is what the error asks for. Returns whether to try again. */
  async helps(error: unknown, transport: Transport, round: number): Promise<boolean> {
    const authorize = this.#authorize
    if (authorize === undefined || round >= mostRounds || !(error instanceof UnauthorizedError)) return false
    if (!(transport instanceof StreamableHTTPClientTransport)) return false
    this.#waiting ??= authorize()
      .then((query) => transport.finishAuth(query))
      .finally(() => (this.#waiting = undefined))
    await this.#waiting
    return true
  }
}

/** The options of `openLive`. */
export interface Opening {
  readonly target: Target
  readonly authorization: Authorization
  /** Whether the server spoke 2025-11-25 on the last connection: then it is not probed again. */
  readonly isLegacy: boolean
  /** The name of the server for errors. */
  readonly server: string
  /** Called when the server says that its tools have changed. */
  readonly onChanged: () => void
}

/** Connects. Closes a client and a transport that fail to connect. */
export async function openLive({ target, authorization, isLegacy, server, onChanged }: Opening): Promise<Live> {
  for (let round = 1; ; round++) {
    const prepared = await transportTo(target, server)
    const { transport } = prepared
    const client = clientFor(target, onChanged)
    const live: Live = {
      client,
      transport,
      watching: watch(transport, () => client.getProtocolEra() === 'modern'),
      calls: 0,
    }
    try {
      const prior = isLegacy ? ({ prior: { kind: 'legacy' } } as const) : undefined
      await connectedWithin(
        target.connectTimeout,
        client.connect(transport, { timeout: target.connectTimeout, ...prior }),
      )
      return live
    } catch (error) {
      void Promise.allSettled([client.close(), transport.close()])
      if (await authorization.helps(error, transport, round)) continue
      throw unreachable(error, server, prepared.program())
    }
  }
}

/** Makes the transport. Closes one that arrives after the timeout. */
async function transportTo(target: Target, server: string): Promise<PreparedTransport> {
  const making = prepareTransport(target)
  try {
    return await connectedWithin(target.connectTimeout, making)
  } catch (error) {
    making.then(({ transport }) => transport.close()).catch(() => {})
    throw isToolError(error) ? error : unreachable(error, server, { wrote: '' })
  }
}

/** Waits for a connection with a timeout, since the transport may have none. */
async function connectedWithin<Value>(milliseconds: number, connecting: Promise<Value>): Promise<Value> {
  let timer: ReturnType<typeof setTimeout> | undefined
  const expiry = new Promise<never>((_, reject) => {
    const late = new SdkError(SdkErrorCode.RequestTimeout, `it did not answer within ${milliseconds} ms`)
    timer = setTimeout(() => reject(late), milliseconds)
  })
  try {
    return await Promise.race([connecting, expiry])
  } finally {
    clearTimeout(timer)
  }
}

function clientFor({ protocol = 'auto', kind, elicit, connectTimeout }: Target, onChanged: () => void): Client {
  const isOld = protocol === '2025-11-25' || kind === 'sse'
  // A server that does not answer the probe of 2026 has half of the time left for the handshake of 2025.
  const probe = { timeoutMs: connectTimeout / 2 }
  const client = new Client(
    { name: 'toolwright', version: clientVersion },
    {
      versionNegotiation: { mode: isOld ? 'legacy' : protocol === 'auto' ? 'auto' : { pin: protocol }, probe },
      listChanged: { tools: { autoRefresh: false, debounceMs: 0, onChanged } },
      capabilities: elicit === undefined ? {} : { elicitation: { form: { applyDefaults: true } } },
    },
  )
  if (elicit !== undefined) {
    client.setRequestHandler('elicitation/create', async ({ params }) => ({ ...(await elicit(params as Elicitation)) }))
  }
  return client
}

/**
 * Sends one call. Emits the server's progress as events of the call.
 *
 * @param onceId The id under which the server runs it once.
 */
export function sendCall(
  { client }: Live,
  { limits, meta }: Target,
  { name, inputSchema }: ServerTool,
  input: unknown,
  context: ToolContext,
  onceId: string | undefined,
): Promise<CallToolResult> {
  const hostMeta = meta?.(context)
  const _meta = onceId === undefined ? hostMeta : { [onceKey]: onceId, ...hostMeta }
  let signs = 0
  return client.callTool(
    { name, arguments: input as Record<string, unknown>, ...(_meta === undefined ? undefined : { _meta }) },
    {
      // The definition that validated the input. Without `outputSchema`: the executor checks the result, not the SDK.
      toolDefinition: { name, inputSchema: inputSchema as { type: 'object' } },
      signal: context.signal,
      timeout: timerLength(Infinity), // calls end by their own signal
      onprogress: ({ progress, total, message }) => {
        if (signs++ >= limits.progress) return
        context.emit('progress', {
          progress,
          ...(total === undefined ? undefined : { total }),
          ...(message === undefined ? undefined : { message: message.slice(0, 1_000) }),
        })
      },
    },
  )
}

/** Returns whether the server keeps a session of a connection over HTTP. */
export function hasSession({ transport }: Live): boolean {
  return transport instanceof StreamableHTTPClientTransport && transport.sessionId !== undefined
}

/** Ends a connection, and its session if it has one. */
export async function end(live: Live): Promise<void> {
  const { client, transport } = live
  if (hasSession(live)) {
    const ending = (transport as StreamableHTTPClientTransport).terminateSession().catch(() => {})
    await Promise.race([ending, unheldPause(2_000)])
  }
  await client.close()
}
