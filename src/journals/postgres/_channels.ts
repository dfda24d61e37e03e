import { heardConnection, type PostgresConnection, type PostgresPool } from './_connection.ts'

/** How often it is tried to connect again, in milliseconds. */
const reconnectInterval = 5_000

/** A listener to a channel. */
interface ChannelListener {
  readonly receive: (payload: string) => void
  /** What was told before is missed. */
  readonly begin: () => void
}

/** Those that listen on a connection of a pool. All journals of a pool share one connection. */
const channelsOfPools = new WeakMap<PostgresPool, NotificationChannels>()

export function channelsOf(pool: PostgresPool): NotificationChannels {
  const channels = channelsOfPools.get(pool) ?? new NotificationChannels(pool)
  channelsOfPools.set(pool, channels)
  return channels
}

/** Listens to channels on one connection of a pool, while there are listeners. Without one to spare it hears nothing. */
export class NotificationChannels {
  readonly #pool: PostgresPool
  readonly #hearings = new Map<string, Set<ChannelListener>>()
  #timer: ReturnType<typeof setInterval> | undefined
  #connection: PostgresConnection | undefined
  #isConnecting = false
  /** The last statement on the connection: it takes one at a time. */
  #last: Promise<unknown> = Promise.resolve()

  constructor(pool: PostgresPool) {
    this.#pool = pool
  }

  /**
   * Listens to a channel, whose name needs no escaping.
   *
   * @param receive Called with each payload.
   * @param begin Called each time that the channel is listened to, at first and after the connection was lost.
   * @returns A function that ends it.
   */
  add(channel: string, receive: ChannelListener['receive'], begin: ChannelListener['begin'] = () => {}): () => void {
    const hearing = { receive, begin }
    const hearings = this.#hearings.get(channel) ?? new Set()
    this.#hearings.set(channel, hearings.add(hearing))
    if (this.#timer === undefined) {
      this.#timer = setInterval(() => void this.#connect(), reconnectInterval)
      ;(this.#timer as { unref?: () => void }).unref?.() // a listener does not keep the process alive
    }
    if (this.#connection === undefined) void this.#connect()
    else {
      if (hearings.size === 1) this.#ask(`LISTEN "${channel}"`)
      void this.#last.then(begin)
    }
    return () => {
      if (!hearings.delete(hearing) || hearings.size > 0) return
      this.#hearings.delete(channel)
      if (this.#hearings.size === 0) this.#end()
      else this.#ask(`UNLISTEN "${channel}"`)
    }
  }

  #end(): void {
    clearInterval(this.#timer)
    this.#timer = undefined
    const connection = this.#connection
    this.#connection = undefined
    connection?.release(true)
  }

  /** Connects, unless it is connected. If that fails, the next time does the same. */
  async #connect(): Promise<void> {
    if (this.#connection !== undefined || this.#isConnecting) return
    this.#isConnecting = true
    let connection: PostgresConnection | undefined
    try {
      if ((this.#pool.options?.max ?? Infinity) < 2) return // the only connection is for statements
      connection = await heardConnection(this.#pool)
      if (connection === undefined) return
      const lost = (): void => this.#lose(connection)
      connection.on('error', lost)
      connection.on('end', lost)
      connection.on('notification', ({ channel, payload = '' }) => this.#tell(channel, payload))
      for (const channel of this.#hearings.keys()) await connection.query(`LISTEN "${channel}"`)
      connection.unref?.()
      if (this.#hearings.size === 0) return connection.release(true)
      this.#connection = connection
      this.#last = Promise.resolve()
    } catch {
      return connection?.release(true)
    } finally {
      this.#isConnecting = false
    }
    for (const hearings of this.#hearings.values()) for (const { begin } of hearings) begin()
  }

  #lose(connection: PostgresConnection | undefined): void {
    if (connection === undefined || this.#connection !== connection) return
    this.#connection = undefined
    connection.release(true)
    if (this.#timer !== undefined) void this.#connect()
  }

  #ask(statement: string): void {
    const connection = this.#connection
    this.#last = this.#last
      .then(() => connection?.query(statement))
      .catch(() => {
        // The connection is lost, or the server refuses it. A new one begins anew.
        this.#lose(connection)
      })
  }

  #tell(channel: string | undefined, payload: string): void {
    for (const { receive } of this.#hearings.get(channel ?? '') ?? []) receive(payload)
  }
}
