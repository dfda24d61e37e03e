import { SpooledArtifact, type ArtifactClass } from '../kernel/result/artifact.ts'
import { classOfMediaType } from '../kernel/result/kinds.ts'
import { ArtifactError, isToolError } from '../kernel/errors.ts'
import { errorWords } from '../kernel/outcome/failure.ts'
import { LineIndex } from './lines.ts'
import type { Received } from '../kernel/call/parcel.ts'
import type { ArtifactStore, SpoolReader, SpoolSource, StoredArtifact } from '../kernel/result/store.ts'
import type { Shelf, Shelved } from '../kernel/result/shelf.ts'

/** The most artifacts that are remembered. Of others the store still knows the bytes and the media type. */
const mostRemembered = 10_000

/** What the store does not know of an artifact. */
interface Placement {
  readonly Class: ArtifactClass
  readonly mediaType: string
  readonly trusted: boolean
  readonly toolName: string
}

interface RememberedArtifact {
  readonly session: string
  readonly trusted: boolean
  readonly index: LineIndex
  readonly view: Shelved
}

/** Remembers what the store does not know of its artifacts: class, trust and line index. */
export class ArtifactShelf implements Shelf {
  readonly #store: ArtifactStore
  readonly #remembered = new Map<string, RememberedArtifact>()
  readonly #sessions = new Map<string, Map<string, Shelved>>()

  constructor(store: ArtifactStore) {
    this.#store = store
  }

  /** Writes an artifact to the store, and remembers it. The deadline of the call ends it. */
  async write(
    source: SpoolSource,
    placement: Omit<Placement, 'toolName'>,
    call: Received,
  ): Promise<[StoredArtifact, SpooledArtifact]> {
    const { session, deadline, name: toolName } = call
    const { mediaType } = placement
    const writing = this.#store.write(source, { session, mediaType, signal: deadline.signal })
    const stored = await deadline.within(writing, ({ handle, byteLength, sha256 }) => ({ handle, byteLength, sha256 }))
    const artifact = await deadline.within(this.#store.open(stored.handle, { session }), (reader) =>
      this.place(stored.handle, session, reader, { ...placement, toolName }),
    )
    return [stored, artifact]
  }

  /** Makes the artifact of a handle in the store, and remembers it. */
  place(handle: string, session: string, reader: SpoolReader, placement: Placement): SpooledArtifact {
    const { Class, mediaType, trusted, toolName } = placement
    const index = new LineIndex()
    const artifact = new Class({ reader, mediaType, handle, trusted, index })
    this.#list(artifact, handle, session, index, toolName)
    return artifact
  }

  /** Remembers an artifact that is in the store already, unless it does. */
  remember(artifact: SpooledArtifact, handle: string, { session, name }: Received): void {
    if (!this.#remembered.has(handle)) this.#list(artifact, handle, session, new LineIndex(), name)
  }

  #list(artifact: SpooledArtifact, handle: string, session: string, index: LineIndex, toolName: string): void {
    const { kind, mediaType, trusted } = artifact
    const Class = artifact.constructor as ArtifactClass
    const view: Shelved = { handle, kind, mediaType, byteLength: artifact.byteLength(), toolName, Class }
    this.#remembered.set(handle, { session, trusted, index, view })
    const views = this.#sessions.get(session) ?? new Map<string, Shelved>()
    this.#sessions.set(session, views.set(handle, view))
    for (const oldest of this.#remembered.keys()) {
      if (this.#remembered.size <= mostRemembered) break
      this.#forget(oldest)
    }
  }

  list(session: string): readonly Shelved[] {
    return [...(this.#sessions.get(session)?.values() ?? [])].toReversed()
  }

  #forget(handle: string): void {
    const { session = '' } = this.#remembered.get(handle) ?? {}
    const views = this.#sessions.get(session)
    views?.delete(handle)
    if (views?.size === 0) this.#sessions.delete(session)
    this.#remembered.delete(handle)
  }

  async open(handle: string, session: string, classes: readonly ArtifactClass[] = []): Promise<SpooledArtifact> {
    const remembered = this.#remembered.get(handle)
    let reader: SpoolReader
    try {
      reader = await this.#store.open(handle, { session })
    } catch (error) {
      if (remembered?.session === session) this.#forget(handle)
      if (isToolError(error)) throw error
      const words = `The artifact could not be opened: ${errorWords(error).message}`
      throw new ArtifactError(words, { cause: error, retryable: true })
    }
    const { mediaType } = reader
    if (remembered === undefined) return new (classOfMediaType(mediaType, classes))({ reader, mediaType, handle })
    const { trusted, index, view } = remembered
    return new view.Class({ reader, mediaType: view.mediaType, handle, trusted, index })
  }
}
