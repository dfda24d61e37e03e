import { tool, ToolRegistry, type Tool } from 'toolwright'

const one: Tool = tool('one', () => 1)
const two: Tool = tool('two', () => 2)

export { one, one as again }
export const both: readonly Tool[] = [one, two]
export const registry: ToolRegistry = new ToolRegistry([one, two, tool('three', () => 3)])
export const version = '1.0'
export default registry
