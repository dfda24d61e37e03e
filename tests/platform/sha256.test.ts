import { createHash } from 'node:crypto'
import * as fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import * as node from '../../src/platform/sha256-node.ts'
import * as portable from '../../src/platform/sha256-portable.ts'

const numRuns = Number(process.env['FUZZ_RUNS'] ?? 1_000)
const reference = (data: string | Uint8Array): string => createHash('sha256').update(data).digest('hex')

describe.each([
  ['sha256-node', node],
  ['sha256-portable', portable],
])('%s', (_, { sha256, createSha256 }) => {
  test.each([
    ['', 'e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855'],
    ['abc', 'ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad'],
    [
      'abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq',
      '248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1',
    ],
    ['a'.repeat(1_000_000), 'cdc76e5c9914fb9281a1c7e284d73e67f1809a48a497200e046d39ccc7112cd0'],
  ])('gives the published digest of a known text %#', (text, digest) => {
    expect(sha256(text)).toBe(digest)
  })

  test('hashes every length around the block borders', () => {
    for (let length = 0; length <= 200; length++) {
      const bytes = Uint8Array.from({ length }, (_value, index) => (index * 37 + length) % 256)
      expect(sha256(bytes)).toBe(reference(bytes))
      expect(sha256('é'.repeat(length))).toBe(reference('é'.repeat(length)))
    }
  })

  test('hashes text as UTF-8, astral characters included', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'binary', maxLength: 200 }), (text) => {
        expect(sha256(text)).toBe(reference(text))
      }),
      { numRuns },
    )
  })

  test('hashes a lone surrogate as U+FFFD, so whoever wants an identity has to refuse it first', () => {
    expect(sha256('\ud800')).toBe(sha256('\ufffd'))
    expect(sha256('a\udc00b')).toBe(reference('a\ufffdb'))
  })

  test('hashes a window of a larger buffer', () => {
    const bytes = Uint8Array.from({ length: 300 }, (_value, index) => index % 256)
    expect(sha256(bytes.subarray(3, 250))).toBe(reference(bytes.slice(3, 250)))
  })

  test('gives the same digest however the bytes are cut into chunks', () => {
    const chunks = fc.array(fc.uint8Array({ maxLength: 150 }), { maxLength: 8 })
    fc.assert(
      fc.property(chunks, (parts) => {
        const hasher = createSha256()
        for (const part of parts) hasher.update(part)
        expect(hasher.digest()).toBe(reference(Uint8Array.from(parts.flatMap((part) => [...part]))))
      }),
      { numRuns },
    )
  })

  test('keeps what it was given when the caller reuses the buffer', () => {
    const hasher = createSha256()
    const buffer = Uint8Array.of(97, 98, 99)
    hasher.update(buffer)
    buffer.fill(0)
    expect(hasher.digest()).toBe(sha256('abc'))
  })

  test('two hashers at a time know nothing of each other', () => {
    const first = createSha256()
    const second = createSha256()
    first.update(Uint8Array.of(97))
    second.update(Uint8Array.of(98))
    first.update(Uint8Array.of(98))
    expect([first.digest(), second.digest()]).toEqual([sha256('ab'), sha256('b')])
  })

  test('throws once it has ended', () => {
    const hasher = createSha256()
    hasher.digest()
    expect(() => hasher.digest()).toThrow('Digest already called')
    expect(() => hasher.update(Uint8Array.of(1))).toThrow('Digest already called')
  })
})
