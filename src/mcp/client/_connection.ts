import type { CallToolResult } from '@modelcontextprotocol/client'
import { ApprovalInvalidError, ToolDownstreamError, ToolFailure, type ToolContext } from '../../index.ts'
import { isSame } from '../_lists.ts'
import { listTools } from './_list.ts'
import { Authorization, end, open, send, type Live } from './_live.ts'
import type { Target } from './_options.ts'
import { longestDelay, pause, unref } from './_pauses.ts'
import { failureOf, lossOf, resultOf } from './_result.ts'
import { quoted } from './_text.ts'
import { takeIn, type Asked, type Source, type Taken, type TakenIn } from './_tools.ts'

/** The pause after a renewal of the list, however often the server says that it has changed, in milliseconds. */
const rest = 1_000

/** A server, whatever becomes of the connections to it. */
export class Connection {
  readonly #target: Target
  readonly #authorization: Authorization
  #name: string | undefined
  #taken: TakenIn = { tools: new Map(), aside: new Set() }
  #list: readonly Taken[] = []
  readonly #listeners = new Set<() => void>()
  #live: Live | undefined
  #opening: Promise<Live> | undefined
  #renewal: Promise<void> = Promise.resolve()
  #isStale = false
  #isRenewing = false
  #isLegacy = false
  #wasLive = false
  #isClosed = false
  /** How often the connection was made anew since a call succeeded last. */
  #reconnects = 0
  #timer: ReturnType<typeof setTimeout> | undefined

  constructor(target: Target) {
    this.#target = target
    this.#authorization = new Authorization(target.authorize)
  }

  /** The name of the server: what the host calls it, else what it called itself first. */
  get name(): string {
    return this.#target.name ?? this.#name ?? 'mcp'
  }

  /** The tools as they are now: the same array until they change. */
  get list(): readonly Taken[] {
    return this.#isClosed ? [] : this.#list
  }

  /** Hears that the list is another one; gives the undo. */
  onChange(listener: () => void): () => void {
    this.#listeners.add(listener)
    return () => void this.#listeners.delete(listener)
  }

  /** The connection, made where there is none; all who ask while it is made wait for the same one. */
  async live(): Promise<Live> {
    if (this.#isClosed) throw new ToolDownstreamError(`The MCP server ${quoted(this.name)} was let go of.`)
    clearTimeout(this.#timer)
    this.#opening ??= this.#open().catch((error: unknown) => {
      this.#opening = undefined
      this.#isLegacy = false // it may speak otherwise by now
      if (this.#wasLive) this.#reconnect()
      throw error
    })
    return this.#opening
  }

  /** Asks the server for its tools anew. */
  async refresh(): Promise<void> {
    await this.#renew(await this.live())
  }

  async close(): Promise<void> {
    if (this.#isClosed) return
    this.#isClosed = true
    clearTimeout(this.#timer)
    this.#tell()
    if (this.#live !== undefined) await end(this.#live)
    else this.#opening?.then(end).catch(() => {}) // nobody waits for what is not there yet
  }

  async #open(): Promise<Live> {
    const live = await open({
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
      throw failureOf(error, this.name, 'listing its tools')
    }
    // oxlint-disable-next-line unicorn/prefer-add-event-listener -- it is no event target
    client.onclose = () => this.#retire(live)
    this.#isLegacy = client.getProtocolEra() === 'legacy'
    this.#live = live
    this.#wasLive = true
    const isLost = client.transport === undefined // in this very moment
    if (isLost) this.#retire(live)
    else void this.#follow(live)
    if (this.#isStale) this.#changed()
    return live
  }

  /** Lets go of a connection that is of no use any more: calls that still run on it may end. */
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

  /** Hears of changes over 2026-07-28 as long as the connection lasts: the subscription to them may end before it. */
  async #follow(live: Live): Promise<void> {
    let subscription = live.client.autoOpenedSubscription
    for (let round = 0; subscription !== undefined && round < this.#target.reconnects; round++) {
      if ((await subscription.closed) === 'local') return
      await pause(Math.min(longestDelay, this.#target.reconnectDelay * 2 ** round))
      if (this.#live !== live) return
      subscription = await live.client.listen({ toolsListChanged: true }).catch(() => undefined)
      this.#changed()
    }
  }

  /** Renews the list, once for any number of notifications that come meanwhile. */
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
        if (this.#live === live) this.#target.report(failureOf(error, this.name, 'listing its tools'))
      }
      await pause(rest)
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
    const source: Source = {
      server: this.name,
      hasHeaders: live.client.getProtocolEra() === 'modern' && live.transport.hasPerRequestStream === true,
      run: (asked, input, context) => this.#call(asked, input, context),
    }
    const taken = takeIn(listed, this.#taken, this.#target, source)
    for (const [name, { digest }] of this.#taken.tools) {
      const now = taken.tools.get(name)
      if (now === undefined || now.digest === digest) continue
      const which = `The tool ${quoted(name)} of the MCP server ${quoted(this.name)}`
      const words = `${which} has changed since it was listed: what was approved before is void.`
      this.#target.report(new ApprovalInvalidError(words))
    }
    this.#taken = taken
    const list = [...taken.tools.values()]
    if (isSame(list, this.#list)) return
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

  async #call(asked: Asked, input: unknown, context: ToolContext): Promise<unknown> {
    for (let round = 1; ; round++) {
      const live = await this.live()
      this.#requireUnchanged(asked)
      let result: CallToolResult
      live.calls++
      try {
        result = await send(live, this.#target, asked.listed, input, context)
        this.#reconnects = 0
      } catch (error) {
        const loss = lossOf(error)
        if (loss === 'connection') this.#retire(live)
        // Nothing is sent twice of which the host has not said that it may be, or the server that it refused it.
        if (loss !== undefined && asked.isRepeatable && round === 1 && !context.signal.aborted) continue
        if (await this.#authorization.helps(error, live.transport, round)) continue
        throw failureOf(error, this.name, `running ${quoted(asked.listed.name)}`)
      } finally {
        live.calls--
        this.#sweep(live)
      }
      return resultOf(result)
    }
  }

  /** What was validated and approved is what runs, and not what the server has put in its place since. */
  #requireUnchanged({ listed, digest }: Asked): void {
    const now = this.#taken.tools.get(listed.name)
    if (now?.digest === digest) return
    const what = now === undefined ? 'is not offered any more' : 'has changed'
    throw new ToolFailure(`The tool ${quoted(listed.name)} ${what}, and was not run.`, {
      recommendations: ['Look at the tools anew.'],
    })
  }
}
