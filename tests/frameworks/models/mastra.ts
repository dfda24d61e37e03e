import { modelOf } from '../_ai-model.ts'

export const model = modelOf({ calls: [{ id: 'call_1', name: 'deploy', args: {} }] }, { text: 'done' }) as never
