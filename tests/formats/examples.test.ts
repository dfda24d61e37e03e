import { tool, type Format, type ToolDefinition } from 'toolwright'
import { aiSdk } from 'toolwright/formats/ai-sdk'
import { anthropic } from 'toolwright/formats/anthropic'
import { gemini } from 'toolwright/formats/gemini'
import { mcp } from 'toolwright/formats/mcp'
import { openai } from 'toolwright/formats/openai'
import { openaiResponses } from 'toolwright/formats/openai-responses'
import { describe, expect, test } from 'vitest'

function search(description: string, examples: readonly unknown[], providerOptions = {}): ToolDefinition {
  return tool({
    name: 'search',
    description,
    inputSchema: { type: 'object', properties: { tags: { type: 'object', additionalProperties: { type: 'string' } } } },
    examples,
    providerOptions,
    handler: () => 'ok',
  })
}

function described(format: Format, definition: ToolDefinition): string {
  const found = /"description":("(?:[^"\\]|\\.)*")/.exec(JSON.stringify(format.definitions([definition])))
  return JSON.parse(found?.[1] ?? '""') as string // the first is the tool's own
}

const formats: readonly (readonly [string, (options?: { examples?: boolean }) => Format])[] = [
  ['openai', openai],
  ['openai-responses', openaiResponses],
  ['gemini', gemini],
  ['mcp', mcp],
  ['ai-sdk of version 5', (options) => aiSdk({ version: 5, ...options })],
]

describe.each(formats)('examples of tools in %s, which has no field for them', (_, make) => {
  test('are told at the end of the description, without what is no object', () => {
    const searchTool = search('Searches', [{ tags: { a: 'b' } }, 'text', { tags: {} }])
    expect(described(make(), searchTool)).toBe('Searches\n\nExamples of args:\n{"tags":{"a":"b"}}\n{"tags":{}}')
    expect(described(make(), search('Searches', []))).toBe('Searches')
  })

  test('are left out whole where the description would pass 1,024 characters', () => {
    const long = { tags: { a: 'x'.repeat(2_000) } }
    expect(described(make(), search('Searches', [long, { tags: {} }]))).toBe(
      'Searches\n\nExamples of args:\n{"tags":{}}',
    )
    const many = described(
      make(),
      search(
        'Searches',
        Array.from({ length: 500 }, (_each, id) => ({ tags: { id: `${id}` } })),
      ),
    )
    expect(many.length).toBeGreaterThan(990)
    expect(many.length).toBeLessThanOrEqual(1_024)
    expect(many.endsWith('}}')).toBe(true)
    const own = 'x'.repeat(3_000)
    expect(described(make(), search(own, [{ tags: {} }]))).toBe(own)
  })

  test('stay at home if they are switched off', () => {
    expect(described(make({ examples: false }), search('Searches', [{ tags: {} }]))).toBe('Searches')
  })
})

test('examples are written as a strict schema takes them', () => {
  const searchTool = search('Searches', [{ tags: { a: 'b' } }])
  const fifth = aiSdk({ version: 5, dialect: 'openai', strict: true })
  expect(described(fifth, searchTool)).toContain('\n{"tags":[{"key":"a","value":"b"}]}')
  expect(described(openai({ strict: true }), searchTool)).toContain('\n{"tags":[{"key":"a","value":"b"}]}')
})

test('examples are not told with a schema that replaces the own one', () => {
  const schema = { type: 'object' }
  const searchTool = search('Searches', [{ tags: {} }], {
    openai: { parameters: schema },
    mcp: { inputSchema: schema },
  })
  for (const format of [openai(), openaiResponses(), mcp()]) expect(described(format, searchTool)).toBe('Searches')
})

test.each([
  ['anthropic', anthropic, 'input_examples'],
  ['ai-sdk', aiSdk, 'inputExamples'],
] as const)('examples have a field in %s, which can be switched off too', (_, make, field) => {
  const searchTool = search('Searches', [{ tags: {} }])
  const [shown] = make().definitions([searchTool]) as object[]
  expect(shown).toMatchObject({ description: 'Searches', [field]: [expect.any(Object)] })
  expect(make({ examples: false }).definitions([searchTool])[0]).not.toHaveProperty(field)
})
