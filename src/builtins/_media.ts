/** Bytes of a picture that may be shown. */
export const largestImage = 5_242_880

const images: readonly (readonly [mediaType: string, at: number, magic: string])[] = [
  ['image/png', 0, '\x89PNG\r\n\x1a\n'],
  ['image/jpeg', 0, '\xff\xd8\xff'],
  ['image/gif', 0, 'GIF87a'],
  ['image/gif', 0, 'GIF89a'],
  ['image/webp', 8, 'WEBP'],
]

const otherKinds: readonly (readonly [kind: string, at: number, magic: string])[] = [
  ['a PDF', 0, '%PDF-'],
  ['a ZIP archive', 0, 'PK\x03\x04'],
  ['a gzip archive', 0, '\x1f\x8b'],
  ['an ELF program', 0, '\x7fELF'],
  ['an SQLite database', 0, 'SQLite format 3'],
  ['a tar archive', 257, 'ustar'],
  ['text in UTF-16', 0, '\xff\xfe'],
  ['text in UTF-16', 0, '\xfe\xff'],
]

/** Returns the media type of a picture that models can see, told by its first bytes. */
export function imageType(bytes: Uint8Array): string | undefined {
  return kindAmong(images, bytes)
}

/** Returns what bytes are, if they are no text. */
export function binaryKind(bytes: Uint8Array): string | undefined {
  const kind = kindAmong(otherKinds, bytes)
  return kind ?? (bytes.subarray(0, 8_192).includes(0) ? 'binary' : undefined)
}

function kindAmong(signatures: typeof images, bytes: Uint8Array): string | undefined {
  return signatures.find(([, at, magic]) =>
    Array.from(magic).every((character, index) => bytes[at + index] === character.charCodeAt(0)),
  )?.[0]
}
