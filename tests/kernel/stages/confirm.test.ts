import { createExecutor, TextArtifact, type ToolExecutor, type ToolResult } from 'toolwright'
import type { ApprovalRequest, Approver } from 'toolwright/extension'
import { memoryJournal } from 'toolwright/journals/memory'
import { describe, expect, test } from 'vitest'
import { z } from 'zod'
import {
  data,
  deferred,
  heard,
  hostile,
  names,
  never,
  outcome,
  pause,
  sink,
  soon,
  text,
  turn,
  work,
} from '../_calls.ts'
import { recordIn } from '../_journals.ts'

interface Asked {
  readonly executor: ToolExecutor
  readonly requests: ApprovalRequest[]
  readonly inputs: unknown[]
}

function asking(ask: unknown, options: { tool?: object; timeout?: number; patience?: number } = {}): Asked {
  const requests: ApprovalRequest[] = []
  const inputs: unknown[] = []
  const approver: Approver = {
    ...(options.patience === undefined ? {} : { timeout: options.patience }),
    ask(request, signal) {
      requests.push(request)
      return typeof ask === 'function' ? ask(request, signal) : ask
    },
  }
  const tool = work('t', (input) => void inputs.push(input), { requiresConfirmation: true, ...options.tool })
  const executor = createExecutor({
    tools: [tool],
    use: [{ approver }],
    timeout: options.timeout ?? 1_000,
    report: sink().report,
  })
  return { executor, requests, inputs }
}

