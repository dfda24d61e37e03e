import type { ChildProcess } from 'node:child_process'
import { SSEClientTransport, StreamableHTTPClientTransport, type Transport } from '@modelcontextprotocol/client'
import { InvalidConfigurationError } from '../../errors.ts'
import { optionsError } from '../../extension.ts'
import type { Target } from './_options.ts'
import { longestDelay } from './_pauses.ts'
import type { ProgramState } from './_result.ts'
import { outages } from './_watch.ts'

/** A transport that is not started yet. */
export interface PreparedTransport {
  readonly transport: Transport
  /** Returns what is known of the program, to say why it did not start. */
  readonly program: () => ProgramState
}

const noProgram = (): ProgramState => ({ wrote: '' })
/** Transports that the application gave as objects. Each serves one connection, or one client's answers would reach another. */
const used = new WeakSet<Transport>()

/** Makes the transport of one connection. */
export async function prepareTransport(target: Target): Promise<PreparedTransport> {
  const { transport, command, address } = target
  if (typeof transport === 'function') return { transport: unused(await transport()), program: noProgram }
  if (transport !== undefined) return { transport: unused(transport), program: noProgram }
  if (command !== undefined) return programTransport(target, command)
  if (address === undefined) throw optionsError('mcpTools', 'takes one of `command`, `url` and `transport`')
  return { transport: httpTransport(target, address), program: noProgram }
}

function unused(transport: Transport): Transport {
  if (typeof transport?.start !== 'function')
    throw optionsError('mcpTools', 'takes a transport, or a function that gives one, as `transport`')
  if (used.has(transport)) {
    throw new InvalidConfigurationError(
      'A transport serves one connection, and this one was used before. Give a function that makes a new one each time.',
    )
  }
  used.add(transport)
  return transport
}

async function programTransport(target: Target, command: string): Promise<PreparedTransport> {
  const { args = [], env = {}, cwd, limits, protocol } = target
  // Loaded only to start a program: not every platform has processes.
  const { StdioClientTransport } = await import('#mcp-stdio')
  // Of its own class, the SDK starts a second program to ask it for the version, and tells nothing of how that one ended. If
  // there is nothing to choose, one program is enough.
  const ProgramTransport = protocol === '2026-07-28' ? class extends StdioClientTransport {} : StdioClientTransport
  const transport = new ProgramTransport({
    command,
    args: [...args],
    env: { ...env },
    stderr: 'pipe',
    maxBufferSize: limits.message,
    ...(cwd === undefined ? undefined : { cwd }),
  })
  let words = ''
  let ended: string | undefined
  let isClosing = false
  transport.stderr?.on('data', (chunk: unknown) => {
    words = (words + String(chunk)).slice(-1_000)
  })
  const start = transport.start.bind(transport)
  transport.start = () => {
    const starting = start()
    // The SDK does not tell the exit code. Should its process lie elsewhere, the error says less.
    const { _process: started } = transport as unknown as { readonly _process?: Partial<ChildProcess> }
    started?.once?.('exit', (code, signal) => {
      if (!isClosing) ended = code === null ? `by ${signal}` : `with exit code ${code}`
    })
    return starting
  }
  const close = transport.close.bind(transport)
  transport.close = () => {
    isClosing = true // a program that we end says nothing by how it ends
    return close()
  }
  return { transport, program: () => ({ wrote: words.trim(), ended }) }
}

function httpTransport(target: Target, address: URL): Transport {
  const { authProvider, kind } = target
  const options = {
    fetch: boundedFetch(target, address),
    ...(authProvider === undefined ? undefined : { authProvider }),
  }
  if (kind !== 'sse') {
    return new StreamableHTTPClientTransport(address, { ...options, reconnectionScheduler: schedulerFor(target) })
  }
  target.report(
    new InvalidConfigurationError(
      `The MCP server at ${address.origin} is reached over the SSE transport, which is obsolete since 2025-03-26. Use its Streamable HTTP address if it has one.`,
    ),
  )
  // oxlint-disable-next-line typescript/no-deprecated -- some servers have no other transport
  const transport: Transport = new SSEClientTransport(address, {
    ...options,
    eventSourceInit: { fetch: fetchOnce(options.fetch, () => void transport.close()) },
  })
  return transport
}

