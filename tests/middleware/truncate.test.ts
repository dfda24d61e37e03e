import { assert, asyncProperty, nat, string } from 'fast-check'
import { InvalidConfigurationError } from 'toolwright/errors'
import { truncate, type TruncateOptions } from 'toolwright/middleware/truncate'
import { describe, expect, test } from 'vitest'
import { middlewareConformance, runTool } from '../conformance/middleware.ts'

middlewareConformance('truncate', () => truncate())

async function cut(text: unknown, options?: TruncateOptions): Promise<string | undefined> {
  return (await runTool([truncate(options)], () => text)).artifact?.asString()
}

describe('truncate', () => {
  test('cuts what has more than 100,000 characters to 10,000, and says how much there was', async () => {
    expect(await cut('x'.repeat(100_001))).toBe(`${'x'.repeat(10_000)}\n\n...(truncated, total size: 100001 bytes)`)
    expect(await cut('x'.repeat(100_000))).toBe('x'.repeat(100_000))
  })

  test('counts the size in bytes', async () => {
    expect(await cut('€€€', { limit: 2, keep: 1 })).toBe('€\n\n...(truncated, total size: 9 bytes)')
  })

  test('keeps nothing where it is told so, and all that the limit allows where `keep` is left out', async () => {
    expect(await cut('abc', { limit: 0, keep: 0 })).toBe('\n\n...(truncated, total size: 3 bytes)')
    expect(await cut('abcdef', { limit: 5 })).toBe('abcde\n\n...(truncated, total size: 6 bytes)')
  })

  test('never cuts through a pair of surrogates', async () => {
    expect(await cut('a😀😀', { limit: 4, keep: 2 })).toBe('a\n\n...(truncated, total size: 9 bytes)')
    expect(await cut('a😀😀', { limit: 4, keep: 3 })).toBe('a😀\n\n...(truncated, total size: 9 bytes)')
    await assert(
      asyncProperty(string({ unit: 'binary', maxLength: 40 }), nat(20), async (text, keep) => {
        const kept = (await cut(text, { limit: keep, keep })) ?? ''
        expect(kept.isWellFormed()).toBe(true)
        expect(text.startsWith(kept.split('\n\n...(truncated')[0] ?? '')).toBe(true)
      }),
    )
  })

  test('leaves strings within other results alone', async () => {
    const long = 'x'.repeat(50)
    expect(await cut({ long }, { limit: 10 })).toBe(JSON.stringify({ long }))
    expect(await cut([{ type: 'text', text: long }], { limit: 10 })).toBe(long)
  })

  test.each([
    ['a limit that is no number', { limit: '5' }],
    ['to keep more than the limit', { limit: 5, keep: 6 }],
    ['to keep less than nothing', { keep: -1 }],
    ['an option that is misspelt', { max: 5 }],
    ['nothing', null],
  ])('refuses %s', (_, options) => {
    expect(() => truncate(options as never)).toThrow(InvalidConfigurationError)
  })
})
