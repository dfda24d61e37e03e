import type { Bus } from '../../extension.ts'
import { Listeners } from '../_listeners.ts'
import { channelsOf } from './_channels.ts'
import type { PostgresPool } from './_connection.ts'
import { limitOfPayload } from './_statements.ts'
import type { RunStatement } from './_tables.ts'

/** The most messages that wait to be sent. Further ones are lost. */
const mostWaitingMessages = 1_000
/** The most messages of one statement. */
const messagesAtOnce = 100
/** How long a channel is listened to once there are no listeners, in milliseconds: the next call is likely to have some. */
const lingering = 30_000

/** Those who listen to one channel. */
interface ChannelListeners {
  readonly topics: Map<string, Listeners<[message: string]>>
  readonly end: () => void
  ending: ReturnType<typeof setTimeout> | undefined
}

/**
 * Carries messages by `NOTIFY`, on one channel for each kind of topic: what is before the first colon. One statement is under way at
 * a time, which keeps their order. A message that is too long for a notification is lost.
 */
export class NotifyBus implements Bus {
  readonly #base: string
  readonly #ask: RunStatement
  readonly #connected: () => Promise<PostgresPool>
  readonly #hearings = new Map<string, ChannelListeners>()
  #waiting: (readonly [channel: string, payload: string])[] = []
  #isSending = false
  #isClosed = false

  /** @param base Begins the names of its channels, and needs no escaping. */
  constructor(base: string, ask: RunStatement, connected: () => Promise<PostgresPool>) {
    this.#base = base
    this.#ask = ask
    this.#connected = connected
  }

  publish(topic: string, message: string): void {
    const payload = JSON.stringify([topic, message])
    if (this.#isClosed || this.#waiting.length >= mostWaitingMessages) return
    if (new TextEncoder().encode(payload).length >= limitOfPayload) return
    this.#waiting.push([this.#channelOf(topic), payload])
    if (!this.#isSending) void this.#send()
  }

  subscribe(topic: string, listener: (message: string) => void): () => void {
    const channel = this.#channelOf(topic)
    const hearing = this.#hearings.get(channel) ?? this.#hear(channel)
    clearTimeout(hearing.ending)
    const listeners = hearing.topics.get(topic) ?? new Listeners()
    hearing.topics.set(topic, listeners)
    const remove = listeners.add(listener)
    return () => {
      remove()
      if (listeners.size > 0 || hearing.topics.get(topic) !== listeners) return
      hearing.topics.delete(topic)
      if (hearing.topics.size > 0) return
      clearTimeout(hearing.ending)
      hearing.ending = setTimeout(() => this.#end(channel, hearing), lingering)
      ;(hearing.ending as { unref?: () => void }).unref?.() // it keeps no process alive
    }
  }

  close(): void {
    this.#isClosed = true
    this.#waiting = []
    for (const [channel, hearing] of this.#hearings) this.#end(channel, hearing)
  }

  #channelOf(topic: string): string {
    const [kind = ''] = topic.split(':', 1)
    return `${this.#base}_${/^[a-z]{1,16}$/.test(kind) ? kind : 'other'}`
  }

  #hear(channel: string): ChannelListeners {
    let isWanted = true
    let remove = (): void => {}
    const end = (): void => {
      isWanted = false
      remove()
    }
    const hearing: ChannelListeners = { topics: new Map(), end, ending: undefined }
    this.#hearings.set(channel, hearing)
    this.#connected()
      .then((pool) => {
        if (isWanted) remove = channelsOf(pool).add(channel, (payload) => tell(hearing, payload))
      })
      .catch(() => {
        // There is no server: nothing is heard until a topic is subscribed to anew.
        if (this.#hearings.get(channel) === hearing) this.#hearings.delete(channel)
      })
    return hearing
  }

  #end(channel: string, hearing: ChannelListeners): void {
    clearTimeout(hearing.ending)
    if (this.#hearings.get(channel) === hearing) this.#hearings.delete(channel)
    hearing.end()
  }

  async #send(): Promise<void> {
    this.#isSending = true
    while (this.#waiting.length > 0) {
      const sent = this.#waiting.splice(0, messagesAtOnce)
      const columns = [sent.map(([channel]) => channel), sent.map(([, payload]) => payload)]
      const statement =
        'SELECT pg_notify(channel, payload) FROM unnest($1::text[], $2::text[]) AS sent (channel, payload)'
      await this.#ask(statement, columns).catch(() => {}) // they are lost
    }
    this.#isSending = false
  }
}

/** Tells a message to those who listen to its topic. Every user of the database may send one, so it may say anything. */
function tell({ topics }: ChannelListeners, payload: string): void {
  let sent: unknown
  try {
    sent = JSON.parse(payload)
  } catch {
    return
  }
  if (!Array.isArray(sent)) return
  const [topic, message] = sent as unknown[]
  if (typeof topic === 'string' && typeof message === 'string') topics.get(topic)?.tell(message)
}
