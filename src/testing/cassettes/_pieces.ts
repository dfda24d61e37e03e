// Streams that are recorded while they are read, and played from files.
import { isStream, type Stream } from '../../kernel/run/stream.ts'
import type { FileWriter } from './_files.ts'

/** How the pieces of a stream came. */
export type PieceKind = 'text' | 'bytes' | 'mixed'

/** What is known of a stream once it is over. */
export interface StreamEnd {
  readonly as: PieceKind
  /** Set if it ended with an error. */
  readonly failure?: { readonly error: unknown }
}

interface PieceSource {
  next(): Promise<IteratorResult<unknown, unknown>>
  close(): unknown
}

/** Whether a stream is one of the web, with readers. */
export function isReadableStream(stream: object): stream is ReadableStream<unknown> {
  return 'getReader' in stream
}

/**
 * Returns a stream of the same pieces, which writes them to a file as they are read. No piece stays in memory.
 *
 * @param done Called once: at the end, with the error, or when the reader leaves.
 */
export function recordedStream(
  stream: Stream,
  writer: Pick<FileWriter, 'write'>,
  done: (end: StreamEnd) => void,
): Stream {
  const source = sourceOf(stream)
  const encoder = new TextEncoder()
  const kinds = new Set<PieceKind>()
  let half = ''
  let isOver = false

  function write(piece: unknown): void {
    if (typeof piece === 'string') {
      kinds.add('text')
      const text = half + piece
      half = /[\ud800-\udbff]$/.test(text) ? text.slice(-1) : ''
      writer.write(encoder.encode(half === '' ? text : text.slice(0, -1)))
    } else if (ArrayBuffer.isView(piece)) {
      kinds.add('bytes')
      writer.write(new Uint8Array(piece.buffer, piece.byteOffset, piece.byteLength))
    }
  }

  function finish(failure?: StreamEnd['failure']): void {
    if (isOver) return
    isOver = true
    if (half !== '') writer.write(encoder.encode(half))
    const [kind = 'bytes', other] = kinds
    done({ as: other === undefined ? kind : 'mixed', ...(failure && { failure }) })
  }

  return streamFromPieces(
    {
      async next() {
        try {
          const step = await source.next()
          if (isOver) return { done: true, value: undefined }
          if (step.done === true) finish()
          else write(step.value)
          return step
        } catch (error) {
          finish({ error })
          throw error
        }
      },
      close() {
        finish()
        return source.close()
      },
    },
    isReadableStream(stream),
  )
}

/** Returns a stream of these pieces of bytes, as the recorded one gave them. */
export function playedStream(
  pieces: AsyncGenerator<Uint8Array, void, undefined>,
  as: PieceKind,
  isReadable: boolean,
): Stream {
  const decoder = new TextDecoder('utf-8', { ignoreBOM: true })
  let isFirst = true
  return streamFromPieces(
    {
      async next() {
        if (isFirst && as === 'mixed') {
          isFirst = false
          return { done: false, value: '' } // tells that there is text
        }
        const step = await pieces.next()
        if (as !== 'text') return step
        if (step.done !== true) return { done: false, value: decoder.decode(step.value, { stream: true }) }
        const rest = decoder.decode()
        return rest === '' ? step : { done: false, value: rest }
      },
      close: () => pieces.return(undefined),
    },
    isReadable,
  )
}

function streamFromPieces(source: PieceSource, isReadable: boolean): Stream {
  if (isReadable) {
    return new ReadableStream<unknown>(
      {
        async pull(controller) {
          const step = await source.next()
          if (step.done === true) controller.close()
          else controller.enqueue(step.value)
        },
        async cancel() {
          await source.close()
        },
      },
      { highWaterMark: 0 },
    )
  }
  const iterator: AsyncIterator<unknown> = {
    next: () => source.next(),
    async return() {
      await source.close()
      return { done: true, value: undefined }
    },
  }
  // Without `next`, which would make it a generator of progress.
  return { [Symbol.asyncIterator]: () => iterator }
}

function sourceOf(stream: Stream): PieceSource {
  if (isReadableStream(stream)) {
    const reader = stream.getReader()
    return { next: () => reader.read(), close: () => reader.cancel() }
  }
  const iterator = stream[Symbol.asyncIterator]()
  return {
    next: () => iterator.next(),
    close() {
      // A stream of Node handles `return` only after the current piece; `destroy` ends it at once.
      ;(stream as { destroy?: () => void }).destroy?.()
      return iterator.return?.()
    },
  }
}

/** Whether what a handler keeps comes in pieces. */
export function comesInPieces(source: unknown): source is Stream {
  return typeof source !== 'string' && !ArrayBuffer.isView(source) && isStream(source)
}
