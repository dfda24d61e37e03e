import { tool, type Tool } from 'toolwright'

const tools: readonly Tool[] = Array.from({ length: 3_000 }, (_, index) => tool(`tool_${index}`, () => index))
export default tools
