import { ToolFailure } from '../index.ts'
import { quotedPath, unchanged } from './_words.ts'

export interface Edit {
  readonly old: string
  readonly new: string
  readonly all?: boolean | undefined
}

const largestText = 8_388_608
const longestDiff = 4_096
const mostPlaces = 100_000
const mostListedPlaces = 8

/** The text of a file, with what has to stay as it is. */
export interface TextFile {
  readonly text: string
  readonly hasMark: boolean
  /** Whether every line ends with a carriage return and a newline. */
  readonly isCrlf: boolean
}

/** @throws `ToolFailure` if the bytes are too many, or no UTF-8. */
export function textFileOf(bytes: Uint8Array, path: string): TextFile {
  if (bytes.length > largestText) {
    throw unchanged(
      `${quotedPath(path)} is larger than ${grouped(largestText)} bytes: too large to edit.`,
      'Change it with a command.',
    )
  }
  let text: string
  try {
    text = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes)
  } catch {
    throw unchanged(
      `${quotedPath(path)} is not valid UTF-8, so that an edit could damage it.`,
      'Change it with a command.',
    )
  }
  const hasMark = text.startsWith('\ufeff')
  const isCrlf = text.includes('\r\n') && !/(?<!\r)\n/.test(text)
  return { text: hasMark ? text.slice(1) : text, hasMark, isCrlf }
}

export function fileBytes({ text, hasMark }: Pick<TextFile, 'text' | 'hasMark'>): Uint8Array {
  return new TextEncoder().encode(hasMark ? `\ufeff${text}` : text)
}

/** What edits made of a text. */
export interface Edited {
  readonly text: string
  readonly replaced: number
  /** What changed, in the manner of `diff -u`; at most 4 KiB. */
  readonly diff: string
}

/**
 * Makes edits one after another, each on the outcome of the one before. The new text is taken as it is.
 *
 * @throws `ToolFailure` if a text to replace is not there, or is there more than once and `all` is not set.
 */
export function edited(file: TextFile, edits: readonly Edit[], path: string): Edited {
  let { text } = file
  let replaced = 0
  let diff = ''
  for (const [index, edit] of edits.entries()) {
    const which = edits.length === 1 ? '' : `Edit ${index + 1}: `
    const sought = inStyleOf(file, edit.old)
    const replacement = inStyleOf(file, edit.new)
    if (sought === '')
      throw unchanged(`${which}\`old\` is empty. Nothing was changed.`, 'Give the text that is to be replaced.')
    if (sought === replacement) throw unchanged(`${which}\`old\` and \`new\` are the same. Nothing was changed.`)
    const places = textPlaces(text, sought)
    if (places.length === 0) throw notThere(file, text, edit, which, path)
    if (places.length > 1 && edit.all !== true) throw ambiguous(text, places, which, path)
    if (places.length > mostPlaces) throw tooManyPlaces(which, path)
    const grown = places.length * (Buffer.byteLength(replacement) - Buffer.byteLength(sought))
    const size = Buffer.byteLength(text) + grown
    if (size > largestText) throw tooLargeFile(size, which, path)
    for (const { place, line } of placesWithLines(text, places)) {
      if (diff.length >= longestDiff) break
      diff += hunk(text, place, line, sought, replacement)
    }
    text = text.split(sought).join(replacement)
    replaced += places.length
  }
  return { text, replaced, diff: diff.length > longestDiff ? `${diff.slice(0, longestDiff - 2)}…\n` : diff }
}

/** A model writes newlines; in a file of Windows they stand for both characters. */
function inStyleOf({ isCrlf }: TextFile, text: string): string {
  return isCrlf ? text.replace(/(?<!\r)\n/g, '\r\n') : text
}

/** Returns where a text is, up to one place more than may be replaced. */
function textPlaces(text: string, sought: string): number[] {
  const places: number[] = []
  for (let place = text.indexOf(sought); place >= 0; place = text.indexOf(sought, place + sought.length)) {
    places.push(place)
    if (places.length > mostPlaces) break
  }
  return places
}

/** Yields ascending places with their lines. Each line is counted once, and none after the last place that is asked for. */
function* placesWithLines(
  text: string,
  places: readonly number[],
): Generator<{ readonly place: number; readonly line: number }> {
  let line = 1
  let next = text.indexOf('\n')
  for (const place of places) {
    for (; next >= 0 && next < place; next = text.indexOf('\n', next + 1)) line++
    yield { place, line }
  }
}

