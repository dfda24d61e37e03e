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
export function close(generator: AsyncGenerator<unknown, unknown, undefined>): void {
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

/** What is learnt of a stream by reading it. */
export interface Seen {
  isText: boolean
}

/** The pieces of a stream, as bytes; text is UTF-8, also where a pair of surrogates stands on a border. */
export async function* bytesOfStream(stream: Stream, seen: Seen): AsyncGenerator<Uint8Array, void, undefined> {
  const encoder = new TextEncoder()
  let half = ''
  for await (const piece of piecesOf(stream)) {
    if (typeof piece === 'string') {
      seen.isText = true
      const text = half + piece
      half = /[\ud800-\udbff]$/.test(text) ? text.slice(-1) : ''
      if (text.length > half.length) yield encoder.encode(half === '' ? text : text.slice(0, -1))
    } else if (ArrayBuffer.isView(piece)) {
      if (half !== '') yield encoder.encode(half)
      half = ''
      yield new Uint8Array(piece.buffer, piece.byteOffset, piece.byteLength)
    } else {
      throw new TypeError(`A stream of results gives text or bytes, not ${piece === null ? 'null' : typeof piece}.`)
    }
  }
  if (half !== '') yield encoder.encode(half)
}

async function* piecesOf(stream: Stream): AsyncGenerator<unknown, void, undefined> {
  if (Symbol.asyncIterator in stream) {
    yield* stream
    return
  }
  const reader = (stream as ReadableStream<unknown>).getReader() // not every browser's streams can be iterated
  try {
    for (;;) {
      const { done, value } = await reader.read()
      if (done) return
      yield value
    }
  } finally {
    reader.cancel().catch(() => {})
  }
}
