import * as v from 'valibot'
import { tool, type Tool } from 'toolwright'

const tools: readonly Tool[] = [
  tool('fine', () => 'fine'),
  tool({
    name: 'cannot_be_shown',
    description: 'Has a schema without its wrapper',
    inputSchema: v.object({ city: v.string() }),
    handler: ({ city }) => city,
  }),
]
export default tools
