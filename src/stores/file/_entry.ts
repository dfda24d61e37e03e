import { readFile } from 'node:fs/promises'
import { ArtifactError } from '../../index.ts'
import { unlessMissing, type Places } from './_disk.ts'

/** What is known of a handle: a small file beside the bytes. */
export interface Entry {
  readonly sha256: string
  readonly session: string
  readonly mediaType: string
  readonly byteLength: number
}

/** What is known of a handle; nothing where there is no such artifact. */
export async function readEntry(places: Places, handle: string): Promise<Entry | undefined> {
  const text = await readFile(places.entry(handle), 'utf8').catch(unlessMissing)
  if (text === undefined) return undefined
  try {
    const entry: unknown = JSON.parse(text)
    if (isEntry(entry)) return entry
  } catch {
    // said below
  }
  throw new ArtifactError('The artifact cannot be read: what is known of it is damaged.')
}

function isEntry(value: unknown): value is Entry {
  const { sha256, session, mediaType, byteLength } = (value ?? {}) as Partial<Record<keyof Entry, unknown>>
  if (typeof sha256 !== 'string' || !/^[0-9a-f]{64}$/.test(sha256)) return false
  return typeof session === 'string' && typeof mediaType === 'string' && Number.isSafeInteger(byteLength)
}
