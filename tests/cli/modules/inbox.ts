import { clientTool, tool, type Tool } from 'toolwright'

const hostile = '\u001B]0;title\u0007 \u009B2J \u202E\r\nnext line'

const tools: readonly Tool[] = [
  tool({
    name: 'deploy',
    description: 'Deploys an application',
    inputSchema: {
      type: 'object',
      properties: { app: { type: 'string' }, key: { type: 'string' } },
      required: ['app'],
    },
    secrets: ['/key'],
    requiresConfirmation: true,
    confirmationMessage: (input) => `Deploy ${(input as { readonly app: string }).app}?${hostile}`,
    handler: ({ app }) => `deployed ${app}${hostile}`,
  }),
  tool({
    name: 'breaks',
    description: 'Breaks',
    requiresConfirmation: true,
    handler: () => {
      throw new RangeError('out of disk')
    },
  }),
  clientTool({ name: 'form', description: 'Asks the client', requiresResponse: true }),
  tool('quick', () => 'done'),
]
export default tools
