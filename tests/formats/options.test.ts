import { aiSdk } from 'toolwright/formats/ai-sdk'
import { anthropic } from 'toolwright/formats/anthropic'
import { gemini } from 'toolwright/formats/gemini'
import { mcp } from 'toolwright/formats/mcp'
import { openai } from 'toolwright/formats/openai'
import { openaiResponses } from 'toolwright/formats/openai-responses'
import { expect, test } from 'vitest'

const code = 'E_INVALID_CONFIGURATION'
const formats = { aiSdk, anthropic, gemini, mcp, openai, openaiResponses }

test.each(Object.entries(formats))('%s refuses an option that it has not, with the names of its own', (_, format) => {
  const make = (options: unknown) => () => format(options as never)
  expect(make({ waitng: 'omit' })).toThrow(expect.objectContaining({ code }))
  expect(make({ waitng: 'omit' })).toThrow(/has no option "waitng"; its options are .*waiting, envelope/)
  expect(make(null)).toThrow(expect.objectContaining({ code }))
  expect(make({ waiting: 'omit', envelope: true, examples: false, programLimit: 5, report: () => {} })).not.toThrow()
})

test.each<[string, (dialect: never) => unknown]>([
  ['openai', (dialect) => openai({ dialect })],
  ['aiSdk', (dialect) => aiSdk({ dialect })],
])('%s refuses a dialect that it has not, with the names of its own', (_, make) => {
  for (const dialect of ['grok', 'toString', '__proto__', 5, null]) {
    if (dialect === null && _ === 'openai') continue // the default
    expect(() => make(dialect as never)).toThrow(expect.objectContaining({ code }))
  }
  expect(() => make('grok' as never)).toThrow(/has no dialect "grok"; its dialects are openai, groq, mistral, xai/)
})

test('aiSdk refuses a version that it does not know, with those that it knows', () => {
  for (const version of [4, 8, '7', null]) {
    expect(() => aiSdk({ version: version as never })).toThrow(expect.objectContaining({ code }))
  }
  expect(() => aiSdk({ version: 8 as never })).toThrow(/`ai-sdk` takes 5, 6 or 7 as `version`\.$/)
  for (const version of [5, 6, 7] as const) expect(() => aiSdk({ version })).not.toThrow()
})

test('openai refuses a message of a role that there is not, and reads nothing in one of each role that there is', () => {
  expect(() => openai().calls({ role: 'nobody' })).toThrow(expect.objectContaining({ code }))
  expect(() => openai().calls([{ role: 'nobody', content: 'x' }])).toThrow(expect.objectContaining({ code }))
  for (const role of ['assistant', 'user', 'system', 'developer', 'tool', 'function']) {
    expect(openai().calls({ role, content: 'x' })).toEqual([])
  }
})
