/** Asks a generator to close, and does not wait for it. */
export function close(generator: AsyncIterator<unknown, unknown, undefined>): void {
  void closing(generator)
}

export async function closing(generator: { return?: (value: undefined) => unknown }): Promise<void> {
  try {
    await generator.return?.(undefined)
  } catch {
    // the generator was over before: an error of closing it changes nothing
  }
}

/** Bytes or text in pieces. */
export type Stream = AsyncIterable<unknown> | ReadableStream<unknown>

/** Whether a result is a stream, which yields bytes or text in pieces. A generator of progress is handled before. */
export function isStream(value: unknown): value is Stream {
  if (typeof value !== 'object' || value === null) return false
  return Symbol.asyncIterator in value || typeof (value as { getReader?: unknown }).getReader === 'function'
}

/** A stream that is being read. Closing it takes effect at once, also while a piece is awaited. */
export interface OpenStream {
  /** Whether a piece was text. */
  isText: boolean
  next(): Promise<IteratorResult<Uint8Array, unknown>>
  close(): void
}

/** Opens a stream. Its pieces come as bytes, text as UTF-8, even if a surrogate pair is split between two pieces. */
export function openStream(stream: Stream): OpenStream {
  const source = sourceOf(stream)
  const encoder = new TextEncoder()
  const pace = new Pace()
  let half = ''
  let isClosed = false
  const open: OpenStream = {
    isText: false,
    async next() {
      for (;;) {
        const step = await source.next()
        const turn = pace.step()
        if (turn !== undefined) await turn
        if (isClosed) return { done: true, value: undefined }
        if (step.done === true) {
          if (half === '') return { done: true, value: undefined }
          half = ''
          return { done: false, value: encoder.encode('\ufffd') }
        }
        const piece = bytesOf(step.value)
        if (piece.byteLength > 0) return { done: false, value: piece }
      }
    },
    close() {
      isClosed = true
      source.close()
    },
  }
  return open

  function bytesOf(piece: unknown): Uint8Array {
    if (typeof piece === 'string') {
      open.isText = true
      const text = half + piece
      half = /[\ud800-\udbff]$/.test(text) ? text.slice(-1) : ''
      return encoder.encode(half === '' ? text : text.slice(0, -1))
    }
    if (ArrayBuffer.isView(piece)) {
      const bytes = new Uint8Array(piece.buffer, piece.byteOffset, piece.byteLength)
      if (half === '') return bytes
      half = '' // bytes follow, so the other half of the surrogate pair cannot
      return new Uint8Array([...encoder.encode('\ufffd'), ...bytes])
    }
    throw new TypeError(`A stream of results gives text or bytes, not ${piece === null ? 'null' : typeof piece}.`)
  }
}

interface Source {
  next(): Promise<IteratorResult<unknown, unknown>>
  close(): void
}

function sourceOf(stream: Stream): Source {
  if ('getReader' in stream) {
    const reader = stream.getReader()
    return { next: () => reader.read(), close: () => void closing({ return: () => reader.cancel() }) }
  }
  const iterator = stream[Symbol.asyncIterator]()
  return {
    next: () => iterator.next(),
    close() {
      close(iterator)
      // A Node stream handles `return` only after the pending piece; `destroy` ends it at once.
      ;(stream as { destroy?: () => void }).destroy?.()
    },
  }
}

/** Steps between two looks at the clock. */
const clockSteps = 16
/** Steps after which the loop yields regardless of the clock: on some platforms it stands still between turns. */
const mostSteps = 4_096
/** Milliseconds of work after which the loop yields. */
const sliceTime = 10

/** Runs a task in the next turn of the event loop. */
function soon(task: () => void): void {
  const { setImmediate } = globalThis as { setImmediate?: (task: () => void) => unknown }
  if (setImmediate === undefined) setTimeout(task, 0)
  else setImmediate(task)
}

/** Keeps a loop over foreign input from starving the process: input that is always ready never yields. */
export class Pace {
  #steps = 0
  #turnedAt = performance.now()

  /** Counts a step of the loop. Returns a promise if timers and sockets are due for a turn. */
  step(): Promise<void> | undefined {
    if (++this.#steps % clockSteps !== 0) return undefined
    if (this.#steps < mostSteps && performance.now() - this.#turnedAt < sliceTime) return undefined
    return new Promise((resolve) => {
      soon(() => {
        this.#steps = 0
        this.#turnedAt = performance.now()
        resolve()
      })
    })
  }
}
