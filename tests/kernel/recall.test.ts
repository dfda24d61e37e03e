import {
  content,
  createExecutor,
  JsonArtifact,
  memoryStore,
  TextArtifact,
  ToolFailure,
  type Extension,
  type ToolCall,
  type ToolExecutor,
  type ToolResult,
} from 'toolwright'
import type { SpoolReader } from 'toolwright/extension'
import { memoryJournal } from 'toolwright/journals/memory'
import { afterEach, describe, expect, test, vi } from 'vitest'
import { deferred, heard, names, outcome, turn, work } from './_calls.ts'
import { changed, places } from './_journals.ts'
import { records } from 'toolwright/records'

afterEach(() => {
  vi.useRealTimers()
})

const duplicate = 'error none E_DUPLICATE_INVOCATION'
const underWay = 'error unknown E_DUPLICATE_INVOCATION'

/** Everything of a result that a reader can see. */
async function shown({ artifact, error, durationMs, ...rest }: ToolResult): Promise<unknown> {
  return {
    ...rest,
    durationMs,
    error: error?.toJSON(),
    isKnown: error === undefined ? undefined : [error.name, error.message, error.code, error.retryable],
    kind: artifact?.kind,
    all: await artifact?.asString(),
    artifact: artifact === undefined ? undefined : (JSON.parse(JSON.stringify(artifact)) as unknown),
  }
}

function readerOf(text: string): SpoolReader {
  const bytes = new TextEncoder().encode(text)
  return { byteLength: bytes.byteLength, read: (start, end) => bytes.slice(start, end) }
}

const outcomes: readonly (readonly [string, () => unknown, object?])[] = [
  ['text', () => 'done'],
  ['nothing', () => undefined],
  ['JSON', () => ({ a: [1, { b: null }], 'c\\d': '\u2028' })],
  ['a number', () => 5],
  ['JSON of the handler’s own making', () => new JsonArtifact({ reader: readerOf('[1, 2]') })],
  ['a picture', () => content([{ type: 'image', data: 'aGk=', mimeType: 'image/png' }])],
  ['an artifact', () => new TextArtifact({ reader: readerOf('lines\nand lines') })],
  ['a result for the store', () => 'line\n'.repeat(20_000)],
  ['bytes for the store', () => new Uint8Array(50_000).fill(7)],
  ['JSON for the store', () => Array.from({ length: 5_000 }, (_, index) => ({ index }))],
  ['a failure', () => Promise.reject(new ToolFailure('busy', { retryable: true, recommendations: ['Wait.'] }))],
  ['a crash', () => Promise.reject(new TypeError('broken'))],
  ['a result that breaks its promise', () => 'text', { outputSchema: { type: 'object' } }],
  ['a timeout', () => new Promise(() => {}), { timeout: 1_000 }],
]

