import { lstat, opendir, unlink } from 'node:fs/promises'
import { isHandle } from '../_handles.ts'
import { isThere, patience, unlessMissing, type Places } from './_disk.ts'
import { readEntry } from './_entry.ts'

/** What was removed: artifacts that were too old, and files that no artifact needs. */
export interface Collected {
  readonly artifacts: number
  readonly leftovers: number
}

/** Removes an artifact: first what makes it one, so that it is never half there. */
export async function forget(places: Places, handle: string, sha256: string): Promise<void> {
  await unlink(places.entry(handle)).catch(unlessMissing)
  await unlink(places.own(handle)).catch(unlessMissing)
  await dropIfUnused(places.content(sha256))
}

/** Removes artifacts that are older than `limit` milliseconds, and what dead processes left, while others write and read. */
export async function collect(places: Places, limit: number): Promise<Collected> {
  const now = Date.now()
  let artifacts = 0
  let leftovers = 0
  for await (const name of namesIn(places.handles)) {
    const handle = name.replace(/\.json(?:\.part)?$/, '')
    if (!isHandle(handle)) continue
    if (name === handle) leftovers += await dropIfOrphan(places, handle)
    else if (name.endsWith('.part')) leftovers += await dropIfOlder(places.newEntry(handle), now - patience)
    else if ((await age(places.entry(handle), now)) > limit) {
      const entry = await readEntry(places, handle).catch(() => undefined) // a damaged one is old as well
      await forget(places, handle, entry?.sha256 ?? '0'.repeat(64))
      artifacts++
    }
  }
  for await (const name of namesIn(places.contents)) {
    const path = places.content(name)
    if (/^artifact_[0-9a-f]{40}\.part$/.test(name)) leftovers += await dropIfOlder(path, now - patience)
    else if (/^[0-9a-f]{64}$/.test(name)) leftovers += await dropIfUnused(path)
  }
  return { artifacts, leftovers }
}

/** Removes a content that no artifact has a name for. Whoever takes it up in this moment has one: only the sharing is lost. */
async function dropIfUnused(path: string): Promise<number> {
  const { nlink } = (await lstat(path).catch(unlessMissing)) ?? { nlink: 0 }
  return nlink === 1 ? remove(path) : 0
}

/**
 * Removes the name of an artifact that never came to be. A writer makes the entry's `.part` first, then the name, and then
 * renames the one: where the `.part` is gone, the entry is there, or never will be.
 */
async function dropIfOrphan(places: Places, handle: string): Promise<number> {
  if (await isThere(places.entry(handle))) return 0
  if (await isThere(places.newEntry(handle))) return 0
  if (await isThere(places.entry(handle))) return 0
  return remove(places.own(handle))
}

/** Removes a file whose writer has given no sign of life since then. One that lives all the same fails, and loses nothing. */
async function dropIfOlder(path: string, time: number): Promise<number> {
  const { mtimeMs } = (await lstat(path).catch(unlessMissing)) ?? { mtimeMs: Infinity }
  return mtimeMs < time ? remove(path) : 0
}

async function age(path: string, now: number): Promise<number> {
  const { mtimeMs } = (await lstat(path).catch(unlessMissing)) ?? { mtimeMs: Infinity }
  return now - mtimeMs
}

async function remove(path: string): Promise<number> {
  return unlink(path)
    .then(() => 1, unlessMissing)
    .then((count) => count ?? 0)
}

async function* namesIn(path: string): AsyncGenerator<string, void, undefined> {
  const directory = await opendir(path).catch(unlessMissing)
  if (directory === undefined) return
  for await (const { name } of directory) yield name
}
