import { content, createExecutor, JsonArtifact, json, shown, tool, ToolFailure, type ToolResult } from 'toolwright'
import { memoryJournal } from 'toolwright/journals/memory'
import { describe, expect, test } from 'vitest'
import { z } from 'zod'
import { heard, names, outcome, text, work } from './_calls.ts'

const add = tool({
  name: 'add',
  description: 'Adds two numbers',
  inputSchema: z.object({ a: z.number(), b: z.number().default(2) }),
  aliases: ['plus'],
  handler: ({ a, b }) => a + b,
})

describe('invoke', () => {
  test('runs a tool through the whole pipeline, and gives its value', async () => {
    const executor = createExecutor({ tools: [add] })
    const events = heard(executor)
    const result = await executor.invoke(add, { a: 1 })
    expect(result).toMatchObject({ status: 'ok', value: 3, toolName: 'add', content: [{ type: 'text', text: '3' }] })
    expect(names(events)).toBe('call:received tool:start tool:end call:settled')
    const { callId } = await executor.execute({ name: 'add', args: { a: 1 } })
    expect(result.callId).toBe(callId)
  })

  test('takes the options of a call, and calls for the user unless they say another caller', async () => {
    const callers: unknown[] = []
    const forUsers = work('for_users', (_input, { caller, session }) => callers.push(caller, session), {
      audience: 'user',
    })
    const executor = createExecutor({ tools: [forUsers] })
    expect(outcome(await executor.invoke(forUsers, {}))).toBe('ok completed')
    expect(outcome(await executor.invoke(forUsers, {}, { session: 'ada' }))).toBe('ok completed')
    expect(callers).toEqual(['user', executor.session, 'user', 'ada'])
    expect(outcome(await executor.invoke(forUsers, {}, { caller: 'model' }))).toBe('error none E_TOOL_NOT_FOUND')
  })

  test('says in the result what went wrong', async () => {
    const fails = work('fails', () => {
      throw new ToolFailure('No such order.')
    })
    const waits = work('waits', () => 1, { requiresConfirmation: true })
    const executor = createExecutor({ tools: [add, fails, waits] })
    const invalid = await executor.invoke(add, { a: 'one' } as never)
    expect([outcome(invalid), invalid.value]).toEqual(['error none E_INVALID_TOOL_ARGS', undefined])
    const failed = await executor.invoke(fails, {})
    expect([outcome(failed), failed.value]).toEqual(['error unknown E_TOOL_DOWNSTREAM_ERROR', undefined])
    const waiting = await executor.invoke(waits, {})
    expect([outcome(waiting), waiting.value]).toEqual(['waiting none', undefined])
    expect(await executor.calls.decide(waiting.token ?? '', 'allow')).toMatchObject({ status: 'ok', value: 1 })
    await executor.close()
  })

  test('refuses a tool that the executor does not have, and says what to do', async () => {
    const executor = createExecutor()
    const result = await executor.invoke(add, { a: 1 })
    expect(outcome(result)).toBe('error none E_TOOL_NOT_FOUND')
    expect(text(result)).toMatch(/has no tool "add", so nothing was run\. Add it/)
  })

  test('refuses another tool of the same name or alias', async () => {
    const longer = add.with({ timeout: 60_000 })
    const executor = createExecutor({ tools: [longer] })
    expect(await executor.invoke(longer, { a: 1 })).toMatchObject({ status: 'ok', value: 3 })
    const result = await executor.invoke(add, { a: 1 })
    expect(outcome(result)).toBe('error none E_TOOL_NOT_FOUND')
    expect(text(result)).toMatch(/"add" is another than the one to invoke, so nothing was run\. Invoke the one/)
    const plus = tool('plus', () => 1)
    expect(outcome(await executor.invoke(plus, {}))).toBe('error none E_TOOL_NOT_FOUND')
  })

  test('tells no observer the args of a tool that it refuses, since that may have secrets', async () => {
    const login = work('login', () => 1, { secrets: ['/password'] })
    const executor = createExecutor()
    const events: unknown[] = []
    executor.on('*', (event) => events.push(event))
    await executor.invoke(login, { password: 'hunter2' })
    expect(events.length).toBeGreaterThan(0)
    expect(JSON.stringify(events)).not.toContain('hunter2')
  })

  test('rejects what is not a tool', async () => {
    const executor = createExecutor({ tools: [add] })
    await expect(executor.invoke(...(['add', { a: 1 }] as unknown as [never]))).rejects.toThrow(/invoke takes a tool/)
    await expect(executor.invoke(null as never)).rejects.toMatchObject({ code: 'E_INVALID_CONFIGURATION' })
    await expect(executor.invoke(add, { a: 1 }, null as never)).rejects.toThrow(
      '`invoke` takes an object of options, not null.',
    )
  })
})

