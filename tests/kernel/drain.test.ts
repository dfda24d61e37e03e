import fc from 'fast-check'
import { createExecutor, memoryStore, SpooledArtifact, type ToolEvent } from 'toolwright'
import { memoryJournal } from 'toolwright/journals/memory'
import { describe, expect, test } from 'vitest'
import { data, heard, names, never, outcome, soon, text, turn, work } from './_calls.ts'
import { changed } from './_journals.ts'
import { isGenerator, isStream, openStream, type Stream } from './_inside.ts'

/** A generator of one's own making, which tells whether it was closed. */
function handmade(next: () => unknown, end?: () => unknown): { closed: number } & AsyncIterable<unknown> {
  const made = {
    closed: 0,
    next,
    return(): unknown {
      made.closed++
      return end === undefined ? Promise.resolve({ done: true, value: undefined }) : end()
    },
    [Symbol.asyncIterator](): never {
      return made as never
    },
  }
  return made as never
}

describe('a generator', () => {
  test('tells its progress by what it yields, and gives what it returns', async () => {
    const executor = createExecutor({
      tools: [
        work('t', async function* () {
          yield { step: 1 }
          yield 'two'
          return { done: true }
        }),
      ],
    })
    const events = heard(executor)
    expect(data(await executor.execute({ name: 't' }))).toEqual({ done: true })
    expect(names(events)).toBe('call:received tool:start tool:progress tool:progress tool:end call:settled')
    expect(events.filter(({ event }) => event === 'tool:progress')).toMatchObject([
      { type: 'yield', data: { step: 1 } },
      { type: 'yield', data: 'two' },
    ])
  })

  test('that returns nothing gives no output, that throws fails, that says ok: false fails', async () => {
    const executor = createExecutor({
      tools: [
        work('nothing', async function* () {
          yield 1
        }),
        work('throws', async function* () {
          yield 1
          throw new Error('half-way')
        }),
        work('fails', async function* () {
          yield 1
          return { ok: false, error: 'no' }
        }),
      ],
    })
    expect(text(await executor.execute({ name: 'nothing' }))).toBe('(no output)')
    expect(text(await executor.execute({ name: 'throws' }))).toBe('Error: half-way')
    expect(text(await executor.execute({ name: 'fails' }))).toBe('no')
  })

  test('is closed at the deadline, also where it never yields', async () => {
    const stuck = handmade(() => never)
    const executor = createExecutor({ tools: [work('t', () => stuck)], timeout: 20 })
    expect(outcome(await soon(executor.execute({ name: 't' })))).toBe('timed_out unknown E_TOOL_TIMEOUT')
    expect(stuck.closed).toBe(1)
  })

  test('is closed when the caller gives up', async () => {
    const leaving = new AbortController()
    let isClosed = false
    const executor = createExecutor({
      tools: [
        work('t', async function* () {
          try {
            for (;;) {
              leaving.abort()
              yield 1
            }
          } finally {
            isClosed = true
          }
        }),
      ],
    })
    expect(outcome(await soon(executor.execute({ name: 't' }, { signal: leaving.signal })))).toBe(
      'cancelled unknown E_TOOL_CANCELLED',
    )
    await turn()
    expect(isClosed).toBe(true)
  })

  test('is closed when the one who watches leaves', async () => {
    let isClosed = false
    const executor = createExecutor({
      tools: [
        work('t', async function* () {
          try {
            for (;;) {
              await turn()
              yield 1
            }
          } finally {
            isClosed = true
          }
        }),
      ],
    })
    for await (const { event } of executor.stream({ name: 't' })) if (event === 'tool:progress') break
    await turn()
    await turn()
    expect(isClosed).toBe(true)
    await soon(executor.close())
  })

  test.each<[string, () => unknown]>([
    ['never settles', () => never],
    [
      'throws',
      () => {
        throw new Error('no')
      },
    ],
    ['rejects', () => Promise.reject(new Error('no'))],
    ['gives nothing', () => undefined],
  ])('is asked to close and not waited for: its closing %s', async (_, end) => {
    const stuck = handmade(() => never, end)
    const executor = createExecutor({ tools: [work('t', () => stuck)], timeout: 20 })
    expect(outcome(await soon(executor.execute({ name: 't' })))).toBe('timed_out unknown E_TOOL_TIMEOUT')
    expect(stuck.closed).toBe(1)
    await turn()
  })

  test.each<[string, () => unknown]>([
    [
      'throws',
      () => {
        throw new Error('no')
      },
    ],
    ['gives nothing', () => undefined],
    ['gives null later', () => Promise.resolve(null)],
    ['gives a number', () => 5],
    ['rejects', () => Promise.reject(new Error('no'))],
  ])('whose next %s is a failure of the handler', async (_, next) => {
    const executor = createExecutor({ tools: [work('t', () => handmade(next))] })
    expect(outcome(await soon(executor.execute({ name: 't' })))).toBe('error unknown E_TOOL_DOWNSTREAM_ERROR')
  })

  test('is not mistaken for a stream, nor a stream for it', () => {
    const generator = (async function* () {})()
    expect([isGenerator(generator), isGenerator(new ReadableStream()), isGenerator([]), isGenerator('x')]).toEqual([
      true,
      false,
      false,
      false,
    ])
    expect([isStream(new ReadableStream()), isStream([]), isStream('x'), isStream(null)]).toEqual([
      true,
      false,
      false,
      false,
    ])
  })
})

