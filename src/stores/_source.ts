import type { SpoolSource } from '../extension.ts'

const encodedLength = 1_048_576

/**
 * Yields the bytes of a source in pieces of one length. The last piece may be shorter; none is empty.
 *
 * Pieces are copies, since the source's owner may change its bytes between hashing and storing. Two buffers alternate: a
 * piece is valid until the second piece after it is requested.
 */
export async function* piecesOf(
  source: SpoolSource,
  length: number,
  signal: AbortSignal | undefined,
): AsyncGenerator<Uint8Array, void, undefined> {
  const size = Math.max(1, Math.min(length, mostBytesOf(source)))
  const buffers: Uint8Array[] = []
  let current = 0
  let filled = 0
  for await (const part of sourceParts(source, signal)) {
    for (let start = 0; start < part.byteLength;) {
      const buffer = (buffers[current] ??= new Uint8Array(size))
      const end = Math.min(part.byteLength, start + size - filled)
      buffer.set(part.subarray(start, end), filled)
      filled += end - start
      start = end
      if (filled < size) continue
      yield buffer
      signal?.throwIfAborted()
      current = 1 - current
      filled = 0
    }
  }
  const last = buffers[current]
  if (filled > 0 && last !== undefined) yield last.subarray(0, filled)
}

/** The most bytes that a source can have, so that a small one takes no large buffer. */
function mostBytesOf(source: SpoolSource): number {
  if (typeof source === 'string') return source.length * 3
  return source instanceof Uint8Array ? source.byteLength : Infinity
}

async function* sourceParts(source: SpoolSource, signal: AbortSignal | undefined): AsyncGenerator<Uint8Array, void> {
  signal?.throwIfAborted()
  if (typeof source === 'string') yield* encodedText(source)
  else if (source instanceof Uint8Array) yield source
  else yield* untilAborted(source, signal)
}

function* encodedText(text: string): Generator<Uint8Array, void> {
  const encoder = new TextEncoder()
  for (let start = 0, end = 0; start < text.length; start = end) {
    end = start + encodedLength
    if (/[\ud800-\udbff]/.test(text.charAt(end - 1))) end++ // keeps both halves of a surrogate pair together
    yield encoder.encode(text.slice(start, end))
  }
}

/** Reads a stream until the signal aborts, even during a wait for a piece that never comes. */
async function* untilAborted(
  source: AsyncIterable<Uint8Array>,
  signal: AbortSignal | undefined,
): AsyncGenerator<Uint8Array, void> {
  const iterator = source[Symbol.asyncIterator]()
  let isOver = false
  let leave: (reason: unknown) => void = () => {}
  // One listener for all pieces: one per piece would be slow, and a promise that all race against would retain every piece.
  const onAbort = (): void => leave(signal?.reason)
  signal?.addEventListener('abort', onAbort, { once: true })
  try {
    for (;;) {
      signal?.throwIfAborted()
      const next = Promise.resolve(iterator.next())
      const step = await new Promise<IteratorResult<Uint8Array>>((resolve, reject) => {
        leave = reject
        next.then(resolve, reject)
      })
      signal?.throwIfAborted()
      isOver = step.done === true
      if (step.done === true) return
      yield step.value
    }
  } finally {
    signal?.removeEventListener('abort', onAbort)
    if (!isOver) await closeIterator(iterator)
  }
}

/** Asks an iterator to close. Does not wait for one that is itself waiting for its source. */
async function closeIterator(iterator: AsyncIterator<Uint8Array>): Promise<void> {
  const closing = (async () => iterator.return?.())().catch(() => {})
  await Promise.race([closing, new Promise((resolve) => setTimeout(resolve))])
}
