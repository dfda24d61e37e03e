/**
 * Connects a page to `httpClients`: the calls that wait and run, decisions, and client tools that the page answers. It has no
 * dependency and needs no framework.
 *
 * @module
 */
import { KnownCalls } from './browser/_calls.ts'
import { Dispatch } from './browser/_dispatch.ts'
import { sleep, thePage } from './browser/_page.ts'
import { requests, WireError, type RequestOptions } from './browser/_request.ts'
import { canShare, sharePages } from './browser/_shared.ts'
import { readFrames, type StreamFrame } from './browser/_stream.ts'
import { protocolVersion, versionMismatch, type CallPage, type Hello, type ToolClient } from './protocol.ts'

export { WireError } from './browser/_request.ts'
export type { HeadersInit } from './browser/_request.ts'

/** How to connect. */
export interface ConnectOptions extends RequestOptions {
  /** How long this page reserves a call whose client tool it runs, in milliseconds. It renews in time. Default: 30,000. */
  readonly lease?: number
  /** Whether the pages of this origin share one stream, if the browser can. Default: `true`. */
  readonly share?: boolean
  /** Receives what goes wrong: with client tools, in listeners, or with the address. Default: `reportError` of the page, or `console.error`. */
  readonly report?: (error: unknown) => void
}

/** What the page that listens tells the others. */
type PageMessage = StreamFrame | { readonly state: ToolClient['state'] }

const [soonestReconnect, latestReconnect] = [250, 10_000]
/** How long a hidden page keeps a stream of its own, in milliseconds. */
const hiddenFor = 30_000
/** How often a page declares its tools anew, in milliseconds. */
const declaredFor = 60_000

/**
 * Connects to the HTTP API at an address, such as `/api/tools`. It connects again whenever it has to.
 *
 * @param url The address under which `httpClients` is mounted.
 * @param options The headers of each request, and what takes faults.
 * @example
 * ```ts
 * import { connect } from 'toolwright/client/browser'
 *
 * const client = connect('http://localhost:3000/api/tools', { headers: { authorization: 'Bearer s3cret' } })
 * client.tool('read_selection', () => 'what the user has selected')
 * client.subscribe(() => {
 *   for (const { waiting, invocationId } of client.calls()) {
 *     if (waiting?.reason === 'approval') void client.decide(invocationId, 'allow')
 *   }
 * })
 * client.close()
 * ```
 */
