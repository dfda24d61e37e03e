import { ArtifactError } from '../kernel/errors.ts'
import { wholeCharacters } from '../kernel/json/shortened.ts'
import type { SpoolReader } from '../kernel/result/store.ts'
import type { Lines, SpooledArtifact } from '../kernel/result/artifact.ts'
import { Pace } from '../kernel/run/pace.ts'

/** Bytes that are read at a time. Line ends are counted for each such stretch. */
export const stretch = 262_144
const lineFeed = 10
const tailStretch = 65_536
/** The longest string of the engine; longer content can only be read as bytes. */
const longestString = 2 ** 29 - 24

/** Finds lines: it counts line ends before each stretch of bytes, only up to the line that is needed. */
export class LineIndex {
  readonly #ends: number[] = [0]

  /** Returns the offset at which a line begins; the total length if there is no such line. */
  async offsetOf(line: number, reader: SpoolReader): Promise<number> {
    if (line <= 0) return 0
    await this.#countTo(line, reader)
    if (this.#last < line) return reader.byteLength
    const number = this.#stretchOf(line)
    const start = number * stretch
    const bytes = await readStretch(reader, number)
    let position = -1
    for (let left = line - (this.#ends[number] ?? 0); left > 0; left--) position = bytes.indexOf(lineFeed, position + 1)
    return start + position + 1
  }

  /** Returns the number of lines; a final line end does not begin another line. */
  async lineCount(reader: SpoolReader): Promise<number> {
    await this.#countTo(Infinity, reader)
    if (reader.byteLength === 0) return 0
    const [last] = await reader.read(reader.byteLength - 1, reader.byteLength)
    return last === lineFeed ? this.#last : this.#last + 1
  }

  /** Counts the line ends of a stretch that was read for another purpose. */
  note(number: number, bytes: Uint8Array): void {
    if (number !== this.#ends.length - 1) return
    let ends = this.#last
    for (let at = bytes.indexOf(lineFeed); at >= 0; at = bytes.indexOf(lineFeed, at + 1)) ends++
    this.#ends.push(ends)
  }

  get #last(): number {
    return this.#ends.at(-1) ?? 0
  }

  async #countTo(line: number, reader: SpoolReader): Promise<void> {
    const pace = new Pace()
    while (this.#last < line) {
      const number = this.#ends.length - 1
      if (number * stretch >= reader.byteLength) return
      this.note(number, await readStretch(reader, number))
      await pace.step()
    }
  }

  /** Returns the stretch in which the line before `line` ends. */
  #stretchOf(line: number): number {
    let low = 0
    let high = this.#ends.length - 1
    while (high - low > 1) {
      const middle = (low + high) >> 1
      if ((this.#ends[middle] ?? 0) < line) low = middle
      else high = middle
    }
    return low
  }
}

function readStretch(reader: SpoolReader, number: number): Uint8Array | Promise<Uint8Array> {
  return reader.read(number * stretch, Math.min((number + 1) * stretch, reader.byteLength))
}

/** Reads an artifact in parts: by lines and by stretches. It is loaded by the first question that needs it. */
export class LineReader {
  readonly #artifact: SpooledArtifact
  readonly #reader: SpoolReader
  readonly #index: LineIndex

  constructor(artifact: SpooledArtifact, reader: SpoolReader, index: LineIndex = new LineIndex()) {
    this.#artifact = artifact
    this.#reader = reader
    this.#index = index
  }

  lineCount(): Promise<number> {
    return this.#index.lineCount(this.#reader)
  }

  /** Returns all of it, if one string can hold it. */
  async asString(): Promise<string> {
    const length = this.#artifact.byteLength()
    if (length > longestString) throw tooLongString(length)
    return new TextDecoder().decode(await this.#artifact.bytes())
  }

  async tail(count: number): Promise<string> {
    const lines: string[] = []
    if (count > 0) {
      for await (const { texts } of this.#linesFrom(await this.#startOfLast(count), 0, Infinity)) {
        for (const text of texts) lines.push(text)
      }
    }
    return lines.join('\n')
  }

  async cat(start: number, end: number): Promise<string> {
    const found: string[] = []
    const from = Math.max(0, start)
    if (end > from) {
      for await (const { first, texts } of this.#artifact.lineGroups({ start: from })) {
        for (const text of texts.slice(0, Math.max(0, end - first))) found.push(text)
        if (first + texts.length >= end) break
      }
    }
    return found.join('\n')
  }

  async grep(pattern: string | Pick<RegExp, 'test'>, limit: number): Promise<{ line: number; text: string }[]> {
    const matches = (text: string): boolean => {
      if (typeof pattern === 'string') return text.includes(pattern)
      if (pattern instanceof RegExp) pattern.lastIndex = 0 // a global or sticky pattern would continue at its last match
      return pattern.test(text)
    }
    const found: { line: number; text: string }[] = []
    for await (const { first, texts } of this.#artifact.lineGroups()) {
      for (const [index, text] of texts.entries()) {
        if (found.length >= limit) return found
        if (matches(text)) found.push({ line: first + index, text })
      }
    }
    return found
  }

  async *chunks(from: number): AsyncGenerator<Uint8Array, void, undefined> {
    const pace = new Pace()
    for (let start = from, end; start < this.#artifact.byteLength(); start = end) {
      end = (Math.floor(start / stretch) + 1) * stretch // no piece crosses the border of two stretches
      const bytes = await this.#artifact.bytes(start, end)
      if (start % stretch === 0) this.#index.note(start / stretch, bytes)
      yield bytes
      await pace.step()
    }
  }

  async *lineGroups(start: number, longest: number): AsyncGenerator<Lines, void, undefined> {
    yield* this.#linesFrom(await this.#index.offsetOf(start, this.#reader), start, longest)
  }

  async *#linesFrom(offset: number, line: number, longest: number): AsyncGenerator<Lines, void, undefined> {
    // U+FEFF is a byte order mark only at the very beginning; elsewhere it is a character.
    const decoder = new TextDecoder('utf-8', { ignoreBOM: offset > 0 })
    const quotedLine = (text: string): string => {
      const end = text.endsWith('\r') ? text.length - 1 : text.length
      return end > longest ? `${wholeCharacters(text.slice(0, longest))}…` : text.slice(0, end)
    }
    let first = line
    let rest = ''
    let isCut = false // whether the current line was already yielded, cut: its rest is skipped
    for await (const chunk of this.#artifact.chunks(offset)) {
      const texts = decoder.decode(chunk, { stream: true }).split('\n')
      const last = texts.pop() ?? ''
      if (texts.length > 0) {
        texts[0] = rest + texts[0]
        if (isCut) texts.shift()
        isCut = false
        rest = ''
      }
      if (rest.length + last.length > longestString) throw tooLongString(rest.length + last.length)
      if (!isCut) rest += last
      if (rest.length > longest + 1) {
        texts.push(rest)
        rest = ''
        isCut = true
      }
      yield { first, texts: texts.map(quotedLine) } // may be empty within a long line, so that the reader can stop here
      first += texts.length
    }
    rest += decoder.decode()
    if (rest !== '') yield { first, texts: [rest.length > longest ? quotedLine(rest) : rest] }
  }

  /** Returns the offset of the last `count` lines, searched from the end so that nothing else is read. */
  async #startOfLast(count: number): Promise<number> {
    const last = this.#artifact.byteLength() - 1
    let lineEnds = 0
    for (let end = this.#artifact.byteLength(); end > 0; end -= tailStretch) {
      const start = Math.max(0, end - tailStretch)
      const bytes = await this.#artifact.bytes(start, end)
      for (let index = bytes.length - 1; index >= 0; index--) {
        if (bytes[index] === 10 && start + index !== last && ++lineEnds === count) return start + index + 1
      }
    }
    return 0
  }
}

function tooLongString(length: number): ArtifactError {
  return new ArtifactError(
    `${length.toLocaleString('en')} bytes are more than one string can hold. Read them in parts: by lines, or with \`bytes(start, end)\`.`,
  )
}

/** Joins pieces whose total length is known. */
export function joinedBytes(pieces: readonly Uint8Array[], length: number): Uint8Array {
  const bytes = new Uint8Array(length)
  let offset = 0
  for (const piece of pieces) {
    bytes.set(piece, offset)
    offset += piece.byteLength
  }
  return bytes
}
