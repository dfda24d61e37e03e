import { unref } from '#clock'
import type { CallToolResult } from '@modelcontextprotocol/client'
import type { ToolContext } from '../../index.ts'
import { ApprovalInvalidError, ToolDownstreamError, ToolFailure } from '../../errors.ts'
import { areSameItems } from '../_lists.ts'
import { listTools } from './_list.ts'
import { Authorization, end, hasSession, openLive, sendCall, type Live } from './_live.ts'
import type { Target } from './_options.ts'
import { longestDelay, unheldPause } from './_pauses.ts'
import { noteFailure, onceCall, Reissues } from './_reissues.ts'
import { requestFailure, connectionLoss, handlerResult, isOutage } from './_result.ts'
import { quotedName } from './_text.ts'
import { takeIn, type CalledTool, type AcceptedServer, type AcceptedTool, type AcceptedTools } from './_tools.ts'

/** The pause after each renewal of the list, in milliseconds, since a server may report changes without end. */
const renewalPause = 1_000

/** A server, across all connections to it. */
export class Connection {
  readonly #target: Target
  readonly #authorization: Authorization
  #name: string | undefined
  #taken: AcceptedTools = { tools: new Map(), aside: new Set() }
  #list: readonly AcceptedTool[] = []
  readonly #listeners = new Set<() => void>()
  #live: Live | undefined
  #opening: Promise<Live> | undefined
  #renewal: Promise<void> = Promise.resolve()
  #isStale = false
  #isRenewing = false
  #isLegacy = false
  #wasLive = false
  #isClosed = false
  /** How often the connection was reopened since a call last succeeded. */
  #reconnects = 0
  #timer: ReturnType<typeof setTimeout> | undefined

  constructor(target: Target) {
    this.#target = target
    this.#authorization = new Authorization(target.authorize)
  }

  /** The server's name: the application's, else the first one that the server gave itself. */
  get name(): string {
    return this.#target.name ?? this.#name ?? 'mcp'
  }

  /** The current tools: the same array until they change. */
  get list(): readonly AcceptedTool[] {
    return this.#isClosed ? [] : this.#list
  }

  /** Subscribes to changes of the list. Returns an unsubscribe function. */
  onChange(listener: () => void): () => void {
    this.#listeners.add(listener)
    return () => void this.#listeners.delete(listener)
  }

