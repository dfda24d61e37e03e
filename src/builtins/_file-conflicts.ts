import { posix, resolve, sep } from 'node:path'
import type { Conflict } from '../extension.ts'
import type { Sandbox } from './sandbox.ts'

/** The longest key of a path, in characters. Instead of a longer path, a directory around it is locked. */
const longestPathKey = 1_000

/** The files of a sandbox. With `identify`, its paths are those of this machine. */
export type FilePlace = Pick<Sandbox, 'root' | 'identify'>

const placeNames = new WeakMap<FilePlace, string>()
let placeCount = 0

/**
 * Returns what calls touch by their paths, as they are written: links are not followed, since the tools order changes of one file by
 * its identity too.
 */
export function fileConflicts(place: FilePlace, paths: readonly string[], mode: 'read' | 'write'): Conflict[] {
  return [...new Set(paths.map((path) => pathKey(place, path)))].map((key) => ({ key, mode }))
}

function pathKey(place: FilePlace, path: string): string {
  if (place.identify !== undefined) return boundedKey(`file:${resolve(place.root, path).replaceAll(sep, '/')}`)
  const name = placeNames.get(place) ?? `sandbox ${++placeCount}`
  placeNames.set(place, name)
  return boundedKey(`file:${name}${posix.resolve('/', place.root, path)}`) // another machine may have the same paths
}

function boundedKey(key: string): string {
  return key.length <= longestPathKey ? key : key.slice(0, Math.max(key.lastIndexOf('/', longestPathKey), 0)) || 'file:'
}
