import { quotedPath, refusal } from './_words.ts'
import type { FileAccess, FileContent } from './sandbox.ts'

/** Bytes of a file that one call shows. */
export const mostShown = 262_144
/** Bytes that are looked through for the first line that is wanted. */
const mostScanned = 268_435_456
/** Files up to this size are looked through to the end, so that the number of their lines can be told. */
const largestCounted = 8_388_608
const newlineByte = 0x0a

/** Lines of a file. */
export interface TextPart {
  readonly bytes: Uint8Array
  readonly version: string
  /** What is missing, and how to go on; empty if nothing is. */
  readonly note: string
}

/** Reads lines of a file, given its first bytes. */
export async function textPart(
  files: FileAccess,
  path: string,
  first: FileContent,
  { offset, limit, signal }: { readonly offset: number; readonly limit: number; readonly signal: AbortSignal },
): Promise<TextPart> {
  const { size, version } = first
  let line = 1 // the line that begins at the last newline seen
  let start = offset === 1 ? 0 : -1
  let end = -1
  let position = 0
  for (let piece = first.bytes; piece.length > 0;) {
    for (let at = piece.indexOf(newlineByte); at >= 0; at = piece.indexOf(newlineByte, at + 1)) {
      line++
      if (line === offset) start = position + at + 1
      if (line === offset + limit) end = position + at + 1
    }
    position += piece.length
    const isFound = start >= 0 && (end >= 0 || position - start > mostShown)
    if (position >= size || (isFound && size > largestCounted)) break
    if (position > mostScanned) {
      throw refusal(`Line ${offset} of ${quotedPath(path)} lies too far behind.`, 'Use a command, such as sed -n.')
    }
    const next = await files.readFile(path, { start: position, end: position + 4 * mostShown, signal })
    if (next.version !== version) throw refusal(`${quotedPath(path)} changed while it was read.`, 'Read it again.')
    piece = next.bytes
  }
  const isCounted = position >= size
  const lines = isCounted ? line - (await endsWithNewline(files, path, first)) : undefined
  if (start < 0 || (start >= size && size > 0 && offset > 1)) {
    throw refusal(`${quotedPath(path)} has ${(lines ?? line).toLocaleString('en')} lines, and none is ${offset}.`)
  }
  const rangeBytes = await fileRange(
    files,
    path,
    first,
    start,
    Math.min(end < 0 ? size : end, start + mostShown),
    signal,
  )
  return cutAtLine(rangeBytes, { start, size, offset, lines, version })
}

async function endsWithNewline(files: FileAccess, path: string, { bytes, size }: FileContent): Promise<0 | 1> {
  if (size === 0) return 0
  const last =
    bytes.length === size ? bytes.at(-1) : (await files.readFile(path, { start: size - 1, end: size })).bytes[0]
  return last === newlineByte ? 1 : 0
}

async function fileRange(
  files: FileAccess,
  path: string,
  first: FileContent,
  start: number,
  end: number,
  signal: AbortSignal,
): Promise<Uint8Array> {
  if (end <= first.bytes.length) return first.bytes.subarray(start, end)
  return (await files.readFile(path, { start, end, signal })).bytes
}

interface Position {
  readonly start: number
  readonly size: number
  readonly offset: number
  readonly lines: number | undefined
  readonly version: string
}

/** Ends at the end of a line, and says how to go on. */
function cutAtLine(bytes: Uint8Array, { start, size, offset, lines, version }: Position): TextPart {
  const isLast = start + bytes.length >= size
  if (isLast && start === 0) return { bytes, version, note: '' }
  const lastEnd = isLast ? bytes.length : bytes.lastIndexOf(newlineByte) + 1
  const visiblePart = lastEnd === 0 ? bytes : bytes.subarray(0, lastEnd)
  let count = 0
  for (let at = visiblePart.indexOf(newlineByte); at >= 0; at = visiblePart.indexOf(newlineByte, at + 1)) count++
  if (visiblePart.at(-1) !== newlineByte) count++
  const last = offset + Math.max(0, count - 1)
  const of = lines === undefined ? '' : ` of ${lines.toLocaleString('en')}`
  const next = isLast
    ? ''
    : lastEnd === 0
      ? ` Line ${offset} is longer than ${mostShown.toLocaleString('en')} bytes, and cut.`
      : ` Go on with offset ${last + 1}.`
  return {
    bytes: visiblePart,
    version,
    note: `[Lines ${offset} to ${last}${of}; the file has ${size.toLocaleString('en')} bytes.${next}]`,
  }
}
