import { content, tool, type Tool } from 'toolwright'

export const map: Tool = tool('map', () => content([{ type: 'image', data: 'R0lGOA==', mimeType: 'image/gif' }]))
export const search: Tool = tool({
  name: 'search',
  description: 'Searches the web',
  type: 'provider',
  providerOptions: { openai: { type: 'web_search' } },
})
