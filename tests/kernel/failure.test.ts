import { once } from 'node:events'
import { createServer, type AddressInfo } from 'node:net'
import { createExecutor } from 'toolwright'
import { ToolDeniedError, ToolDownstreamError, ToolFailure } from 'toolwright/errors'
import { openai } from 'toolwright/formats/openai'
import { describe, expect, test } from 'vitest'
import { z } from 'zod'
import { closedPort } from '../servers/listener.ts'
import { hostile, outcome, revoked, sink, text, work } from './_calls.ts'
import { categoryOf, downstream, modelText, oneLine, returnedFailure, errorWords } from './_inside.ts'

class Unreadable extends Error {
  override get message(): string {
    throw new Error('no message')
  }
}

function withThrowing(member: string, error: Error): Error {
  const get = (): never => {
    throw new Error('no')
  }
  return Object.defineProperty(error, member, { get })
}

const thrown: readonly (readonly [string, () => unknown])[] = [
  ['null', () => null],
  ['undefined', () => undefined],
  ['a string', () => 'words'],
  ['a symbol', () => Symbol('words')],
  ['a bigint', () => 1n],
  ['a function', () => () => 'words'],
  ['a frozen error', () => Object.freeze(new Error('words'))],
  ['a frozen error of ours', () => Object.freeze(new ToolDeniedError('words'))],
  ['an error without a name', () => Object.assign(new Error('words'), { name: '' })],
  ['an error whose name is no string', () => Object.assign(new Error('words'), { name: 5 })],
  ['an error whose message throws', () => new Unreadable()],
  ['an error whose code throws', () => withThrowing('code', new Error('words'))],
  ['a plain object', () => ({ reason: 'words' })],
  [
    'an object that refers to itself',
    () => {
      const self: { self?: unknown } = {}
      self.self = self
      return self
    },
  ],
  [
    'an object whose toJSON throws',
    () => ({
      toJSON() {
        throw new Error('no')
      },
    }),
  ],
  ['an object without a prototype', () => Object.create(null) as object],
  ['an error of 10 million characters', () => new Error('x'.repeat(10_000_000))],
  ['a promise', () => Promise.resolve('words')],
  ['a proxy that throws itself', hostile],
  ['a revoked proxy', revoked],
  [
    'a failure whose recommendations are a string',
    () => new ToolFailure('words', { recommendations: 'again' as never }),
  ],
  [
    'a failure whose recommendations are no strings',
    () => new ToolFailure('words', { recommendations: [Symbol('x'), 5] as never }),
  ],
  ['a failure whose recommendations throw', () => withThrowing('recommendations', new ToolFailure('words'))],
  [
    'an error of ours that does not say if it may be retried',
    () => withThrowing('retryable', new ToolDeniedError('words')),
  ],
]

describe('whatever a handler throws', () => {
  test.each(thrown)('is read: %s', (_, make) => {
    const { name, message } = errorWords(make())
    expect(typeof name === 'string' && typeof message === 'string').toBe(true)
  })

  test.each(thrown)('settles its call as a failure of the handler: %s', async (_, make) => {
    const { report, reports } = sink()
    const executor = createExecutor({
      tools: [
        work('now', () => {
          throw make()
        }),
        // oxlint-disable-next-line typescript/prefer-promise-reject-errors -- the point of it
        work('later', () => Promise.reject(make())),
      ],
      report,
    })
    for (const name of ['now', 'later']) {
      const result = await executor.execute({ name })
      expect(outcome(result)).toBe('error unknown E_TOOL_DOWNSTREAM_ERROR')
      expect(text(result).length).toBeLessThanOrEqual(1_000)
      expect(text(result)).not.toContain('\n')
    }
    expect(reports).toEqual([])
  })

  test('is the cause of the error', () => {
    const cause = new Error('words')
    const error = downstream('t', cause)
    expect(error).toBeInstanceOf(ToolDownstreamError)
    expect(error.cause).toBe(cause)
    expect(error.message).toBe('Tool "t" failed: Error: words')
  })
})

