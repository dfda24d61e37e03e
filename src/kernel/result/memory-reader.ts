import { utf8Length } from '../json/text.ts'
import type { SpoolReader } from '../ports.ts'

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
