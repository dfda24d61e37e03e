import type { Extension, ToolExecutor } from 'toolwright'
import { afterEach, describe, expect, test, vi } from 'vitest'
import { deferred, heard, names, outcome, soon, turn, type Deferred } from './_calls.ts'
import { directory } from './_journals.ts'

const approvals = '../../src/approvals/paused-calls.ts'
const heldCalls = '../../src/records/held.ts'
const redaction = '../../src/redaction/redactor.ts'
const notFound = '../../src/kernel/outcome/not-found.ts'
const evaluating = '../../src/kernel/evaluate.ts'
const middleware = '../../src/kernel/run/middleware.ts'

afterEach(() => {
  vi.doUnmock(approvals)
  for (const part of [heldCalls, redaction, notFound, evaluating, middleware]) vi.doUnmock(part)
  vi.resetModules()
})

/** The package as a process has it that has loaded none of its parts. */
async function fresh() {
  const { createExecutor, memoryStore, tool } = await import('toolwright')
  const { memoryJournal } = await import('toolwright/journals/memory')
  const { sqliteJournal } = await import('toolwright/journals/sqlite')
  const made = (name: string, options: object = {}) =>
    tool({ name, description: 'A tool', inputSchema: { type: 'object' }, handler: () => 'done', ...options } as never)
  const tools = [
    made('plain'),
    made('asked', { requiresConfirmation: true }),
    made('maybe', { requiresConfirmation: (({ big }: { big?: true }) => big === true) as never }),
    made('client', { type: 'client', requiresResponse: true }),
    made('secret', { secrets: ['/password'] }),
    made('both', { secrets: ['/password'], requiresConfirmation: true }),
  ]
  return {
    tools,
    memoryJournal,
    memoryStore,
    sqliteJournal,
    open: (...use: Extension[]): ToolExecutor => createExecutor({ tools, use, report: () => {} }),
  }
}

/** Counts the loads of a part, and lets each wait. */
function slowly(path: string): { readonly loads: () => number; readonly gate: Deferred<void> } {
  const gate = deferred()
  let loads = 0
  vi.resetModules()
  vi.doMock(path, async (actual: () => Promise<object>) => {
    loads++
    await gate.promise
    return actual()
  })
  return { loads: () => loads, gate }
}

/** Makes the next load of a part fail. */
function failing(path: string): void {
  vi.resetModules()
  vi.doMock(path, () => {
    vi.doUnmock(path)
    throw new Error('away')
  })
}

const asking = [
  ['a tool that asks', 'asked', {}, []],
  ['a call that is held', 'plain', { hold: true }, []],
  ['a tool of a client', 'client', {}, []],
  ['a policy that asks', 'plain', {}, [{ policies: [{ name: 'p', decide: () => ({ decision: 'ask' }) }] }]],
] as const