describe('a stream', () => {
  async function bytesOf(...pieces: unknown[]): Promise<{ text: string; isText: boolean }> {
    const parts: Uint8Array[] = []
    const iterable = {
      async *[Symbol.asyncIterator]() {
        yield* pieces
      },
    }
    const stream = openStream(iterable as Stream)
    for (let step = await stream.next(); step.done !== true; step = await stream.next()) parts.push(step.value)
    return { text: new TextDecoder().decode(Buffer.concat(parts)), isText: stream.isText }
  }

  test('of text keeps characters whole, wherever it is cut', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.string({ unit: 'binary', maxLength: 20 }),
        fc.array(fc.nat(20), { maxLength: 6 }),
        async (whole, cuts) => {
          const borders = [0, ...cuts.toSorted((a, b) => a - b), whole.length]
          const pieces = borders.slice(1).map((end, index) => whole.slice(borders[index], end))
          expect((await bytesOf(...pieces)).text).toBe(whole.toWellFormed())
        },
      ),
      { numRuns: 500 },
    )
  })

  test('of halves: a high surrogate is kept for the next piece, and replaced where none comes', async () => {
    expect((await bytesOf('\ud83d', '\ude00')).text).toBe('😀')
    expect((await bytesOf('a\ud83d', '', '\ude00b')).text).toBe('a😀b')
    expect((await bytesOf('\ud83d')).text).toBe('\ufffd')
    expect((await bytesOf('\ud83d', 'x')).text).toBe('\ufffdx')
    expect((await bytesOf('\ud83d', new Uint8Array([65]))).text).toBe('\ufffdA')
  })

  test('of bytes of any kind', async () => {
    const words = new Uint16Array([0x4241])
    expect(await bytesOf(new Uint8Array([65, 66]).subarray(1), Buffer.from('c'), words)).toEqual({
      text: 'BcAB',
      isText: false,
    })
  })

  test.each<[string, () => unknown]>([
    ['web bytes', () => new Blob(['hello']).stream()],
    ['web text', () => ReadableStream.from(['hel', 'lo'])],
    [
      'an async iterable',
      () => ({
        async *[Symbol.asyncIterator]() {
          yield 'hello'
        },
      }),
    ],
    ['a reader alone', () => ({ getReader: () => new Blob(['hello']).stream().getReader() })],
  ])('is a result: %s', async (_, make) => {
    const result = await createExecutor({ tools: [work('t', make)] }).execute({ name: 't' })
    expect(outcome(result)).toBe('ok completed')
    expect(await result.artifact?.asString()).toBe('hello')
  })

  test.each<[string, () => unknown]>([
    ['gives numbers', () => ReadableStream.from([1, 2])],
    ['gives null', () => ReadableStream.from([null])],
    [
      'breaks half-way',
      () =>
        new ReadableStream({
          pull(controller) {
            controller.enqueue('x')
            controller.error(new Error('cut'))
          },
        }),
    ],
    [
      'is read by somebody else',
      () => {
        const stream = new ReadableStream()
        stream.getReader()
        return stream
      },
    ],
  ])('that %s is an error of the artifact: the tool has run', async (_, make) => {
    const result = await createExecutor({ tools: [work('t', make)] }).execute({ name: 't' })
    expect(outcome(result)).toBe('error completed E_ARTIFACT')
  })

  test('that never ends is left at the deadline and told so, also where it is kept already', async () => {
    const events: ToolEvent[] = []
    for (const first of ['', 'x'.repeat(100_000)]) {
      let isCancelled = false
      const stream = new ReadableStream({
        start: (controller) => first === '' || controller.enqueue(first),
        pull: () => never,
        cancel: () => void (isCancelled = true),
      })
      const executor = createExecutor({
        tools: [work('t', () => stream)],
        timeout: 30,
        use: [{ observers: [(event) => void events.push(event)] }],
      })
      expect((await soon(executor.execute({ name: 't' }))).status).toBe('timed_out')
      await turn()
      await turn()
      expect(isCancelled).toBe(true)
    }
    expect(names(events.slice(0, 4))).toBe('call:received tool:start tool:end call:settled')
  })
})

