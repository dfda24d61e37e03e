import { createExecutor, tool, type ToolExecutor } from 'toolwright'
import { permissions } from 'toolwright/policies/permissions'

const bridge = tool({ name: 'tool_call', description: 'Calls a tool', type: 'bridge', inputSchema: { type: 'object' } })
const own = [bridge]

/** Shows models a bridge alone. */
export const executor: ToolExecutor = createExecutor({
  tools: [tool('read', () => 'text'), tool('write', () => 'written')],
  use: [
    permissions({ mode: 'auto', autoDenyTools: ['tool_call', 'write'] }),
    { tools: () => own, offers: ({ type }) => type === 'bridge' },
  ],
})
