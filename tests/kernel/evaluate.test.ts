import { createExecutor, type Extension, type ToolContext, type ToolExecutor } from 'toolwright'
import type { Approver } from 'toolwright/extension'
import { budget } from 'toolwright/policies/budget'
import { rateLimit } from 'toolwright/policies/rate-limit'
import { repeats } from 'toolwright/policies/repeats'
import { describe, expect, test } from 'vitest'
import { z } from 'zod'
import { data, heard, hostile, never, outcome, sink, text, work } from './_calls.ts'
import { places } from './_journals.ts'

const asks: Extension = {
  policies: [{ name: 'asks', decide: () => ({ decision: 'ask', reason: 'large', meta: { limit: 100 } }) }],
}
const denies: Extension = { policies: [{ name: 'denies', decide: () => ({ decision: 'deny', reason: 'no' }) }] }
const allows: Approver = { ask: async () => ({ decision: 'allow', decidedBy: 'ada' }) }

describe('an evaluated call', () => {
  test('is allowed, asked about or refused, as it would be', async () => {
    const paying = work('pay', () => 'paid', {
      inputSchema: z.object({ cents: z.number() }),
      requiresConfirmation: ({ cents }: { cents: number }) => cents > 100,
      confirmationMessage: ({ cents }: { cents: number }) => `Pay ${cents}?`,
    })
    const executor = createExecutor({ tools: [paying] })
    const { callId } = await executor.execute({ name: 'pay', args: { cents: 5 } })
    expect(await executor.evaluate({ name: 'pay', args: '{"cents":5}' })).toEqual({ decision: 'allow', callId })
    expect(await executor.evaluate({ name: 'pay', args: { cents: 500 } })).toMatchObject({
      decision: 'ask',
      prompt: 'Pay 500?',
    })
    for (const [call, code] of [
      [{ name: 'pay', args: { cents: 'x' } }, 'E_INVALID_TOOL_ARGS'],
      [{ name: 'pay', args: '{"cents":1,"cents":2}' }, 'E_UNCANONICAL_ARGS'],
      [{ name: 'pay', args: { cents: hostile() } }, 'E_UNCANONICAL_ARGS'],
      [{ name: 'gone' }, 'E_TOOL_NOT_FOUND'],
      [{ name: 'pay', input: {} }, 'E_INVALID_TOOL_ARGS'],
      [hostile(), 'E_TOOL_NOT_FOUND'],
    ] as const) {
      const { error } = await executor.execute(call as never)
      expect(error?.code).toBe(code)
      const evaluated = await executor.evaluate(call as never)
      expect(evaluated).toMatchObject({ decision: 'invalid', error: { code, message: error?.message } })
    }
  })

  test('has the reason and the data of the policy that asks', async () => {
    const executor = createExecutor({ tools: [work('t', () => 1)], use: [asks] })
    expect(await executor.evaluate({ name: 't' })).toMatchObject({
      decision: 'ask',
      prompt: 'Allow t to execute?',
      why: 'large',
      meta: { limit: 100 },
    })
    const refusing = createExecutor({ tools: [work('t', () => 1)], use: [asks, denies] })
    expect(await refusing.evaluate({ name: 't' })).toMatchObject({ decision: 'deny', error: { code: 'E_TOOL_DENIED' } })
  })

  test('shows no secret', async () => {
    const tool = work('t', () => 1, {
      secrets: ['/key'],
      requiresConfirmation: true,
      confirmationMessage: ({ key }: { key: string }) => `Use ${key}?`,
    })
    const evaluated = await createExecutor({ tools: [tool] }).evaluate({ name: 't', args: { key: 'hunter22' } })
    expect(evaluated.decision).toBe('ask')
    expect(JSON.stringify(evaluated)).not.toContain('hunter22')
  })

  test.each(places)('is neither told, written, asked about nor run (%s)', async (_, make) => {
    let runs = 0
    let asked = 0
    const approver: Approver = { ask: () => (asked++, never) }
    const tool = work('t', () => ++runs, { requiresConfirmation: true })
    const executor = createExecutor({ tools: [tool], use: [make().open(), { approver }] })
    const events = heard(executor)
    const options = { session: 's', invocationId: 'one' }
    const evaluated = await executor.evaluate({ name: 't' }, options)
    expect(evaluated).toMatchObject({ decision: 'ask', hasApprover: true })
    expect([runs, asked, events.length]).toEqual([0, 0, 0])
    expect(await executor.calls.list()).toEqual([])
    expect(await executor.calls.waiting()).toEqual([])
    await expect(executor.calls.get('one')).rejects.toMatchObject({ code: 'E_JOURNAL' })
    await executor.close()
  })

  test('tells no observer what a policy emits', async () => {
    const emits = (_: unknown, context: ToolContext): void => context.emit('checking')
    const executor = createExecutor({
      tools: [work('t', () => 1)],
      use: [{ policies: [{ name: 'emits', decide: emits }] }],
    })
    const events = heard(executor)
    await executor.evaluate({ name: 't' })
    expect(events).toEqual([])
  })

  test.each<[string, () => Extension]>([
    ['budget', () => budget({ calls: 2 })],
    ['budget of units', () => budget({ units: 2, cost: () => 1 })],
    ['rateLimit', () => rateLimit({ calls: 2, interval: 3_600_000 })],
    ['repeats', () => repeats({ max: 2 })],
  ])('takes no place of a limit: %s', async (_, limit) => {
    const executor = createExecutor({ tools: [work('t', () => 1)], use: [limit()] })
    const statuses: string[] = []
    for (let turn = 0; turn < 3; turn++) {
      for (let time = 0; time < 1_000; time++) await executor.evaluate({ name: 't' })
      const { decision } = await executor.evaluate({ name: 't' })
      statuses.push(decision, (await executor.execute({ name: 't' })).status)
    }
    expect(statuses).toEqual(['allow', 'ok', 'allow', 'ok', 'deny', 'denied'])
  })

  test('asks a policy that evaluates to evaluate, with itself as `this`', async () => {
    class Counting {
      readonly name = 'counting'
      decided = 0
      evaluated = 0
      decide(): undefined {
        this.decided++
      }
      evaluate(): undefined {
        this.evaluated++
      }
    }
    const policy = new Counting()
    const executor = createExecutor({ tools: [work('t', () => 1)], use: [{ policies: [policy] }] })
    await executor.evaluate({ name: 't' })
    await executor.execute({ name: 't' })
    expect([policy.evaluated, policy.decided]).toEqual([1, 1])
  })

  test('is refused if it is given up, takes too long, or the executor is closed', async () => {
    const slow: Extension = { policies: [{ name: 'slow', decide: () => never }] }
    const executor = createExecutor({ tools: [work('t', () => 1)], use: [slow], timeout: 20 })
    const codes = [
      await executor.evaluate({ name: 't' }, { signal: AbortSignal.abort() }),
      await executor.evaluate({ name: 't' }),
      (await executor.close(), await executor.evaluate({ name: 't' })),
    ].map(({ error }) => error?.code)
    expect(codes).toEqual(['E_TOOL_CANCELLED', 'E_TOOL_TIMEOUT', 'E_TOOL_CANCELLED'])
  })

  test('is refused if a part of it throws', async () => {
    const { reports, report } = sink()
    const throwing: Extension = {
      policies: [
        {
          name: 'throws',
          decide: () => {
            throw new Error('broken')
          },
        },
      ],
    }
    const executor = createExecutor({ tools: [work('t', () => 1)], use: [throwing], report })
    expect(await executor.evaluate({ name: 't' })).toMatchObject({ decision: 'deny', error: { code: 'E_TOOL_DENIED' } })
    expect(reports).toEqual([])
  })
})

