import { createExecutor, tool, type Format, type ToolResult } from 'toolwright'
import { artifactTools } from 'toolwright/artifacts/tools'
import { estimateTokens } from 'toolwright/artifacts/tokens'
import { aiSdk } from 'toolwright/formats/ai-sdk'
import { anthropic } from 'toolwright/formats/anthropic'
import { gemini } from 'toolwright/formats/gemini'
import { mcp } from 'toolwright/formats/mcp'
import { openai } from 'toolwright/formats/openai'
import { openaiResponses } from 'toolwright/formats/openai-responses'
import { describe, expect, test } from 'vitest'

const formats: readonly Format[] = [anthropic(), openai(), openaiResponses(), gemini(), aiSdk(), mcp()]
const say = tool('say', ({ length }: { length: number }) => 'word '.repeat(length / 5))

async function said(...lengths: readonly number[]): Promise<ToolResult[]> {
  const executor = createExecutor({ tools: [say], inlineLimit: 20_000, use: [artifactTools()] })
  return executor.executeToolCalls(lengths.map((length, index) => ({ id: `${index}`, name: 'say', args: { length } })))
}

/** The texts of the results in a reply, in their order. */
function textsOf(reply: unknown): string[] {
  return Array.from(
    JSON.stringify(reply).matchAll(/"((?:word |[^"\\]|\\.)*?(?:word |Shortened|kept as)(?:[^"\\]|\\.)*)"/g),
    ([, text]) => {
      return JSON.parse(`"${text}"`) as string
    },
  )
}

describe.each(formats)('a budget of tokens for the results of one turn, in $name', (format) => {
  test('shortens the largest first, says so, and leaves the small ones whole', async () => {
    const results = await said(400, 8_000, 12_000)
    const texts = textsOf(format.results(results, undefined, { tokens: 2_100 }))
    expect(texts).toHaveLength(3)
    expect(texts[0]).toBe('word '.repeat(80))
    for (const [index, from] of [
      [1, '8,000'],
      [2, '12,000'],
    ] as const) {
      expect(texts[index]).toMatch(/^(word )+/)
      expect(texts[index]).toContain(`(Shortened to fit this turn, from ${from} characters.)`)
      expect(texts[index]!.length).toBeGreaterThan(3_500)
    }
    expect(texts.join('').length / 4).toBeLessThanOrEqual(2_100)
  })

  test('changes nothing that fits', async () => {
    const results = await said(400, 8_000)
    expect(format.results(results, undefined, { tokens: 10_000 })).toEqual(format.results(results))
  })

  test('keeps the handle of a result and the words on how to read on', async () => {
    const results = await said(60_000, 8_000)
    const [first] = textsOf(format.results(results, undefined, { tokens: 300 }))
    expect(first).toContain('(Shortened to fit this turn.)')
    expect(first).toContain(`All of it is kept as ${results[0]!.handle}. Ask artifact_`)
    expect(first!.length).toBeLessThan(1_200)
  })

  test('counts as the application does', async () => {
    const results = await said(8_000, 8_000)
    const texts = textsOf(format.results(results, undefined, { tokens: 1_000, estimateTokens }))
    expect(texts.reduce((sum, text) => sum + estimateTokens(text), 0)).toBeLessThanOrEqual(1_000)
  })
})

test('a picture stays, and a text is not cut within a character', async () => {
  const result = {
    ...(await said(10))[0]!,
    content: [
      { type: 'text', text: '🌧️'.repeat(5_000) },
      { type: 'image', data: 'iVBORw0KGgo=', mimeType: 'image/png' },
    ],
  } satisfies ToolResult
  const { content } = anthropic().results([result], undefined, { tokens: 777 }).content[0]!
  expect(content).toMatchObject([{ type: 'text' }, { type: 'image' }])
  expect(JSON.stringify(content)).not.toMatch(/\\ud83c[^\\]/)
})

test('a program gets its whole value', async () => {
  const [call] = [
    { type: 'tool_use', id: '0', name: 'say', input: {}, caller: { type: 'code_execution_20260120', tool_id: 'x' } },
  ]
  const message = { role: 'assistant', content: [call] }
  const reply = anthropic().results(await said(8_000), message, { tokens: 10 })
  expect(JSON.parse(reply.content[0]!.content as string)).toBe('word '.repeat(1_600))
})

test.each([0, -1, 1.5, Number.NaN, '9' as never])('a budget of %s tokens is refused', async (tokens) => {
  const results = await said(10)
  for (const format of formats) {
    expect(() => format.results(results, undefined, { tokens })).toThrow(/`tokens` of a budget must be a whole number/)
  }
})
