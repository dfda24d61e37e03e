import 'toolwright/compat'
import { createExecutor, Tool, type Extension, type WaitingCall } from 'toolwright'
import type { ApprovalRequest, ErasedConfig } from 'toolwright/extension'
import { describe, expect, test, vi } from 'vitest'

const inputSchema = {
  type: 'object',
  properties: { path: { type: 'string' }, key: { type: 'string' } },
} as const

interface Asked {
  readonly call: WaitingCall
  readonly reports: unknown[]
}

/** Makes a call of a tool that asks, and returns what waits. */
async function asked(config: Partial<ErasedConfig>, use: readonly Extension[] = []): Promise<Asked> {
  const reports: unknown[] = []
  const write = new Tool({
    name: 'write',
    description: 'Writes',
    inputSchema,
    requiresConfirmation: true,
    handler: () => 'written',
    ...config,
  })
  const executor = createExecutor({ tools: [write], use, report: (error) => void reports.push(error) })
  const result = await executor.execute({ name: 'write', args: { path: 'a.txt', key: 'canary' } })
  expect(result.status).toBe('waiting')
  const [call] = await executor.calls.waiting()
  expect((await executor.calls.decide(call!, 'allow')).status).toBe('ok')
  return { call: call!, reports }
}

const pathOf = (input: unknown): string => (input as { path: string }).path

describe('a question shows what the tool says of the call', () => {
  test('its summary and its preview stand beside the meta of a policy', async () => {
    const policy = { name: 'paths', decide: () => ({ decision: 'ask' as const, meta: { risk: 'low' } }) }
    const { call, reports } = await asked(
      {
        displaySummary: (input) => `Writes ${pathOf(input)}`,
        confirmationPreview: async (input, { toolName }) => [{ type: 'text', text: `${toolName}: + ${pathOf(input)}` }],
      },
      [{ policies: [policy] }],
    )
    expect(call.meta).toEqual({
      risk: 'low',
      summary: 'Writes a.txt',
      preview: [{ type: 'text', text: 'write: + a.txt' }],
    })
    expect(reports).toEqual([])
  })

  test('an approver in process is shown the same, and a call that asks nobody makes no preview', async () => {
    const seen: ApprovalRequest[] = []
    const approver = { ask: async (request: ApprovalRequest) => (seen.push(request), { decision: 'allow' as const }) }
    const confirmationPreview = vi.fn(() => 'the difference')
    const config = {
      name: 'write',
      description: 'Writes',
      inputSchema,
      displaySummary: 'Writes',
      confirmationPreview,
      handler: () => 1,
    }
    const asking = new Tool({ ...config, requiresConfirmation: (input) => pathOf(input) === 'a' })
    const executor = createExecutor({ tools: [asking], use: [{ approver }] })
    await executor.execute({ name: 'write', args: { path: 'b' } })
    expect(confirmationPreview).not.toHaveBeenCalled()
    await executor.execute({ name: 'write', args: { path: 'a' } })
    expect(seen).toMatchObject([{ meta: { summary: 'Writes', preview: 'the difference' } }])
  })

  test.each<[string, Partial<ErasedConfig>]>([
    [
      'throws',
      {
        confirmationPreview: () => {
          throw new Error('no preview')
        },
      },
    ],
    ['rejects', { confirmationPreview: () => Promise.reject(new Error('no preview')) }],
    ['is no content', { confirmationPreview: () => ({ rows: 1 }) as never }],
    ['is too large', { confirmationPreview: () => [{ type: 'text', text: 'x'.repeat(20_000) }] }],
    ['summarizes nothing', { displaySummary: () => undefined as never, confirmationPreview: () => 'shown' }],
  ])('one that %s is reported and left out, and the question goes out', async (name, config) => {
    const { call, reports } = await asked(config)
    expect(call.meta).toEqual(name === 'summarizes nothing' ? { preview: 'shown' } : undefined)
    expect(reports).toHaveLength(1)
  })

  test('a long text is cut, and secrets are masked', async () => {
    const long = await asked({ confirmationPreview: () => 'x'.repeat(20_000) })
    expect(String(long.call.meta?.['preview']).length).toBeLessThanOrEqual(16_384)
    const { call } = await asked({
      secrets: ['/key'],
      displaySummary: (input) => JSON.stringify(input),
      confirmationPreview: (_input, { toolUse }) => JSON.stringify(toolUse.input),
    })
    expect(JSON.stringify(call)).not.toContain('canary')
    expect(call.meta?.['summary']).toContain('[secret]')
  })

  test('a preview that takes longer than five seconds is left out, and one of a call that is cancelled ends with it', async () => {
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] })
    try {
      const waiting = asked({ confirmationPreview: () => new Promise<string>(() => {}) })
      await vi.advanceTimersByTimeAsync(5_100)
      expect((await waiting).reports).toMatchObject([{ code: 'E_TOOL_TIMEOUT' }])
    } finally {
      vi.useRealTimers()
    }
    const controller = new AbortController()
    const slow = new Tool({
      name: 'slow',
      description: 'Slow',
      requiresConfirmation: true,
      confirmationPreview: () => (controller.abort(), new Promise<string>(() => {})),
      handler: () => 1,
    })
    const result = await createExecutor({ tools: [slow] }).execute({ name: 'slow' }, { signal: controller.signal })
    expect(result.status).toBe('cancelled')
  })
})
