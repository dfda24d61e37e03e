import { ToolFailure } from '../index.ts'

/** Returns a path for a message: quoted, and cut if it is long. */
export function quotedPath(path: string): string {
  return JSON.stringify(path.length > 160 ? `${path.slice(0, 159)}…` : path)
}

/** Makes the refusal of a path or a command, with what the model can do next. */
export function refusal(message: string, ...recommendations: readonly string[]): ToolFailure {
  return new ToolFailure(message, { recommendations })
}

/** Makes the failure of a change that was not begun. */
export function unchanged(message: string, ...recommendations: readonly string[]): ToolFailure {
  return new ToolFailure(message, { recommendations, effect: 'none' })
}

const codeReasons: Readonly<Record<string, readonly [words: string, next?: string]>> = {
  ENOENT: ['does not exist', 'See what there is with fs_glob.'],
  ENOTDIR: ['leads through a file as if it were a directory'],
  EISDIR: ['is a directory', 'List it with fs_glob.'],
  ELOOP: ['has too many links'],
  EACCES: ['may not be accessed by this process'],
  EPERM: ['may not be changed by this process'],
  EROFS: ['lies on a file system that cannot be written'],
  ENAMETOOLONG: ['has a name that is too long: at most 255 bytes'],
  ENOSPC: ['was not written: the disk is full'],
  EDQUOT: ['was not written: the quota of the disk is used up'],
  EFBIG: ['was not written: the file would be too large'],
}
const passingCodes = new Set(['EMFILE', 'ENFILE', 'ENOMEM', 'EAGAIN', 'EBUSY'])

/** Puts a system error of a path into words. Returns any other error as it is. */
export function pathFailure(error: unknown, path: string): unknown {
  const { code } = (typeof error === 'object' && error !== null ? error : {}) as { readonly code?: unknown }
  if (error instanceof ToolFailure || typeof code !== 'string' || !/^E[A-Z]+$/.test(code)) return error
  const [words, next] = codeReasons[code] ?? [`cannot be used (${code})`]
  const recommendations = next === undefined ? [] : [next]
  const failure = new ToolFailure(`${quotedPath(path)} ${words}.`, {
    recommendations,
    retryable: passingCodes.has(code),
  })
  codes.set(failure, code)
  return failure
}

/** The codes of system errors that were put into words. */
const codes = new WeakMap<object, string>()

/** Returns the code of a system error, also if it was put into words. */
export function systemCode(error: unknown): string | undefined {
  if (typeof error !== 'object' || error === null) return undefined
  return codes.get(error) ?? (error as NodeJS.ErrnoException).code
}
