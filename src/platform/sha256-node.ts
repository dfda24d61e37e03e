type Crypto = typeof import('node:crypto')

let loaded: Crypto | undefined

/** Loads `node:crypto` on first use: it takes longer than all of this package. */
function crypto(): Crypto {
  return (loaded ??= process.getBuiltinModule('node:crypto'))
}

/**
 * Returns the SHA-256 of data, on Node.
 *
 * @param data Bytes, or text, which is hashed as UTF-8 (a lone surrogate becomes U+FFFD, as in every encoder).
 * @returns 64 lower-case hex digits.
 */
export function sha256(data: string | Uint8Array): string {
  return crypto().hash('sha256', data, 'hex')
}

/**
 * Makes an incremental hasher.
 *
 * @returns `update` takes the next bytes. `digest` returns 64 lower-case hex digits. After it, both throw.
 */
export function createSha256(): { update(chunk: Uint8Array): void; digest(): string } {
  const hasher = crypto().createHash('sha256')
  return {
    update(chunk) {
      hasher.update(chunk)
    },
    digest() {
      return hasher.digest('hex')
    },
  }
}
