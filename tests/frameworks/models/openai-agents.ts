import type { Model } from '@openai/agents'
import { modelOf } from '../drivers/openai-agents.ts'

export const model: Model = modelOf([{ id: 'call_1', name: 'deploy', args: {} }])
