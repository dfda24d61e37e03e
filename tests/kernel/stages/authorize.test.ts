import { createExecutor, type ToolExecutor } from 'toolwright'
import type { Decision, Policy } from 'toolwright/extension'
import { describe, expect, test } from 'vitest'
import { data, heard, hostile, names, never, outcome, revoked, sink, soon, text, work } from '../_calls.ts'

function policy(decide: unknown, name = 'rule'): Policy {
  return { name, decide: (typeof decide === 'function' ? decide : () => decide) as Policy['decide'] }
}

function ruled(policies: readonly Policy[], options: object = {}): { executor: ToolExecutor; runs: () => number } {
  let count = 0
  const { report } = sink()
  const executor = createExecutor({
    tools: [work('t', () => ++count, options)],
    use: [{ policies }],
    timeout: 50,
    report,
  })
  return { executor, runs: () => count }
}

const allow = policy(undefined, 'allow')
const deny = policy({ decision: 'deny', reason: 'not today' }, 'deny')
const ask = policy({ decision: 'ask', reason: 'careful', meta: { risk: 1 } }, 'ask')
const answer = policy({ result: { cached: true } }, 'answer')

describe('the strictest decision wins, whatever the order', () => {
  test.each<[Policy[], string]>([
    [[], 'ok completed'],
    [[allow], 'ok completed'],
    [[allow, allow], 'ok completed'],
    [[deny], 'denied none E_TOOL_DENIED'],
    [[ask], 'waiting none'],
    [[answer], 'ok none skipped'],
    [[answer, ask], 'waiting none'],
    [[ask, answer], 'waiting none'],
    [[answer, deny], 'denied none E_TOOL_DENIED'],
    [[ask, deny], 'denied none E_TOOL_DENIED'],
    [[deny, ask, answer], 'denied none E_TOOL_DENIED'],
    [[allow, answer, allow], 'ok none skipped'],
  ])('%j is %s', async (policies, expected) => {
    for (const later of [false, true]) {
      const asked = !later
        ? policies
        : policies.map((rule) => policy(async (...parameters: [never, never]) => rule.decide(...parameters), rule.name))
      const { executor, runs } = ruled(asked)
      expect(outcome(await executor.execute({ name: 't' }))).toBe(expected)
      expect(runs()).toBe(expected === 'ok completed' ? 1 : 0)
    }
  })

  test('also within one decision', async () => {
    const { executor, runs } = ruled([policy({ decision: 'deny', result: 1 })])
    expect(outcome(await executor.execute({ name: 't' }))).toBe('denied none E_TOOL_DENIED')
    const asking = ruled([policy({ decision: 'ask', result: 1 })])
    expect((await asking.executor.execute({ name: 't' })).status).toMatch(/waiting|denied/)
    expect(runs() + asking.runs()).toBe(0)
  })
})