describe('the category', () => {
  test.each<[string, unknown, string]>([
    ['a code of the network', Object.assign(new Error('x'), { code: 'ECONNRESET' }), 'network'],
    ['such a code in the cause', new TypeError('x', { cause: { code: 'UND_ERR_SOCKET' } }), 'network'],
    ['a cause without a code', new TypeError('x', { cause: 'ECONNRESET' }), 'application'],
    ['a status of too many requests', Object.assign(new Error('x'), { status: 429 }), 'rate_limit'],
    ['the same under another name', { statusCode: 429 }, 'rate_limit'],
    ['a status of no access', { status: 403 }, 'auth'],
    ['a status of no login', { status: 401 }, 'auth'],
    ['the name of a validation error', Object.assign(new Error('x'), { name: 'ZodError' }), 'validation'],
    ['the name of a timeout', new DOMException('x', 'TimeoutError'), 'timeout'],
    ['the name of an abort', new DOMException('x', 'AbortError'), 'cancelled'],
    ['an error of ours', new ToolDeniedError('x'), 'auth'],
    ['any other error', new Error('x'), 'application'],
    ['anything else', 'x', 'unknown'],
    ['nothing', undefined, 'unknown'],
    ['something hostile', hostile(), 'unknown'],
  ])('comes from %s', (_, value, category) => {
    expect(categoryOf(value)).toBe(category)
  })

  test.each(['ECONNRESET', '429 rate limit', 'unauthorized 401', 'timeout', 'network error', 'validation failed'])(
    'never comes from the words "%s"',
    (words) => {
      expect(categoryOf(new Error(words))).toBe('application')
      expect(categoryOf({ message: words })).toBe('unknown')
    },
  )

  test('of a fetch that reaches nobody, or is cut off, is the network', async () => {
    const server = createServer((socket) => socket.destroy()).listen(0, '127.0.0.1')
    await once(server, 'listening')
    const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
    const thrownBy = (): Promise<unknown> => fetch(url).then(String, (error: unknown) => error)
    expect(categoryOf(await thrownBy())).toBe('network')
    server.close()
    await once(server, 'close')
    const refused = await thrownBy()
    expect(categoryOf(refused)).toBe('network')
    expect(downstream('t', refused).retryable).toBe(true)
  })

  test('of the network or of a rate limit means that the call may succeed later', () => {
    expect(downstream('t', { code: 'ETIMEDOUT' }).retryable).toBe(true)
    expect(downstream('t', { status: 429 }).retryable).toBe(true)
    expect(downstream('t', { status: 401 }).retryable).toBe(false)
    expect(downstream('t', new Error('x')).retryable).toBe(false)
    expect(downstream('t', new ToolFailure('x', { retryable: true })).retryable).toBe(true)
    expect(downstream('t', Object.assign(new ToolFailure('x'), { status: 429 })).retryable).toBe(false)
  })
})

describe('a returned failure', () => {
  test('is exactly { ok: false, error, recommendations?, note? }', () => {
    expect(returnedFailure({ ok: false, error: 'no' })).toMatchObject({ message: 'no', recommendations: [] })
    expect(returnedFailure({ ok: false, error: 'no', recommendations: ['a', 'b'], note: 'c' })).toMatchObject({
      message: 'no',
      recommendations: ['a', 'b', 'c'],
    })
    expect(returnedFailure({ ok: false, error: '', note: 5 })).toMatchObject({ message: '', recommendations: ['5'] })
  })

  test.each<[string, unknown]>([
    ['ok is true', { ok: true, error: 'no' }],
    ['ok is not a boolean', { ok: 0, error: 'no' }],
    ['there is no error', { ok: false }],
    ['the error is no string', { ok: false, error: { message: 'no' } }],
    ['there is another field', { ok: false, error: 'no', data: 1 }],
    ['it is no object', false],
    ['it is nothing', null],
    ['it is an array', [false, 'no']],
  ])('is data where %s', async (_, value) => {
    expect(returnedFailure(value)).toBeUndefined()
    const result = await createExecutor({ tools: [work('t', () => value)] }).execute({ name: 't' })
    expect(result.status).toBe('ok')
  })

  test('is an error of the call, and its recommendations reach the model', async () => {
    const failing = work('t', () => ({ ok: false, error: 'no file', recommendations: ['list the folder'] }))
    const result = await createExecutor({ tools: [failing] }).execute({ name: 't' })
    expect(outcome(result)).toBe('error unknown E_TOOL_DOWNSTREAM_ERROR')
    expect(text(result)).toBe('no file. Recommendations: list the folder')
    expect(result.error?.recommendations).toEqual(['list the folder'])
  })
})