describe.each(places)('an invocation that the host identified (%s)', (_journal, place) => {
  test.each(outcomes.map(([title, handler, options = {}]) => ({ title, handler, options })))(
    'gives its result again, and runs nothing: $title',
    async ({ handler, options }) => {
      const runs = { count: 0 }
      const storage = place()
      const store = memoryStore()
      const open = (): ToolExecutor =>
        createExecutor({
          tools: [work('t', () => (runs.count++, handler()), options)],
          use: [storage.open(), { store }],
        })
      const call = { id: 'p', name: 't', args: { a: 1 } }
      const options2 = { session: 's', invocationId: 'mine' }
      const first = await shown(await open().execute(call, options2))
      const executor = open()
      const events = heard(executor)
      expect(await shown(await executor.execute(call, options2))).toEqual(first)
      expect(await shown(await executor.execute({ ...call, args: '{ "a": 1.0 }' }, options2))).toEqual(first)
      expect(runs.count).toBe(1)
      expect(events).toEqual([])
    },
  )

  test('gives its result to the caller that made it, and to no other', async () => {
    const storage = place()
    let runs = 0
    const open = (): ToolExecutor => createExecutor({ tools: [work('t', () => ++runs)], use: [storage.open()] })
    const call = { name: 't', args: { a: 1 } }
    const options = { session: 's', invocationId: 'mine' }
    await open().execute(call, { ...options, caller: 'user' })
    for (const caller of ['model', undefined, { app: 'mail' }] as const) {
      expect(outcome(await open().execute(call, { ...options, ...(caller && { caller }) }))).toBe(duplicate)
    }
    expect(outcome(await open().execute(call, { ...options, caller: 'user' }))).toBe('ok completed')
    expect(runs).toBe(1)
  })

  test('of bytes says again how many they were; the bytes themselves are kept by no journal', async () => {
    const storage = place()
    const open = (): ToolExecutor =>
      createExecutor({ tools: [work('t', () => new Uint8Array(3))], use: [storage.open()] })
    const options = { session: 's', invocationId: 'mine' }
    const first = await open().execute({ name: 't' }, options)
    const again = await open().execute({ name: 't' }, options)
    expect(again.content).toEqual(first.content)
    expect([first.artifact?.byteLength(), again.artifact]).toEqual([3, undefined])
  })

  test('says of its artifact what the artifact said, whatever those who watch make of it', async () => {
    const vandal: Extension = {
      observers: [(event) => void (event.event === 'call:settled' && Object.assign(event.result ?? {}, { kind: 'x' }))],
    }
    const storage = place()
    const open = (): ToolExecutor => createExecutor({ tools: [work('t', () => [1])], use: [storage.open(), vandal] })
    const options = { session: 's', invocationId: 'mine' }
    await open().execute({ name: 't' }, options)
    expect((await open().execute({ name: 't' }, options)).artifact).toBeInstanceOf(JsonArtifact)
    const found = await storage.open().journal.read('mine')
    expect(found?.record.journal?.artifact).toEqual({ kind: 'json', mediaType: 'application/json', byteLength: 3 })
  })

  test.each<[string, () => unknown, string]>([
    ['nothing', () => undefined, 'ok'],
    ['`null`', () => null, 'ok'],
    ['a text', () => 'mine', 'ok'],
    ['a half', () => ({ kind: 'mine' }), 'ok'],
    ['what JSON cannot hold', () => ({ kind: 'mine', mediaType: 'text/x', byteLength: 5n }), 'error'],
  ])('is written down where its artifact says %s of itself, or is said to be lost', async (_, said, status) => {
    class Odd extends TextArtifact {
      override toJSON(): never {
        return said() as never
      }
    }
    const storage = place()
    const executor = createExecutor({
      tools: [work('t', () => new Odd({ reader: readerOf('text') }))],
      use: [storage.open()],
      report: () => {},
    })
    const options = { session: 's', invocationId: 'mine' }
    const result = await executor.execute({ name: 't' }, options)
    expect([result.status, result.error?.code]).toEqual([status, status === 'ok' ? undefined : 'E_JOURNAL'])
    expect(await result.artifact?.asString()).toBe('text')
    const found = await storage.open().journal.read('mine')
    expect(found?.record.state).toBe(status === 'ok' ? 'COMPLETED' : 'EXECUTING')
  })

  test('gives a refusal again, without asking anybody', async () => {
    let asked = 0
    const policy: Extension = {
      policies: [{ name: 'no', decide: () => (asked++, { decision: 'deny', toolResult: { why: 'rules' } }) }],
    }
    const executor = createExecutor({ tools: [work('t', () => 1)], use: [place().open(), policy] })
    const options = { session: 's', invocationId: 'mine' }
    const first = await executor.execute({ name: 't' }, options)
    expect(await shown(await executor.execute({ name: 't' }, options))).toEqual(await shown(first))
    expect([first.status, asked]).toEqual(['denied', 1])
  })

  test('is refused while it runs, in its own executor and in another', async () => {
    const storage = place()
    const { promise, resolve } = deferred()
    let runs = 0
    const open = (): ToolExecutor =>
      createExecutor({ tools: [work('t', () => (runs++, promise))], use: [storage.open()] })
    const executor = open()
    const options = { session: 's', invocationId: 'mine' }
    const running = executor.execute({ name: 't' }, options)
    await vi.waitFor(() => expect(runs).toBe(1))
    expect(outcome(await executor.execute({ name: 't' }, options))).toBe(underWay)
    expect(outcome(await open().execute({ name: 't' }, options))).toBe(underWay)
    resolve()
    expect((await running).status).toBe('ok')
    expect((await executor.execute({ name: 't' }, options)).status).toBe('ok')
    expect(runs).toBe(1)
  })

  test.each([
    ['a person', { requiresConfirmation: true }, 'waiting none'],
    ['a client', { type: 'client', requiresResponse: true }, 'waiting unknown'],
  ])('is as it was while it waits for %s, but for the token, which is told once', async (_, options, pending) => {
    vi.useFakeTimers({ toFake: ['Date'] })
    const executor = createExecutor({ tools: [work('t', () => 1, options)], use: [place().open()] })
    const asked = { session: 's', invocationId: 'mine' }
    const { token = '', durationMs: _first, ...first } = await executor.execute({ id: 'one', name: 't' }, asked)
    const { durationMs: _second, ...again } = await executor.execute({ id: 'two', name: 't' }, asked)
    expect([outcome(again as ToolResult), again]).toEqual([pending, { ...first, id: 'two' }])
    const { answer } = {
      answer:
        'requiresConfirmation' in options ? executor.calls.decide(token, 'allow') : executor.calls.respond(token, 1),
    }
    expect((await answer).status).toBe('ok')
    expect((await executor.execute({ name: 't' }, asked)).status).toBe('ok')
  })

  test('is refused once nobody can answer any more', async () => {
    vi.useFakeTimers({ toFake: ['Date'] })
    const executor = createExecutor({
      tools: [work('t', () => 1, { requiresConfirmation: true })],
      use: [place().open()],
    })
    const options = { session: 's', invocationId: 'mine' }
    await executor.execute({ name: 't' }, options)
    vi.setSystemTime(Date.now() + 86_400_001)
    expect(outcome(await executor.execute({ name: 't' }, options))).toBe(underWay)
  })

  test('answers to the id by which it is asked for', async () => {
    const executor = createExecutor({ tools: [work('t', () => 1)], use: [place().open()] })
    const options = { session: 's', invocationId: 'mine' }
    const results = []
    for (const id of ['toolu_1', 'toolu_2']) results.push(await executor.execute({ id, name: 't' }, options))
    expect(results.map(({ id }) => id)).toEqual(['toolu_1', 'toolu_2'])
  })

  test('runs once of twenty that come at the same time, and who is refused does not ask again', async () => {
    const storage = place()
    const claims: string[] = []
    const counting = (): Extension =>
      changed(storage.open(), {
        claim: (journal) => (record, owner) => {
          claims.push(owner)
          return journal.claim(record, owner)
        },
      })
    let runs = 0
    const open = (): ToolExecutor =>
      createExecutor({ tools: [work('t', () => (runs++, turn()))], use: [counting()], report: () => {} })
    const [one, other] = [open(), open()]
    const options = { session: 's', invocationId: 'mine' }
    const all = await Promise.all(
      Array.from({ length: 20 }, (_, index) => (index % 2 === 0 ? one : other).execute({ name: 't' }, options)),
    )
    expect(runs).toBe(1)
    const statuses = all.map(outcome)
    expect(new Set(statuses)).toEqual(new Set(['ok completed', underWay]))
    expect(claims).toEqual([...new Set(claims)])
  })

  test.each<[string, ToolCall, { session?: string }]>([
    ['other args', { name: 't', args: { a: 2 } }, {}],
    ['another tool with the same args', { name: 'other', args: { a: 1 } }, {}],
    ['an unknown tool', { name: 'missing', args: { a: 1 } }, {}],
    ['args that are no JSON', { name: 't', args: '{' }, {}],
    ['another session', { name: 't', args: { a: 1 } }, { session: 'other' }],
  ])('is refused with %s', async (_, call, options) => {
    let runs = 0
    const tools = ['t', 'other'].map((name) => work(name, () => ++runs))
    const executor = createExecutor({ tools, use: [place().open()] })
    await executor.execute({ name: 't', args: { a: 1 } }, { session: 's', invocationId: 'mine' })
    const again = await executor.execute(call, { session: 's', invocationId: 'mine', ...options })
    expect([outcome(again), runs]).toEqual([duplicate, 1])
  })

  test('may be named by an alias', async () => {
    let runs = 0
    const executor = createExecutor({ tools: [work('t', () => ++runs, { aliases: ['a'] })], use: [place().open()] })
    const options = { session: 's', invocationId: 'mine' }
    await executor.execute({ name: 'a' }, options)
    for (const name of ['a', 't']) expect((await executor.execute({ name }, options)).status).toBe('ok')
    expect(runs).toBe(1)
  })

  test('whose args a person edited is known by the args that came and by those that ran', async () => {
    let runs = 0
    const executor = createExecutor({
      tools: [work('t', () => ++runs, { requiresConfirmation: true })],
      use: [place().open()],
    })
    const options = { session: 's', invocationId: 'mine' }
    const { token = '' } = await executor.execute({ name: 't', args: { a: 1 } }, options)
    await executor.calls.decide(token, 'allow', { editedArgs: { a: 2 } })
    for (const a of [1, 2]) expect((await executor.execute({ name: 't', args: { a } }, options)).status).toBe('ok')
    expect(outcome(await executor.execute({ name: 't', args: { a: 3 } }, options))).toBe(duplicate)
    expect(runs).toBe(1)
  })

  test('that failed for its args is the same call with the same args alone', async () => {
    const executor = createExecutor({ tools: [work('t', () => 'ran')], use: [place().open()] })
    const options = { session: 's', invocationId: 'mine' }
    const failed = await executor.execute({ name: 't', args: '{"a":' }, options)
    const again = await executor.execute({ name: 't', args: '{"a":' }, options)
    expect(await shown(again)).toEqual(await shown(failed))
    expect(outcome(await executor.execute({ name: 't', args: '{"a":1}' }, options))).toBe(duplicate)
  })

  test('shows what the model was shown, also where the store has made room since', async () => {
    const storage = place()
    const { log, report } = { log: [] as unknown[], report: (error: unknown): void => void log.push(error) }
    const open = (): ToolExecutor =>
      createExecutor({ tools: [work('t', () => 'line\n'.repeat(20_000))], use: [storage.open()], report })
    const options = { session: 's', invocationId: 'mine' }
    const first = await open().execute({ name: 't' }, options)
    const again = await open().execute({ name: 't' }, options) // with a store of its own
    expect(again.content).toEqual(first.content)
    expect(again.handle).toBe(first.handle)
    expect(again.artifact).toBe(undefined)
    expect(log).toHaveLength(1)
  })
})

