import type { Frames } from '../protocol.ts'

const frameEncoder = new TextEncoder()
/** The most bytes of frames that are kept for one audience. */
const mostFrameBytes = 4_194_304
/** How long frames are kept while no stream is open, in milliseconds. */
const framesKeptFor = 120_000
/** How many signs of life a reader may leave unread before its stream ends. */
const mostUnreadBeats = 4

export interface ChannelLimits {
  readonly streams: number
  readonly allStreams: number
  readonly backlog: number
  readonly frames: number
}

interface SentFrame {
  readonly bytes: Uint8Array
  /** How many bytes the channel had sent before it. */
  readonly offset: number
}

/** Returns a frame's text, without its id. */
export function frameText<Name extends keyof Frames>(name: Name, data: Frames[Name]): string {
  return `event: ${name}\ndata: ${JSON.stringify(data)}\n\n`
}

/** What one audience is sent: those who see one session, or all. Frames are kept for readers that come back. */
export class Channel {
  /** Tells the ids of this channel from those of others, also of one that was forgotten. */
  readonly epoch: string = crypto.randomUUID().slice(0, 8)
  readonly streams: Set<ChannelStream> = new Set()
  lastUsed: number = performance.now()
  #frames: SentFrame[] = []
  /** The number of the last frame. */
  #count = 0
  #offset = 0
  readonly #most: number

  constructor(most: number) {
    this.#most = most
  }

  /** The id of the last frame. */
  get at(): string {
    return `${this.epoch}-${this.#count}`
  }

  get count(): number {
    return this.#count
  }

