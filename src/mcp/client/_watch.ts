import type { JSONRPCMessage, Transport } from '@modelcontextprotocol/client'

/** Marks the error of a request whose stream ended without an answer; no server can send this very object. */
export const lost: object = Object.freeze({ lost: true })

/** What `fetch` threw where it could not reach anybody. */
export const outages: WeakSet<object> = new WeakSet()

/** What passes over a transport, seen before the SDK sees it. */
export interface Watch {
  /** The tools of the page that was listed last, as they came. */
  takeTools(): unknown
}

/**
 * Watches a transport, for three things that the SDK leaves out: a request whose own HTTP stream ends without an answer
 * fails at once, instead of waiting for its deadline; pages of tools are taken as they came, since the SDK refuses a
 * whole page for one tool that it does not understand; and a result of the newer era that does not say of which type it is
 * counts as complete, since the SDK refuses it after the server has done the work.
 *
 * @param isModern Whether the server speaks the newer era.
 */
export function watch(transport: Transport, isModern: () => boolean): Watch {
  const waiting = new Set<number>()
  const listings = new Set<unknown>()
  let tools: unknown
  const { onmessage } = transport
  const send = transport.send.bind(transport)

  // The SDK calls what it finds here first, with the message that it goes on with.
  // oxlint-disable-next-line unicorn/prefer-add-event-listener -- it is no event target
  transport.onmessage = (message, extra) => {
    onmessage?.(message, extra)
    if (!('id' in message) || 'method' in message) return
    waiting.delete(Number(message.id))
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

  // The SDK asks whether a transport is exactly its own class: the instance is changed, not derived from.
  transport.send = async (message, options) => {
    if (!('method' in message) || !('id' in message) || typeof message.id !== 'number') return send(message, options)
    const { id, method } = message
    waiting.add(id)
    if (method === 'tools/list') listings.add(id)
    options?.requestSignal?.addEventListener('abort', () => waiting.delete(id), { once: true })
    const onRequestStreamEnd = (): void => {
      options?.onRequestStreamEnd?.()
      if (waiting.delete(id)) transport.onmessage?.(unanswered(id))
    }
    try {
      await send(message, { ...options, onRequestStreamEnd })
    } catch (error) {
      waiting.delete(id)
      listings.delete(id)
      throw error
    }
  }

  return {
    takeTools() {
      const taken = tools
      tools = undefined
      return taken
    },
  }
}

function unanswered(id: number): JSONRPCMessage {
  return { jsonrpc: '2.0', id, error: { code: -32_000, message: 'The stream ended without an answer.', data: lost } }
}