export function connect(url: string, options: ConnectOptions = {}): ToolClient {
  const page = thePage()
  // oxlint-disable-next-line eslint/no-console -- the documented default
  const { lease = 30_000, report = page.reportError ?? console.error } = options
  const send = requests(url.replace(/\/$/, ''), options)
  /** Sends nothing more to a server of another version: it would take it for something else. */
  const ask: typeof send = async (path, asking) => {
    if (mismatch !== undefined) throw mismatch
    return send(path, asking)
  }
  const post = async <Reply>(path: string, body: unknown, headers?: Record<string, string>): Promise<Reply> =>
    (await ask(path, { body, ...(headers && { headers }) })).json() as Promise<Reply>
  const holder = [...crypto.getRandomValues(new Uint32Array(4))].map((part) => part.toString(36)).join('')
  const call = async (id: string): ReturnType<ToolClient['call']> =>
    (await ask(`/calls/${encodeURIComponent(id)}`)).json() as ReturnType<ToolClient['call']>
  const calls = new KnownCalls(call, report)
  const now = (): number => Date.now() + offset
  const dispatch = new Dispatch({ holder, lease, calls, now, post, report })
  calls.onView = (view) => dispatch.consider(view)

  let state: ToolClient['state'] = 'connecting'
  let hello: Hello | undefined
  let refusal: ToolClient['refusal']
  let mismatch: WireError | undefined
  let [offset, lastId, hasDeclared, isAddressReported] = [0, '', false, false]
  let next: string | undefined
  let life: AbortController | undefined
  let wake = (): void => {}
  let hiding: ReturnType<typeof setTimeout> | undefined
  const isSharing = options.share !== false && canShare()

  function refuse({ code, message }: WireError): void {
    refusal = { code, message }
    become('refused')
  }

  function become(new_: ToolClient['state']): void {
    if (state === new_) return
    state = new_
    calls.tell()
  }

  /** @throws A `WireError` if the server speaks another version. */
  function greet(greeting: Hello): void {
    const version: number = greeting.protocol
    if (version !== protocolVersion) {
      const message = versionMismatch(protocolVersion, version)
      throw (mismatch = new WireError(0, { code: 'E_PROTOCOL', message }))
    }
    hello = greeting
    offset = greeting.now - Date.now()
  }

  function take(frame: StreamFrame): void {
    if (frame.id !== '') lastId = frame.id
    if (frame.name === 'hello') greet(frame.data)
    else if (frame.name === 'calls') calls.list(frame.data)
    else if (frame.name === 'call') calls.take(frame.data)
    else if (frame.name === 'event') calls.fold(frame.data)
  }

  /** Loads the calls. They are the beginning of what the stream goes on with. */
  async function load(signal: AbortSignal): Promise<void> {
    const list = (await (await ask('/calls', { signal, tries: 1 })).json()) as CallPage
    greet(list.hello)
    lastId = list.at
    next ??= list.next
    calls.list(list)
    declare()
  }

  /** Does some work again and again, with waits that grow until it has begun. Ends if the server refuses it. */
  async function again(signal: AbortSignal, work: (begun: () => void) => Promise<boolean>): Promise<void> {
    for (let wait = soonestReconnect; !signal.aborted; wait = Math.min(latestReconnect, wait * 2)) {
      try {
        if (await work(() => (wait = soonestReconnect / 2))) return
      } catch (error) {
        if (isFinal(error)) return refuse(error)
      }
      if (signal.aborted) return
      become('connecting')
      await sleep(wait * (1 + Math.random() / 4), (end) => (wake = end))
    }
  }

  async function live(signal: AbortSignal): Promise<void> {
    await again(signal, async () => {
      await load(signal).catch((error: Partial<WireError>) => {
        // Nothing else tells of a wrong address, with a page of status 200, or of headers that throw. It is told once.
        if (!isAddressReported && !signal.aborted && (error.status ?? 404) === 404) {
          isAddressReported = true
          report(new Error(`No calls can be read at ${url}. Mount httpClients there, with \`base\`.`, { cause: error }))
        }
        throw error
      })
      return true
    })
    if (signal.aborted || state === 'refused' || hello === undefined) return
    if (!isSharing) return listen(signal, () => {})
    become('open')
    const receive = (message: PageMessage): void => ('state' in message ? become(message.state) : take(message))
    // Pages of another version tell each other something else.
    const name = `toolwright ${protocolVersion} ${url} ${hello.session}`
    const sharing = sharePages(name, signal, receive, (tell) => listen(signal, tell))
    load(signal).catch(() => {}) // what the others told while the first list was on its way, this page has not heard
    await sharing
  }

  async function listen(signal: AbortSignal, tell: (message: PageMessage) => void): Promise<void> {
    await again(signal, async (begun) => {
      const began = Date.now()
      const lost = new AbortController()
      const leave = (): void => lost.abort()
      signal.addEventListener('abort', leave)
      let silence: ReturnType<typeof setTimeout> | undefined
      const noteSign = (): void => {
        clearTimeout(silence)
        silence = setTimeout(leave, (hello?.heartbeat ?? 15_000) * 3)
      }
      try {
        const headers = { 'last-event-id': lastId }
        const response = await ask('/events', { headers, signal: lost.signal, tries: 1 })
        become('open')
        tell({ state })
        await readFrames(response, (frame) => (take(frame), tell(frame)), noteSign, lost.signal)
      } finally {
        leave() // what a stream says may be wrong while it goes on
        if (Date.now() - began > 1_000) begun() // one that ends at once would be asked for again and again
        clearTimeout(silence)
        signal.removeEventListener('abort', leave)
        if (!signal.aborted) tell({ state: 'connecting' })
      }
      return false
    })
  }

  function declare(): void {
    const tools = dispatch.declared
    if (tools.length === 0 && !hasDeclared) return
    hasDeclared = tools.length > 0
    ask(`/tools/${holder}`, { method: 'PUT', body: { tools }, keepalive: true }).catch(report)
  }

  function start(): void {
    if (life !== undefined) return wake()
    refusal = mismatch = undefined
    life = new AbortController()
    live(life.signal).catch(() => {}) // it was ended
  }

  function stop(): void {
    life?.abort()
    life = undefined
    wake()
  }

  function onVisible(): void {
    clearTimeout(hiding)
    const isHidden = page.document?.visibilityState === 'hidden'
    if (isHidden && !isSharing) hiding = setTimeout(stop, hiddenFor)
    // A page that was frozen has missed what the others told.
    else if (!isHidden && life !== undefined && isSharing) load(life.signal).catch(() => {})
    else if (!isHidden) start()
  }

  const declaring = setInterval(() => hasDeclared && declare(), declaredFor)
  ;(declaring as { unref?: () => void }).unref?.()
  page.addEventListener?.('pagehide', stop) // a page with a stream cannot be kept for the way back
  page.addEventListener?.('pageshow', start)
  page.addEventListener?.('online', start)
  page.document?.addEventListener('visibilitychange', onVisible)
  start()

  return {
    holder,
    get state() {
      return state
    },
    get hello() {
      return hello
    },
    get refusal() {
      return refusal
    },
    now,
    call,
    calls: () => calls.all(),
    subscribe: (listener) => calls.subscribe(listener),
    decide: (id, decision, { wait, ...answer } = {}) =>
      post(
        `/calls/${encodeURIComponent(id)}/decision`,
        { decision, holder, ...answer },
        wait === undefined ? undefined : { prefer: `wait=${wait}` },
      ),
    respond: (invocationId, value) => post('/tool-results', { invocationId, holder, value: value ?? null }),
    fail: (invocationId, error, recommendations) =>
      post('/tool-results', { invocationId, holder, error, recommendations }),
    cancel: (id, reason) => post(`/calls/${encodeURIComponent(id)}/cancellation`, { reason }),
    artifact(handle, range) {
      const { session } = calls.all().find(({ artifact }) => artifact?.handle === handle) ?? {}
      const query = session === undefined ? '' : `?session=${encodeURIComponent(session)}`
      const headers = range && { headers: { range: `bytes=${range.start}-${range.end - 1}` } }
      return ask(`/artifacts/${encodeURIComponent(handle)}${query}`, headers)
    },
    tool(tool, handler, description) {
      const remove = dispatch.add(tool, handler as Parameters<typeof dispatch.add>[1], description)
      const tell = (): void => {
        if (description !== undefined && hello !== undefined) queueMicrotask(declare)
      }
      tell()
      return () => {
        remove()
        tell()
      }
    },
    async more() {
      if (next === undefined) return false
      const list = (await (await ask(`/calls?before=${encodeURIComponent(next)}`)).json()) as CallPage
      next = list.next
      for (const view of list.calls) calls.take(view)
      return true
    },
    close() {
      stop()
      clearInterval(declaring)
      clearTimeout(hiding)
      page.removeEventListener?.('pagehide', stop)
      page.removeEventListener?.('pageshow', start)
      page.removeEventListener?.('online', start)
      page.document?.removeEventListener('visibilitychange', onVisible)
      dispatch.close()
      declare()
    },
  }
}

/** Whether it is of no use to try again. */
function isFinal(error: unknown): error is WireError {
  return error instanceof WireError && (error.status === 401 || error.status === 403 || error.code === 'E_PROTOCOL')
}