describe('a tool that wants to be confirmed', () => {
  test('runs once a person allows it', async () => {
    const { executor, requests, inputs } = asking(async () => ({
      decision: 'allow',
      decidedBy: 'ada',
      note: 'fine',
      always: true,
    }))
    const events = heard(executor)
    const result = await executor.execute({ name: 't', args: { a: 1 } }, { session: 's' })
    expect(outcome(result)).toBe('ok completed')
    expect(inputs).toEqual([{ a: 1 }])
    expect(requests).toMatchObject([
      {
        toolName: 't',
        session: 's',
        callId: result.callId,
        invocationId: result.invocationId,
        input: { a: 1 },
        prompt: 'Allow t to execute?',
      },
    ])
    expect(names(events)).toBe('call:received call:waiting call:resumed tool:start tool:end call:settled')
    expect(events[1]).toMatchObject({ reason: 'approval', prompt: 'Allow t to execute?' })
    expect(events[1]).not.toHaveProperty('token')
    expect(events[2]).toMatchObject({ decision: 'allow', decidedBy: 'ada', note: 'fine', always: true })
  })

  test('does not run where the person denies it, and the model reads why', async () => {
    const { executor, inputs } = asking(async () => ({ decision: 'deny', note: 'too risky' }))
    const result = await executor.execute({ name: 't' })
    expect([outcome(result), text(result)]).toEqual([
      'denied none E_TOOL_DENIED',
      'Permission denied by user: too risky',
    ])
    expect(inputs).toEqual([])
  })

  test.each<[string, unknown]>([
    ['nothing', undefined],
    ['nothing later', Promise.resolve()],
    ['null', Promise.resolve(null)],
    ['true', Promise.resolve(true)],
    ['a word', Promise.resolve('allow')],
    ['another word', Promise.resolve({ decision: 'yes' })],
    ['allow in capitals', Promise.resolve({ decision: 'ALLOW' })],
    ['an empty object', Promise.resolve({})],
    ['a list', Promise.resolve(['allow'])],
    [
      'an object whose fields throw',
      () =>
        Promise.resolve({
          get decision() {
            throw new Error('no')
          },
        }),
    ],
    [
      'an error at once',
      () => {
        throw new Error('canary')
      },
    ],
    ['an error later', () => Promise.reject(new Error('canary'))],
    ['a hostile error', () => Promise.reject(hostile())],
  ])('does not run where the approver answers with %s', async (_, ask) => {
    const { executor, inputs } = asking(ask)
    const result = await soon(executor.execute({ name: 't' }))
    expect(outcome(result)).toBe('denied none E_TOOL_DENIED')
    expect(text(result)).not.toContain('canary')
    expect(inputs).toEqual([])
  })

  test.each([true, 'allow', undefined, { approved: true }])(
    'is not called denied by a person where the approver answers in other words: %j',
    async (answer) => {
      const { executor } = asking(async () => answer)
      expect(text(await executor.execute({ name: 't' }))).toBe(
        "An approver answers { decision: 'allow' } or { decision: 'deny' }, and this one did not.",
      )
    },
  )

  test('asks a person if its predicate throws, and the reason is reported', async () => {
    const reason = new TypeError('x is undefined')
    const { report, reports } = sink()
    const requiresConfirmation = (): never => {
      throw reason
    }
    const result = await createExecutor({ tools: [work('t', () => 1, { requiresConfirmation })], report }).execute({
      name: 't',
    })
    expect([result.status, reports]).toEqual(['waiting', [reason]])
  })

  test('is denied where nobody answers for as long as the approver is patient', async () => {
    const { executor, inputs } = asking(never, { patience: 20 })
    const result = await soon(executor.execute({ name: 't' }))
    expect(outcome(result)).toBe('denied none E_APPROVAL_EXPIRED')
    expect(inputs).toEqual([])
  })

  test('waits without end where the patience is without end', async () => {
    const person = deferred<{ decision: 'allow' }>()
    const { executor } = asking(person.promise, { patience: Infinity })
    const running = executor.execute({ name: 't' })
    await pause(20)
    person.resolve({ decision: 'allow' })
    expect((await running).status).toBe('ok')
  })

  test('waits for the person outside the deadline of the call', async () => {
    const { executor } = asking(
      async () => {
        await pause(400)
        return { decision: 'allow' }
      },
      { timeout: 300 },
    )
    expect((await executor.execute({ name: 't' })).status).toBe('ok')
  })

  test('is cancelled while it waits, and the approver learns of it', async () => {
    const leaving = new AbortController()
    let heardOf = false
    const { executor, inputs } = asking((_: unknown, signal: AbortSignal) => {
      signal.addEventListener('abort', () => (heardOf = true))
      leaving.abort()
      return never
    })
    expect(outcome(await soon(executor.execute({ name: 't' }, { signal: leaving.signal })))).toBe(
      'cancelled none E_TOOL_CANCELLED',
    )
    expect(heardOf).toBe(true)
    expect(inputs).toEqual([])
  })

  test('that is allowed too late does not run', async () => {
    const person = deferred<{ decision: 'allow' }>()
    const { executor, inputs } = asking(person.promise, { patience: 20 })
    await soon(executor.execute({ name: 't' }))
    person.resolve({ decision: 'allow' })
    await turn()
    expect(inputs).toEqual([])
  })

  test('runs with what was approved, though its caller changes the args while it waits', async () => {
    const args = { to: ['ada'] }
    const { executor, inputs, requests } = asking(async () => {
      args.to.push('eve')
      await turn()
      return { decision: 'allow' }
    })
    await executor.execute({ name: 't', args })
    expect([requests[0]?.input, inputs]).toEqual([{ to: ['ada'] }, [{ to: ['ada'] }]])
  })

  test('runs with what was approved, though the approver changes what it was shown', async () => {
    const { executor, inputs } = asking(async ({ input }: ApprovalRequest) => {
      ;(input as { to: string }).to = 'eve'
      return { decision: 'allow' }
    })
    await executor.execute({ name: 't', args: { to: 'ada' } })
    expect(inputs).toEqual([{ to: 'ada' }])
  })

  test('runs with what was approved, though middleware changes it on the way', async () => {
    const { inputs, approver } = {
      inputs: [] as unknown[],
      approver: { ask: async () => ({ decision: 'allow' as const }) },
    }
    const artifact = new TextArtifact({ reader: { byteLength: 0, read: () => new Uint8Array() } })
    const inputSchema = z.object({ to: z.array(z.string()) }).transform((input) => ({ ...input, artifact }))
    const executor = createExecutor({
      tools: [work('t', (input) => void inputs.push(input), { inputSchema, requiresConfirmation: true })],
      use: [
        { approver },
        {
          middleware: [
            (call, _context, next) => {
              ;(call.input as { to: string[] }).to.push('eve')
              return next()
            },
          ],
        },
      ],
    })
    await executor.execute({ name: 't', args: { to: ['ada'] } })
    expect(inputs).toEqual([{ to: ['ada'], artifact }])
    expect((inputs[0] as { artifact: unknown }).artifact).toBe(artifact)
  })

  test('shows no secret to whoever is asked', async () => {
    const { executor, requests, inputs } = asking(async () => ({ decision: 'allow' }), {
      tool: { secrets: ['/password'], confirmationMessage: (input: object) => `Log in with ${JSON.stringify(input)}?` },
    })
    const events = heard(executor)
    await executor.execute({ name: 't', args: { user: 'ada', password: 'canary' } })
    expect(JSON.stringify([requests, events])).not.toContain('canary')
    expect(requests[0]?.prompt).toBe('Log in with {"password":"[secret]","user":"ada"}?')
    expect(inputs).toEqual([{ user: 'ada', password: 'canary' }])
  })

  test('an answer cannot forge the envelope of an event', async () => {
    const { executor } = asking(async () => ({
      decision: 'allow',
      seq: 99,
      session: 'forged',
      event: 'forged',
      invocationId: 'forged',
    }))
    const events = heard(executor)
    await executor.execute({ name: 't' }, { session: 's', invocationId: 'i' })
    expect(events.map(({ seq }) => seq)).toEqual([0, 1, 2, 3, 4, 5])
    expect(new Set(events.map(({ session, invocationId }) => `${session} ${invocationId}`))).toEqual(new Set(['s i']))
  })
})

