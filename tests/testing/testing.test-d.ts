import { createExecutor, type ToolExecutor } from 'toolwright'
import { aiSdk } from 'toolwright/formats/ai-sdk'
import { anthropic, type AnthropicMessage } from 'toolwright/formats/anthropic'
import { gemini } from 'toolwright/formats/gemini'
import { openai } from 'toolwright/formats/openai'
import { openaiResponses } from 'toolwright/formats/openai-responses'
import {
  callLog,
  expectCalls,
  matchers,
  observe,
  script,
  type CallLog,
  type ExpectedCall,
  type MatcherVerdict,
  type Script,
} from 'toolwright/testing'
import 'toolwright/testing/vitest'
import { expect, expectTypeOf, test } from 'vitest'

const executor = createExecutor()

test('a log is made of an executor alone, and is an extension by callLog', () => {
  expectTypeOf(observe).parameters.toEqualTypeOf<[executor: ToolExecutor]>()
  // @ts-expect-error a log of what is no executor
  observe({})
  expectTypeOf(callLog()).toExtend<CallLog>()
  createExecutor({ use: [callLog()] })
  // @ts-expect-error calls are read
  observe(executor).calls.push()
})

test('a matcher takes statuses, effects, codes and options that exist', () => {
  expectTypeOf(expect(executor).toHaveCalled('refund')).toEqualTypeOf<void>()
  expect(executor).toHaveCalled('refund', { status: 'running', effect: 'none', code: 'E_JOURNAL', times: 1 })
  expect(executor).not.toHaveCalled('refund', { content: /late/, args: { order: expect.any(String) as unknown } })
  expect(executor).toHaveCalledInOrder('find', ['refund', { afterResult: true }])
  expect(executor).not.toHaveCalledOnly('find', 'refund')
  expect(executor).toHaveCalledAtMost(3)
  expect(executor).not.toHaveRepeated()
  expect(executor).toHaveRecovered()
  // @ts-expect-error no such status
  expect(executor).toHaveCalled('refund', { status: 'done' })
  // @ts-expect-error no such effect
  expectCalls(executor).toHaveCalled('refund', { effect: 'done' })
  // @ts-expect-error no such code
  expectCalls(executor).not.toHaveCalled('refund', { code: 'E_NONE' })
  // @ts-expect-error no such option
  expect(executor).not.toHaveCalled('refund', { arguments: {} })
  // @ts-expect-error a step has no count
  expect(executor).toHaveCalledInOrder('find', ['refund', { times: 2 }])
  // @ts-expect-error a call has no step before it
  expect(executor).toHaveCalled('refund', { afterResult: true })
  // @ts-expect-error no such assertion
  expectCalls(executor).toHaveBeenCalled('refund')
  expectTypeOf<ExpectedCall['status']>().toEqualTypeOf<
    'ok' | 'error' | 'denied' | 'timed_out' | 'cancelled' | 'waiting' | 'running' | undefined
  >()
})

test('the matchers are those of vitest and Jest: a subject, what the assertion takes, and a verdict', () => {
  expectTypeOf(matchers.toHaveCalledAtMost).toEqualTypeOf<(subject: unknown, most: number) => MatcherVerdict>()
  expect.extend({ ...matchers })
})

test('a script takes turns, whole messages and functions, and gives the messages of its format', async () => {
  const model = script(anthropic(), [
    'Hello.',
    { text: 'I look.', calls: [['now'], ['now', { zone: 'utc' }], { id: 'mine', name: 'now' }] },
    { role: 'assistant', content: [{ type: 'text', text: 'Hello.' }] },
    (request, requests) => ({ text: `${typeof request} ${requests.length}` }),
  ])
  expectTypeOf(await model.next()).toEqualTypeOf<AnthropicMessage>()
  expectTypeOf(await model.next<{ readonly id: string }>()).toEqualTypeOf<{ readonly id: string }>()
  expectTypeOf(model.fetch).toEqualTypeOf<typeof fetch>()
  // @ts-expect-error a call of two things has a name and args
  script(anthropic(), [{ calls: [[5]] }])
  // @ts-expect-error a turn is no number
  script(anthropic(), [1])
  // @ts-expect-error a call has a name
  script(anthropic(), [{ calls: [{ tool: 'now' }] }])
  // @ts-expect-error a format is no name
  script('anthropic', ['Hello.'])
})

test('a script takes turns from a variable without `as const`', () => {
  const calls = [['now', { zone: 'utc' }], ['now']]
  const turns = [
    { text: 'I look.', calls: [['find_order', { id: 'A-1' }]] },
    { calls: [['refund', { order: 'A-1' }], { id: 'mine', name: 'now' }] },
    { calls },
    'Done.',
    (request: unknown) => ({ calls: [['echo', { request }]] }),
  ]
  const whole = [{ role: 'assistant', content: [{ type: 'text', text: 'Hello.' }] }]
  expectTypeOf(script(anthropic(), turns)).toEqualTypeOf<Script<AnthropicMessage>>()
  expectTypeOf(script(anthropic(), whole)).toEqualTypeOf<Script<AnthropicMessage>>()
  script(openai(), turns)
  script(openaiResponses(), turns)
  script(gemini(), turns)
  script(aiSdk(), turns)
  script(aiSdk(), whole)
  script(openai(), [{ role: 'assistant', content: 'Hello.' }])
  const wrong = [{ calls: [[5, { id: 'A-1' }]] }]
  // @ts-expect-error a call has a name, and not a number
  script(anthropic(), wrong)
})
