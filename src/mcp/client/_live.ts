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
import type { Elicitation, ServerTool, Target } from './_options.ts'
import { pause } from './_pauses.ts'
import { unreachable } from './_result.ts'
import { lineTo, type Line } from './_transport.ts'
import { watch, type Watch } from './_watch.ts'

/** The longest that a timer can wait: calls end by their own signal. */
const longestTimer = 2 ** 31 - 1
const mostRounds = 3
const version = '0.1.0'

/** One connection, as long as it lasts. */
export interface Live {
  readonly client: Client
  readonly transport: Transport
  readonly watching: Watch
  /** How many calls are under way on it. */
  calls: number
}

/** Lets a person authorize us, one at a time, where that is what was missing. */
export class Authorization {
  readonly #authorize: Target['authorize']
  #waiting: Promise<void> | undefined

  constructor(authorize: Target['authorize']) {
    this.#authorize = authorize
  }

  /** Whether what was refused may be tried again, after a person has been asked. */
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

/** What connecting goes by. */
export interface Opening {
  readonly target: Target
  readonly authorization: Authorization
  /** The server was of 2025 the last time: it is not asked which protocol it speaks. */
  readonly isLegacy: boolean
  /** By what name errors call the server. */
  readonly server: string
  /** The server says that its tools have changed. */
  readonly onChanged: () => void
}

/** Connects; what is begun and cannot be finished is closed. */
export async function open({ target, authorization, isLegacy, server, onChanged }: Opening): Promise<Live> {
  for (let round = 1; ; round++) {
    const line = await madeLine(target, server)
    const { transport } = line
    const client = clientFor(target, onChanged)
    const live: Live = {
      client,
      transport,
      watching: watch(transport, () => client.getProtocolEra() === 'modern'),
      calls: 0,
    }
    try {
      const prior = isLegacy ? ({ prior: { kind: 'legacy' } } as const) : undefined
      await within(target.connectTimeout, client.connect(transport, { timeout: target.connectTimeout, ...prior }))
      return live
    } catch (error) {
      void Promise.allSettled([client.close(), transport.close()])
      if (await authorization.helps(error, transport, round)) continue
      throw unreachable(error, server, line.lastWords())
    }
  }
}

/** The way to a server; one that comes too late is closed. */
async function madeLine(target: Target, server: string): Promise<Line> {
  const making = lineTo(target)
  try {
    return await within(target.connectTimeout, making)
  } catch (error) {
    making.then(({ transport }) => transport.close()).catch(() => {})
    throw isToolError(error) ? error : unreachable(error, server, '')
  }
}

/** Waits for a connection, whatever the transport waits for. */
async function within<Value>(milliseconds: number, connecting: Promise<Value>): Promise<Value> {
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
  // Who says nothing to the question of 2026 has half of the time left to answer that of 2025.
  const probe = { timeoutMs: connectTimeout / 2 }
  const client = new Client(
    { name: 'toolwright', version },
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

/** Sends one call; what the server tells of its progress becomes events of the call. */
export function send(
  { client }: Live,
  { limits, meta }: Target,
  { name, inputSchema }: ServerTool,
  input: unknown,
  context: ToolContext,
): Promise<CallToolResult> {
  const _meta = meta?.(context)
  let heard = 0
  return client.callTool(
    { name, arguments: input as Record<string, unknown>, ...(_meta === undefined ? undefined : { _meta }) },
    {
      // The definition that the input was checked against; what comes back is checked by us, and not by the SDK's engine.
      toolDefinition: { name, inputSchema: inputSchema as { type: 'object' } },
      signal: context.signal,
      timeout: longestTimer,
      onprogress: ({ progress, total, message }) => {
        if (heard++ >= limits.progress) return
        context.emit('progress', {
          progress,
          ...(total === undefined ? undefined : { total }),
          ...(message === undefined ? undefined : { message: message.slice(0, 1_000) }),
        })
      },
    },
  )
}

/** Ends a connection, and its session where it has one. */
export async function end({ client, transport }: Live): Promise<void> {
  if (transport instanceof StreamableHTTPClientTransport && transport.sessionId !== undefined) {
    await Promise.race([transport.terminateSession().catch(() => {}), pause(2_000)])
  }
  await client.close()
}
