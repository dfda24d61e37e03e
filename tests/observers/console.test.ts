import { createExecutor, type ToolEvent } from 'toolwright'
import { InvalidConfigurationError, ToolFailure } from 'toolwright/errors'
import { consoleObserver, type ConsoleObserverOptions } from 'toolwright/observers/console'
import { afterEach, describe, expect, test, vi } from 'vitest'
import { evil, observerConformance, testTool, watching, type Watched } from '../conformance/observers.ts'

function watched(options: ConsoleObserverOptions = {}): Watched<string> {
  const said: string[] = []
  return { extension: consoleObserver({ write: (line) => void said.push(line), ...options }), said }
}

observerConformance('consoleObserver', watched, { writesLines: true })
observerConformance('consoleObserver of JSON', () => watched({ format: 'json' }), { writesLines: true })

/** A line without what differs from run to run. */
function plain(line: string): string {
  return line
    .replace(/^\S+Z /, '')
    .replace(/ [0-9a-f-]{36}-\d+/, ' ID')
    .replace(/[\d.]+ ms/, 'TIME')
}

afterEach(() => void vi.restoreAllMocks())

describe('consoleObserver', () => {
  test('writes a line for people', async () => {
    const { extension, said } = watched()
    const { executor } = watching(
      extension,
      testTool((_, { emit }) => {
        emit('step', { done: 1 })
        return 'four'
      }),
      testTool(
        () => {
          throw new ToolFailure('It is gone')
        },
        { name: 'fails', requiresConfirmation: true },
      ),
    )
    await executor.execute({ name: 'work', args: { a: [1, { b: 'c' }] } })
    const { token = '' } = await executor.execute({ name: 'fails' })
    await executor.calls.decide(token, 'allow', { decidedBy: 'me', note: 'go on' })
    expect(said.map(plain)).toEqual([
      'call:received work ID {"a":[1,{"b":"c"}]}',
      'tool:start work ID {"a":[1,{"b":"c"}]}',
      'tool:progress work ID step {"done":1}',
      'tool:end work ID done TIME',
      'call:settled work ID ok effect completed TIME 4 bytes',
      'call:received fails ID {}',
      'call:waiting fails ID approval Allow fails to execute?',
      'call:resumed fails ID allow by me go on',
      'tool:start fails ID {}',
      'tool:end fails ID failed TIME',
      'call:settled fails ID error effect unknown TIME E_TOOL_DOWNSTREAM_ERROR Tool "fails" failed: ToolFailure: It is gone',
    ])
    expect(said[0]).toMatch(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z call:received/)
  })

  test('writes an object for programs, which reads back what was said', async () => {
    const { extension, said } = watched({ format: 'json' })
    const { executor, events } = watching(
      extension,
      testTool((_, { emit }) => {
        emit('step', { [evil]: evil })
        throw new ToolFailure('It is gone', { retryable: true })
      }),
    )
    await executor.execute({ id: 7, name: 'work', args: { a: 'b' } })
    const read = said.map((line) => JSON.parse(line) as ToolEvent & { data?: unknown; error?: unknown })
    read.forEach((line, index) => {
      const { event, seq, timestamp, callId, invocationId, id, toolName, session } = events[index] ?? ({} as ToolEvent)
      expect(line).toMatchObject({ event, seq, timestamp, callId, invocationId, id, toolName, session })
    })
    expect(read[0]).toMatchObject({ args: { a: 'b' } })
    expect(read[2]?.data).toEqual({ [evil]: evil })
    expect(read.at(-1)?.error).toEqual({
      name: 'ToolDownstreamError',
      code: 'E_TOOL_DOWNSTREAM_ERROR',
      category: 'application',
      retryable: true,
      message: 'Tool "work" failed: ToolFailure: It is gone',
    })
  })

  test('cuts values at 200 characters and messages at 1,000; cut JSON is a string', async () => {
    const both = [watched(), watched({ format: 'json' })]
    const executor = createExecutor({
      tools: [
        testTool(() => {
          throw new Error('y'.repeat(5_000))
        }),
      ],
      use: both.map(({ extension }) => extension),
    })
    await executor.execute({ name: 'work', args: { long: 'x'.repeat(5_000) } })
    const [text, json] = both.map(({ said }) => said)
    expect(text?.[0]).toMatch(/ \{"long":"x{190}…$/)
    expect((JSON.parse(json?.[0] ?? '') as { args: unknown }).args).toBe(`{"long":"${'x'.repeat(190)}…`)
    expect(text?.at(-1)?.length).toBeLessThan(1_300)
    const { error } = JSON.parse(json?.at(-1) ?? '') as { error: { message: string } }
    expect(error.message.length).toBe(1_000)
  })

  test('says nothing of causes and stacks', async () => {
    for (const format of ['text', 'json'] as const) {
      const { extension, said } = watched({ format })
      const cause = Object.assign(new Error('outer'), { cause: new Error('the cause'), password: 'hunter2' })
      const { executor } = watching(
        extension,
        testTool(() => {
          throw cause
        }),
      )
      await executor.execute({ name: 'work' })
      expect(said.join('\n')).not.toMatch(/the cause|hunter2|\.ts:\d/)
    }
  })

  test('writes secrets as the mask that the executor gives', async () => {
    const { extension, said } = watched()
    const { executor } = watching(
      extension,
      testTool(() => 'done', { secrets: ['/password'] }),
    )
    await executor.execute({ name: 'work', args: { password: 'hunter2' } })
    expect(said[0]).toContain('{"password":"[secret]"}')
    expect(said.join('\n')).not.toContain('hunter2')
  })

  test('colours the name of the event, where it is asked to, and nothing that others say', async () => {
    const { extension, said } = watched({ color: true })
    const { executor } = watching(
      extension,
      testTool(() => 'done'),
    )
    await executor.execute({ name: 'work', args: { a: '\u001b[31m' } })
    await executor.execute({ name: 'missing' })
    for (const line of said) expect(line.split('\u001b').length).toBe(3)
    expect(said[0]).toContain('\u001b[36mcall:received\u001b[39m')
    expect(said[3]).toContain('\u001b[32mcall:settled\u001b[39m')
    expect(said.at(-1)).toContain('\u001b[31mcall:settled\u001b[39m')
  })

  test('writes to stderr where it is told nothing else', async () => {
    const error = vi.spyOn(console, 'error').mockImplementation(() => {})
    const { executor } = watching(
      consoleObserver(),
      testTool(() => 'done'),
    )
    await executor.execute({ name: 'work' })
    expect(error).toHaveBeenCalledTimes(4)
    expect(error.mock.calls[0]?.length).toBe(1)
  })

  test('what `write` throws is reported, and the call goes on', async () => {
    const fault = new Error('the disk is full')
    const extension = consoleObserver({
      write: () => {
        throw fault
      },
    })
    const { executor, reports } = watching(
      extension,
      testTool(() => 'done'),
    )
    expect(await executor.execute({ name: 'work' })).toMatchObject({ status: 'ok' })
    expect(reports).toEqual([fault, fault, fault, fault])
  })

  test.each([
    ['an unknown format', { format: 'xml' }],
    ['something else as `write`', { write: true }],
  ])('refuses %s', (_, options) => {
    expect(() => consoleObserver(options as never)).toThrow(InvalidConfigurationError)
  })
})
