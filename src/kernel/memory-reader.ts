import type { SpoolReader } from './ports.ts'

/** Reads what is held in memory: bytes, or text that becomes bytes when it is first read. */
export class MemoryReader implements SpoolReader {
  #source: string | Uint8Array

  constructor(source: string | Uint8Array) {
    this.#source = source
  }

  get byteLength(): number {
    return this.#bytes().byteLength
  }

  read(start: number, end: number): Uint8Array {
    return this.#bytes().subarray(start, end)
  }

  #bytes(): Uint8Array {
    if (typeof this.#source === 'string') this.#source = new TextEncoder().encode(this.#source)
    return this.#source
  }
}
