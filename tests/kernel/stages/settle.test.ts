import { createExecutor, type Extension } from 'toolwright'
import { describe, expect, test } from 'vitest'
import { heard, names, never, outcome, sink, soon, text, turn, work } from '../_calls.ts'

const fail = (): never => {
  throw new Error('no')
}
const policy = (decide: () => unknown): Extension => ({ policies: [{ name: 'p', decide: decide as never }] })
const schema = (validate: () => unknown): object => ({
  inputSchema: { '~standard': { version: 1, vendor: 'own', validate } },
  jsonSchema: {},
})

describe('from what happened to status and effect', () => {
  // handler, options of the tool, extensions, expected outcome, and whether the run has a start and an end
  test.each<[string, () => unknown, object, Extension[], string, boolean]>([
    ['success', () => 1, {}, [], 'ok completed', true],
    ['success of a readonly tool', () => 1, { traits: { readonly: true } }, [], 'ok none', true],
    ['skipped by a policy', () => 1, {}, [policy(() => ({ result: 1 }))], 'ok none skipped', false],
    [
      'invalid args',
      () => 1,
      schema(() => ({ issues: [{ message: 'no' }] })),
      [],
      'error none E_INVALID_TOOL_ARGS',
      false,
    ],
    ['a validator that broke', () => 1, schema(fail), [], 'error none E_VALIDATOR_FAILED', false],
    ['denied by a policy', () => 1, {}, [policy(() => ({ decision: 'deny' }))], 'denied none E_TOOL_DENIED', false],
    ['denied by a policy that broke', () => 1, {}, [policy(fail)], 'denied none E_TOOL_DENIED', false],
    ['waiting for a person', () => 1, { requiresConfirmation: true }, [], 'waiting none', false],
    ['waiting for a client', () => 1, { type: 'client', requiresResponse: true }, [], 'waiting unknown', false],
    ['a handler that threw', fail, {}, [], 'error unknown E_TOOL_DOWNSTREAM_ERROR', true],
    ['a handler that rejected', async () => fail(), {}, [], 'error unknown E_TOOL_DOWNSTREAM_ERROR', true],
    ['too slow before the run', () => 1, {}, [policy(() => never)], 'timed_out none E_TOOL_TIMEOUT', false],
    ['too slow in the run', () => never, {}, [], 'timed_out unknown E_TOOL_TIMEOUT', true],
    [
      'an invalid result',
      () => 'x',
      { outputSchema: { type: 'number' } },
      [],
      'error completed E_INVALID_TOOL_RESULT',
      true,
    ],
    ['a result that cannot be kept', () => 1n, {}, [], 'error completed E_INVALID_TOOL_RESULT', true],
    [
      'a store that broke',
      () => 'x'.repeat(20_000),
      {},
      [{ store: { write: fail, open: fail, delete: fail } }],
      'error completed E_ARTIFACT',
      true,
    ],
    ['nobody here can run it', () => 1, { type: 'own' }, [], 'error none E_INVALID_EXECUTION_TYPE', true],
    ['a default result', () => 1, { type: 'client' }, [], 'ok unknown', true],
    [
      'a middleware that threw before the run',
      () => 1,
      {},
      [{ middleware: [async () => fail()] }],
      'error none E_TOOL_DOWNSTREAM_ERROR',
      true,
    ],
  ])('%s', async (_, handler, options, use, expected, hasRun) => {
    const executor = createExecutor({ tools: [work('t', handler, options)], use, timeout: 30, report: sink().report })
    const events = heard(executor)
    const result = await soon(executor.execute({ id: 'x', name: 't', args: {} }, { session: 's', invocationId: 'i' }))
    expect(outcome(result)).toBe(expected)
    expect(result.isError).toBe(result.status !== 'ok' && result.status !== 'waiting')
    expect(result).toMatchObject({
      id: 'x',
      invocationId: 'i',
      toolName: 't',
      callId: expect.stringMatching(/^[0-9a-f]{64}$/),
    })
    expect(result.durationMs).toBeGreaterThanOrEqual(0)
    expect(result.content.length).toBeGreaterThan(0)
    if (result.error !== undefined) {
      expect(result.error).toMatchObject({ toolName: 't', invocationId: 'i', callId: result.callId })
    }
    expect(names(events).includes('tool:start')).toBe(hasRun)
    expect(events.filter(({ event }) => event === 'tool:start').length).toBe(
      events.filter(({ event }) => event === 'tool:end').length,
    )
    const end = { event: 'call:settled', status: result.status, effect: result.effect }
    expect(events.at(-1)).toMatchObject(result.status === 'waiting' ? { event: 'call:waiting' } : end)
    expect(events.map(({ seq }) => seq)).toEqual(events.map((_event, index) => index))
  })
})

describe('a result', () => {
  test('can be written as JSON, and leaks neither bytes nor causes', async () => {
    const cause = (): never => {
      throw new Error('words', { cause: new Error('canary') })
    }
    const executor = createExecutor({ tools: [work('good', () => 'bytes'), work('bad', cause)] })
    const good = JSON.parse(JSON.stringify(await executor.execute({ name: 'good' }))) as object
    expect(good).toMatchObject({ status: 'ok', artifact: { kind: 'text', mediaType: 'text/plain', byteLength: 5 } })
    const bad = JSON.stringify(await executor.execute({ name: 'bad' }))
    expect(bad).not.toContain('canary')
    expect(bad).not.toContain('settle.test')
  })

  test('of a waiting call becomes an error of the kernel nowhere, also where its tool cannot be fingerprinted', async () => {
    for (const odd of [{ description: 'bad \ud800' }, { metadata: { version: 1n } }]) {
      const executor = createExecutor({
        tools: [work('t', () => 1, { ...odd, requiresConfirmation: true })],
        report: sink().report,
      })
      const result = await soon(executor.execute({ name: 't' }))
      expect(['waiting', 'error', 'denied']).toContain(result.status)
      await soon(executor.close())
    }
  })
})

describe('a fault of the package', () => {
  test('is reported in its own words, and shown to the model as a line that says nothing', async () => {
    const approver = {
      ask: () => never,
      get timeout(): number {
        throw new Error('canary')
      },
    }
    const { report, reports } = sink()
    const tools = [work('t', () => 1, { requiresConfirmation: true })]
    const result = await createExecutor({ tools, use: [{ approver }], report }).execute({ name: 't' })
    expect(outcome(result)).toBe('error none E_INTERNAL')
    expect(result.error).toMatchObject({ exposed: false, cause: new Error('canary') })
    expect(reports).toEqual([result.error])
    expect(text(result)).toBe('The tool failed; the reason is not shown.')
  })

  test('or of the application is settled, and told to no model', async () => {
    const artifact = (): never => {
      throw new Error('canary')
    }
    const { report } = sink()
    const result = await createExecutor({ tools: [work('t', () => 1, { artifact })], report }).execute({ name: 't' })
    expect(outcome(result)).toMatch(/^error completed E_/)
    expect(text(result)).not.toContain('settle.test')
  })

  test.each<[string, (error: unknown) => void]>([
    ['throws', () => fail()],
    ['rejects', async () => fail()],
  ])('whose report %s is settled all the same', async (_, report) => {
    const unhandled: unknown[] = []
    const note = (reason: unknown): void => void unhandled.push(reason)
    process.on('unhandledRejection', note)
    const executor = createExecutor({ tools: [work('t', () => 1)], use: [{ observers: [() => fail()] }], report })
    expect((await executor.execute({ name: 't' })).status).toBe('ok')
    await turn()
    process.off('unhandledRejection', note)
    expect(unhandled).toEqual([])
  })
})
