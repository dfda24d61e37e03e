import { createExecutor, memoryStore, SpooledArtifact, type ExecutorOptions, type ToolExecutor } from 'toolwright'
import { memoryJournal } from 'toolwright/journals/memory'
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest'
import { never, outcome, sink, work } from './_calls.ts'
import { changed } from './_journals.ts'

// The clock is moved by hand: no test waits for the limits of journals and stores.
beforeEach(() => {
  vi.useFakeTimers()
})
afterEach(() => {
  vi.useRealTimers()
})

/* oxlint-disable unicorn/no-thenable -- this is what is tested */

type Answer = (value: unknown) => void

/** What may be given in place of an answer, and never is one. */
const kinds: Readonly<Record<string, () => unknown>> = {
  'a promise that never settles': () => never,
  'a thenable that gives a thenable': () => ({ then: (answer: Answer) => answer({ then() {} }) }),
  'a thenable that gives one ten times over': () => nested(10),
  'a promise whose own then gives a thenable': () =>
    Object.assign(Promise.resolve(), { then: (answer: Answer) => answer({ then() {} }) }),
  'a promise of an object that becomes a thenable when it is looked at': () => {
    let looks = 0
    return Promise.resolve({
      done: true, // as a step of a generator it is the last
      get then() {
        return looks++ === 0 ? undefined : () => {}
      },
    })
  },
  'a thenable that answers many times': () => ({
    then(answer: Answer) {
      answer({ then() {} })
      answer(1)
      answer(2)
    },
  }),
}

function nested(depth: number): object {
  return { then: (answer: Answer) => (depth === 0 ? undefined : answer(nested(depth - 1))) }
}

function schemaOf(validate: () => unknown): object {
  return { '~standard': { version: 1, vendor: 'test', validate, jsonSchema: { input: () => ({ type: 'object' }) } } }
}

function stepping(next: () => unknown, end: () => unknown = () => ({ done: true })): object {
  const steps = { next, return: end, [Symbol.asyncIterator]: () => steps }
  return steps
}

/** A stream is told from a generator by having no `next` itself. */
function streaming(next: () => unknown): object {
  return { [Symbol.asyncIterator]: () => ({ next }) }
}

class Hanging extends SpooledArtifact {
  static give: () => unknown
  override asString(): Promise<string> {
    return Hanging.give() as Promise<string>
  }
}

const large = 'x'.repeat(100_000)
const reader = { byteLength: large.length, read: () => new Uint8Array(10) }

type Place = (give: () => unknown) => ExecutorOptions

const t = (handler: () => unknown, options: object = {}): Pick<ExecutorOptions, 'tools'> => ({
  tools: [work('t', handler, options)],
})
const done = (): string => 'done'

/** Every place where a call waits for what others made. */
const places: Readonly<Record<string, Place>> = {
  'a handler': (give) => t(give),
  'a runner': (give) => ({
    ...t(done, { type: 'own' }),
    use: [{ runners: [{ type: 'own', run: give }] }],
  }),
  'a middleware': (give) => ({ ...t(done), use: [{ middleware: [give as never] }] }),
  'a handler within middleware': (give) => ({ ...t(give), use: [{ middleware: [(_, __, next) => next()] }] }),
  'a middleware of the tool': (give) => t(done, { middleware: [give] }),
  preToolUse: (give) => t(done, { hooks: { preToolUse: give } }),
  postToolUse: (give) => t(done, { hooks: { postToolUse: give } }),
  'a policy': (give) => ({ ...t(done), use: [{ policies: [{ name: 'p', decide: give as never }] }] }),
  requiresConfirmation: (give) => ({
    ...t(done, { requiresConfirmation: give }),
    use: [{ approver: { ask: async () => ({ decision: 'allow' }) } }],
  }),
  confirmationMessage: (give) => ({
    ...t(done, { requiresConfirmation: true, confirmationMessage: give }),
    use: [{ approver: { ask: async () => ({ decision: 'allow' }) } }],
  }),
  'an approver': (give) => ({
    ...t(done, { requiresConfirmation: true }),
    use: [{ approver: { ask: give as never, timeout: 20_000 } }],
  }),
  'a validator of args': (give) => t(done, { inputSchema: schemaOf(give) }),
  'a validator of results': (give) => t(done, { outputSchema: schemaOf(give) }),
  'a step of a generator': (give) => t(() => stepping(give)),
  'what a generator returns': (give) =>
    t(() => {
      const value = give()
      return stepping(() => ({ done: true, value }))
    }),
  'the end of a generator': (give) => t(() => stepping(() => never, give)),
  'a piece of a stream': (give) => t(() => streaming(give)),
  'a piece of a web stream': (give) => t(() => ({ getReader: () => ({ read: give, cancel: give }) })),
  'the text of an artifact': (give) => {
    Hanging.give = give
    return t(() => new Hanging({ reader: { byteLength: 3, read: () => new Uint8Array(3) } }))
  },
  'the reading of an artifact': (give) =>
    t(() => new SpooledArtifact({ reader: { byteLength: 3, read: give as never } })),
  'the writing of a store': (give) => ({
    ...t(() => large),
    use: [{ store: { ...memoryStore(), write: give as never } }],
  }),
  'the opening of a store': (give) => ({
    ...t(() => large),
    use: [{ store: { ...memoryStore(), open: give as never } }],
  }),
  'the reading of a store': (give) => ({
    ...t(() => large),
    use: [{ store: { ...memoryStore(), open: () => ({ ...reader, read: give as never }) } }],
  }),
  'an observer': (give) => ({ ...t(done), use: [{ observers: [give] }] }),
  'a report': (give) => ({
    ...t(done),
    use: [
      {
        observers: [
          () => {
            throw new Error('reported')
          },
        ],
      },
    ],
    report: give,
  }),
  ...Object.fromEntries(
    (['claim', 'write', 'read', 'beat'] as const).map((method): [string, Place] => [
      `the answer of a journal to ${method}`,
      (give) => ({ ...t(done), use: [changed(memoryJournal(), { [method]: () => give as never })] }),
    ]),
  ),
}

