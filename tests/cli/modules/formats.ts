import { tool, type Tool } from 'toolwright'
import { openai, type OpenAiFormat } from 'toolwright/formats/openai'
import { acme } from '../../formats/kit/acme.ts'

const add: Tool = tool({
  name: 'add',
  description: 'Adds two numbers',
  inputSchema: {
    type: 'object',
    properties: { a: { type: 'integer', minimum: 0 }, b: { type: 'integer', multipleOf: 2 } },
    required: ['a', 'b'],
  },
  handler: ({ a, b }) => a + b,
})

const everything: { tools: readonly Tool[]; formats: readonly unknown[] } = { tools: [add], formats: [acme()] }
export default everything

/** A name of a built-in format: that one is used. */
export const chat: OpenAiFormat = openai({ envelope: true })
