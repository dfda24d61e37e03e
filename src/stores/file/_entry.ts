import { ArtifactError } from '../../errors.ts'
import { openToRead, type Places } from './_disk.ts'

/** Bytes that an entry may have. The store writes a few hundred, and the name of the session. */
const longestEntry = 16_777_216

/** The metadata of an artifact: a small file beside the bytes. */
export interface ArtifactMetadata {
  readonly sha256: string
  readonly session: string
  readonly mediaType: string
  readonly byteLength: number
}

/** Returns the entry of a handle, or `undefined` if there is no such artifact. */
export async function readEntry(places: Places, handle: string): Promise<ArtifactMetadata | undefined> {
  const file = await openToRead(places.entry(handle))
  if (file === undefined) return undefined
  try {
    const text = (await file.stat()).size > longestEntry ? '' : await file.readFile('utf8')
    const entry = parsedEntry(text)
    if (isEntry(entry)) return entry
  } finally {
    await file.close()
  }
  throw new ArtifactError('The artifact cannot be read: its metadata is damaged.')
}

function parsedEntry(text: string): unknown {
  try {
    return JSON.parse(text) as unknown
  } catch {
    return undefined
  }
}

function isEntry(value: unknown): value is ArtifactMetadata {
  const { sha256, session, mediaType, byteLength } = (value ?? {}) as Partial<Record<keyof ArtifactMetadata, unknown>>
  if (typeof sha256 !== 'string' || !/^[0-9a-f]{64}$/.test(sha256)) return false
  return typeof session === 'string' && typeof mediaType === 'string' && Number.isSafeInteger(byteLength)
}
