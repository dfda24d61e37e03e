import { request, type IncomingHttpHeaders } from 'node:http'
import { startCutter } from './cutter.ts'

/** A server over MCP whose answers are cut. */
export interface CutServer {
  readonly url: string
  readonly protocol: '2025-11-25' | '2026-07-28'
  readonly headers?: Readonly<Record<string, string>>
  /** What each run of the handler returned, by the args of its call. */
  readonly runs: ReadonlyMap<string, readonly string[]>
}

/** What has become of calls whose answers were cut, and which were made again. */
export interface CutTally {
  readonly calls: number
  /** How many answers were cut. */
  readonly cuts: number
  /** How often the handler ran for the two requests of each call. */
  readonly runs: number
  /** How many calls were answered, when made again, with what their first run had returned. */
  readonly same: number
  /** How many calls were answered with the same bytes when they were made a third time. */
  readonly sameBytes: number
}

/** The tool that the servers have: it takes `order`, and returns a text that no other run returns. */
export const cutTool = 'pay'

interface Reply {
  readonly body: string
  readonly headers: IncomingHttpHeaders
}

const revision = '2026-07-28'
const sent = { accept: 'application/json, text/event-stream', 'content-type': 'application/json' }

/** Sends one request over a connection of its own. Returns what came until the connection broke off. */
function send(url: string, headers: Readonly<Record<string, string>>, message: object): Promise<Reply> {
  return new Promise((resolve) => {
    let body = ''
    let received: IncomingHttpHeaders = {}
    const end = (): void => resolve({ body, headers: received })
    const sending = request(url, { method: 'POST', headers: { ...sent, ...headers }, agent: false }, (response) => {
      received = response.headers
      response.setEncoding('utf8').on('data', (text: string) => (body += text))
      response.on('error', end).on('close', end)
    })
    sending.on('error', end)
    sending.end(JSON.stringify(message))
  })
}

/** Returns the message of an answer, which may be an event of a stream, or `undefined` if it is not whole. */
function messageOf({
  body,
}: Reply): { readonly result?: { readonly content?: { readonly text?: string }[] } } | undefined {
  const data = /^data: (\{.*)$/m.exec(body)?.[1] ?? body
  try {
    return JSON.parse(data) as object
  } catch {
    return undefined
  }
}

/** Begins a session of 2025-11-25. Returns the headers of its requests. */
async function begun(url: string, headers: Readonly<Record<string, string>>): Promise<Record<string, string>> {
  const params = { protocolVersion: '2025-11-25', capabilities: {}, clientInfo: { name: 'cuts', version: '1' } }
  const { headers: received } = await send(url, headers, { jsonrpc: '2.0', id: 'begin', method: 'initialize', params })
  const session = received['mcp-session-id']
  const own = {
    ...headers,
    'mcp-protocol-version': '2025-11-25',
    ...(typeof session === 'string' && { 'mcp-session-id': session }),
  }
  await send(url, own, { jsonrpc: '2.0', method: 'notifications/initialized' })
  return own
}

/**
 * Makes calls over HTTP whose answers are cut at a random byte, and makes each again with a new id of the request and the same
 * `_meta['toolwright/once']`, as a client of the protocol has to.
 *
 * @param random Returns numbers from 0 up to 1.
 */
export async function cutCalls(server: CutServer, calls: number, random: () => number): Promise<CutTally> {
  const { protocol, headers = {}, runs } = server
  let cutAt: number | undefined
  const cutter = await startCutter(server.url, () => cutAt)
  try {
    const isModern = protocol === revision
    const own = isModern
      ? { ...headers, 'mcp-protocol-version': revision, 'mcp-method': 'tools/call', 'mcp-name': cutTool }
      : await begun(server.url, headers)
    const envelope = isModern && {
      'io.modelcontextprotocol/protocolVersion': revision,
      'io.modelcontextprotocol/clientCapabilities': {},
    }
    let id = 0
    const call = (order: string): Promise<Reply> => {
      const params = { name: cutTool, arguments: { order }, _meta: { ...envelope, 'toolwright/once': order } }
      return send(cutter.url, own, { jsonrpc: '2.0', id: 1_000_000 + id++, method: 'tools/call', params })
    }
    const orderOf = (index: number): string => `order ${String(index).padStart(8, '0')}`

    await call(orderOf(99_999_999)) // to know how long an answer is
    const length = cutter.lastLength()
    let [ran, same, sameBytes] = [0, 0, 0]
    for (let index = 0; index < calls; index++) {
      const order = orderOf(index)
      cutAt = Math.floor(random() * length)
      await call(order)
      cutAt = undefined
      const again = messageOf(await call(order))
      const returned = [...(runs.get(order) ?? [])]
      ran += returned.length
      const third = messageOf(await call(order))
      const text = again?.result?.content?.[0]?.text
      if (text !== undefined && text === returned[0]) same++
      if (text !== undefined && JSON.stringify(again?.result) === JSON.stringify(third?.result)) sameBytes++
    }
    return { calls, cuts: cutter.cuts(), runs: ran, same, sameBytes }
  } finally {
    await cutter.close()
  }
}