describe('whether a tool wants to be confirmed', () => {
  test.each<[string, unknown, boolean]>([
    ['says no', () => false, false],
    ['says no later', async () => false, false],
    ['says yes', () => true, true],
    ['says yes later', async () => true, true],
    ['says nothing', () => undefined, true],
    [
      'throws',
      () => {
        throw new Error('no')
      },
      true,
    ],
    ['rejects', () => Promise.reject(new Error('no')), true],
  ])('is asked for each call: one that %s', async (_, requiresConfirmation, isAsked) => {
    const { executor, requests } = asking(async () => ({ decision: 'allow' }), { tool: { requiresConfirmation } })
    expect((await executor.execute({ name: 't' })).status).toBe('ok')
    expect(requests.length).toBe(isAsked ? 1 : 0)
  })

  test('may depend on the input', async () => {
    const requiresConfirmation = ({ amount }: { amount: number }): boolean => amount > 10
    const { executor, requests } = asking(async () => ({ decision: 'allow' }), { tool: { requiresConfirmation } })
    await executor.execute({ name: 't', args: { amount: 5 } })
    await executor.execute({ name: 't', args: { amount: 50 } })
    expect(requests.map(({ input }) => input)).toEqual([{ amount: 50 }])
  })

  test('that never says is left at the deadline', async () => {
    const { executor } = asking(never, { tool: { requiresConfirmation: () => never }, timeout: 20 })
    expect(outcome(await soon(executor.execute({ name: 't' })))).toBe('timed_out none E_TOOL_TIMEOUT')
  })
})

describe('the question', () => {
  test.each<[string, unknown, string]>([
    ['is the plain one', undefined, 'Allow t to execute?'],
    ['is the words of the tool', 'Really?', 'Really?'],
    ['is made of the input', ({ a }: { a: number }) => `Really ${a}?`, 'Really 1?'],
    [
      'is the plain one where its maker breaks',
      () => {
        throw new Error('no')
      },
      'Allow t to execute?',
    ],
    [
      'is the plain one where its maker takes time, and breaks',
      () => Promise.reject(new Error('no')),
      'Allow t to execute?',
    ],
    ['is the plain one where its maker gives no text', () => 5, 'Allow t to execute?'],
  ])('%s', async (_, confirmationMessage, prompt) => {
    const { executor, requests } = asking(async () => ({ decision: 'allow' }), { tool: { confirmationMessage } })
    await executor.execute({ name: 't', args: { a: 1 } })
    expect(requests[0]?.prompt).toBe(prompt)
  })

  test('carries what the policies said, the first reason and the merged meta', async () => {
    const requests: ApprovalRequest[] = []
    const use = [
      { policies: [{ name: 'one', decide: () => ({ decision: 'ask' as const, meta: { a: 1, b: 1 } }) }] },
      { policies: [{ name: 'two', decide: () => ({ decision: 'ask' as const, reason: 'cost', meta: { b: 2 } }) }] },
      { policies: [{ name: 'three', decide: () => ({ decision: 'ask' as const, reason: 'risk' }) }] },
      {
        approver: { ask: async (request: ApprovalRequest) => (requests.push(request), { decision: 'allow' as const }) },
      },
    ]
    await createExecutor({ tools: [work('t', () => 1)], use }).execute({ name: 't' })
    expect(requests).toMatchObject([{ why: 'cost', meta: { a: 1, b: 2 } }])
    expect(requests).toHaveLength(1)
  })
})

test('without an approver the call waits, and nothing has run', async () => {
  let runs = 0
  const executor = createExecutor({ tools: [work('t', () => runs++, { requiresConfirmation: true })] })
  const events = heard(executor)
  const result = await executor.execute({ name: 't' })
  expect(outcome(result)).toBe('waiting none')
  expect(result).toMatchObject({ isError: false, token: expect.stringMatching(/^.+\.[0-9a-f]{64}$/) })
  expect(result.expiresAt).toBeGreaterThan(Date.now() + 86_000_000)
  expect(text(result)).toBe('t has not run yet: it waits for approval by a person.')
  expect(names(events)).toBe('call:received call:waiting')
  expect(result.token).toBeDefined()
  expect(events[1]).toMatchObject({ token: result.token, reason: 'approval', expiresAt: result.expiresAt })
  expect([runs, data(result)]).toEqual([0, undefined])
})

