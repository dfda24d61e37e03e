import { createExecutor, type Extension, type ToolResult } from 'toolwright'
import { InvalidConfigurationError } from 'toolwright/errors'
import type { Decision } from 'toolwright/extension'
import { budget } from 'toolwright/policies/budget'
import { permissions } from 'toolwright/policies/permissions'
import { shadow, type ShadowReport } from 'toolwright/policies/shadow'
import { describe, expect, test } from 'vitest'
import { policyConformance, work } from '../conformance/policies.ts'

policyConformance('shadow of a refusal', { allowing: () => shadow(permissions({ mode: 'deny' }), () => {}) })
policyConformance('shadow of what never answers', {
  allowing: () => shadow({ policies: [{ name: 'silent', decide: () => new Promise(() => {}) }] }, () => {}),
})
policyConformance('shadow with a report that throws', {
  allowing: () =>
    shadow(permissions({ mode: 'custom', decide: () => Promise.resolve('ask' as const) }), () => {
      throw new Error('the report')
    }),
})

function policy(decide: () => unknown, name = 'tried'): Extension {
  return { policies: [{ name, decide: decide as () => Decision }] }
}

async function tried(extension: Extension): Promise<{ result: ToolResult; reports: ShadowReport[] }> {
  const reports: ShadowReport[] = []
  const trial = shadow(extension, (report) => void reports.push(report))
  const executor = createExecutor({ tools: [work()], use: [trial] })
  const result = await executor.execute({ name: 'work', args: { a: 1 } }, { session: 'one' })
  await new Promise((resolve) => setImmediate(resolve))
  return { result, reports }
}

describe('shadow', () => {
  test.each<[string, () => unknown, Partial<ShadowReport>]>([
    ['no objection', () => undefined, { said: 'none' }],
    ['a question', () => ({ decision: 'ask', reason: 'why' }), { said: 'ask', reason: 'why' }],
    ['a refusal', () => ({ decision: 'deny', reason: 'no' }), { said: 'deny', reason: 'no' }],
    ['a late refusal', () => Promise.resolve({ decision: 'deny' }), { said: 'deny' }],
    ['a result', () => ({ result: 5 }), { said: 'result' }],
    ['what is no decision', () => ({ decision: 'maybe' }), { said: 'failed' }],
    ['what is no object', () => 'deny', { said: 'failed' }],
    ['a rejection', () => Promise.reject(new RangeError('late')), { said: 'failed', error: new RangeError('late') }],
    [
      'an exception',
      () => {
        throw new RangeError('at once')
      },
      { said: 'failed', error: new RangeError('at once') },
    ],
  ])('reports %s, and the call runs', async (_, decide, said) => {
    const { result, reports } = await tried(policy(decide))
    expect(result).toMatchObject({ status: 'ok', content: [{ data: { a: 1 } }] })
    const { callId, invocationId } = result
    const about = { policy: 'tried', callId, invocationId, toolName: 'work', session: 'one' }
    expect(reports).toMatchObject([{ ...about, ...said }])
  })

  test('asks every policy, also behind one that would have refused', async () => {
    const policies = [
      ...(policy(() => ({ decision: 'deny' }), 'first').policies ?? []),
      ...(policy(() => undefined, 'second').policies ?? []),
    ]
    const { reports } = await tried({ policies })
    expect(reports.map(({ policy: name, said }) => `${name} ${said}`)).toEqual(['first deny', 'second none'])
  })

  test('hands on a copy of the input: what a policy writes to it reaches nobody', async () => {
    const meddler: Extension = {
      policies: [
        {
          name: 'meddler',
          decide(call) {
            const open = call as { effect: string; input: unknown }
            Object.assign(call.input as object, { a: 2, b: 3 })
            Object.assign(call.args as object, { a: 2 })
            Object.assign(call.identity.args as object, { a: 2 })
            open.effect = 'unknown'
            open.input = 'another'
          },
        },
      ],
    }
    const { result, reports } = await tried(meddler)
    expect(reports).toMatchObject([{ said: 'none' }])
    expect(result).toMatchObject({ status: 'ok', content: [{ data: { a: 1 } }] })
    expect(result.content).not.toMatchObject([{ data: { b: 3 } }])
  })

  test('a budget on trial counts what really begins, and is told of when it would have refused', async () => {
    const reports: string[] = []
    const trial = shadow(budget({ calls: 2 }), ({ said }) => void reports.push(said))
    const executor = createExecutor({ tools: [work()], use: [trial] })
    for (let count = 0; count < 4; count++) {
      expect(await executor.execute({ name: 'work' })).toMatchObject({ status: 'ok' })
    }
    expect(reports).toEqual(['none', 'none', 'deny', 'deny'])
  })

  test('a budget on trial gives back the place of a call that never began', async () => {
    const reports: string[] = []
    const trial = shadow(budget({ calls: 1 }), ({ said }) => void reports.push(said))
    const executor = createExecutor({ tools: [work()], use: [trial, policy(() => ({ decision: 'deny' }))] })
    for (let count = 0; count < 3; count++) await executor.execute({ name: 'work' })
    expect(reports).toEqual(['none', 'none', 'none'])
  })

  test('mounts no other door of the extension, and closes it', async () => {
    let isClosed = false
    const trial = shadow(
      {
        ...policy(() => undefined),
        middleware: [() => Promise.resolve('changed')],
        approver: { ask: () => Promise.resolve({ decision: 'deny' }) },
        tools: () => [work({ name: 'smuggled' })],
        close: () => void (isClosed = true),
      },
      () => {},
    )
    const executor = createExecutor({ tools: [work()], use: [trial] })
    expect(await executor.execute({ name: 'work', args: {} })).toMatchObject({ content: [{ data: {} }] })
    expect(executor.tools().map(({ name }) => name)).toEqual(['work'])
    await executor.close()
    expect(isClosed).toBe(true)
  })

  test.each([
    ['an extension without policies', [{}, () => {}]],
    ['no extension', [undefined, () => {}]],
    ['no function', [policy(() => undefined), undefined]],
  ])('refuses %s', (_, [extension, report]) => {
    expect(() => shadow(extension as never, report as never)).toThrow(InvalidConfigurationError)
  })
})
