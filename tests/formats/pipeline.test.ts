import { createExecutor, tool, type Format } from 'toolwright'
import { aiSdk } from 'toolwright/formats/ai-sdk'
import { anthropic } from 'toolwright/formats/anthropic'
import { gemini } from 'toolwright/formats/gemini'
import { mcp } from 'toolwright/formats/mcp'
import { openai } from 'toolwright/formats/openai'
import { openaiResponses } from 'toolwright/formats/openai-responses'
import { describe, expect, test } from 'vitest'
import { messages } from './_messages.ts'
import { forecast, now } from './_tools.ts'

const runCode = tool({
  name: 'run_code',
  description: 'Runs code',
  inputSchema: { type: 'object', properties: { input: { type: 'string' } }, required: ['input'] },
  handler: ({ input }) => `ran ${String(input)}`,
})
const formats: readonly Format[] = [anthropic(), openai(), openaiResponses(), gemini(), aiSdk(), mcp()]

describe.each(formats)('one turn through the executor in the format $name', (format) => {
  const own = messages[format.name] ?? []

  test.each(own)(
    'whoever does not know the format finds it, and every call is run and answered: $title',
    async ({ message, calls }) => {
      const executor = createExecutor({ tools: [forecast, now, runCode] })
      const found = formats.find((each) => each.detect(message))
      expect(found).toBe(format)
      const results = await executor.executeToolCalls(format.calls(message))
      expect(results.map(({ status }) => status)).toEqual(calls.map(() => 'ok'))
      const reply = JSON.stringify(format.results(results, message))
      if (calls.length > 0) expect(reply).toMatch(/temperature|12:00|ran print/)
    },
  )

  test('a call of a tool that does not exist is answered', async () => {
    const executor = createExecutor({ tools: [now] })
    const results = await executor.executeToolCalls([{ id: 'a', name: '' }])
    expect(JSON.stringify(format.results(results))).toContain('Available: now')
  })

  test('the tools of the executor are listed as they are', () => {
    expect(JSON.stringify(format.definitions([forecast, now, runCode]))).toContain('run_code')
  })
})
