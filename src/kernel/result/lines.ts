import { utf8Length } from '../json/text.ts'
import type { SpoolReader } from '../ports.ts'
import { Pace } from './stream.ts'

/** Bytes that are read at a time. Line ends are counted for each such stretch. */
export const stretch = 262_144
const lineFeed = 10

/** Finds lines: it counts the line ends before each stretch of bytes, only up to the line that is needed. */
export class LineIndex {
  readonly #ends: number[] = [0]

  /** Returns the offset at which a line begins; the total length if there is no such line. */
  async offsetOf(line: number, reader: SpoolReader): Promise<number> {
    if (line <= 0) return 0
    await this.#countTo(line, reader)
    if (this.#last < line) return reader.byteLength
    const number = this.#stretchOf(line)
    const start = number * stretch
    const bytes = await read(reader, number)
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
      this.note(number, await read(reader, number))
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

function read(reader: SpoolReader, number: number): Uint8Array | Promise<Uint8Array> {
  return reader.read(number * stretch, Math.min((number + 1) * stretch, reader.byteLength))
}

/** Reads from memory: bytes, or text that is encoded when it is first read. */
export class MemoryReader implements SpoolReader {
  readonly mediaType: string | undefined
  #source: string | Uint8Array

  constructor(source: string | Uint8Array, mediaType?: string) {
    this.#source = source
    this.mediaType = mediaType
  }

  get byteLength(): number {
    // Counting is faster than encoding, and mostly only the size is needed.
    return typeof this.#source === 'string' ? utf8Length(this.#source) : this.#source.byteLength
  }

  read(start: number, end: number): Uint8Array {
    return this.#bytes().subarray(start, end)
  }

  #bytes(): Uint8Array {
    if (typeof this.#source === 'string') this.#source = new TextEncoder().encode(this.#source)
    return this.#source
  }
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
