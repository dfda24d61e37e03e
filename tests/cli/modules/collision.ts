import { tool, type Tool } from 'toolwright'

export const first: Tool = tool('same', () => 1)
export const second: Tool = tool('same', () => 2)
