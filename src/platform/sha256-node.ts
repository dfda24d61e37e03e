import { createHash, hash } from 'node:crypto'

/**
 * Returns the SHA-256 of data, on Node.
 *
 * @param data Bytes, or text, which is hashed as UTF-8 (a lone surrogate becomes U+FFFD, as in every encoder).
 * @returns 64 lower-case hex digits.
 * @example
 * sha256('abc') // 'ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad'
 * @see https://nvlpubs.nist.gov/nistpubs/FIPS/NIST.FIPS.180-4.pdf
 */
export function sha256(data: string | Uint8Array): string {
  return hash('sha256', data, 'hex')
}

/**
 * Makes an incremental hasher.
 *
 * @returns `update` takes the next bytes. `digest` returns 64 lower-case hex digits. After it, both throw.
 * @example
 * const hasher = createSha256()
 * hasher.update(new Uint8Array([97, 98, 99]))
 * hasher.digest() // the same as sha256('abc')
 */
export function createSha256(): { update(chunk: Uint8Array): void; digest(): string } {
  const hasher = createHash('sha256')
  return {
    update(chunk) {
      hasher.update(chunk)
    },
    digest() {
      return hasher.digest('hex')
    },
  }
}