test('a journal that cannot be read fails the call, which emits its end, and nothing runs', async () => {
  let runs = 0
  const mounted = memoryJournal()
  const broken = {
    ...mounted.journal,
    read: () => {
      throw new Error('broken')
    },
  }
  const executor = createExecutor({ tools: [work('t', () => ++runs)], use: [records(broken)] })
  const events = heard(executor)
  expect(outcome(await executor.execute({ name: 't' }, { invocationId: 'mine' }))).toBe('error none E_JOURNAL')
  expect(names(events)).toBe('call:received call:settled')
  expect(runs).toBe(0)
})

test('a call that gets its result from the journal leaves no timer behind, which would keep the process alive', async () => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'setImmediate', 'clearImmediate'] })
  const executor = createExecutor({ tools: [work('t', () => 1)], use: [memoryJournal()], timeout: 30_000 })
  for (const expected of ['ok', 'ok']) {
    expect((await executor.execute({ name: 't' }, { invocationId: 'one' })).status).toBe(expected)
  }
  await vi.advanceTimersByTimeAsync(1)
  expect(vi.getTimerCount()).toBe(0)
  await executor.close()
})

test('a call with an id has the timeout of its tool, also if the journal takes its time to say that the id is new', async () => {
  const late = changed(memoryJournal(), {
    read: (journal) => async (id) => {
      await new Promise((resolve) => setTimeout(resolve, 20))
      return journal.read(id)
    },
  })
  const hang = work('hang', () => new Promise(() => {}), { timeout: 40 })
  const executor = createExecutor({ tools: [hang], use: [late], timeout: 600_000 })
  expect(outcome(await executor.execute({ name: 'hang' }, { invocationId: 'one' }))).toBe(
    'timed_out unknown E_TOOL_TIMEOUT',
  )
  await executor.close()
})
