import { lstat, opendir, unlink } from 'node:fs/promises'
import { isHandle } from '../_handles.ts'
import { isThere, unlessMissing, writerTimeout, type Places } from './_disk.ts'
import { readEntry } from './_entry.ts'

/** How many artifacts that were too old, and how many files that no artifact needs, were removed. */
export interface Collected {
  readonly artifacts: number
  readonly leftovers: number
}

/** Removes an artifact: first its entry, so that no handle opens a partly removed artifact. */
export async function forget(places: Places, handle: string, sha256: string): Promise<void> {
  await unlink(places.entry(handle)).catch(unlessMissing)
  await unlink(places.own(handle)).catch(unlessMissing)
  await dropIfUnused(places.content(sha256))
}

/** Removes artifacts older than `limit` milliseconds, and files of dead processes. Others may write and read meanwhile. */
export async function collect(places: Places, limit: number): Promise<Collected> {
  const now = Date.now()
  let artifacts = 0
  let leftovers = 0
  for await (const name of fileNames(places.handles)) {
    const handle = name.replace(/\.json(?:\.part)?$/, '')
    if (!isHandle(handle)) continue
    if (name === handle) leftovers += await dropIfOrphan(places, handle)
    else if (name.endsWith('.part')) leftovers += await dropIfOlder(places.newEntry(handle), now - writerTimeout)
    else if ((await age(places.entry(handle), now)) > limit) {
      const entry = await readEntry(places, handle).catch(() => undefined) // a damaged entry is removed too
      await forget(places, handle, entry?.sha256 ?? '0'.repeat(64))
      artifacts++
    }
  }
  for await (const name of fileNames(places.contents)) {
    const path = places.content(name)
    if (/^artifact_[0-9a-f]{40}\.part$/.test(name)) leftovers += await dropIfOlder(path, now - writerTimeout)
    else if (/^[0-9a-f]{64}$/.test(name)) leftovers += await dropIfUnused(path)
  }
  return { artifacts, leftovers }
}

/** Removes a content without artifacts. A writer that links it at this moment keeps its link; only the sharing is lost. */
async function dropIfUnused(path: string): Promise<number> {
  const { nlink } = (await lstat(path).catch(unlessMissing)) ?? { nlink: 0 }
  return nlink === 1 ? remove(path) : 0
}

/**
 * Removes the name of an artifact that was never completed. A writer makes the entry's `.part`, then the name, then renames
 * the `.part`. So if the `.part` is gone, the entry exists already or never will: the order of the checks matters.
 */
async function dropIfOrphan(places: Places, handle: string): Promise<number> {
  if (await isThere(places.entry(handle))) return 0
  if (await isThere(places.newEntry(handle))) return 0
  if (await isThere(places.entry(handle))) return 0
  return remove(places.own(handle))
}

/** Removes a file that its writer has not touched since `time`. A writer that is still alive fails cleanly. */
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

async function* fileNames(path: string): AsyncGenerator<string, void, undefined> {
  const directory = await opendir(path).catch(unlessMissing)
  if (directory === undefined) return
  for await (const { name } of directory) yield name
}