describe('one line', () => {
  test('escapes what a terminal, a log or a reader would obey', () => {
    expect(oneLine('a\nb\rc\td\u001b[31me\u0000f\u007fg\u009bh', 100)).toBe(
      String.raw`a\nb\u000dc\u0009d\u001b[31me\u0000f\u007fg\u009bh`,
    )
    expect(oneLine('\u202egnp\u202c \u2066x\u2069 \u200e\u200f\u061c \u2028\u2029', 100)).toBe(
      String.raw`\u202egnp\u202c \u2066x\u2069 \u200e\u200f\u061c \u2028\u2029`,
    )
    expect(oneLine('größer 😀 日本', 100)).toBe('größer 😀 日本')
  })

  test('is as long as it may be, and says that it was cut', () => {
    expect(oneLine('x'.repeat(10), 10)).toBe('x'.repeat(10))
    expect(oneLine('x'.repeat(11), 10)).toBe(`${'x'.repeat(9)}…`)
    expect(oneLine('\n'.repeat(10), 10)).toBe(String.raw`\n\n\n\n` + String.raw`\…`)
    for (let length = 0; length < 40; length++)
      expect(oneLine('\u001b'.repeat(length), 20).length).toBeLessThanOrEqual(20)
  })

  test('never ends in half of a character', () => {
    for (let before = 5; before < 12; before++) {
      const line = oneLine(`${'x'.repeat(before)}😀😀😀`, 10)
      expect(line).toBe(line.toWellFormed())
    }
  })
})