describe('the value of a result', () => {
  const valueOf = async (handler: () => unknown, options: object = {}): Promise<unknown> => {
    const { value, status } = await createExecutor({ tools: [work('t', handler, options)] }).execute({ name: 't' })
    expect(status).toBe('ok')
    return value
  }
  const blocks = [{ type: 'text', text: 'a' }] as const
  const date = new Date(0)

  test.each<[string, () => unknown, unknown, object?]>([
    ['text', () => 'done', 'done'],
    ['no text', () => '', ''],
    ['a number', () => 3, 3],
    ['nothing', () => undefined, undefined],
    ['`null`', () => null, null],
    ['an object', () => ({ a: [1] }), { a: [1] }],
    ['a marked value', () => json([{ type: 'text', text: 'a row' }]), [{ type: 'text', text: 'a row' }]],
    ['marked content', () => content(blocks), blocks],
    ['what is shown apart', () => shown('two orders', [1, 2]), [1, 2]],
    ['small bytes', () => new Uint8Array([1, 2]), new Uint8Array([1, 2])],
    ['what a schema makes of it', () => 0, date, { outputSchema: z.number().transform((time) => new Date(time)) }],
    ['a masked value', () => ({ key: 'k', id: 1 }), { key: '[secret]', id: 1 }, { secrets: ['/key'] }],
  ])('is that of the handler: %s', async (_, handler, value, options) => {
    expect(await valueOf(handler, options)).toEqual(value)
  })

  test('has no secret of the args', async () => {
    const echo = work('echo', ({ password }: { password: string }) => `It is ${password}.`, { secrets: ['/password'] })
    const { value } = await createExecutor({ tools: [echo] }).execute({ name: 'echo', args: { password: 'hunter2' } })
    expect(value).toBe('It is [secret].')
  })

  test('is none of what is read by queries: a large result, a stream, an artifact', async () => {
    const large = await createExecutor({
      tools: [work('t', () => Array.from({ length: 5_000 }, () => 'row'))],
    }).execute({
      name: 't',
    })
    expect(large).toMatchObject({ status: 'ok', value: undefined })
    expect(await (large.artifact as JsonArtifact).length()).toBe(5_000)
    expect(await valueOf(() => new ReadableStream({ start: (controller) => controller.close() }))).toBeUndefined()
    const reader = { byteLength: 2, read: () => new TextEncoder().encode('[]') }
    expect(await valueOf(() => new JsonArtifact({ reader }))).toBeUndefined()
  })

  test('is what hooks, middleware and policies put in the place of it', async () => {
    const replaced = work('t', () => 1, { hooks: { postToolUse: () => ({ update: { result: 2 } }) } })
    const { value } = await createExecutor({ tools: [replaced] }).execute({ name: 't' })
    expect(value).toBe(2)
    const use = [{ middleware: [async () => 3] }]
    expect(await createExecutor({ tools: [work('t', () => 1)], use }).execute({ name: 't' })).toMatchObject({
      value: 3,
    })
    const policies = [{ name: 'known', decide: () => ({ result: 4 }) }]
    const skipped = await createExecutor({ tools: [work('t', () => 1)], use: [{ policies }] }).execute({ name: 't' })
    expect(skipped).toMatchObject({ skipped: true, value: 4 })
  })

  test('is in no JSON and no copy', async () => {
    const result = await createExecutor({ tools: [add] }).invoke(add, { a: 1 })
    expect(Object.keys(result)).not.toContain('value')
    expect('value' in { ...result }).toBe(false)
    expect(JSON.parse(JSON.stringify(result))).not.toHaveProperty('value')
    expect((Object.create(result) as ToolResult).value).toBeUndefined()
  })

  test.each<readonly [string, () => unknown, unknown]>([
    ['text', () => 'done', 'done'],
    ['an object', () => ({ a: 1 }), { a: 1 }],
    ['one block of JSON', () => json(7), 7],
    ['a number, whose text may be a string', () => 7, undefined],
    ['a boolean', () => true, undefined],
    ['no text', () => '', undefined],
    ['21 bytes, whose description is as long', () => new Uint8Array(21), undefined],
    ['two blocks', () => content([blocks[0], blocks[0]]), undefined],
    ['a value shown apart', () => shown('two orders', [1, 2]), undefined],
    ['a large result', () => 'line\n'.repeat(20_000), undefined],
  ])('is read from the content of a record if it is there: %s', async (_, handler, value) => {
    const t = work('t', handler)
    const executor = createExecutor({ tools: [t], use: [memoryJournal()] })
    const first = await executor.invoke(t, {}, { invocationId: 'once' })
    const again = await executor.invoke(t, {}, { invocationId: 'once' })
    expect(again).toMatchObject({ status: 'ok', invocationId: first.invocationId })
    expect(again.value).toEqual(value)
    const answered = await executor.execute(
      { id: 'call_2', name: 't', args: {} },
      { invocationId: 'once', caller: 'user' },
    )
    expect([answered.id, answered.value]).toEqual(['call_2', value])
    await executor.close()
  })
})
