import type { ToolError, ToolExecutor } from 'toolwright'
import { afterEach, expect, test, vi } from 'vitest'
import { z } from 'zod'
import { deferred, heard, names, outcome, turn } from '../_calls.ts'

const onDemand = '../../../src/on-demand.ts'

afterEach(() => {
  vi.doUnmock(onDemand)
  vi.resetModules()
})

/** An executor without a journal, of a process in which no call has waited. */
async function fresh(): Promise<ToolExecutor> {
  const { clientTool, createExecutor, tool } = await import('toolwright')
  const asks = tool({ name: 'asks', description: 'A tool', requiresConfirmation: true, handler: () => 'done' })
  const form = clientTool({ name: 'form', description: 'A form', requiresResponse: true })
  return createExecutor({ tools: [asks, form, tool('plain', () => 'done')], report: () => {} })
}

function codeOf(error: unknown): string {
  return (error as ToolError).code
}

/** Lets what keeps waiting calls load once the gate opens. */
function slowly(): ReturnType<typeof deferred<void>> {
  const gate = deferred()
  vi.resetModules()
  vi.doMock(onDemand, async (actual: () => Promise<object>) => {
    await gate.promise
    return actual()
  })
  return gate
}

test.each(['asks', 'form'])('a call of %s whose keeper does not load fails, and the next one waits', async (name) => {
  vi.resetModules()
  vi.doMock(onDemand, () => {
    vi.doUnmock(onDemand)
    throw new Error('away')
  })
  const executor = await fresh()
  const events = heard(executor)
  const lost = await executor.execute({ name })
  expect([lost.status, lost.error?.code, lost.error?.retryable]).toEqual(['error', 'E_INTERNAL', true])
  expect(names(events)).toBe('call:received call:settled')
  expect(await executor.calls.waiting()).toEqual([])
  const { status, token = '' } = await executor.execute({ name })
  expect(status).toBe('waiting')
  const answer = name === 'form' ? executor.calls.respond(token, 'done') : executor.calls.decide(token, 'allow')
  expect((await answer).status).toBe('ok')
})

test.each(['question', 'evaluation', 'artifact'])(
  'a call whose %s does not load fails, and the next one goes on',
  async (what) => {
    vi.resetModules()
    vi.doMock(onDemand, () => {
      vi.doUnmock(onDemand)
      throw new Error('away')
    })
    const { artifact, createExecutor, SpooledArtifact, tool } = await import('toolwright')
    const inputSchema = z.object({ rows: z.string().transform(artifact(SpooledArtifact)) })
    const tools = [
      tool({ name: 'asks', description: 'A tool', requiresConfirmation: true, handler: () => 'done' }),
      tool('keeps', () => 'x'.repeat(20_000)),
      tool({ name: 'reads', description: 'A tool', inputSchema, handler: ({ rows }) => rows.byteLength() }),
    ]
    const approver = { ask: async () => ({ decision: 'allow', decidedBy: 'me' }) as const }
    const executor = createExecutor({ tools, use: [{ approver }] })
    const { artifact: rows } = await executor.execute({ name: 'keeps' })
    const attempt = async (): Promise<string | undefined> => {
      if (what === 'evaluation') return executor.evaluate({ name: 'asks' }).then(({ decision }) => decision, codeOf)
      const call = what === 'question' ? { name: 'asks' } : { name: 'reads', args: { rows: rows?.handle } }
      const { status, error } = await executor.execute(call)
      return error?.code ?? status
    }
    expect([await attempt(), await attempt()]).toEqual(['E_INTERNAL', what === 'evaluation' ? 'ask' : 'ok'])
  },
)

test('calls that begin to wait while the keeper loads are all kept, and a drain waits for them', async () => {
  const gate = slowly()
  const executor = await fresh()
  const waiting = [executor.execute({ name: 'asks' }), executor.execute({ name: 'form' })]
  expect(outcome(await executor.execute({ name: 'plain' }))).toBe('ok completed')
  let isClosed = false
  const closing = executor.close({ drain: 60_000 }).then(() => (isClosed = true))
  await turn()
  expect(isClosed).toBe(false)
  gate.resolve()
  expect((await Promise.all(waiting)).map(({ status }) => status)).toEqual(['waiting', 'waiting'])
  await closing
})
