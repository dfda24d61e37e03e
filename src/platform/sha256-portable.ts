// For platforms without `node:crypto`. This file imports nothing.

const rounds = new Int32Array(64)
const initialState = new Int32Array(8)

// The constants are bits of the roots of the first primes. A double has 20 more bits than are used, so differences in an
// engine's last digit do not matter. Deriving the constants takes half the size of listing them.
for (let prime = 2, found = 0; found < 64; prime++) {
  let divisor = 2
  while (prime % divisor) divisor++
  if (divisor < prime) continue
  if (found < 8) initialState[found] = (Math.sqrt(prime) % 1) * 2 ** 32
  rounds[found++] = (Math.cbrt(prime) % 1) * 2 ** 32
}

/**
 * Returns the SHA-256 of data, as `sha256-node.ts` does, but without platform APIs.
 *
 * @see https://nvlpubs.nist.gov/nistpubs/FIPS/NIST.FIPS.180-4.pdf
 */
export function sha256(data: string | Uint8Array): string {
  const hasher = createSha256()
  hasher.update(typeof data === 'string' ? new TextEncoder().encode(data) : data)
  return hasher.digest()
}

/** Makes an incremental hasher. After `digest` it throws. */
export function createSha256(): { update(chunk: Uint8Array): void; digest(): string } {
  const state = initialState.slice()
  const schedule = new Int32Array(64)
  const block = new Uint8Array(64)
  let length = 0
  let ended = false

  function take(chunk: Uint8Array): void {
    if (ended) throw new Error('Digest already called')
    let offset = 0
    while (offset < chunk.length) {
      const filled = length % 64
      const size = Math.min(64 - filled, chunk.length - offset)
      if (size === 64) compress(state, schedule, chunk, offset)
      else {
        block.set(chunk.subarray(offset, offset + size), filled)
        if (filled + size === 64) compress(state, schedule, block, 0)
      }
      offset += size
      length += size
    }
  }

  return {
    update: take,
    digest() {
      const end = new Uint8Array(((119 - (length % 64)) % 64) + 9)
      end[0] = 0x80
      new DataView(end.buffer).setBigUint64(end.length - 8, BigInt(length) * 8n)
      take(end)
      ended = true
      return Array.from(state, (word) => (word >>> 0).toString(16).padStart(8, '0')).join('')
    },
  }
}

function compress(state: Int32Array, schedule: Int32Array, bytes: Uint8Array, offset: number): void {
  for (let index = 0, at = offset; index < 16; index++, at += 4) {
    schedule[index] = (bytes[at]! << 24) | (bytes[at + 1]! << 16) | (bytes[at + 2]! << 8) | bytes[at + 3]!
  }
  for (let index = 16; index < 64; index++) {
    const old = schedule[index - 15]!
    const late = schedule[index - 2]!
    const first = rotate(old, 7) ^ rotate(old, 18) ^ (old >>> 3)
    const second = rotate(late, 17) ^ rotate(late, 19) ^ (late >>> 10)
    schedule[index] = schedule[index - 16]! + first + schedule[index - 7]! + second
  }
  let a = state[0]!
  let b = state[1]!
  let c = state[2]!
  let d = state[3]!
  let e = state[4]!
  let f = state[5]!
  let g = state[6]!
  let h = state[7]!
  for (let index = 0; index < 64; index++) {
    const mixed = rotate(e, 6) ^ rotate(e, 11) ^ rotate(e, 25)
    const plus = (h + mixed + ((e & f) ^ (~e & g)) + rounds[index]! + schedule[index]!) | 0
    const spread = rotate(a, 2) ^ rotate(a, 13) ^ rotate(a, 22)
    const majority = (a & b) ^ (a & c) ^ (b & c)
    h = g
    g = f
    f = e
    e = (d + plus) | 0
    d = c
    c = b
    b = a
    a = (plus + spread + majority) | 0
  }
  state[0]! += a
  state[1]! += b
  state[2]! += c
  state[3]! += d
  state[4]! += e
  state[5]! += f
  state[6]! += g
  state[7]! += h
}

function rotate(word: number, by: number): number {
  return (word >>> by) | (word << (32 - by))
}
