import type { Output } from './sandbox.ts'

/** Bytes that are kept of the beginning, and as many of the end. */
const keptBytes = 16_384

/** The last bytes of a stream, and how many there were before. */
export class Ring {
  readonly #bytes: Uint8Array
  #total = 0

  constructor(size: number) {
    this.#bytes = new Uint8Array(size)
  }

  get total(): number {
    return this.#total
  }

  /** The number of the first byte that is still there. */
  get first(): number {
    return Math.max(0, this.#total - this.#bytes.length)
  }

  push(bytes: Uint8Array): void {
    const size = this.#bytes.length
    const rest = bytes.subarray(Math.max(0, bytes.length - size))
    const at = (this.#total + bytes.length - rest.length) % size
    const untilEnd = rest.subarray(0, size - at)
    this.#bytes.set(untilEnd, at)
    this.#bytes.set(rest.subarray(untilEnd.length), 0)
    this.#total += bytes.length
  }

  /** Returns a copy of the bytes from `start` to `end`. Both are among those that are still there. */
  slice(start: number, end: number): Uint8Array {
    const copy = new Uint8Array(end - start)
    const size = this.#bytes.length
    const untilEnd = this.#bytes.subarray(start % size, Math.min(size, (start % size) + copy.length))
    copy.set(untilEnd)
    copy.set(this.#bytes.subarray(0, copy.length - untilEnd.length), untilEnd.length)
    return copy
  }
}

/** Keeps the beginning and the end of a stream, and counts the rest. */
export class Ends {
  #head: Uint8Array = new Uint8Array()
  #tail: Ring | undefined

  push(bytes: Uint8Array): void {
    const first = bytes.subarray(0, keptBytes - this.#head.length)
    if (first.length > 0) this.#head = concatenated(this.#head, first)
    if (first.length === bytes.length) return
    this.#tail ??= new Ring(keptBytes)
    this.#tail.push(bytes.subarray(first.length))
  }

  toOutput(): Output {
    const { total = 0, first = 0 } = this.#tail ?? {}
    const totalBytes = this.#head.length + total
    const tail = this.#tail?.slice(first, total) ?? new Uint8Array()
    if (first === 0) return { text: visibleText(concatenated(this.#head, tail)), totalBytes, omittedBytes: 0 }
    const note = `\n[… ${first.toLocaleString('en')} bytes are left out …]\n`
    const head = this.#head.subarray(0, wholeLength(this.#head))
    return {
      text: visibleText(head) + note + visibleText(tail.subarray(startOfWhole(tail))),
      totalBytes,
      omittedBytes: first,
    }
  }
}

function concatenated(one: Uint8Array, other: Uint8Array): Uint8Array {
  const both = new Uint8Array(one.length + other.length)
  both.set(one)
  both.set(other, one.length)
  return both
}

/** Returns the length without a character at the end that is not complete. */
export function wholeLength(bytes: Uint8Array): number {
  for (let back = 1; back <= Math.min(3, bytes.length); back++) {
    const byte = bytes[bytes.length - back] ?? 0
    if ((byte & 0xc0) === 0x80) continue // the middle of a character
    const length = byte >= 0xf0 ? 4 : byte >= 0xe0 ? 3 : byte >= 0xc0 ? 2 : 1
    return length > back ? bytes.length - back : bytes.length
  }
  return bytes.length
}

/** Returns where the first complete character begins. */
function startOfWhole(bytes: Uint8Array): number {
  let start = 0
  while (start < 3 && ((bytes[start] ?? 0) & 0xc0) === 0x80) start++
  return start
}

/** Decodes output. What would control a terminal is shown as pictures, so that text cannot hide text. */
export function visibleText(bytes: Uint8Array): string {
  return new TextDecoder('utf-8', { ignoreBOM: true })
    .decode(bytes)
    .replaceAll('\r\n', '\n')
    .replaceAll('\r', '\u240d\n')
    .replace(control, (character) => {
      const code = character.charCodeAt(0)
      if (code === 0x7f) return '\u2421'
      return code < 0x20 ? String.fromCharCode(0x2400 + code) : '\ufffd'
    })
}

// oxlint-disable-next-line eslint/no-control-regex -- the pattern is for control characters
const control = /[\u0000-\u0008\u000b\u000c\u000e-\u001f\u007f-\u009f]/g
