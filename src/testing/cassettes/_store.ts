import { createHash } from 'node:crypto'
import { ArtifactError } from '../../errors.ts'
import type { ArtifactStore } from '../../extension.ts'

/** What decides the handles of a store. */
export interface HandleNames {
  /** The random part, which the tape keeps. */
  readonly seed: string
  /** Returns the name of a session, the same when the tape was recorded. */
  readonly label: (session: string) => string
  /** Changes text before it is hashed, as it is changed on the tape. */
  readonly redact: ((text: string) => string) | undefined
}

/**
 * Wraps a store, so that a handle is the same each time the same bytes are kept in the same session. It still opens in the session
 * that wrote it, and in no other.
 */
export function nameArtifacts(store: ArtifactStore, { seed, label, redact }: HandleNames): ArtifactStore {
  // Labels of the application's own may be the same for two sessions.
  const handles = new Map<string, Map<string, string>>()
  return {
    async write(source, spooling) {
      const stored = await store.write(source, spooling)
      const { session, mediaType } = spooling
      const isText = typeof source === 'string' && redact !== undefined
      const digest = isText ? createHash('sha256').update(redact(source)).digest('hex') : stored.sha256
      const name = JSON.stringify([seed, label(session), mediaType, digest])
      const handle = `artifact_${createHash('sha256').update(name).digest('hex').slice(0, 40)}`
      const bySession = handles.get(handle) ?? new Map<string, string>()
      const former = bySession.get(session)
      handles.set(handle, bySession.set(session, stored.handle))
      if (former !== undefined) await store.delete(former)
      return { ...stored, handle }
    },
    open(handle, access) {
      const bySession = handles.get(handle)
      if (bySession === undefined) return store.open(handle, access) // it may have been there before
      const stored = bySession.get(access.session)
      if (stored !== undefined) return store.open(stored, access)
      throw new ArtifactError(
        `There is no artifact ${JSON.stringify(handle)} in this session. Call the tool that returned it again.`,
      )
    },
    async delete(handle) {
      const bySession = handles.get(handle)
      handles.delete(handle)
      if (bySession === undefined) await store.delete(handle)
      else for (const stored of bySession.values()) await store.delete(stored)
    },
  }
}
