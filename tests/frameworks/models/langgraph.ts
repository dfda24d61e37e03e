import { AIMessage } from '@langchain/core/messages'

const call = { id: 'call_1', name: 'deploy', args: {}, type: 'tool_call' as const }

/** The message in which a model calls. */
export const wish: AIMessage = new AIMessage({ content: '', tool_calls: [call] })