/** An async iterable that has a piece ready whenever it is asked, without an end, and cannot be closed. */
function endless(piece: unknown): AsyncIterable<never> {
  return { [Symbol.asyncIterator]: () => ({ next: async () => ({ done: false, value: piece as never }) }) }
}

class Endless extends SpooledArtifact {
  override chunks(): AsyncGenerator<Uint8Array, void, undefined> {
    return endless(new Uint8Array()) as never
  }
}

/** What is always ready and never ends: no step of it waits, so no timer runs unless the kernel gives it a turn. */
const greedy: readonly (readonly [string, () => unknown])[] = [
  [
    'a generator',
    async function* () {
      for (;;) yield 1
    },
  ],
  ['a generator that gives its steps at once', () => handmade(() => ({ done: false, value: 1 }))],
  ['a stream of text', () => endless('x')],
  ['a stream of bytes', () => endless(new Uint8Array(10))],
  ['a stream of empty pieces', () => endless('')],
  ['a web stream', () => new ReadableStream({ pull: (controller) => controller.enqueue('x') })],
  ['an artifact of empty pieces', () => new Endless({ reader: { byteLength: 1e6, read: () => new Uint8Array() } })],
]

describe('what is always ready', () => {
  test.each(greedy)('keeps no timer from running: %s is left at its deadline', async (_, make) => {
    const executor = createExecutor({ tools: [work('t', make)], timeout: 100 })
    expect((await soon(executor.execute({ name: 't' }))).error?.code).toBe('E_TOOL_TIMEOUT')
  })

  test.each(greedy)('is left when its caller gives up: %s', async (_, make) => {
    const executor = createExecutor({ tools: [work('t', make)], timeout: 0 })
    const leaving = new AbortController()
    setTimeout(() => leaving.abort(), 30)
    const result = await soon(executor.execute({ name: 't' }, { signal: leaving.signal }))
    expect(result.error?.code).toBe('E_TOOL_CANCELLED')
  })

  test('is asked for nothing more once it is left', async () => {
    let asked = 0
    const counting = {
      [Symbol.asyncIterator]: () => ({
        async next() {
          asked++
          return { done: false, value: '' }
        },
      }),
    }
    const executor = createExecutor({ tools: [work('t', () => counting)], timeout: 30 })
    await soon(executor.execute({ name: 't' }))
    await turn()
    const before = asked
    for (let index = 0; index < 10; index++) await turn()
    expect(asked).toBe(before)
  })

  test('keeps no timer from running in a store that is written to by hand', async () => {
    const leaving = new AbortController()
    setTimeout(() => leaving.abort(), 30)
    const { signal } = leaving
    const writing = memoryStore().write(endless(new Uint8Array()), { session: 's', mediaType: 'text/plain', signal })
    await expect(soon(writing)).rejects.toThrow(/aborted/)
  })

  test('keeps no timer from running in the list of a journal', async () => {
    let isOver = false
    setTimeout(() => (isOver = true), 30)
    const record = { id: 'x', state: 'PENDING' }
    const unfinished = {
      [Symbol.asyncIterator]: () => ({
        next: async () => ({ done: isOver, value: { record, fence: { owner: 'o', number: 0 }, idle: 0 } }),
      }),
    }
    const use = [changed(memoryJournal(), { list: () => () => unfinished as never })]
    expect(await soon(createExecutor({ use }).calls.recover())).toEqual({
      sealed: [],
      requeued: [],
      kept: [],
      expired: [],
    })
  })
})
