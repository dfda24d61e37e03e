/** The bytes for a store, at once or in pieces. */
export type SpoolSource = string | Uint8Array | AsyncIterable<Uint8Array>

/** Reads ranges of bytes. The kernel splits them into lines. */
export interface SpoolReader {
  readonly byteLength: number
  /** The media type of the write, if the store knows it. */
  readonly mediaType?: string | undefined
  /** Returns the bytes from `start` up to but not including `end`. Both are within the length. */
  read(start: number, end: number): Uint8Array | Promise<Uint8Array>
}

/** What a store is told of the bytes. */
export interface Spooling {
  readonly session: string
  readonly mediaType: string
  readonly signal?: AbortSignal | undefined
}

/** What a store returns for an artifact that it wrote. */
export interface StoredArtifact {
  readonly handle: string
  readonly sha256: string
  readonly byteLength: number
}

/** Keeps what is too large for a result object. Handles are random, and open only in the session that wrote them. */
export interface ArtifactStore {
  write(source: SpoolSource, spooling: Spooling): Promise<StoredArtifact>
  open(handle: string, access: { readonly session: string }): SpoolReader | Promise<SpoolReader>
  delete(handle: string): Promise<void>
}
