import type { ArtifactClass, SpooledArtifact } from './artifact.ts'

/** The description of an artifact on the shelf. */
export interface Shelved {
  readonly handle: string
  readonly kind: string
  readonly mediaType: string
  readonly byteLength: number
  /** The tool whose result it is. */
  readonly toolName: string
  readonly Class: ArtifactClass
}

/** The artifacts in an executor's store, for tools to open. */
export interface Shelf {
  /** Returns the recent artifacts of a session, newest first. */
  list(session: string): readonly Shelved[]
  /**
   * Opens an artifact in its session.
   *
   * @param classes Chosen by media type, if another executor kept the artifact.
   * @throws `E_ARTIFACT` if the session has no such artifact, or the store cannot be read.
   */
  open(handle: string, session: string, classes?: readonly ArtifactClass[]): Promise<SpooledArtifact>
}
