import { createSha256, sha256 } from '#sha256'
import { ArtifactError } from '../kernel/errors.ts'
import { MemoryReader } from '../kernel/result/artifact.ts'
import type { ArtifactStore, SpoolSource } from '../kernel/result/store.ts'
import { randomDigits } from '../kernel/call/random.ts'
import { Pace } from '../kernel/run/pace.ts'

/** A store in the memory of this process. */
export interface MemoryStore extends ArtifactStore {
  /** The number of artifacts. */
  readonly size: number
  /** Deletes the artifacts of all sessions; open readers stay valid. */
  clear(): void
}

/**
 * Makes a store in memory that drops the least recently used artifacts when it is full. It stops reading an artifact that is
 * larger than the whole store, and then drops nothing.
 *
 * @param limits `maximumBytes`: the total size of all artifacts. Default: 67,108,864 (64 MiB).
 * @throws `E_ARTIFACT` from `write` if the artifact is larger than that, and from `open` if there is no such artifact.
 * @example
 * ```ts
 * import { createExecutor, memoryStore } from 'toolwright'
 *
 * const executor = createExecutor({ tools: [], use: [{ store: memoryStore({ maximumBytes: 1_000_000 }) }] })
 * ```
 */
export function memoryStore(limits: { readonly maximumBytes?: number } = {}): MemoryStore {
  const maximumBytes = limits.maximumBytes ?? 67_108_864
  const artifacts = new Map<
    string,
    { readonly session: string; readonly mediaType: string; readonly bytes: Uint8Array }
  >()
  let total = 0

  function forget(handle: string): void {
    total -= artifacts.get(handle)?.bytes.byteLength ?? 0
    artifacts.delete(handle)
  }

  return {
    async write(source, { session, mediaType, signal }) {
      const [bytes, digest] = await copiedBytes(source, maximumBytes, signal)
      const handle = `artifact_${randomDigits(20)}`
      artifacts.set(handle, { session, mediaType, bytes })
      total += bytes.byteLength
      for (const oldest of artifacts.keys()) {
        if (total <= maximumBytes) break
        forget(oldest)
      }
      return { handle, sha256: digest, byteLength: bytes.byteLength }
    },
    open(handle, { session }) {
      const entry = artifacts.get(handle)
      if (entry === undefined || entry.session !== session) throw missingArtifact(handle)
      artifacts.delete(handle) // set again below, as the most recently used
      artifacts.set(handle, entry)
      return new MemoryReader(entry.bytes, entry.mediaType)
    },
    delete: async (handle) => forget(handle),
    get size() {
      return artifacts.size
    },
    clear() {
      artifacts.clear()
      total = 0
    },
  }
}

/** The error for a handle that never existed, was dropped, or belongs to another session: they look alike. */
export function missingArtifact(handle: string): ArtifactError {
  return new ArtifactError(
    `There is no artifact ${JSON.stringify(handle.slice(0, 80))} in this session. It may have been dropped to make room; call the tool that returned it again.`,
  )
}

/** Copies and hashes the bytes of a source, since its owner may change them later. A stream lets other tasks run. */
async function copiedBytes(
  source: SpoolSource,
  maximumBytes: number,
  signal?: AbortSignal,
): Promise<[Uint8Array, string]> {
  const demandRoom = (length: number): void => {
    if (length <= maximumBytes) return
    throw new ArtifactError(
      `The result is larger than the ${maximumBytes.toLocaleString('en')} bytes that the store in memory can hold (\`maximumBytes\` of memoryStore). Ask for less at once, or let the host use another store.`,
    )
  }
  if (typeof source === 'string' || source instanceof Uint8Array) {
    demandRoom(source.length)
    const bytes = typeof source === 'string' ? new TextEncoder().encode(source) : new Uint8Array(source)
    demandRoom(bytes.length)
    return [bytes, sha256(bytes)]
  }
  const chunks: Uint8Array[] = []
  let length = 0
  const hash = createSha256()
  const pace = new Pace()
  for await (const chunk of source) {
    await pace.step()
    signal?.throwIfAborted()
    demandRoom((length += chunk.byteLength))
    chunks.push(new Uint8Array(chunk))
    hash.update(chunk)
  }
  const bytes = new Uint8Array(length)
  for (const chunk of chunks.toReversed()) {
    await pace.step()
    bytes.set(chunk, (length -= chunk.byteLength))
  }
  return [bytes, hash.digest()]
}