  /** Returns the connection, and opens it if there is none. Concurrent callers wait for the same one. */
  async live(): Promise<Live> {
    if (this.#isClosed)
      throw new ToolDownstreamError(
        `The connection to the MCP server ${quotedName(this.name)} was closed by the application.`,
      )
    clearTimeout(this.#timer)
    this.#opening ??= this.#open().catch((error: unknown) => {
      this.#opening = undefined
      this.#isLegacy = false // the server may speak another version by now
      if (this.#wasLive) this.#reconnect()
      throw error
    })
    return this.#opening
  }

  /** Lists the server's tools again. */
  async refresh(): Promise<void> {
    await this.#renew(await this.live())
  }

  async close(): Promise<void> {
    if (this.#isClosed) return
    this.#isClosed = true
    clearTimeout(this.#timer)
    this.#tell()
    if (this.#live !== undefined) await end(this.#live)
    else this.#opening?.then(end).catch(() => {}) // `close` does not wait for a connection that is still opening
  }

  async #open(): Promise<Live> {
    const live = await openLive({
      target: this.#target,
      authorization: this.#authorization,
      isLegacy: this.#isLegacy,
      server: this.name,
      onChanged: () => this.#changed(),
    })
    const { client } = live
    try {
      this.#name ??= client.getServerVersion()?.name.slice(0, 100)
      await this.#renew(live)
    } catch (error) {
      await end(live)
      throw requestFailure(error, this.name, 'listing its tools')
    }
    // oxlint-disable-next-line unicorn/prefer-add-event-listener -- it is no event target
    client.onclose = () => this.#retire(live)
    this.#isLegacy = client.getProtocolEra() === 'legacy'
    this.#live = live
    this.#wasLive = true
    const isLost = client.transport === undefined // closed during the renewal
    if (isLost) this.#retire(live)
    else void this.#follow(live)
    if (this.#isStale) this.#changed()
    return live
  }

  /** Drops a connection, and closes it after the calls that still run on it. */
  #retire(live: Live): void {
    if (this.#live === live) {
      this.#live = undefined
      this.#opening = undefined
      this.#reconnect()
    }
    this.#sweep(live)
  }

  #sweep(live: Live): void {
    if (this.#live !== live && live.calls === 0) live.client.close().catch(() => {})
  }

  #reconnect(): void {
    const { reconnects, reconnectDelay, transport, report } = this.#target
    if (this.#isClosed || this.#reconnects >= reconnects || typeof transport === 'object') return
    const delay = Math.min(longestDelay, reconnectDelay * 2 ** this.#reconnects++)
    clearTimeout(this.#timer)
    this.#timer = setTimeout(() => void this.live().catch(report), delay)
    unref(this.#timer)
  }

  /** Renews the subscription to tool changes of 2026-07-28, which may end before the connection. */
  async #follow(live: Live): Promise<void> {
    let subscription = live.client.autoOpenedSubscription
    for (let round = 0; subscription !== undefined && round < this.#target.reconnects; round++) {
      if ((await subscription.closed) === 'local') return
      await unheldPause(Math.min(longestDelay, this.#target.reconnectDelay * 2 ** round))
      if (this.#live !== live) return
      subscription = await live.client.listen({ toolsListChanged: true }).catch(() => undefined)
      this.#changed()
    }
  }

  /** Renews the list. Notifications that arrive meanwhile cause one more renewal. */
  #changed(): void {
    this.#isStale = true
    if (!this.#isRenewing) void this.#renewWhileStale()
  }

  async #renewWhileStale(): Promise<void> {
    this.#isRenewing = true
    for (let live = this.#live; this.#isStale && live !== undefined; live = this.#live) {
      this.#isStale = false
      try {
        await this.#renew(live)
      } catch (error) {
        if (this.#live === live) this.#target.report(requestFailure(error, this.name, 'listing its tools'))
      }
      await unheldPause(renewalPause)
    }
    this.#isRenewing = false
  }

  /** Lists the tools, one listing at a time. */
  #renew(live: Live): Promise<void> {
    const renewal = this.#renewal.catch(() => {}).then(() => this.#renewNow(live))
    this.#renewal = renewal
    return renewal
  }

  async #renewNow(live: Live): Promise<void> {
    const listed = await this.#listed(live)
    if (this.#live !== undefined && this.#live !== live) return
    const source: AcceptedServer = {
      server: this.name,
      hasHeaders: live.client.getProtocolEra() === 'modern' && live.transport.hasPerRequestStream === true,
      run: (calledTool, input, context) => this.#call(calledTool, input, context),
    }
    const acceptance = takeIn(listed, this.#taken, this.#target, source)
    for (const [name, { digest }] of this.#taken.tools) {
      const now = acceptance.tools.get(name)
      if (now === undefined || now.digest === digest) continue
      const which = `The tool ${quotedName(name)} of the MCP server ${quotedName(this.name)}`
      const words = `${which} has changed since it was listed: earlier approvals are void.`
      this.#target.report(new ApprovalInvalidError(words))
    }
    this.#taken = acceptance
    const list = [...acceptance.tools.values()]
    if (areSameItems(list, this.#list)) return
    this.#list = list
    this.#tell()
  }

  #tell(): void {
    for (const listener of this.#listeners) {
      try {
        listener()
      } catch (error) {
        this.#target.report(error)
      }
    }
  }

  async #listed({ client, transport, watching }: Live): Promise<unknown[]> {
    for (let round = 1; ; round++) {
      try {
        return await listTools(client, watching, this.#target, this.name)
      } catch (error) {
        if (!(await this.#authorization.helps(error, transport, round))) throw error
      }
    }
  }

  async #call(calledTool: CalledTool, input: unknown, context: ToolContext): Promise<unknown> {
    const { listed, isRepeatable } = calledTool
    let again: Reissues | undefined
    for (let round = 1; ; round++) {
      const live = await this.#liveFor(calledTool, again)
      if (live === undefined) continue
      const once = onceCall(live.client, context)
      let result: CallToolResult
      live.calls++
      try {
        result = await sendCall(live, this.#target, listed, input, context, once?.id)
        this.#reconnects = 0
      } catch (error) {
        const loss = connectionLoss(error)
        // A session over HTTP outlives its connections, and only there the server may know the call.
        const mayLast = once !== undefined && hasSession(live) && isOutage(error)
        if (loss === 'connection' && !mayLast) this.#retire(live)
        // A call is sent again only if the server runs it once, if the application allows to repeat it, or if the server refused it.
        if (loss !== undefined && once !== undefined) {
          if (again === undefined) again = new Reissues(error, once, this.#target, context)
          else again.error = error
          if (await again.next()) continue
          if (loss === 'connection') this.#retire(live)
        } else if (loss !== undefined && isRepeatable && round === 1 && !context.signal.aborted) continue
        if (await this.#authorization.helps(error, live.transport, round)) continue
        throw this.#lost(error, calledTool)
      } finally {
        live.calls--
        this.#sweep(live)
      }
      if (result.isError === true) noteFailure(context)
      return handlerResult(result, listed.outputSchema)
    }
  }

  /**
   * Returns the connection for a call. Returns `undefined` if a call that is made again has to wait for the server.
   *
   * @throws The error by which the answer was lost, if the call cannot be made again.
   */
  async #liveFor(calledTool: CalledTool, again: Reissues | undefined): Promise<Live | undefined> {
    let live: Live
    try {
      live = await this.live()
      this.#requireUnchanged(calledTool)
    } catch (error) {
      if (again === undefined) throw error
      const isOver = this.#isClosed || error instanceof ToolFailure
      if (!isOver && (await again.next())) return undefined
      throw this.#lost(again.error, calledTool)
    }
    if (again === undefined) return live
    const isKnown = onceCall(live.client, again.context)?.scope === again.scope
    if (isKnown || (calledTool.isRepeatable && again.count === 1)) return live
    throw this.#lost(again.error, calledTool)
  }

  #lost(error: unknown, { listed }: CalledTool): ToolDownstreamError {
    return requestFailure(error, this.name, `running ${quotedName(listed.name)}`)
  }

  /** Throws if the server has changed or removed the tool that was validated and approved. */
  #requireUnchanged({ listed, digest }: CalledTool): void {
    const now = this.#taken.tools.get(listed.name)
    if (now?.digest === digest) return
    const what = now === undefined ? 'is not offered any more' : 'has changed'
    throw new ToolFailure(`The tool ${quotedName(listed.name)} ${what}, and was not run.`, {
      recommendations: ['List the tools again.'],
    })
  }
}
