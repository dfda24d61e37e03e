import type { Deadline } from './parcel.ts'
import { isThenable } from './thenable.ts'

/** Whether a handler returned a generator: what it yields is progress, what it returns is the result. */
export function isGenerator(value: unknown): value is AsyncGenerator<unknown, unknown, undefined> {
  return (
    typeof value === 'object' &&
    value !== null &&
    Symbol.asyncIterator in value &&
    typeof (value as { next?: unknown }).next === 'function'
  )
}

/** Runs a generator to its end; where the call ends first, closing it is requested and never awaited. */
export async function drain(
  generator: AsyncGenerator<unknown, unknown, undefined>,
  deadline: Deadline,
  progress: (data: unknown) => void,
): Promise<unknown> {
  try {
    for (;;) {
      const step = await deadline.within(generator.next())
      if (step.done === true) return step.value
      progress(step.value)
    }
  } catch (error) {
    close(generator)
    throw error
  }
}

/** Asks a generator to close, and does not wait for it. */
export function close(generator: AsyncIterator<unknown, unknown, undefined>): void {
  try {
    const closing: unknown = (generator as Partial<typeof generator>).return?.(undefined)
    if (isThenable(closing)) closing.then(undefined, () => {}) // it was over before, whatever it says now
  } catch {
    // a generator of one's own making may throw here too; the call is over all the same
  }
}

/** Bytes or text in pieces. */
export type Stream = AsyncIterable<unknown> | ReadableStream<unknown>

/** Whether a result is a stream: something that gives bytes or text in pieces, and is not a generator of progress. */
export function isStream(value: unknown): value is Stream {
  if (typeof value !== 'object' || value === null) return false
  return Symbol.asyncIterator in value || typeof (value as { getReader?: unknown }).getReader === 'function'
}

/** A stream that is being read: closing it is heard at once, also while a piece is awaited. */
export interface OpenStream {
  /** Whether a piece was text. */
  isText: boolean
  next(): Promise<IteratorResult<Uint8Array, unknown>>
  close(): void
}

/** Opens a stream; its pieces come as bytes, of text in UTF-8, also where a pair of surrogates stands on a border. */
export function openStream(stream: Stream): OpenStream {
  const source = sourceOf(stream)
  const encoder = new TextEncoder()
  let half = ''
  const open: OpenStream = {
    isText: false,
    async next() {
      for (;;) {
        const step = await source.next()
        if (step.done === true) {
          if (half === '') return { done: true, value: undefined }
          half = ''
          return { done: false, value: encoder.encode('\ufffd') }
        }
        const piece = bytesOf(step.value)
        if (piece.byteLength > 0) return { done: false, value: piece }
      }
    },
    close: () => source.close(),
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
      half = '' // its other half will not come any more
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
    return { next: () => reader.read(), close: () => void reader.cancel().catch(() => {}) }
  }
  const iterator = stream[Symbol.asyncIterator]()
  return {
    next: () => iterator.next(),
    close() {
      close(iterator)
      // A stream of Node's waits for the piece that is asked for before it hears that it is closed, but not here.
      ;(stream as { destroy?: () => void }).destroy?.()
    },
  }
}