/** Whether a promise has settled, and what it gave. */
function seen<Value>(promise: Promise<Value>): { value: Value | undefined } {
  const state: { value: Value | undefined } = { value: undefined }
  void promise.then((value) => (state.value = value))
  return state
}

async function closed(executor: ToolExecutor): Promise<void> {
  let isClosed = false
  void executor.close().then(() => (isClosed = true))
  await vi.advanceTimersByTimeAsync(100_000)
  expect(isClosed).toBe(true)
}

const made = (place: string, kind: string): ToolExecutor =>
  createExecutor({ report: () => {}, timeout: 10_000, ...places[place]!(kinds[kind]!) })

const table = Object.keys(places).flatMap((place) => Object.keys(kinds).map((kind) => [place, kind] as const))

describe('no wait for what others made outlives its limit', () => {
  test.each(table)('%s: %s', async (place, kind) => {
    const executor = made(place, kind)
    const result = seen(executor.execute({ name: 't' }, { invocationId: 'i' }))
    await vi.advanceTimersByTimeAsync(100_000)
    expect(result.value).toBeDefined()
    await closed(executor)
  })

  test.each(table)('an abort ends it at once: %s: %s', async (place, kind) => {
    // A journal's answer is waited for when the call is over too, since what it did has to be written down.
    const patience = place.includes('journal') ? 100_000 : 0
    const executor = made(place, kind)
    const leaving = new AbortController()
    const result = seen(executor.execute({ name: 't' }, { invocationId: 'i', signal: leaving.signal }))
    await vi.advanceTimersByTimeAsync(100)
    leaving.abort()
    await vi.advanceTimersByTimeAsync(patience)
    expect(result.value).toBeDefined()
    await closed(executor)
  })

  test.each(table)('closing the executor ends it: %s: %s', async (place, kind) => {
    const executor = made(place, kind)
    const result = seen(executor.execute({ name: 't' }, { invocationId: 'i' }))
    await vi.advanceTimersByTimeAsync(1)
    await closed(executor)
    expect(result.value).toBeDefined()
  })
})

describe('a thenable that gives a thenable', () => {
  const expected: Readonly<Record<string, string>> = {
    'a handler': 'timed_out unknown E_TOOL_TIMEOUT',
    'a handler within middleware': 'timed_out unknown E_TOOL_TIMEOUT',
    'a middleware': 'timed_out none E_TOOL_TIMEOUT',
    'a policy': 'timed_out none E_TOOL_TIMEOUT',
    requiresConfirmation: 'timed_out none E_TOOL_TIMEOUT',
    'an approver': 'denied none E_APPROVAL_EXPIRED',
    'a validator of args': 'timed_out none E_TOOL_TIMEOUT',
    'a validator of results': 'timed_out completed E_TOOL_TIMEOUT',
    'a step of a generator': 'timed_out unknown E_TOOL_TIMEOUT',
    'a piece of a stream': 'timed_out completed E_TOOL_TIMEOUT',
    'the writing of a store': 'timed_out completed E_TOOL_TIMEOUT',
    'an observer': 'ok completed',
  }
  test.each(Object.entries(expected))('given by %s comes to: %s', async (place, comesTo) => {
    const result = seen(made(place, 'a thenable that gives a thenable').execute({ name: 't' }))
    await vi.advanceTimersByTimeAsync(100_000)
    expect(result.value && outcome(result.value)).toBe(comesTo)
  })

  test('keeps no executor from closing when an extension gives it for its end, and the host is told', async () => {
    const executor = createExecutor({ use: [{ close: kinds['a thenable that gives a thenable'] as never }] })
    const closing = expect(executor.close()).rejects.toMatchObject({ code: 'E_TOOL_TIMEOUT' })
    await vi.advanceTimersByTimeAsync(30_000)
    await closing
  })

  test('of a store keeps no recorded result from being given again', async () => {
    const { reports, report } = sink()
    const store = memoryStore()
    const journal = memoryJournal()
    const options = { tools: [work('t', () => large)], report }
    const first = await createExecutor({ ...options, use: [journal, { store }] }).execute(
      { name: 't' },
      { invocationId: 'i', session: 's' },
    )
    const open = kinds['a thenable that gives a thenable'] as never
    const again = createExecutor({ ...options, timeout: 0, use: [journal, { store: { ...store, open } }] })
    const result = seen(again.execute({ name: 't' }, { invocationId: 'i', session: 's' }))
    await vi.advanceTimersByTimeAsync(30_000)
    expect(result.value).toMatchObject({ status: 'ok', content: first.content, handle: first.handle })
    expect(reports).toMatchObject([{ code: 'E_ARTIFACT' }])
  })
})

test('a lazy thenable, as query builders give, is asked once, also when its call is given up', async () => {
  let asked = 0
  const lazy = {
    then(answer: Answer) {
      asked++
      setTimeout(answer, 20_000, 'late')
    },
  }
  const executor = createExecutor({ tools: [work('t', () => lazy)], timeout: 10_000, use: [memoryJournal()] })
  const result = seen(executor.execute({ name: 't' }))
  await vi.advanceTimersByTimeAsync(100_000)
  expect(result.value && outcome(result.value)).toBe('timed_out unknown E_TOOL_TIMEOUT')
  expect(asked).toBe(1)
})
