import { tool, type Tool } from 'toolwright'

const { KEY, OTHER } = process.env

export const read: Tool = tool('read', () => ({ KEY, OTHER }))
export const write: Tool = tool('write', () => 'written')
export const erase: Tool = tool('erase', () => 'erased')
