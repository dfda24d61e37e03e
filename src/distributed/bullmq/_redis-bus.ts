import { Redis } from 'ioredis'
import type { Bus } from '../../index.ts'
import { Topics } from '../_bus.ts'

/** Carries messages over the channels of a Redis. It connects on first use. */
export function redisBus(
  connection: Readonly<Record<string, unknown>>,
  prefix: string,
  report: (error: unknown) => void,
): Bus & { close(): Promise<void> } {
  const topics = new Topics()
  let [publisher, subscriber]: (Redis | undefined)[] = []
  const channelOf = (topic: string): string => `${prefix}:bus:${topic}`

  function connect(isSubscriber: boolean): Redis {
    const { url, ...options } = connection
    const own = { ...options, maxRetriesPerRequest: null, enableOfflineQueue: isSubscriber }
    const redis = typeof url === 'string' ? new Redis(url, own) : new Redis(own)
    redis.on('error', report)
    return redis
  }

  function subscribed(): Redis {
    if (subscriber === undefined) {
      subscriber = connect(true)
      subscriber.on('message', (channel, message) => topics.tell(channel.slice(channelOf('').length), message))
    }
    return subscriber
  }

  return {
    publish(topic, message) {
      publisher ??= connect(false)
      publisher.publish(channelOf(topic), message).catch(report)
    },

    subscribe(topic, listener) {
      if (!topics.has(topic)) subscribed().subscribe(channelOf(topic)).catch(report)
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