  push(text: string): void {
    const bytes = frameEncoder.encode(`id: ${this.epoch}-${++this.#count}\n${text}`)
    this.#frames.push({ bytes, offset: this.#offset })
    this.#offset += bytes.byteLength
    let surplus = 0
    while (
      surplus < this.#frames.length &&
      (this.#frames.length - surplus > this.#most || this.#offset - this.#frames[surplus]!.offset > mostFrameBytes)
    ) {
      surplus++
    }
    if (surplus > 0) this.#frames.splice(0, surplus)
    for (const stream of this.streams) stream.wake()
  }

  /** Returns the bytes of a frame, or `undefined` if it is kept no more. */
  frame(number: number): Uint8Array | undefined {
    return this.#frames[number - 1 - this.#count + this.#frames.length]?.bytes
  }

  /** How many bytes there are from a frame on. `Infinity` if it is kept no more. */
  lag(number: number): number {
    if (number > this.#count) return 0
    const frame = this.#frames[number - 1 - this.#count + this.#frames.length]
    return frame === undefined ? Infinity : this.#offset - frame.offset
  }

  /** Returns the number after a frame's id, if a reader can go on from there. */
  after(id: string | null | undefined): number | undefined {
    const [, epoch, digits = ''] = /^([\da-f-]+)-(\d{1,15})$/.exec(id ?? '') ?? []
    const next = Number(digits) + 1
    const isKnown = epoch === this.epoch && next <= this.#count + 1 && this.lag(next) < Infinity
    return isKnown ? next : undefined
  }
}

/** The channels of all audiences, by their sessions. */
export class AudienceChannels {
  readonly limits: ChannelLimits
  /** Called at each heartbeat with the audiences that have streams. */
  onBeat: (sessions: readonly string[]) => void = () => {}
  readonly #channels = new Map<string, Channel>()
  readonly #heartbeat: number
  readonly #report: (error: unknown) => void
  #open = 0
  /** How many streams each user has open. */
  readonly #openOf = new Map<string, number>()
  #isClosed = false
  #timer: ReturnType<typeof setInterval> | undefined

  constructor(limits: ChannelLimits, heartbeat: number, report: (error: unknown) => void) {
    this.limits = limits
    this.#heartbeat = heartbeat
    this.#report = report
  }

  /** Returns the channel of an audience. It is there from now on. */
  of(session: string): Channel {
    let channel = this.#channels.get(session)
    if (channel === undefined) {
      channel = new Channel(this.limits.frames)
      this.#channels.set(session, channel)
      this.#beatFromNow()
    }
    channel.lastUsed = performance.now()
    return channel
  }

  /** Whether there is an audience for the calls of a session. */
  hasAudience(session: string): boolean {
    return this.#channels.has(session) || this.#channels.has('*')
  }

  /** Sends a frame to those who see a session. */
  push<Name extends keyof Frames>(session: string, name: Name, data: Frames[Name]): void {
    if (!this.hasAudience(session)) return
    const text = frameText(name, data)
    this.#channels.get(session)?.push(text)
    this.#channels.get('*')?.push(text)
  }

  /** Returns why a user can open no more streams, if that is so. */
  isFull(principal: string): 'user' | 'all' | undefined {
    if (this.#isClosed || this.#open >= this.limits.allStreams) return 'all'
    return (this.#openOf.get(principal) ?? 0) >= this.limits.streams ? 'user' : undefined
  }

  /**
   * Opens a stream.
   *
   * @param principal The user for whom it counts.
   * @param from The number of the first frame. Without it, the stream begins with `first`.
   * @param listing Makes the frame of a list, for a reader that lags behind.
   */
  open(
    session: string,
    principal: string,
    greeting: string,
    from: { readonly next: number; readonly first: string },
    listing: () => Promise<string>,
  ): ChannelStream {
    const channel = this.of(session)
    this.#count(principal, 1)
    const stream = new ChannelStream(channel, this.limits.backlog, greeting, from, listing, this.#report, () => {
      this.#count(principal, -1)
      channel.lastUsed = performance.now()
    })
    return stream
  }

  close(): void {
    this.#isClosed = true
    clearInterval(this.#timer)
    for (const { streams } of this.#channels.values()) for (const stream of streams) stream.close()
    this.#channels.clear()
  }

  #count(principal: string, change: 1 | -1): void {
    this.#open += change
    const open = (this.#openOf.get(principal) ?? 0) + change
    if (open > 0) this.#openOf.set(principal, open)
    else this.#openOf.delete(principal)
  }

  #beatFromNow(): void {
    if (this.#isClosed) return
    this.#timer ??= setInterval(() => this.#beat(), this.#heartbeat)
    ;(this.#timer as { unref?: () => void }).unref?.() // it keeps no process alive
  }

  #beat(): void {
    const now = performance.now()
    const used: string[] = []
    for (const [session, channel] of this.#channels) {
      for (const stream of channel.streams) stream.beat()
      if (channel.streams.size > 0) used.push(session)
      else if (now - channel.lastUsed > framesKeptFor) this.#channels.delete(session)
    }
    if (this.#channels.size === 0) {
      clearInterval(this.#timer)
      this.#timer = undefined
    }
    this.onBeat(used)
  }
}

/** One reader of a channel. It holds no frames: it reads those that the channel keeps, as fast as its reader takes them. */
export class ChannelStream {
  readonly body: ReadableStream<Uint8Array>
  readonly #channel: Channel
  readonly #release: () => void
  #controller: ReadableStreamDefaultController<Uint8Array> | undefined
  #wake: (() => void) | undefined
  #mustBeat = false
  #unread = 0
  #isOver = false

  constructor(
    channel: Channel,
    backlog: number,
    greeting: string,
    { next, first }: { readonly next: number; readonly first: string },
    listing: () => Promise<string>,
    report: (error: unknown) => void,
    release: () => void,
  ) {
    this.#channel = channel
    this.#release = release
    channel.streams.add(this)
    let cursor = next
    const read = async (): Promise<Uint8Array | undefined> => {
      while (!this.#isOver) {
        const lag = channel.lag(cursor)
        if (lag > backlog && (lag === Infinity || channel.count > cursor)) {
          cursor = channel.count + 1
          return frameEncoder.encode(`id: ${channel.at}\n${await listing()}`)
        }
        if (lag > 0) return channel.frame(cursor++)
        if (this.#mustBeat) {
          this.#mustBeat = false
          return frameEncoder.encode(': \n\n')
        }
        await new Promise<void>((resolve) => (this.#wake = resolve))
      }
      return undefined
    }
    this.body = new ReadableStream<Uint8Array>(
      {
        start: (controller) => {
          this.#controller = controller
          controller.enqueue(frameEncoder.encode(greeting + first))
        },
        pull: async (controller) => {
          this.#unread = 0
          try {
            const bytes = await read()
            if (bytes !== undefined && !this.#isOver) controller.enqueue(bytes)
          } catch (error) {
            report(error)
            this.close() // the reader comes back for a list
          }
        },
        cancel: () => this.end(),
      },
      { highWaterMark: 0 },
    )
  }

  wake(): void {
    this.#wake?.()
  }

  /** Gives a sign of life. A reader that has left several unread is gone. */
  beat(): void {
    this.#mustBeat = true
    if (++this.#unread > mostUnreadBeats) this.close()
    else this.wake()
  }

  /** Ends the stream for its reader. */
  close(): void {
    if (this.#isOver) return
    this.end()
    try {
      this.#controller?.close()
    } catch {
      // the reader has left meanwhile
    }
  }

  /** Forgets a reader that has left. */
  end(): void {
    if (this.#isOver) return
    this.#isOver = true
    this.#channel.streams.delete(this)
    this.#release()
    this.wake()
  }
}