describe('a call that is held', () => {
  function paying(use: Extension[] = [], options: object = {}): { executor: ToolExecutor; inputs: unknown[] } {
    const inputs: unknown[] = []
    const tool = work('t', (input) => void inputs.push(input), options)
    return { executor: createExecutor({ tools: [tool], use }), inputs }
  }

  test.each<[string, Extension[]]>([
    ['asks', []],
    ['has an approver', [{ approver: allows }]],
    ['gives a result', [{ policies: [{ name: 'skips', decide: () => ({ result: 1 }) }] }]],
  ])(
    'waits for a person although no policy asks, and runs once it is approved: an executor that %s',
    async (_, use) => {
      const { executor, inputs } = paying(use)
      const held = await executor.execute({ name: 't', args: { a: 1 } }, { requireApproval: true, session: 's' })
      expect(outcome(held)).toBe('waiting none')
      expect(inputs).toEqual([])
      const [waiting] = await executor.calls.waiting({ session: 's' })
      expect(waiting).toMatchObject({ prompt: 'Allow t to execute?', args: { a: 1 } })
      expect((await executor.calls.decide(held.token ?? '', 'allow', { decidedBy: 'ada' })).status).toBe('ok')
      await expect(executor.calls.decide(held.token ?? '', 'allow')).rejects.toMatchObject({
        code: 'E_APPROVAL_INVALID',
      })
      expect(await executor.calls.waiting()).toEqual([])
    },
  )

  test.each([1, 'yes', {}])('waits too if `requireApproval` is %j, which is not its type', async (odd) => {
    const { executor, inputs } = paying([{ approver: allows }])
    const held = await executor.execute({ name: 't', args: { a: 1 } }, { requireApproval: odd as never })
    expect(outcome(held)).toBe('waiting none')
    expect(inputs).toEqual([])
  })

  test('is denied by a person, and by a policy without a question', async () => {
    const { executor, inputs } = paying()
    const { token = '' } = await executor.execute({ name: 't' }, { requireApproval: true })
    expect(text(await executor.calls.decide(token, 'deny', { note: 'not now' }))).toContain('not now')
    const refused = await paying([denies]).executor.execute({ name: 't' }, { requireApproval: true })
    expect(outcome(refused)).toBe('denied none E_TOOL_DENIED')
    expect(inputs).toEqual([])
  })

  test('has the approval in what follows, although no policy asked', async () => {
    const approvals: unknown[] = []
    const { executor } = paying([{ middleware: [(call, _context, next) => (approvals.push(call.approval), next())] }])
    const { token = '' } = await executor.execute({ name: 't' }, { requireApproval: true })
    await executor.calls.decide(token, 'allow', { decidedBy: 'ada' })
    expect(approvals).toMatchObject([{ decision: 'allow', decidedBy: 'ada' }])
  })

  test.each(places)('waits across executors, and is the same call when it is asked for again (%s)', async (_, make) => {
    const place = make()
    const one = paying([place.open()])
    const options = { session: 's', invocationId: 'call-1' }
    await one.executor.execute({ name: 't', args: { a: 1 } }, { ...options, requireApproval: true })
    const again = await one.executor.execute({ name: 't', args: { a: 1 } }, options)
    expect(outcome(again)).toBe('waiting none')
    const other = paying([place.open()])
    const [waiting] = await other.executor.calls.waiting({ invocationId: 'call-1' })
    if (waiting === undefined) throw new Error('nothing waits')
    expect((await other.executor.calls.decide(waiting, 'allow')).status).toBe('ok')
    expect([one.inputs, other.inputs]).toEqual([[], [{ a: 1 }]])
    expect(
      outcome(await one.executor.execute({ name: 't', args: { a: 1 } }, { ...options, requireApproval: true })),
    ).toBe('ok completed')
    await one.executor.close()
    await other.executor.close()
  })

  test('is evaluated as one to ask about, but if it is refused', async () => {
    const { executor } = paying()
    expect(await executor.evaluate({ name: 't' }, { requireApproval: true })).toMatchObject({ decision: 'ask' })
    expect(await paying([denies]).executor.evaluate({ name: 't' }, { requireApproval: true })).toMatchObject({
      decision: 'deny',
    })
  })

  test('may be one of a whole turn', async () => {
    const { executor, inputs } = paying()
    const results = await executor.executeToolCalls([{ name: 't' }, { name: 't', args: { b: 1 } }], {
      requireApproval: true,
    })
    expect(results.map(outcome)).toEqual(['waiting none', 'waiting none'])
    expect(inputs).toEqual([])
    expect(data(results[0]!)).toBeUndefined()
  })
})