test.each<[string, (result: ToolResult) => unknown]>([
  ['as JSON', (result) => JSON.parse(JSON.stringify(result)) as unknown],
  ['as JSON within other data', (result) => JSON.parse(JSON.stringify({ results: [result] })) as unknown],
  ['copied by spread', (result) => ({ ...result })],
  ['copied by Object.assign', (result) => Object.assign({}, result)],
  ['copied by structuredClone', (result) => structuredClone(result)],
  ['by its keys', (result) => [Object.keys(result), Object.entries(result)]],
])('a waiting result that is handed on %s lets no requester approve the call', async (_, handOn) => {
  const executor = createExecutor({ tools: [work('t', () => 'ran', { requiresConfirmation: true })] })
  const result = await executor.execute({ name: 't' })
  const { token = '' } = result
  expect(token).not.toBe('')
  const copy = handOn(result)
  expect(JSON.stringify(copy)).not.toContain(token)
  expect((copy as Partial<ToolResult>).token).toBeUndefined()
  expect(JSON.stringify(copy)).toContain('expiresAt')
  expect((await executor.calls.decide(token, 'allow')).status).toBe('ok')
})

describe('what is asked', () => {
  const args = { amount: 5 }
  const asks = {
    name: 'limit',
    decide: () => ({ decision: 'ask' as const, reason: 'above the limit', meta: { limit: 3 } }),
  }
  const schema = z.object({ amount: z.number(), currency: z.string().default('EUR') })
  const pay = work('pay', () => 'paid', {
    inputSchema: schema,
    confirmationMessage: ({ amount, currency }: z.output<typeof schema>) => `Pay ${amount} ${currency}?`,
  })
  const question = { prompt: 'Pay 5 EUR?', why: 'above the limit', meta: { limit: 3 } }
  const input = { amount: 5, currency: 'EUR' }

  test('stands in the event of a call that waits, in its record and in its snapshot', async () => {
    const mounted = memoryJournal()
    const executor = createExecutor({ tools: [pay], use: [mounted, { policies: [asks] }] })
    const events = heard(executor)
    const { invocationId, token = '' } = await executor.execute({ name: 'pay', args })
    expect(events[1]).toMatchObject({ event: 'call:waiting', reason: 'approval', ...question, input })
    const { approval, input: recorded } = await recordIn(mounted, invocationId)
    expect(approval).toEqual({ required: true, ...question })
    expect(recorded).toEqual(args)
    expect((await executor.calls.get(invocationId)).approval).toEqual({ required: true, ...question })
    await executor.calls.decide(token, 'allow', { decidedBy: 'ada' })
    expect((await executor.calls.get(invocationId)).approval).toMatchObject({ ...question, decidedBy: 'ada' })
  })

  test('is the same for an approver, whose input nobody else holds', async () => {
    const requests: ApprovalRequest[] = []
    const approver: Approver = {
      async ask(request) {
        requests.push(request)
        ;(request.input as { amount: number }).amount = 1_000
        return { decision: 'allow' }
      },
    }
    const ran: unknown[] = []
    const tools = [work('pay', (value) => void ran.push(value), { inputSchema: schema, confirmationMessage: 'Pay?' })]
    const executor = createExecutor({ tools, use: [{ policies: [asks], approver }] })
    const events = heard(executor)
    await executor.execute({ name: 'pay', args })
    expect(requests).toMatchObject([{ ...question, prompt: 'Pay?' }])
    expect(events[1]).toMatchObject({ ...question, prompt: 'Pay?', input })
    expect(ran).toEqual([input])
  })

  test('of a client is in the event too', async () => {
    const form = work('form', () => 1, { type: 'client', requiresResponse: true, handler: undefined })
    const executor = createExecutor({ tools: [form] })
    const events = heard(executor)
    await executor.execute({ name: 'form', args })
    expect(events[1]).toMatchObject({ reason: 'client', prompt: 'Answer form', input: args })
  })

  test('is bounded, however much its authors say', async () => {
    const long = 'x'.repeat(1_000_000)
    const tools = [work('pay', () => 1, { confirmationMessage: () => `😀${long}` })]
    const policies = [{ name: 'long', decide: () => ({ decision: 'ask' as const, reason: long }) }]
    const executor = createExecutor({ tools, use: [{ policies }] })
    const events = heard(executor)
    await executor.execute({ name: 'pay', args })
    const paused = events[1]
    if (paused?.event !== 'call:waiting') throw new Error('it did not pause')
    expect([paused.prompt.length, paused.why?.length]).toEqual([4_096, 1_024])
    expect(paused.prompt).toMatch(/^😀x+…$/u)
  })
})
