import { valueKind } from '../kernel/json/value-kind.ts'
import { closing, type Stream } from '../kernel/run/stream.ts'
import { Pace } from '../kernel/run/pace.ts'

/** A stream that is being read. Closing it takes effect at once, also while a piece is awaited. */
export interface OpenStream {
  /** Whether a piece was text. */
  isText: boolean
  next(): Promise<IteratorResult<Uint8Array, unknown>>
  close(): void
}

/** Opens a stream. Its pieces come as bytes, text as UTF-8, even if a surrogate pair is split between two pieces. */
export function openStream(stream: Stream): OpenStream {
  const source = streamSource(stream)
  const encoder = new TextEncoder()
  const pace = new Pace()
  let half = ''
  let isClosed = false
  const open: OpenStream = {
    isText: false,
    async next() {
      for (;;) {
        const step = await source.next()
        const yielded = pace.step()
        if (yielded !== undefined) await yielded
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
    throw new TypeError(`A stream of results gives text or bytes, not ${valueKind(piece)}.`)
  }
}

interface StreamSource {
  next(): Promise<IteratorResult<unknown, unknown>>
  close(): void
}

function streamSource(stream: Stream): StreamSource {
  if ('getReader' in stream) {
    const reader = stream.getReader()
    return { next: () => reader.read(), close: () => void closing({ return: () => reader.cancel() }) }
  }
  const iterator = stream[Symbol.asyncIterator]()
  return {
    next: () => iterator.next(),
    close() {
      void closing(iterator)
      // A Node stream handles `return` only after the current piece; `destroy` ends it at once.
      ;(stream as { destroy?: () => void }).destroy?.()
    },
  }
}
