import { posix, win32 } from 'node:path'
import { refusal, quotedPath } from './_words.ts'

/** How a platform and a file system read paths. */
export interface PathRules {
  readonly separator: '/' | '\\'
  /** Whether a path stands for a place by itself, below no root. */
  readonly isAbsolute: (path: string) => boolean
  /** Returns one text for all spellings that the file system takes for the same name. */
  readonly fold: (name: string) => string
  /** Returns one text for all spellings that any file system could take for the same name, and perhaps for more. */
  readonly broadFold: (name: string) => string
  /** @throws `ToolFailure` if a name stands for anything else than a file of that name. */
  readonly requireName: (name: string, path: string) => void
  /** @throws `ToolFailure` if looking at an absolute path could reach another machine or a device. */
  readonly requireLocal: (path: string) => void
}

/** The rules of Linux: names are bytes. */
export const byteRules: PathRules = {
  separator: '/',
  isAbsolute: (path) => path.startsWith('/'),
  fold: (name) => name,
  broadFold: (name) => name.toLowerCase(),
  requireName: () => {},
  requireLocal: () => {},
}

/** Characters that some file systems leave out of names when they compare them. */
const ignored = /[\u00ad\u200b-\u200f\u202a-\u202e\u2060-\u206f\ufeff]/gu

/** The rules of macOS, and of Linux without descriptors. */
export function unixRules(isCaseSensitive: boolean): PathRules {
  return { ...byteRules, fold: isCaseSensitive ? (name) => name : folded, broadFold: broadlyFolded }
}

function folded(name: string): string {
  return name.normalize('NFC').toLowerCase()
}

function broadlyFolded(name: string): string {
  return name.normalize('NFKC').replace(ignored, '').toUpperCase().toLowerCase().normalize('NFKC')
}

/** The rules of Windows. */
export const windowsRules: PathRules = {
  separator: '\\',
  // `C:name` and `\name` depend on directories of this process: they are below no root.
  isAbsolute: (path) => /^(?:[\\/]|[a-z]:)/i.test(path),
  fold: (name) => name.toLowerCase(),
  broadFold: broadlyFolded,
  requireName: requireWindowsName,
  requireLocal(path) {
    if (/^[\\/]{2}/.test(path)) throw refusal(`${quotedPath(path)} is on another machine, or is a device.`)
    if (!/^[a-z]:[\\/]/i.test(path)) throw refusal(`${quotedPath(path)} is no whole path.`)
    for (const name of path.slice(3).split(/[\\/]/)) if (name !== '') requireWindowsName(name, path)
  },
}

const devices = /^(?:con|prn|aux|nul|clock\$|conin\$|conout\$|(?:com|lpt)[0-9\u00b9\u00b2\u00b3])$/i
/** A short name that Windows makes for a longer one, such as `PROGRA~1`. */
const shortName = /^[^.]{1,6}~[0-9]{1,6}(?:\.[^.]{0,3})?$/

function requireWindowsName(name: string, path: string): void {
  const reason = windowsReason(name)
  if (reason !== undefined) throw refusal(`${quotedPath(path)} has the name ${quotedPath(name)}, which ${reason}.`)
}

function windowsReason(name: string): string | undefined {
  if (name.includes(':')) return 'stands for a stream of a file, or for a drive'
  // oxlint-disable-next-line no-control-regex
  if (/[\u0000-\u001f<>"|?*\\/]/.test(name)) return 'has a character that no name has on Windows'
  if (/[. ]$/.test(name)) return 'ends in a dot or a space, which Windows leaves out'
  if (devices.test((name.split('.')[0] ?? '').trimEnd())) return 'is that of a device'
  if (shortName.test(name)) return 'could be the short form of another one: write the whole name'
  return undefined
}

/**
 * Returns what follows a root in an absolute path, with slashes, or `undefined` if the path is not below the root. It is `.` for the
 * root itself.
 */
export function belowRoot(path: string, root: string, { fold, separator }: PathRules): string | undefined {
  const wanted = namesIn(root, separator)
  const names = namesIn(path, separator)
  if (wanted.at(-1) === '') wanted.pop() // the root of a file system
  if (!wanted.every((name, index) => index < names.length && fold(name) === fold(names[index] ?? ''))) return undefined
  return names.slice(wanted.length).join('/') || '.'
}

/** Splits a path at its separators. */
export function namesIn(path: string, separator: '/' | '\\'): string[] {
  return path.split(separator === '/' ? posix.sep : /[\\/]/)
}

/** Returns whether a directory is the root of a file system. */
export function isRootOfAll(path: string, { separator }: PathRules): boolean {
  const { root } = (separator === '/' ? posix : win32).parse(path)
  return root === path || `${path}${separator}` === root
}
