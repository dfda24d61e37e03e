import type { Tool } from '../../index.ts'
import type { ClientToolDescription } from '../../extension.ts'
import type { Answer, CallView, ClientHandler, LeaseAnswer } from '../protocol.ts'
import type { KnownCalls } from './_calls.ts'
import { WireError } from './_request.ts'

/** What a dispatcher needs of its client. */
export interface Desk {
  readonly holder: string
  /** How long to reserve a call, in milliseconds. */
  readonly lease: number
  readonly calls: KnownCalls
  readonly now: () => number
  readonly post: <Reply = Answer>(path: string, body: unknown) => Promise<Reply>
  readonly report: (error: unknown) => void
}

/** Why a call is aborted that this page gives back. */
const released = 'released'

/** Runs the client tools of a page: those calls for which it gets the lease. */
export class Dispatch {
  readonly #desk: Desk
  readonly #handlers = new Map<string, { readonly run: ClientHandler; readonly description?: ClientToolDescription }>()
  readonly #running = new Map<string, AbortController>()
  /** Answers that the server has not got yet. The handler does not run again for them. */
  readonly #unsent = new Map<string, object>()
  readonly #timers = new Map<string, ReturnType<typeof setTimeout>>()

  constructor(desk: Desk) {
    this.#desk = desk
  }

  /** The tools that this page declares. */
  get declared(): ClientToolDescription[] {
    return [...this.#handlers.values()].flatMap(({ description }) => description ?? [])
  }

  add(tool: string | Tool, handler?: ClientHandler, description?: ClientToolDescription): () => void {
    const { name } = typeof tool === 'string' ? { name: tool } : tool
    if (this.#handlers.has(name)) throw new Error(`The client tool "${name}" has a handler already.`)
    const run: ClientHandler | undefined =
      typeof tool === 'string'
        ? handler
        : async (args, context) =>
            handler === undefined
              ? tool.invoke(args, { signal: context.signal })
              : tool.checkOutput(await handler(await tool.validate(args), context))
    if (run === undefined) throw new Error(`The client tool "${name}" needs a handler.`)
    const own = { run, ...(description && { description }) }
    this.#handlers.set(name, own)
    for (const view of this.#desk.calls.all()) this.consider(view)
    return () => {
      if (this.#handlers.get(name) === own) this.#handlers.delete(name)
    }
  }

  /** Takes a call on, if it waits for a tool of this page; and gives it up, if it is over or another page's. */
  consider(view: CallView): void {
    const { invocationId: id, toolName, waiting } = view
    const { holder, now, calls } = this.#desk
    const { lease, reason } = waiting ?? {}
    const free = lease === undefined || lease.holder === holder ? 0 : lease.until - now()
    if (reason !== 'client' || free > 0) this.#running.get(id)?.abort()
    const handler = this.#handlers.get(toolName)
    if (reason !== 'client' || this.#running.has(id) || handler === undefined) return
    if (free <= 0) return void this.#run(view, handler.run)
    // The server does not tell when a lease ends. Pages come back at different times.
    clearTimeout(this.#timers.get(id))
    const again = (): void => {
      this.#timers.delete(id)
      const callEntry = calls.get(id)
      if (callEntry !== undefined) this.consider(callEntry)
    }
    this.#timers.set(id, setTimeout(again, free + 50 + Math.random() * 200))
  }

  close(): void {
    this.#handlers.clear()
    for (const timer of this.#timers.values()) clearTimeout(timer)
    for (const running of this.#running.values()) running.abort(released)
  }

  async #run({ invocationId, toolName }: CallView, run: ClientHandler): Promise<void> {
    const { holder, lease: milliseconds, calls, post, report } = this.#desk
    const running = new AbortController()
    const { signal } = running
    this.#running.set(invocationId, running)
    const take = (length = milliseconds): Promise<LeaseAnswer> =>
      post(`/calls/${encodeURIComponent(invocationId)}/lease`, { holder, milliseconds: length })
    let renewal: ReturnType<typeof setInterval> | undefined
    try {
      const { args, expiresAt } = await take()
      renewal = setInterval(() => void take().catch(() => running.abort()), milliseconds / 2)
      const context = { invocationId, toolName, signal, expiresAt, release: () => running.abort(released) }
      let answer = this.#unsent.get(invocationId)
      answer ??= await Promise.resolve(args)
        .then((input) => run(input, context))
        .then((value = null) => (JSON.stringify(value), { value })) // what is no JSON is told to the model
        .catch((error: unknown) => ({ error: String((error as Error | undefined)?.message ?? error) }))
      if (signal.aborted) return
      this.#unsent.set(invocationId, answer)
      const send = (body: object): Promise<Answer> => post('/tool-results', { invocationId, holder, ...body })
      await send(answer).catch((error: WireError) => {
        // What does not fit will never fit: the model is told.
        if (error.status === 400) return send({ error: error.message })
        throw error
      })
      this.#unsent.delete(invocationId)
    } catch (error) {
      // Another page has it, or it is over. An answer that did not get through is sent when the server is there again.
      const { status } = error as WireError
      if (status > 0) this.#unsent.delete(invocationId)
      if (![0, 404, 409, 410].includes(status)) report(error)
    } finally {
      clearInterval(renewal)
      const isReleased = signal.reason === released
      if (isReleased) await take(0).catch(() => {}) // another has it, or it is over
      this.#running.delete(invocationId)
      const callEntry = calls.get(invocationId)
      if (isReleased && callEntry !== undefined) this.consider(callEntry) // it may have a handler again
    }
  }
}