describe('the text for the model', () => {
  test('is the name and the message of what was thrown, and no more', () => {
    const cause = Object.assign(new RangeError('too far', { cause: new Error('canary') }), { detail: 'canary' })
    const line = modelText(downstream('t', cause), true)
    expect(line).toBe('RangeError: too far')
  })

  test('has the lines of what was thrown, and no other character that steers a reader', async () => {
    const words = 'Build failed:\r\n  a.ts:1\tno x\n\u001b[31m\u202e'
    const failing = work('build', () => {
      throw new ToolFailure(words, { recommendations: ['Read a.ts.'] })
    })
    const result = await createExecutor({ tools: [failing] }).execute({ name: 'build' })
    expect(text(result)).toBe(
      `Build failed:\n  a.ts:1\tno x\n${String.raw`\u001b[31m\u202e`}\nRecommendations: Read a.ts.`,
    )
    expect(modelText(downstream('t', new Error('a\n'.repeat(1_000))), true)).toHaveLength(1_000)
  })

  test('is plain words for what we refuse or a handler means, and says the class of what is foreign', async () => {
    const use = [
      { policies: [{ name: 'nights', decide: () => ({ decision: 'deny', reason: 'Not at night' }) as const }] },
    ]
    const throwing = (error: unknown) => (): never => {
      throw error
    }
    const tools = [
      work('means', throwing(new ToolFailure('no file'))),
      work('ours', throwing(new ToolDeniedError('ask ada first'))),
      work('foreign', throwing(new TypeError('x is not a function'))),
      work('number', () => 1, { inputSchema: z.object({ n: z.number() }) }),
    ]
    const executor = createExecutor({ tools })
    const said = async (name: string, args?: unknown): Promise<string> => text(await executor.execute({ name, args }))
    expect(await said('means')).toBe('no file')
    expect(await said('ours')).toBe('ask ada first')
    expect(await said('foreign')).toBe('TypeError: x is not a function')
    expect(await said('number', {})).toMatch(/^The args of number are not valid: args\.n: /)
    expect(await said('number', '{"n":1,"n":2}')).toMatch(/^The args cannot be identified/)
    expect(await said('nothing')).toMatch(/^There is no tool "nothing"/)
    expect(text(await createExecutor({ tools, use }).execute({ name: 'means' }))).toBe('Not at night')
    for (const name of ['means', 'foreign', 'number']) {
      const [reply] = openai().results([await executor.execute({ id: 'a', name })])
      expect(reply!.content).toMatch(/^(Error: [^:]*( |$)|TypeError: )/)
      expect(reply!.content).not.toMatch(/Error: \w*Error: /)
    }
  })

  test('says which connection failed and how, and shows no password of a URL', async () => {
    const port = await closedPort()
    const tools = ['127.0.0.1', 'localhost', 'user:canary@127.0.0.1'].map((host, index) =>
      work(`fetch_${index}`, () => fetch(`http://${host}:${port}/?key=canary`)),
    )
    const executor = createExecutor({ tools: [...tools, work('resolve', () => fetch('http://nothing.invalid/'))] })
    const [first, second, third, fourth] = await executor.executeToolCalls(
      ['fetch_0', 'fetch_1', 'fetch_2', 'resolve'].map((name) => ({ name })),
    )
    expect(text(first!)).toBe(`TypeError: fetch failed (ECONNREFUSED 127.0.0.1 port ${port})`)
    expect(text(second!)).toMatch(
      new RegExp(`^TypeError: fetch failed \\(ECONNREFUSED (127.0.0.1|::1) port ${port}\\)$`),
    )
    expect(text(third!)).toContain(`//…@127.0.0.1:${port}`)
    expect(`${text(third!)} ${third?.error?.message}`).not.toContain('user:canary')
    expect(text(fourth!)).toMatch(/^TypeError: fetch failed \((ENOTFOUND|EAI_AGAIN) nothing\.invalid\)$/)
    expect(first?.error?.message).toContain(`ECONNREFUSED 127.0.0.1 port ${port}`)
  })

  test('says that an error has no words', () => {
    expect(modelText(downstream('t', new Error('')), true)).toBe('Error: no message')
  })

  test('says which of the addresses of a host failed, of an error without words', () => {
    const refused = { code: 'ECONNREFUSED', address: '::1', port: 5432 }
    const error = Object.assign(new AggregateError([refused, refused], ''), { code: 'ECONNREFUSED' })
    expect(modelText(downstream('t', error), true)).toBe('AggregateError: (ECONNREFUSED ::1 port 5432)')
  })

  test.each([
    ['a code of something else', { code: 'E_CANARY', address: 'canary' }],
    ['words for a host', { code: 'ECONNRESET', hostname: 'canary is my password' }],
    ['what is no object', 'canary ECONNRESET'],
    ['what cannot be read', hostile()],
    ['what was revoked', revoked()],
    ['nothing in its list', { code: 'ECONNRESET', errors: [] }],
  ])('tells nothing else of a cause: %s', (_, cause) => {
    const line = modelText(downstream('t', new TypeError('fetch failed', { cause })), true)
    expect(line).toMatch(/^TypeError: fetch failed( \(ECONNRESET\))?$/)
  })

  test('is generic where errors are not exposed, by the executor or by the tool', async () => {
    const fail = (): never => {
      throw new Error('canary')
    }
    const tools = [
      work('as-executor', fail),
      work('shown', fail, { exposeErrors: true }),
      work('hidden', fail, { exposeErrors: false }),
    ]
    const closed = createExecutor({ tools, exposeErrors: false })
    const open = createExecutor({ tools })
    const generic = 'The tool failed; the reason is not shown.'
    expect(text(await closed.execute({ name: 'as-executor' }))).toBe(generic)
    expect(text(await closed.execute({ name: 'shown' }))).toBe('Error: canary')
    expect(text(await open.execute({ name: 'hidden' }))).toBe(generic)
    expect(text(await open.execute({ name: 'as-executor' }))).toBe('Error: canary')
    expect((await closed.execute({ name: 'as-executor' })).error?.message).toContain('canary')
  })

  test('hides what a handler gave against its promise with it, and never why a call was refused', async () => {
    const tools = [
      work('lies', () => 'canary', { outputSchema: z.literal('other', 'not canary') }),
      work('strict', () => 1, { inputSchema: z.object({ a: z.number() }) }),
      work('asks', () => 1, { requiresConfirmation: true }),
    ]
    const executor = createExecutor({ tools, exposeErrors: false })
    expect(text(await executor.execute({ name: 'lies' }))).toBe('The tool failed; the reason is not shown.')
    expect(text(await executor.execute({ name: 'strict', args: {} }))).toContain('args.a: Invalid input')
    expect(text(await executor.execute({ name: 'missing' }))).toContain('Available: lies, strict, asks')
    const { token = '' } = await executor.execute({ name: 'asks' })
    expect(text(await executor.calls.decide(token, 'deny', { note: 'use the other' }))).toContain('use the other')
  })
})
