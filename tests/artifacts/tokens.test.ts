import { SpooledArtifact } from 'toolwright'
import { estimateTokens } from 'toolwright/artifacts/tokens'
import { describe, expect, test } from 'vitest'
import { artifactOf } from '../conformance/artifacts.ts'

describe('an estimate of tokens', () => {
  test.each([
    ['nothing', '', 0, 0],
    ['a sentence', 'The quick brown fox jumps over the lazy dog.', 9, 12],
    ['code', 'const total = items.reduce((sum, item) => sum + item.price, 0)', 15, 26],
    ['Chinese', '今天天气很好', 4, 9],
  ])('of %s is about right', (_, text, least, most) => {
    expect(estimateTokens(text)).toBeGreaterThanOrEqual(least)
    expect(estimateTokens(text)).toBeLessThanOrEqual(most)
  })

  test.each([
    'a'.repeat(300_000),
    ' '.repeat(300_000),
    '.'.repeat(300_000),
    '漢'.repeat(300_000),
    '\ud800'.repeat(1_000),
  ])('is a whole number whatever the text is', (text) => {
    expect(Number.isSafeInteger(estimateTokens(text))).toBe(true)
  })

  test('of an artifact is nearly that of its text', async () => {
    const text = 'The quick brown fox jumps over the lazy dog.\n'.repeat(20_000)
    const artifact = artifactOf(SpooledArtifact, text)
    const estimate = await artifact.estimateTokens(estimateTokens)
    expect(Math.abs(estimate - estimateTokens(text))).toBeLessThan(20)
    expect(estimate).toBeLessThan(await artifact.estimateTokens())
  })
})
