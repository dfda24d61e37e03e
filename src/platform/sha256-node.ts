import { createHash, hash } from 'node:crypto'

/**
 * Gives the SHA-256 of some data, on Node.
 *
 * @param data Bytes, or text that is hashed as UTF-8 (where a lone surrogate becomes U+FFFD, as in every encoder).
 * @returns 64 lower-case hex digits.
 * @example
 * sha256('abc') // 'ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad'
 * @see https://nvlpubs.nist.gov/nistpubs/FIPS/NIST.FIPS.180-4.pdf
 */
export function sha256(data: string | Uint8Array): string {
  return hash('sha256', data, 'hex')
}

/**
 * Hashes bytes as they come.
 *
 * @returns `update` takes the next bytes; `digest` ends it with 64 lower-case hex digits, once: afterwards both throw.
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
