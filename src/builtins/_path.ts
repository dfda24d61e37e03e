import { belowRoot, namesIn, type PathRules } from './_path-rules.ts'
import { OutsideError } from './sandbox.ts'
import { quotedPath, refusal } from './_words.ts'

const longestFilePath = 4_095

/**
 * Splits a path that a model gave into names. A last `.` stands for a path that must be a directory.
 *
 * @param roots The absolute paths of the root.
 * @throws {OutsideError} if it is absolute and not within a root. `ToolFailure` if it is no path.
 */
export function pathNames(path: unknown, roots: readonly string[], rules: PathRules): string[] {
  if (typeof path !== 'string' || path === '') throw refusal('A path is a text that is not empty.')
  if (path.includes('\0')) throw refusal('A path has no NUL character.')
  if (!path.isWellFormed()) throw refusal('A path is valid Unicode: this one has half of a surrogate pair.')
  if (Buffer.byteLength(path) > longestFilePath) throw refusal(`A path has at most ${longestFilePath} bytes.`)
  return pathParts(pathWithin(path, roots, path, rules), rules)
}

/** Splits the target of a link. @throws {OutsideError} if it is absolute and not within a root. */
export function namesOfTarget(
  target: string,
  roots: readonly string[],
  path: string,
  rules: PathRules,
): { readonly names: string[]; readonly isAbsolute: boolean } {
  const isAbsolute = rules.isAbsolute(target)
  return { names: pathParts(isAbsolute ? pathWithin(target, roots, path, rules) : target, rules), isAbsolute }
}

/** @param shown The path for the message, which does not tell the target of a link. */
function pathWithin(path: string, roots: readonly string[], displayPath: string, rules: PathRules): string {
  if (!rules.isAbsolute(path)) return path
  for (const root of roots) {
    const below = belowRoot(path, root, rules)
    if (below !== undefined) return below
  }
  throw new OutsideError(displayPath, roots[0] ?? '')
}

function pathParts(path: string, { separator }: PathRules): string[] {
  const all = namesIn(path, separator)
  const names = all.filter((name) => name !== '' && name !== '.')
  const last = all.at(-1)
  if (last === '' || last === '.') names.push('.')
  return names
}

export function requireShortName(name: string, path: string): void {
  if (Buffer.byteLength(name) > 255) throw refusal(`${quotedPath(path)} has a name of more than 255 bytes.`)
}
