import { createHash } from 'node:crypto'
import type { ArtifactStore } from '../../extension.ts'

/** What each part of the suite needs. */
export interface Suite {
  readonly title: string
  readonly create: (limits?: { readonly maximumBytes?: number }) => Promise<ArtifactStore>
}

export const spooling = { session: 'one', mediaType: 'text/plain' } as const
export const encoder: InstanceType<typeof TextEncoder> = new TextEncoder()
export const decoder: InstanceType<typeof TextDecoder> = new TextDecoder()

export function sha256(bytes: string | Uint8Array): string {
  return createHash('sha256').update(bytes).digest('hex')
}

/** A stream of texts and bytes. */
export async function* piecesOf(
  ...pieces: readonly (string | Uint8Array)[]
): AsyncGenerator<Uint8Array, void, undefined> {
  for (const piece of pieces) yield typeof piece === 'string' ? encoder.encode(piece) : piece
}

/** Returns what a store refuses with, at once or in a promise. */
export async function refusalOf(open: () => unknown): Promise<unknown> {
  try {
    await open()
  } catch (error) {
    return error
  }
  throw new Error('was not refused')
}

/** Returns all bytes of an artifact. */
export async function everything(store: ArtifactStore, handle: string, session = 'one'): Promise<Uint8Array> {
  const reader = await store.open(handle, { session })
  return reader.read(0, reader.byteLength)
}