function ambiguous(text: string, places: readonly number[], which: string, path: string): ToolFailure {
  const lines = Array.from(placesWithLines(text, places.slice(0, mostListedPlaces)), ({ line }) => line)
  const more = places.length > mostListedPlaces ? ', …' : ''
  const times = places.length > mostPlaces ? `more than ${grouped(mostPlaces)}` : places.length
  return unchanged(
    `${which}${quotedPath(path)} has this text ${times} times, at lines ${lines.join(', ')}${more}. Nothing was changed.`,
    'Give more of the lines around it, so that it is there once.',
    'Set `all` to replace every one.',
  )
}

function tooManyPlaces(which: string, path: string): ToolFailure {
  return unchanged(
    `${which}${quotedPath(path)} has this text more than ${grouped(mostPlaces)} times: too many to replace. Nothing was changed.`,
    'Give a longer text, or change the file with a command.',
  )
}

function tooLargeFile(size: number, which: string, path: string): ToolFailure {
  return unchanged(
    `${which}${quotedPath(path)} would have ${grouped(size)} bytes: more than ${grouped(largestText)}. Nothing was changed.`,
    'Replace it with a shorter text, or in fewer places.',
  )
}

function grouped(count: number): string {
  return count.toLocaleString('en')
}

function notThere(file: TextFile, text: string, { old }: Edit, which: string, path: string): ToolFailure {
  const hints = [`Read ${quotedPath(path)} again, and copy the text exactly.`]
  const nearest = nearestLine(text, old)
  if (nearest !== undefined)
    hints.unshift(`The nearest line is ${nearest.line}: ${JSON.stringify(nearest.text.slice(0, 200))}`)
  if (text.includes('\r\n') && !file.isCrlf) hints.push('Some of its lines end with \\r\\n, others with \\n.')
  if (/^\t/m.test(text) && !old.includes('\t') && /^ +/m.test(old)) hints.push('It is indented with tabs.')
  if (/^\d+[:\t→|]/.test(old)) hints.push('The text seems to begin with a line number, which is not in the file.')
  return unchanged(`${which}${quotedPath(path)} does not have this text. Nothing was changed.`, ...hints)
}

/** Finds the line that is most like the first line of a text, whatever its spaces. */
function nearestLine(text: string, old: string): { readonly line: number; readonly text: string } | undefined {
  const sought = squeezedLine(old.split('\n').find((line) => line.trim() !== '') ?? '')
  if (sought === '') return undefined
  const dense = sought.replaceAll(' ', '')
  let best: { line: number; text: string; score: number } | undefined
  for (const [index, line] of text.split('\n').slice(0, 20_000).entries()) {
    const score = squeezedLine(line).replaceAll(' ', '').includes(dense) ? 1 : likeness(squeezedLine(line), sought)
    if (score > (best?.score ?? 0.5)) best = { line: index + 1, text: line.replace(/\r$/, ''), score }
    if (best?.score === 1) break
  }
  return best
}

function squeezedLine(line: string): string {
  return line.replace(/\s+/g, ' ').trim().slice(0, 200)
}

/** How much of two lines is the same at their beginnings and ends, from 0 to 1. */
function likeness(one: string, other: string): number {
  const shorter = Math.min(one.length, other.length)
  let start = 0
  while (start < shorter && one[start] === other[start]) start++
  let end = 0
  while (end < shorter - start && one.at(-1 - end) === other.at(-1 - end)) end++
  return (start + end) / Math.max(one.length, other.length, 1)
}

/** Returns one change for the diff. Nothing is put together that is longer than the diff. */
function hunk(text: string, place: number, line: number, sought: string, replacement: string): string {
  const from = text.lastIndexOf('\n', place - 1) + 1
  const next = text.indexOf('\n', place + sought.length - (sought.endsWith('\n') ? 1 : 0))
  const to = next < 0 ? text.length : next
  const end = place + sought.length
  const before = text.slice(from, Math.min(to, from + longestDiff))
  const rest = text.slice(end, Math.min(Math.max(to, end), end + longestDiff))
  const after = text.slice(from, Math.min(place, from + longestDiff)) + replacement.slice(0, longestDiff) + rest
  const lines = (sign: string, block: string): string =>
    block
      .slice(0, longestDiff)
      .split('\n')
      .map((each) => `${sign}${each.replace(/\r$/, '')}\n`)
      .join('')
  const old = lines('-', before)
  const fresh = after === '' && before !== '' ? '' : lines('+', after.replace(/\n$/, ''))
  return `@@ line ${line} @@\n${old}${fresh}`
}
