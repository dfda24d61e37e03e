import { normalize } from 'node:path'
import { quotedPath, unchanged } from './_words.ts'

const mostReadFiles = 5_000

/** The versions of files that a session read or wrote. */
export class Freshness {
  readonly #byPath = new Map<string, string>()
  readonly #versions = new Set<string>()

  note(path: string, version: string): void {
    const name = normalize(path)
    this.#byPath.delete(name)
    this.#byPath.set(name, version)
    this.#versions.add(version)
    for (const oldest of this.#byPath.keys()) {
      if (this.#byPath.size <= mostReadFiles) break
      this.#byPath.delete(oldest)
    }
    for (const oldest of this.#versions) {
      if (this.#versions.size <= mostReadFiles) break
      this.#versions.delete(oldest)
    }
  }

  /** @throws `ToolFailure` if the file has changed since the session read it. A file that it never read passes. */
  requireUnchanged(path: string, version: string): void {
    if (!this.#byPath.has(normalize(path)) || this.#versions.has(version)) return
    throw unchanged(
      `${quotedPath(path)} has changed since it was read. Nothing was written.`,
      'Read it again, then repeat the change.',
    )
  }

  /** @throws `ToolFailure` also if the session never read the file. */
  requireRead(path: string, version: string): void {
    this.requireUnchanged(path, version)
    if (this.#versions.has(version)) return
    throw unchanged(
      `${quotedPath(path)} is there already and was not read. Nothing was written.`,
      'Read it first, or change a part of it with fs_edit.',
    )
  }
}