describe('what asks people', () => {
  test('is loaded by the first call that asks, once, and not by others', async () => {
    const { loads, gate } = slowly(approvals)
    gate.resolve()
    const { open, memoryJournal } = await fresh()
    const executor = open(memoryJournal())
    const others = [{ name: 'plain' }, { name: 'maybe' }, { name: 'unknown' }]
    await Promise.all(others.map((call) => executor.execute(call)))
    await executor.calls.expire()
    expect(loads()).toBe(0)
    const first = Array.from({ length: 20 }, () => executor.execute({ name: 'asked' }))
    const results = await Promise.all([...first, executor.execute({ name: 'maybe', args: { big: true } })])
    expect(new Set(results.map(outcome))).toEqual(new Set(['pending none']))
    expect(loads()).toBe(1)
    const tokens = results.map(({ token }) => token ?? '')
    const decided = await Promise.all(tokens.map((token) => executor.calls.decide(token, 'allow')))
    expect(new Set(decided.map(outcome))).toEqual(new Set(['ok completed']))
  })

  test('is not loaded by the close of an executor on which no call has waited', async () => {
    const { loads } = slowly(heldCalls)
    const { open } = await fresh()
    const executor = open()
    await executor.execute({ name: 'plain' })
    await executor.close()
    expect(loads()).toBe(0)
  })

  describe.each([approvals, heldCalls])('if %s fails to load', (part) => {
    test.each(asking)('settles %s with E_INTERNAL, and the next one asks', async (_, name, options, use) => {
      failing(part)
      const { open } = await fresh()
      const executor = open(...(use as unknown as Extension[]))
      const events = heard(executor)
      const lost = await executor.execute({ name }, options)
      expect([outcome(lost), lost.error?.retryable]).toEqual(['error none E_INTERNAL', true])
      expect(names(events)).toBe('call:received call:settled')
      expect(await executor.calls.waiting()).toEqual([])
      const { status, token = '' } = await executor.execute({ name }, options)
      expect(status).toBe('pending')
      const answer = name === 'client' ? executor.calls.respond(token, 'done') : executor.calls.decide(token, 'allow')
      expect((await answer).status).toBe('ok')
    })
  })

  test.each(['asked', 'client'])(
    'leaves the record of a call with the error, if it fails to load (%s)',
    async (name) => {
      failing(approvals)
      const { open, memoryJournal } = await fresh()
      const executor = open(memoryJournal())
      for (const status of ['error', 'pending']) {
        const { invocationId } = await executor.execute({ name })
        expect((await executor.calls.get(invocationId)).status).toBe(status)
      }
    },
  )

  test('fails to load for an approver: the next call is asked', async () => {
    failing(approvals)
    const { open } = await fresh()
    const executor = open({ approver: { ask: async () => ({ decision: 'allow' }) } })
    const lost = await executor.execute({ name: 'asked' })
    expect([outcome(lost), lost.error?.retryable]).toEqual(['error none E_INTERNAL', true])
    expect(outcome(await executor.execute({ name: 'asked' }))).toBe('ok completed')
  })

  describe.each(asking)('while it loads for %s', (_, name, options, use) => {
    async function loading(...more: readonly ('journal' | 'held')[]) {
      const { loads, gate } = slowly(more.includes('held') ? heldCalls : approvals)
      const { open, memoryJournal } = await fresh()
      const executor = open(...(use as unknown as Extension[]), ...(more.includes('journal') ? [memoryJournal()] : []))
      const events = heard(executor)
      const { signal, abort } = aborting()
      const result = executor.execute({ name }, { ...options, signal })
      await vi.waitFor(() => expect(loads()).toBe(1))
      return { executor, events, result, gate, abort }
    }

    function aborting(): { readonly signal: AbortSignal; readonly abort: () => void } {
      const controller = new AbortController()
      return { signal: controller.signal, abort: () => controller.abort() }
    }

    test.each([['journal'], [], ['held']] as const)('an abort ends the call at once (%s)', async (...more) => {
      const { executor, events, result, gate, abort } = await loading(...more)
      abort()
      expect(outcome(await soon(result))).toBe('cancelled none E_TOOL_CANCELLED')
      gate.resolve()
      await turn()
      expect(names(events)).toBe('call:received call:settled')
      expect(await executor.calls.waiting()).toEqual([])
    })

    test.each([['journal'], [], ['held']] as const)('`close` cancels the call (%s)', async (...more) => {
      const { executor, events, result, gate } = await loading(...more)
      await soon(executor.close())
      expect(outcome(await result)).toBe('cancelled none E_TOOL_CANCELLED')
      gate.resolve()
      await turn()
      expect(names(events)).toBe('call:received call:settled')
    })

    test.each([['journal'], [], ['held']] as const)('a drain waits for it (%s)', async (...more) => {
      const { executor, events, result, gate } = await loading(...more)
      const closing = executor.close({ drain: 60_000 })
      gate.resolve()
      const { status, effect } = await soon(result)
      expect([status, effect]).toEqual(['pending', name === 'client' ? 'unknown' : 'none'])
      await soon(closing)
      const end = more[0] === 'journal' ? [] : ['call:settled'] // without a journal, `close` ends what waits
      expect(names(events)).toBe(['call:received call:paused call:settled', ...end].join(' '))
      expect(events.map(({ seq }) => seq)).toEqual([0, 1, 2, ...end.map(() => 3)])
    })
  })
})

describe('what hides secrets', () => {
  const args = { password: 'canary-4f1c' }

  test('is loaded by the first call of a tool that has some, once, and not by others', async () => {
    const { loads, gate } = slowly(redaction)
    gate.resolve()
    const { open, memoryJournal } = await fresh()
    const executor = open(memoryJournal())
    await Promise.all([executor.execute({ name: 'plain', args }), executor.execute({ name: 'unknown', args })])
    expect(loads()).toBe(0)
    const events = heard(executor)
    const calls = Array.from({ length: 20 }, () => executor.execute({ name: 'secret', args }))
    expect(new Set((await Promise.all(calls)).map(outcome))).toEqual(new Set(['ok completed']))
    expect(loads()).toBe(1)
    expect(JSON.stringify(events)).not.toContain('canary')
  })

  test('fails to load: the call does not run, nothing of its args is told, and the next one runs', async () => {
    failing(redaction)
    const { open, memoryJournal } = await fresh()
    const executor = open(memoryJournal())
    const events = heard(executor)
    const lost = await executor.execute({ name: 'secret', args }, { invocationId: 'one' })
    expect([outcome(lost), lost.error?.retryable]).toEqual(['error none E_INTERNAL', true])
    expect(names(events)).toBe('call:received call:settled')
    const told = [events, lost, await executor.calls.get('one'), await executor.calls.list()]
    expect(JSON.stringify(told)).not.toContain('canary')
    expect(outcome(await executor.execute({ name: 'secret', args }))).toBe('ok completed')
  })

  test('fails to load for a direct call, which rejects, and the next one runs', async () => {
    failing(redaction)
    const { tools } = await fresh()
    const secret = tools.find(({ name }) => name === 'secret')!
    await expect(secret.invoke(args as never)).rejects.toMatchObject({ code: 'E_INTERNAL', retryable: true })
    expect(await secret.invoke(args as never)).toBe('done')
  })

  test.each([
    ['an abort', 'cancelled none E_TOOL_CANCELLED'],
    ['`close`', 'cancelled none E_TOOL_CANCELLED'],
  ])('while it loads, %s ends the call at once', async (how, expected) => {
    const { loads, gate } = slowly(redaction)
    const { open, memoryJournal } = await fresh()
    const executor = open(memoryJournal())
    const events = heard(executor)
    const leaving = new AbortController()
    const result = executor.execute({ name: 'secret', args }, { signal: leaving.signal })
    await vi.waitFor(() => expect(loads()).toBe(1))
    if (how === 'an abort') leaving.abort()
    else await soon(executor.close())
    expect(outcome(await soon(result))).toBe(expected)
    gate.resolve()
    await turn()
    expect(names(events)).toBe('call:received call:settled')
    expect(JSON.stringify(events)).not.toContain('canary')
  })
})

