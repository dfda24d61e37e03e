import { createSha256 } from '#sha256'
import { ArtifactError } from './errors.ts'
import { MemoryReader } from './memory-reader.ts'
import type { ArtifactStore, SpoolSource } from './ports.ts'
import { randomDigits } from './text.ts'

/**
 * Keeps artifacts in memory: those that were used least recently go first, the newest never.
 *
 * @param limits `maximumBytes`: what all of them together may take. Default: 67,108,864 (64 MiB).
 * @example
 * ```ts
 * import { createExecutor, memoryStore } from 'toolwright'
 *
 * const executor = createExecutor({ tools: [], use: [{ store: memoryStore({ maximumBytes: 1_000_000 }) }] })
 * ```
 */
export function memoryStore(limits: { readonly maximumBytes?: number } = {}): ArtifactStore {
  const maximumBytes = limits.maximumBytes ?? 67_108_864
  const kept = new Map<string, { readonly session: string; readonly mediaType: string; readonly bytes: Uint8Array }>()
  let total = 0

  function forget(handle: string): void {
    total -= kept.get(handle)?.bytes.byteLength ?? 0
    kept.delete(handle)
  }

  return {
    async write(source, { session, mediaType, signal }) {
      const bytes = await bytesOf(source, signal)
      const hash = createSha256()
      hash.update(bytes)
      const handle = `artifact_${randomDigits(20)}`
      kept.set(handle, { session, mediaType, bytes })
      total += bytes.byteLength
      for (const oldest of kept.keys()) {
        if (total <= maximumBytes || oldest === handle) break
        forget(oldest)
      }
      return { handle, sha256: hash.digest(), byteLength: bytes.byteLength }
    },
    open(handle, { session }) {
      const entry = kept.get(handle)
      if (entry === undefined || entry.session !== session) throw noArtifact(handle)
      kept.delete(handle) // set again below, as the one that was used last
      kept.set(handle, entry)
      return new MemoryReader(entry.bytes, entry.mediaType)
    },
    async delete(handle) {
      forget(handle)
    },
  }
}

/** The same answer for a handle that never was, is gone, or is of another session. */
export function noArtifact(handle: string): ArtifactError {
  return new ArtifactError(
    `There is no artifact ${JSON.stringify(handle.slice(0, 80))} in this session. It may have been dropped to make room; call the tool again.`,
  )
}

async function bytesOf(source: SpoolSource, signal: AbortSignal | undefined): Promise<Uint8Array> {
  if (typeof source === 'string') return new TextEncoder().encode(source)
  if (source instanceof Uint8Array) return new Uint8Array(source)
  const chunks: Uint8Array[] = []
  let length = 0
  for await (const chunk of source) {
    signal?.throwIfAborted()
    chunks.push(new Uint8Array(chunk)) // the writer may go on using its own
    length += chunk.byteLength
  }
  const bytes = new Uint8Array(length)
  let offset = 0
  for (const chunk of chunks) {
    bytes.set(chunk, offset)
    offset += chunk.byteLength
  }
  return bytes
}
