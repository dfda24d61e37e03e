import { createHash } from 'node:crypto'
import type { ArtifactStore } from '../../extension.ts'

/** What each part of the suite needs. */
export interface StoreSuite {
  readonly title: string
  readonly create: (limits?: { readonly maximumBytes?: number }) => Promise<ArtifactStore>
}

export const spooling = { session: 'one', mediaType: 'text/plain' } as const
export const utf8Encoder: InstanceType<typeof TextEncoder> = new TextEncoder()
export const utf8Decoder: InstanceType<typeof TextDecoder> = new TextDecoder()

export function sha256Of(bytes: string | Uint8Array): string {
  return createHash('sha256').update(bytes).digest('hex')
}

/** A stream of texts and bytes. */
export async function* pieceStream(
  ...pieces: readonly (string | Uint8Array)[]
): AsyncGenerator<Uint8Array, void, undefined> {
  for (const piece of pieces) yield typeof piece === 'string' ? utf8Encoder.encode(piece) : piece
}

/** Returns what a store refuses with, at once or in a promise. */
export async function thrownBy(open: () => unknown): Promise<unknown> {
  try {
    await open()
  } catch (error) {
    return error
  }
  throw new Error('was not refused')
}

/** Returns all bytes of an artifact. */
export async function allBytes(store: ArtifactStore, handle: string, session = 'one'): Promise<Uint8Array> {
  const reader = await store.open(handle, { session })
  return reader.read(0, reader.byteLength)
}