describe.each([
  [approvals, 'asked', 'plain', 'E_INTERNAL'],
  [redaction, 'both', 'secret', 'E_UNAVAILABLE'],
])('if %s fails to load', (part, asked, unasked, code) => {
  const args = { password: 'canary-4f1c' }

  test('for an answer, the call waits for the next one', async () => {
    const file = `${directory()}/calls.db`
    const before = await fresh()
    const asker = before.open(before.sqliteJournal(file))
    const { token = '' } = await asker.execute({ name: asked, args })
    await asker.close()
    failing(part)
    const after = await fresh()
    const executor = after.open(after.sqliteJournal(file))
    await expect(executor.calls.decide(token, 'allow')).rejects.toMatchObject({ code: 'E_INTERNAL', retryable: true })
    expect(await executor.calls.waiting()).toHaveLength(1)
    expect(outcome(await executor.calls.decide(token, 'allow'))).toBe('ok completed')
    await executor.close()
  })

  test('on a worker, the call waits for the next try', async () => {
    const file = `${directory()}/calls.db`
    const before = await fresh()
    const { fleet } = await import('toolwright/distributed/fleet')
    const store = before.memoryStore()
    const caller = before.open(before.sqliteJournal(file), { store }, fleet())
    const result = caller.execute({ name: unasked, args }, { invocationId: 'one' })
    await vi.waitFor(async () => expect((await caller.calls.get('one')).status).toBe('pending'))
    failing(part)
    const after = await fresh()
    const worker = after.open(after.sqliteJournal(file), { store })
    await expect(worker.queue.run('one')).rejects.toMatchObject({ code, retryable: true })
    expect(outcome((await worker.queue.run('one'))!)).toBe('ok completed')
    expect(outcome(await soon(result))).toBe('ok completed')
    await Promise.all([caller.close(), worker.close()])
  })
})

test('the words for an unknown tool fail to load: the call ends with E_INTERNAL, and the next one is told', async () => {
  failing(notFound)
  const { open } = await fresh()
  const executor = open()
  const lost = await executor.execute({ name: 'unknown' })
  expect([outcome(lost), lost.error?.retryable]).toEqual(['error none E_INTERNAL', true])
  expect(outcome(await executor.execute({ name: 'unknown' }))).toBe('error none E_TOOL_NOT_FOUND')
})

test('what evaluates fails to load: the call is refused with E_INTERNAL, and the next one is evaluated', async () => {
  failing(evaluating)
  const { open } = await fresh()
  const executor = open()
  const refused = { decision: 'invalid', callId: null, error: { code: 'E_INTERNAL', retryable: true } }
  expect(await executor.evaluate({ name: 'plain' })).toMatchObject(refused)
  expect((await executor.evaluate({ name: 'plain' })).decision).toBe('allow')
})

test('the chain of middleware fails to load: the handler does not run, each start has its end, and the next call runs', async () => {
  failing(middleware)
  const { open } = await fresh()
  const passed: string[] = []
  const executor = open({ middleware: [async (call, _context, next) => (passed.push(call.name), next())] })
  const events = heard(executor)
  const lost = await executor.execute({ name: 'plain' })
  expect([outcome(lost), lost.error?.retryable]).toEqual(['error none E_INTERNAL', true])
  expect(names(events)).toBe('call:received tool:start tool:end call:settled')
  expect(passed).toEqual([])
  expect(outcome(await executor.execute({ name: 'plain' }))).toBe('ok completed')
  expect(passed).toEqual(['plain'])
})

test('calls with middleware keep their order while its chain loads', async () => {
  const { loads, gate } = slowly(middleware)
  const { open } = await fresh()
  const passed: unknown[] = []
  const executor = open({ middleware: [async (call, _context, next) => (passed.push(call.id), next())] })
  const results = executor.executeToolCalls([1, 2, 3].map((id) => ({ id, name: 'plain' })))
  await vi.waitFor(() => expect(loads()).toBe(1))
  gate.resolve()
  expect((await soon(results)).map(({ status }) => status)).toEqual(['ok', 'ok', 'ok'])
  expect(passed).toEqual([1, 2, 3])
})
