import { createExecutor, type ToolResult } from 'toolwright'
import { ToolDeniedError, ToolTimeoutError } from 'toolwright/errors'
import { Known, type KnownOutcome, type Middleware } from 'toolwright/extension'
import { memoryJournal } from 'toolwright/journals/memory'
import { describe, expect, test } from 'vitest'
import { heard, hostile, names, outcome, sink, text, work } from './_calls.ts'

const paid: KnownOutcome = { status: 'ok', effect: 'completed', content: [{ type: 'text', text: 'known' }] }

function ending(known: KnownOutcome): { readonly middleware: readonly Middleware[] } {
  return {
    middleware: [
      async () => {
        throw new Known(known)
      },
    ],
  }
}

describe('an outcome that a middleware knows', () => {
  test('ends the call with the own ids of the call, and the handler does not start', async () => {
    const ran: string[] = []
    const executor = createExecutor({
      tools: [work('pay', () => void ran.push('pay'))],
      use: [ending({ ...paid, value: 'known' })],
    })
    const events = heard(executor)
    const first = await executor.execute({ id: 'a', name: 'pay' })
    const second = await executor.execute({ id: 'b', name: 'pay' })
    expect([outcome(first), text(first), first.value, first.id]).toEqual([
      'ok completed skipped',
      'known',
      'known',
      'a',
    ])
    expect(second.invocationId).not.toBe(first.invocationId)
    expect(second.callId).toBe(first.callId)
    expect(ran).toEqual([])
    expect(names(events.slice(0, 4))).toBe('call:received tool:start tool:end call:settled')
    expect(events[2]).toMatchObject({ event: 'tool:end', isError: false })
  })

  test('is neither validated nor kept again, and no outer middleware changes it', async () => {
    const tool = work('pay', () => 1, { outputSchema: { type: 'integer' } })
    const outer: Middleware = async (_call, _context, next) => [await next()]
    const large = 'x'.repeat(100_000)
    const executor = createExecutor({
      tools: [tool],
      use: [{ middleware: [outer] }, ending({ ...paid, content: [{ type: 'text', text: large }] })],
    })
    const result = await executor.execute({ name: 'pay' })
    expect([outcome(result), text(result), result.handle]).toEqual(['ok completed skipped', large, undefined])
  })

  test('may be a failure, which has the status of its error', async () => {
    const error = new ToolTimeoutError('The bank did not answer.', { retryable: true })
    const failure: KnownOutcome = { status: 'timed_out', effect: 'unknown', error, content: [] }
    const executor = createExecutor({ tools: [work('pay', () => 1)], use: [ending(failure)] })
    const events = heard(executor)
    const result = await executor.execute({ name: 'pay' })
    expect([outcome(result), result.isError, result.error]).toEqual([
      'timed_out unknown E_TOOL_TIMEOUT skipped',
      true,
      error,
    ])
    expect(events.find(({ event }) => event === 'tool:end')).toMatchObject({ isError: true })
  })

  test('after the handler has run is not skipped', async () => {
    const after: Middleware = async (_call, _context, next) => {
      await next().catch(() => {})
      throw new Known(paid)
    }
    const failing = work('pay', () => Promise.reject(new Error('cut')))
    const result = await createExecutor({ tools: [failing], use: [{ middleware: [after] }] }).execute({ name: 'pay' })
    expect([outcome(result), 'skipped' in result]).toEqual(['ok completed', false])
  })

  test('lists its artifact in the executor that has it in its store', async () => {
    const read = work('read', () => 'line\n'.repeat(10_000))
    const executor = createExecutor({ tools: [read, work('again', () => 1)] })
    const { artifact, handle, content, status, effect } = await executor.execute({ name: 'read' })
    const store = { write: unused, delete: unused, open: () => Promise.resolve(reader) }
    const reader = { byteLength: 50_000, chunks: unused, read: unused } as never
    const other = createExecutor({
      tools: [work('read', () => 1)],
      use: [{ store }, ending({ status, effect, content, artifact: artifact!, handle: handle! })],
    })
    const result = await other.execute({ name: 'read' }, { session: 's' })
    expect([result.handle, result.artifact]).toEqual([handle, artifact])
    expect(other.artifacts.list('s')).toMatchObject([{ handle, toolName: 'read', byteLength: 50_000, kind: 'text' }])
    expect(other.artifacts.list('another')).toEqual([])
  })

  test('is in the record, and the same invocation replays it', async () => {
    const executor = createExecutor({ tools: [work('pay', () => 1)], use: [memoryJournal(), ending(paid)] })
    const first = await executor.execute({ name: 'pay' }, { invocationId: 'one' })
    const again = await executor.execute({ name: 'pay' }, { invocationId: 'one' })
    expect(JSON.stringify(again)).toBe(JSON.stringify(first))
    expect(await executor.calls.get('one')).toMatchObject({ state: 'COMPLETED', effect: 'completed', status: 'ok' })
  })

  test('is not known from a handler, a copy or a proxy', async () => {
    const throwing = (thrown: unknown): Promise<ToolResult> =>
      createExecutor({ tools: [work('t', () => Promise.reject(thrown))] }).execute({ name: 't' })
    expect(outcome(await throwing(new Known(paid)))).toBe('error unknown E_TOOL_DOWNSTREAM_ERROR')
    for (const thrown of [new Proxy(new Known(paid), {}), Object.create(new Known(paid)), hostile()]) {
      const use = [{ middleware: [() => Promise.reject(thrown)] }]
      const result = await createExecutor({ tools: [work('t', () => 1)], use }).execute({ name: 't' })
      expect(outcome(result)).toBe('error none E_TOOL_DOWNSTREAM_ERROR')
    }
  })

  test('of a hostile artifact is told, and the fault is reported', async () => {
    const { reports, report } = sink()
    const artifact = Object.assign(hostileArtifact(), { handle: 'h' })
    const use = [ending({ ...paid, artifact: artifact as never, handle: 'h' })]
    const result = await createExecutor({ tools: [work('t', () => 1)], use, report }).execute({ name: 't' })
    expect(outcome(result)).toBe('ok completed skipped')
    expect(String(reports[0])).toContain('byteLength')
  })

  const denial = new ToolDeniedError('no')
  test.each<[string, unknown]>([
    ['no object', undefined],
    ['a call that waits', { ...paid, status: 'waiting' }],
    ['an unknown effect', { ...paid, effect: 'some' }],
    ['an error of another status', { ...paid, status: 'error', error: denial }],
    ['a failure without an error', { ...paid, status: 'denied' }],
    ['an error beside ok', { ...paid, error: denial }],
    ['no blocks', { ...paid, content: 'known' }],
    ['blocks without a type', { ...paid, content: [{ text: 'known' }] }],
    ['no artifact', { ...paid, artifact: {} }],
    ['no handle', { ...paid, handle: 1 }],
    ['getters that throw', hostile()],
  ])('is refused for %s', async (_what, wrong) => {
    expect(() => new Known(wrong as KnownOutcome)).toThrow(expect.objectContaining({ code: 'E_INVALID_CONFIGURATION' }))
    const result = await createExecutor({ tools: [work('t', () => 1)], use: [ending(wrong as never)] }).execute({
      name: 't',
    })
    expect(outcome(result)).toBe('error none E_INVALID_CONFIGURATION')
  })

  test('is read once, when it is made', async () => {
    let reads = 0
    const changing = {
      ...paid,
      get effect() {
        return ++reads === 1 ? ('none' as const) : ('completed' as const)
      },
    }
    const result = await createExecutor({ tools: [work('t', () => 1)], use: [ending(changing)] }).execute({ name: 't' })
    expect([result.effect, reads]).toEqual(['none', 1])
  })
})

function unused(): never {
  throw new Error('not used')
}

function hostileArtifact(): object {
  return {
    [Symbol.for('toolwright.artifact')]: true,
    mediaType: 'text/plain',
    toJSON: () => ({}),
    byteLength: () => {
      throw new Error('byteLength')
    },
  }
}
