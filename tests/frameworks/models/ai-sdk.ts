// What the snippets of the page import as their model: it makes one call of the first tool, then it is done.
import { MockLanguageModelV4 } from 'ai/test'
import { modelOf } from '../_ai-model.ts'

export const model: MockLanguageModelV4 = new MockLanguageModelV4({
  doGenerate: async (options) => {
    const [tool] = options.tools ?? []
    const isFirst = !options.prompt.some(({ role }) => role === 'tool')
    const calls = isFirst && tool !== undefined ? [{ id: 'call_1', name: tool.name, args: {} }] : undefined
    return modelOf(calls === undefined ? { text: 'It is 12:00.' } : { calls }).doGenerate(options)
  },
})
