import { createExecutor, tool, ToolFailure, type Tool, type ToolTraits } from 'toolwright'
import { retry } from 'toolwright/middleware/retry'
import { describe, expect, test } from 'vitest'
import { hostile } from './_calls.ts'

function failing(thrown: () => unknown, options: { type?: string; traits?: ToolTraits } = {}): Tool {
  return tool({
    name: 'pay',
    description: 'Pays',
    ...(options as object),
    handler: () => {
      throw thrown()
    },
  })
}

async function effectOf(pay: Tool): Promise<unknown> {
  const result = await createExecutor({ tools: [pay] }).execute({ name: 'pay' })
  return result.effect
}

describe('the effect of a failure', () => {
  test('is what the handler says that it is', async () => {
    expect(await effectOf(failing(() => new ToolFailure('Refused')))).toBe('unknown')
    expect(await effectOf(failing(() => new ToolFailure('Refused', { effect: 'none' })))).toBe('none')
    expect(await effectOf(failing(() => new ToolFailure('Paid, but cut', { effect: 'completed' })))).toBe('completed')
  })

  test('is not believed of another word, of another error, or of a value that cannot be read', async () => {
    expect(await effectOf(failing(() => new ToolFailure('Refused', { effect: 'undone' as never })))).toBe('unknown')
    expect(await effectOf(failing(() => Object.assign(new Error('Refused'), { effect: 'none' })))).toBe('unknown')
    expect(await effectOf(failing(hostile))).toBe('unknown')
  })

  test('is not believed of a tool of an MCP server', async () => {
    const failure = (): unknown => new ToolFailure('Refused', { effect: 'none' })
    expect(await effectOf(failing(failure, { type: 'mcp' }))).toBe('unknown')
  })

  test('of a readonly tool stays none, whatever the handler says', async () => {
    const failure = (): unknown => new ToolFailure('Cut', { effect: 'completed' })
    expect(await effectOf(failing(failure, { traits: { readonly: true } }))).toBe('none')
  })

  test('goes down only to what it was before this attempt', async () => {
    const failures = [new ToolFailure('503', { retryable: true }), new ToolFailure('429', { effect: 'none' })]
    const pay = failing(() => failures.shift(), { traits: { idempotent: true } })
    const executor = createExecutor({ tools: [pay], use: [retry({ delay: 0 })] })
    expect((await executor.execute({ name: 'pay' })).effect).toBe('unknown')

    const refusals = [429, 422].map((status) => new ToolFailure(`${status}`, { effect: 'none', retryable: true }))
    const refund = failing(() => refusals.shift(), { traits: { idempotent: true } })
    const other = createExecutor({ tools: [refund], use: [retry({ delay: 0, attempts: 2 })] })
    expect((await other.execute({ name: 'pay' })).effect).toBe('none')
  })

  test('is not believed once the deadline has passed', async () => {
    const late = tool({
      name: 'pay',
      description: 'Pays',
      timeout: 20,
      handler: async (_, { signal }) => {
        await new Promise((resolve) => signal.addEventListener('abort', resolve))
        throw new ToolFailure('Refused', { effect: 'none' })
      },
    })
    expect(await createExecutor({ tools: [late] }).execute({ name: 'pay' })).toMatchObject({
      status: 'timed_out',
      effect: 'unknown',
    })
  })

  test('has the category that the handler says', async () => {
    const pay = failing(() => new ToolFailure('Refused', { category: 'validation' }))
    const { error } = await createExecutor({ tools: [pay] }).execute({ name: 'pay' })
    expect(error).toMatchObject({ code: 'E_TOOL_DOWNSTREAM_ERROR', category: 'validation', retryable: false })
  })
})
