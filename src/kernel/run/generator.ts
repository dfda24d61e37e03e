import { Pace } from '../json/pace.ts'
import type { Deadline } from '../call/parcel.ts'

/** Whether a handler returned a generator: what it yields is progress, what it returns is the result. */
export function isGenerator(value: unknown): value is AsyncGenerator<unknown, unknown, undefined> {
  return (
    typeof value === 'object' &&
    value !== null &&
    Symbol.asyncIterator in value &&
    typeof (value as { next?: unknown }).next === 'function'
  )
}

/** Runs a generator to its end, and reads what it returns; if the call ends first, closing it is requested and never awaited. */
export async function drain<Next>(
  generator: AsyncGenerator<unknown, unknown, undefined>,
  deadline: Deadline,
  progress: (data: unknown) => void,
  end: (value: unknown) => Next,
): Promise<Next> {
  const pace = new Pace()
  let isOver = false
  const take = (step: IteratorResult<unknown, unknown>): Next | undefined => {
    if (typeof step !== 'object') throw new TypeError('A step of a generator is an object.')
    if (step.done === true) {
      isOver = true
      return end(step.value)
    }
    progress(step.value)
    return undefined
  }
  try {
    for (;;) {
      const next = await deadline.within(generator.next(), take)
      if (isOver) return next as Next
      const turn = pace.step()
      if (turn === undefined) continue
      await turn
      deadline.check()
    }
  } catch (error) {
    // Until it has closed, its work goes on.
    if (!isOver) deadline.within(closing(generator)).catch(() => {})
    throw error
  }
}

/** Asks a generator to close, and does not wait for it. */
export function close(generator: AsyncIterator<unknown, unknown, undefined>): void {
  void closing(generator)
}

async function closing(generator: { return?: (value: undefined) => unknown }): Promise<void> {
  try {
    await generator.return?.(undefined)
  } catch {
    // it was over before, whatever it says now
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
    return { next: () => reader.read(), close: () => void closing({ return: () => reader.cancel() }) }
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
