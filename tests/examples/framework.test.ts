import { createExecutor, type ToolEvent } from 'toolwright'
import { describe, expect, test } from 'vitest'
import { missing } from '../frameworks/_installed.ts'
import tools from './tools.ts'

if (missing !== undefined) console.warn(`The example of a framework is not run: ${missing}`)

describe.skipIf(missing !== undefined)('an agent of the AI SDK', () => {
  test('calls the tools of an executor, which validates them and tells of them', async () => {
    const [{ ask }, { modelOf }] = await Promise.all([
      import('./framework/agent.ts'),
      import('../frameworks/_ai-model.ts'),
    ])
    const executor = createExecutor({ tools })
    const settled: ToolEvent[] = []
    executor.on('call:settled', (event) => void settled.push(event))
    const model = modelOf(
      { calls: [{ id: 'call_1', name: 'get_forecast', args: { city: 'Bergen', days: 9 } }] },
      { calls: [{ id: 'call_2', name: 'get_forecast', args: { city: 'Bergen', days: 2 } }] },
      { text: 'It rains.' },
    )
    expect(await ask(model, executor, 'Rain?')).toEqual({ text: 'It rains.', questions: [] })
    expect(settled).toMatchObject([
      { id: 'call_1', status: 'error', error: { code: 'E_INVALID_TOOL_ARGS' } },
      { id: 'call_2', status: 'ok' },
    ])
    await executor.close()
  })

  test('asks a person before a tool that needs one', async () => {
    const [{ ask }, { modelOf }] = await Promise.all([
      import('./framework/agent.ts'),
      import('../frameworks/_ai-model.ts'),
    ])
    const executor = createExecutor({ tools })
    const settled: ToolEvent[] = []
    executor.on('call:settled', (event) => void settled.push(event))
    const model = modelOf({ calls: [{ id: 'call_1', name: 'keep_notes', args: { clear: true } }] }, { text: 'Done.' })
    expect((await ask(model, executor, 'Throw my notes away.')).questions).toEqual(['keep_notes'])
    expect(settled).toEqual([])
    await executor.close()
  })
})
