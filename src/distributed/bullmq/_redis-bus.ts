import { Redis } from 'ioredis'
import type { Bus } from '../../extension.ts'
import { Topics } from '../_bus.ts'

/** How many messages wait for the first connection and for subscriptions. Further ones are lost. */
const mostHeldMessages = 1_000

/**
 * Carries messages over the channels of a Redis. It connects on first use, and then holds messages until it has connected. A
 * message is sent after the subscriptions that were made before it have begun, since its answer may come at once.
 */
export function redisBus(
  connection: Readonly<Record<string, unknown>>,
  prefix: string,
  report: (error: unknown) => void,
): Bus & { close(): Promise<void> } {
  const topics = new Topics()
  let [publisher, subscriber]: (Redis | undefined)[] = []
  /** The first connection and the subscriptions that are under way. */
  const beginnings = new Set<Promise<unknown>>()
  /** How many messages are held, and when the last of them has been sent. */
  let held = 0
  let last = Promise.resolve()
  const channelOf = (topic: string): string => `${prefix}:bus:${topic}`

  function connect(isSubscriber: boolean): Redis {
    const { url, ...options } = connection
    const own = { ...options, maxRetriesPerRequest: null, enableOfflineQueue: isSubscriber }
    const redis = typeof url === 'string' ? new Redis(url, own) : new Redis(own)
    redis.on('error', report)
    return redis
  }

  function awaitBeginning(beginning: Promise<unknown>): void {
    const over = beginning.catch(report).finally(() => beginnings.delete(over))
    beginnings.add(over)
  }

  function open(): void {
    if (publisher !== undefined) return
    const own = (publisher = connect(false))
    awaitBeginning(
      new Promise<void>((resolve) => {
        own.once('ready', resolve)
        own.once('end', resolve)
      }),
    )
  }

  function subscribed(): Redis {
    if (subscriber === undefined) {
      subscriber = connect(true)
      subscriber.on('message', (channel, message) => topics.tell(channel.slice(channelOf('').length), message))
      open() // what hears messages also sends them, and loses none while it connects
    }
    return subscriber
  }

  function send(topic: string, message: string): void {
    publisher?.publish(channelOf(topic), message).catch(report)
  }

  return {
    publish(topic, message) {
      open()
      if (held === 0 && beginnings.size === 0) return send(topic, message)
      if (held >= mostHeldMessages) return
      held++
      const begun = Promise.all(beginnings)
      last = last
        .then(() => begun)
        .then(() => {
          held--
          send(topic, message)
        })
    },

    subscribe(topic, listener) {
      if (!topics.has(topic)) awaitBeginning(subscribed().subscribe(channelOf(topic)))
      const remove = topics.add(topic, listener)
      return () => {
        if (remove()) subscriber?.unsubscribe(channelOf(topic)).catch(() => {})
      }
    },

    async close() {
      for (const redis of [publisher, subscriber]) redis?.disconnect()
      publisher = subscriber = undefined
    },
  }
}
