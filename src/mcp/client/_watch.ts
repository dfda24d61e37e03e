import type { JSONRPCMessage, Transport } from '@modelcontextprotocol/client'

/** Marks the error of a request whose stream ended without an answer. No server can send this object. */
export const lostStream: object = Object.freeze({ lost: true })

/** The errors that `fetch` threw because the server could not be reached. */
export const outages: WeakSet<object> = new WeakSet()

/** How many streams may stay open after the answers to their requests. A server ends each at once. */
const mostAnsweredStreams = 64
/** How long a server may take to accept that a request is cancelled, in milliseconds. */
const longestCancellation = 10_000

/** Access to messages before the SDK sees them. */
export interface MessageWatch {
  /** Returns the unchecked tools of the page that was listed last, once. */
  takeTools(): unknown
}

/**
 * Adds four things to a transport that the SDK lacks. A request whose own HTTP stream ends without an answer fails at once,
 * instead of at its deadline. A stream that its server leaves open is ended, once its request is cancelled or others have been
 * answered meanwhile. Pages of tools are kept unchecked, since the SDK refuses a whole page for one tool that it does
 * not understand. A result of the newer era without a `resultType` counts as complete, since the SDK would refuse it after the
 * server has done the work.
 *
 * @param isModern Whether the server speaks the newer era.
 */
export function watch(transport: Transport, isModern: () => boolean): MessageWatch {
  const waiting = new Set<number>()
  const listings = new Set<unknown>()
  /** What ends the streams of requests, by their ids. */
  const streams = new Map<unknown, AbortController>()
  /** The streams that are open although their requests were answered, oldest first. */
  const answered = new Set<unknown>()
  let tools: unknown
  const { onmessage } = transport
  const send = transport.send.bind(transport)

  // The SDK calls this handler first, and then processes the same message object.
  // oxlint-disable-next-line unicorn/prefer-add-event-listener -- it is no event target
  transport.onmessage = (message, extra) => {
    onmessage?.(message, extra)
    if (!('id' in message) || 'method' in message) return
    waiting.delete(Number(message.id))
    if (streams.has(message.id)) {
      answered.add(message.id)
      const [oldest] = answered
      if (answered.size > mostAnsweredStreams) endStream(oldest)
    }
    const isListing = listings.delete(message.id)
    if (!('result' in message) || typeof message.result !== 'object' || message.result === null) return
    let { result } = message
    if (isModern() && !Object.hasOwn(result, 'resultType')) result = { ...result, resultType: 'complete' }
    if (isListing) {
      tools = (result as { readonly tools?: unknown }).tools
      result = { ...result, tools: [] }
    }
    Object.assign(message, { result })
  }

  function endStream(id: unknown): void {
    waiting.delete(Number(id))
    streams.get(id)?.abort()
    forgetStream(id)
  }

  function forgetStream(id: unknown): void {
    streams.delete(id)
    answered.delete(id)
  }

  // The SDK checks for its own transport class: so the instance is changed, not wrapped or subclassed.
  transport.send = async (message, options) => {
    if (!('method' in message)) return send(message, options)
    if (message.method === 'notifications/cancelled' && streams.size > 0) {
      const requestSignal = AbortSignal.timeout(longestCancellation)
      return send(message, { ...options, requestSignal }).finally(() => endStream(message.params?.['requestId']))
    }
    if (!('id' in message) || typeof message.id !== 'number') return send(message, options)
    const { id, method } = message
    waiting.add(id)
    if (method === 'tools/list') listings.add(id)
    const onRequestStreamEnd = (): void => {
      forgetStream(id)
      options?.onRequestStreamEnd?.()
      if (waiting.delete(id)) transport.onmessage?.(endedStream(id))
    }
    // The signal of the SDK, if there is one, does not end the stream of a request that was answered.
    const stream = transport.hasPerRequestStream === true ? new AbortController() : undefined
    if (stream !== undefined) streams.set(id, stream)
    const cancellation = options?.requestSignal
    if (cancellation?.aborted === true) endStream(id)
    cancellation?.addEventListener('abort', () => endStream(id), { once: true })
    const requestSignal = stream?.signal ?? cancellation
    try {
      await send(message, { ...options, onRequestStreamEnd, ...(requestSignal && { requestSignal }) })
      if (answered.has(id)) forgetStream(id) // the answer was no stream
    } catch (error) {
      forgetStream(id)
      waiting.delete(id)
      listings.delete(id)
      throw error
    }
  }

  return {
    takeTools() {
      const lastTools = tools
      tools = undefined
      return lastTools
    },
  }
}

function endedStream(id: number): JSONRPCMessage {
  return {
    jsonrpc: '2.0',
    id,
    error: { code: -32_000, message: 'The stream ended without an answer.', data: lostStream },
  }
}