describe('policies', () => {
  test('are asked in order, and the first that denies is the last that is asked', async () => {
    const asked: string[] = []
    const noting = (name: string, decision: Decision): Policy => policy(() => (asked.push(name), decision), name)
    const { executor } = ruled(
      [
        noting('one', undefined),
        noting('two', { result: 1 }),
        noting('three', { decision: 'deny' }),
        noting('four', undefined),
      ],
      { hooks: { preToolUse: () => void asked.push('hook') } },
    )
    const result = await executor.execute({ name: 't' })
    expect(asked).toEqual(['one', 'two', 'three'])
    expect(text(result)).toContain('Denied by three')
  })

  test('see the tool, the input after validation, and who asks', async () => {
    const seen: unknown[] = []
    const { executor } = ruled([
      policy(({ tool, input, args, session, caller }: never, context: { values: unknown }) => {
        seen.push((tool as { name: string }).name, input, args, session, caller, context.values)
      }),
    ])
    const values = { tenant: 'x' }
    await executor.execute({ name: 't', args: '{"a":1}' }, { session: 's', caller: 'user', values })
    expect(seen).toEqual(['t', { a: 1 }, { a: 1 }, 's', 'user', values])
  })

  test.each<[string, unknown]>([
    [
      'throws',
      () => {
        throw new Error('canary')
      },
    ],
    ['rejects', () => Promise.reject(new Error('canary'))],
    [
      'throws something hostile',
      () => {
        throw hostile()
      },
    ],
    ['answers true', true],
    ['answers with a word', 'allow'],
    ['answers with a number', 0],
    ['answers with a bare object', {}],
    ['answers with an array', []],
    ['allows in words', { decision: 'allow' }],
    ['answers with another decision', { decision: 'maybe' }],
    ['answers with a function', () => () => undefined],
    [
      'answers with an object whose fields throw',
      {
        get decision() {
          throw new Error('canary')
        },
      },
    ],
    ['answers with something hostile', () => hostile()],
    ['answers with something revoked', () => revoked()],
    ['answers true later', async () => true],
  ])('one that %s refuses the call', async (_, decide) => {
    const { executor, runs } = ruled([policy(decide)])
    const events = heard(executor)
    const result = await soon(executor.execute({ name: 't' }))
    expect(outcome(result)).toBe('denied none E_TOOL_DENIED')
    expect(text(result)).toContain('rule')
    expect(text(result)).not.toContain('canary')
    expect(runs()).toBe(0)
    expect(names(events)).toBe('call:received call:settled')
  })

  test.each([true, false, 'deny', { decison: 'deny' }, { decision: 'allow' }])(
    'one that answers in other words refuses the call, and says in which it answers: %j',
    async (decision) => {
      const { executor } = ruled([{ decide: () => decision } as never])
      expect(text(await executor.execute({ name: 't' }))).toBe(
        'Policy (without a name) could not decide: let it return { decision: "ask" or "deny" }, { result }, or nothing to allow the call.',
      )
    },
  )

  const cycle: Record<string, unknown> = { order: {} }
  Object.assign(cycle['order'] as object, { cycle })
  test.each<[string, object, RegExp]>([
    ['a bigint', { meta: { order: { cents: 4_000n } } }, /JSON cannot hold `meta\.order\.cents`\. Return plain values/],
    ['a cycle', { meta: cycle }, /JSON cannot hold `meta\.order\.cycle\.order/],
    ['a function', { meta: { show: () => 'canary' } }, /`meta\.show`/],
    ['a map', { meta: { orders: [new Map()] } }, /`meta\.orders\[0\]`/],
    ['no number', { meta: { risk: Number.NaN } }, /`meta\.risk`/],
    ['a list in place of an object', { meta: ['canary'] }, /`meta` is an object/],
    ['something revoked', { meta: revoked() }, /JSON cannot hold `meta`/],
    ['a reason that is no text', { reason: { canary: 1n } }, /`reason` is text/],
  ])('one that asks with %s refuses the call, and names itself and the place', async (_, fields, words) => {
    const { executor, runs } = ruled([policy({ decision: 'ask', ...fields })])
    const result = await executor.execute({ name: 't' })
    expect(outcome(result)).toBe('denied none E_TOOL_DENIED')
    expect(text(result)).toMatch(/Policy rule could not decide: /)
    expect(text(result)).toMatch(words)
    expect(text(result)).not.toContain('canary')
    expect([runs(), await executor.calls.waiting()]).toEqual([0, []])
  })

  test('one that keeps the meta of a question cannot change it later, and a date is its text', async () => {
    const meta = { when: new Date(0), left: undefined, orders: [1] }
    const { executor } = ruled([policy({ decision: 'ask', meta })])
    await executor.execute({ name: 't' })
    meta.orders.push(2)
    const [waiting] = await executor.calls.waiting()
    expect(waiting?.meta).toEqual({ when: '1970-01-01T00:00:00.000Z', orders: [1] })
  })

  test('one that answers null has no objection, as one that answers nothing', async () => {
    expect(outcome(await ruled([policy(null)]).executor.execute({ name: 't' }))).toBe('ok completed')
  })

  test('one that never answers is left at the deadline', async () => {
    const { executor, runs } = ruled([policy(() => never)])
    expect(outcome(await soon(executor.execute({ name: 't' })))).toBe('timed_out none E_TOOL_TIMEOUT')
    expect(runs()).toBe(0)
  })

  test("preToolUse is the tool's own last policy", async () => {
    const { executor, runs } = ruled([answer], {
      hooks: { preToolUse: () => ({ decision: 'deny', reason: 'hooked' }) },
    })
    const result = await executor.execute({ name: 't' })
    expect([outcome(result), text(result)]).toEqual(['denied none E_TOOL_DENIED', 'hooked'])
    expect(runs()).toBe(0)
  })
})

describe('a denial', () => {
  test('is a result that the model can read', async () => {
    const result = await ruled([deny]).executor.execute({ name: 't' })
    expect(result.isError).toBe(true)
    expect(text(result)).toBe('not today')
  })

  test("shows the policy's own result in place of the words", async () => {
    const { executor } = ruled([policy({ decision: 'deny', toolResult: { denied: true } })])
    const result = await executor.execute({ name: 't' })
    expect(data(result)).toEqual({ denied: true })
    expect(result.isError).toBe(true)
    expect('artifact' in result).toBe(false)
  })

  test('keeps its words where that result cannot be shown', async () => {
    const { executor } = ruled([policy({ decision: 'deny', reason: 'no', toolResult: 1n })])
    expect(text(await executor.execute({ name: 't' }))).toBe('no')
  })
})

describe('a result in place of the run', () => {
  test('is checked against the outputSchema, and kept', async () => {
    const outputSchema = { type: 'object', required: ['cached'] }
    const good = await ruled([answer], { outputSchema }).executor.execute({ name: 't' })
    expect([outcome(good), data(good)]).toEqual(['ok none skipped', { cached: true }])
    const bad = await ruled([policy({ result: {} })], { outputSchema }).executor.execute({ name: 't' })
    expect(bad.error?.code).toBe('E_INVALID_TOOL_RESULT')
    expect(bad.effect).toBe('none')
  })

  test('of the first policy that gives one counts', async () => {
    const { executor } = ruled([policy({ result: 'first' }), policy({ result: 'second' })])
    expect(text(await executor.execute({ name: 't' }))).toBe('first')
  })

  test('may be undefined', async () => {
    const { executor, runs } = ruled([policy({ result: undefined })])
    expect(outcome(await executor.execute({ name: 't' }))).toBe('ok none skipped')
    expect(runs()).toBe(0)
  })

  test("skips the tool's own confirmation, middleware and the events of a run", async () => {
    const { executor } = ruled([answer], {
      requiresConfirmation: true,
      middleware: [() => Promise.reject(new Error('no'))],
    })
    const events = heard(executor)
    expect(outcome(await executor.execute({ name: 't' }))).toBe('ok none skipped')
    expect(names(events)).toBe('call:received call:settled')
  })

  test('waits for the approval that another policy asks for, and is what is approved', async () => {
    const { executor, runs } = ruled([answer, ask])
    const { token = '' } = await executor.execute({ name: 't' })
    expect(outcome(await executor.calls.decide(token, 'allow'))).toBe('ok none skipped')
    expect(runs()).toBe(0)
  })
})
