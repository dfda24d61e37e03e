import { tool, type Tool } from 'toolwright'

const names = Array.from({ length: 9 }, (_, index) => `f${index}`)
const properties = Object.fromEntries(names.map((name) => [name, { type: 'string' }] as const))

/** Four tools with nine optional fields each: more than one request of strict tools may have. */
const tools: readonly Tool[] = ['one', 'two', 'three', 'four'].map((name) =>
  tool({ name, description: name, inputSchema: { type: 'object', properties }, handler: () => null }),
)
export default tools