type Fetch = NonNullable<Target['fetch']>
type Scheduler = NonNullable<
  NonNullable<ConstructorParameters<typeof StreamableHTTPClientTransport>[1]>['reconnectionScheduler']
>

/** Reopens a stream after the pause that the server asks for, at least `reconnectDelay`: `retry: 0` would cause a storm. */
function schedulerFor({ reconnectDelay }: Target): Scheduler {
  return (reconnect, delay) => {
    const timer = setTimeout(reconnect, Math.min(longestDelay, Math.max(reconnectDelay, delay)))
    return () => clearTimeout(timer)
  }
}

/** Opens the stream of the SSE transport only once: the session ends with it, and the next stream needs a new connection. */
function fetchOnce(
  open: Fetch,
  end: () => void,
): (url: string | URL, init: Pick<RequestInit, never>) => Promise<Response> {
  let isOpened = false
  return async (url, init) => {
    if (isOpened) {
      end()
      throw new Error('The stream has ended.')
    }
    const response = await open(url, init)
    isOpened = response.ok
    return response
  }
}

/** Fetches with the application's headers, only for the server's origin, and limits the size of messages. */
function boundedFetch({ fetch: innerFetch, headers = {}, limits }: Target, address: URL): Fetch {
  return async (input, init) => {
    const merged = new Headers(init?.headers)
    if (new URL(input).origin === address.origin) {
      for (const [name, value] of Object.entries(headers)) if (!merged.has(name)) merged.set(name, value)
    }
    const response = await (innerFetch ?? fetch)(input, { ...init, headers: merged }).catch((error: unknown) => {
      if (error instanceof TypeError) outages.add(error)
      throw error
    })
    const { body, status, statusText } = response
    if (body === null || status < 200 || status === 204 || status === 205 || status === 304) return response
    const limited = body.pipeThrough(limiter(limits.message, isEventStream(response, init)))
    return new Response(limited, { status, statusText, headers: response.headers })
  }
}

/** Returns whether the SDK reads a body event by event; it buffers any other body whole. */
function isEventStream({ status, headers }: Response, init: RequestInit | undefined): boolean {
  if (status !== 200 || !/^text\/event-stream\s*(?:;[^,]*)?$/i.test(headers.get('content-type') ?? '')) return false
  if (init?.method !== 'POST') return true
  const { body } = init
  const message: unknown = typeof body === 'string' ? JSON.parse(body) : undefined
  return typeof message === 'object' && message !== null && 'method' in message && 'id' in message
}

const newline = 10
const carriageReturn = 13

/** Limits the bytes of a body or, for an event stream, of each event. An empty line ends an event. */
function limiter(most: number, isStream: boolean): TransformStream<Uint8Array, Uint8Array> {
  let length = 0
  let previous = 0
  let isLineEmpty = true

  /** Counts bytes, from zero after each empty line. Stops past the limit. */
  function count(chunk: Uint8Array): void {
    for (const byte of chunk) {
      length++
      if (byte === carriageReturn || (byte === newline && previous !== carriageReturn)) {
        if (isLineEmpty) length = 0
        isLineEmpty = true
      } else if (byte !== newline) {
        isLineEmpty = false
        if (length > most) return
      }
      previous = byte
    }
  }

  return new TransformStream({
    transform(chunk, controller) {
      if (isStream) count(chunk)
      else length += chunk.byteLength
      if (length > most) controller.error(new RangeError(`The server sent a message of more than ${most} bytes.`))
      else controller.enqueue(chunk)
    },
  })
}
