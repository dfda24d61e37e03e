import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createExecutor, type Extension, type ToolContext, type ToolExecutor, type ToolResult } from 'toolwright'
import { memoryJournal } from 'toolwright/journals/memory'
import { sqliteJournal } from 'toolwright/journals/sqlite'
import { afterEach, describe, expect, onTestFinished, test, vi } from 'vitest'
import {
  deferred,
  heard,
  hostile,
  never,
  notingTool,
  outcome,
  pause,
  revoked,
  soon,
  text,
  turn,
  work,
} from './_calls.ts'

afterEach(() => {
  vi.useRealTimers()
})

type Outer = (executor: ToolExecutor, parent: ToolContext, input: { readonly names?: string[] }) => unknown

/** An executor with a tool `outer`, which calls others from its handler. */
function within(outer: Outer, tools: ReturnType<typeof work>[], options: object = {}, own: object = {}): ToolExecutor {
  const calling = work('outer', (input: never, context) => outer(executor, context, input), options)
  const executor: ToolExecutor = createExecutor({ tools: [calling, ...tools], ...own })
  return executor
}

const writes = (key: string): object => ({ conflicts: () => [key] })
const reads = (key: string): object => ({ conflicts: () => [{ key, mode: 'read' }] })
const alone = { traits: { concurrent: false } }

/** Calls `inner` from `outer`, and says what came of both. */
async function nested(outer: object, inner: object, own: object = {}): Promise<string[]> {
  let result: ToolResult | undefined
  const executor = within(
    async (run, parent) => {
      result = await run.execute({ name: 'inner' }, { parent })
    },
    [work('inner', () => 'ran', inner)],
    outer,
    own,
  )
  const around = await soon(executor.execute({ name: 'outer' }))
  return [around, result!].map(outcome)
}

const fine = ['ok completed', 'ok completed']
const refused = ['ok completed', 'error none E_INVALID_CONFIGURATION']

describe('a call of a handler, with the handler\u2019s context as its parent,', () => {
  test.each<[string, object, object]>([
    ['writes what its parent writes', writes('file:/a'), writes('file:/a')],
    ['writes below what its parent writes', writes('file:/a'), writes('file:/a/b')],
    ['reads what its parent writes', writes('file:/a'), reads('file:/a/b')],
    ['reads what its parent reads', reads('file:/a'), reads('file:/a')],
    ['touches something else', writes('file:/a'), writes('file:/b')],
    ['is of a tool that runs alone, in one that does', alone, alone],
    ['is of any tool, in one that runs alone', alone, {}],
    ['touches something, in a tool that runs alone', alone, writes('file:/a')],
  ])('does not wait for it, if it %s', async (_what, outer, inner) => {
    expect(await nested(outer, inner)).toEqual(fine)
  })

  test.each<[string, object, object]>([
    ['writes what its parent only reads', reads('file:/a'), writes('file:/a')],
    ['writes below what its parent only reads', reads('file:/a'), writes('file:/a/b')],
    ['writes more than its parent does', writes('file:/a/b'), writes('file:/a')],
    ['reads more than its parent does', reads('file:/a/b'), reads('file:/a')],
    ['is of a tool that runs alone, in one that does not', {}, alone],
  ])('is refused at once if it would wait for it: it %s', async (_what, outer, inner) => {
    expect(await nested(outer, inner, { waitTimeout: 0 })).toEqual(refused)
  })

  test('says which thing it would wait for', async () => {
    let result: ToolResult | undefined
    const executor = within(
      async (run, parent) => {
        result = await run.execute({ name: 'inner' }, { parent })
      },
      [work('inner', () => 1, writes('file:/a/b'))],
      reads('file:/a'),
    )
    await soon(executor.execute({ name: 'outer' }))
    expect(result?.error?.message).toBe(
      'The call was not started: it would wait for the calls that it is within. It wants to touch "file:/a/b" (write), and they hold only "file:/a" (read).',
    )
  })

  test.each<[string, object]>([
    ['touches the same thing', writes('file:/a')],
    ['runs alone', alone],
  ])('waits for it if it names no parent and %s, until `waitTimeout`, which names it', async (_what, options) => {
    vi.useFakeTimers()
    let result: ToolResult | undefined
    const executor = within(
      async (run) => {
        result = await run.execute({ name: 'inner' }, { session: 's' })
      },
      [work('inner', () => 1, options)],
      { ...options, timeout: 0 },
      { waitTimeout: 1_000 },
    )
    const around = executor.execute({ name: 'outer' }, { session: 's', invocationId: 'first' })
    await vi.advanceTimersByTimeAsync(1_000)
    expect(outcome(await around)).toBe('ok completed')
    expect(outcome(result!)).toBe('timed_out none E_TOOL_TIMEOUT')
    expect(result?.error?.message).toContain('tool "outer" (invocation "first")')
  })

  test.each([
    ['until `waitTimeout`, if each of them touches what the other holds', false, 'timed_out none E_TOOL_TIMEOUT'],
    ['not at all, if the outer calls name all of it', true, 'ok completed'],
  ])('waits for a call of another handler, %s', async (_when, namesAll, expected) => {
    const results: string[] = []
    const both = ['a', 'b']
    const tools = both.map((key) =>
      work(
        `outer-${key}`,
        async (_input, parent) => {
          await pause(2)
          const other = both.find((each) => each !== key)
          results.push(outcome(await executor.execute({ name: 'inner', args: { key: other } }, { parent })))
        },
        { conflicts: () => (namesAll ? both : [key]) },
      ),
    )
    const inner = work('inner', () => 'ran', { conflicts: ({ key }: { key: string }) => [key] })
    const executor: ToolExecutor = createExecutor({ tools: [...tools, inner], waitTimeout: 50 })
    const around = await soon(executor.executeToolCalls(tools.map(({ name }) => ({ name }))))
    expect(around.map(outcome)).toEqual(['ok completed', 'ok completed'])
    expect(results).toHaveLength(2)
    expect(results[0]).toBe(expected) // the other may go on then
  })

  test.each(['user', 'model'] as const)(
    'has its session, principal, caller (%s) and values, and is cancelled with it',
    async (caller) => {
      const [seen, results]: [ToolContext[], ToolResult[]] = [[], []]
      const inner = work('inner', (_input, context) => {
        seen.push(context)
        return seen.length < 4 ? 1 : never
      })
      const executor = within(
        async (run, parent) => {
          results.push(await run.execute({ name: 'inner' }, { parent }))
          results.push(await run.invoke(inner, {}, { parent }))
          results.push(...(await run.executeToolCalls([{ name: 'inner' }], { parent })))
          const stream = run.stream({ name: 'inner' }, { parent })
          let step = await stream.next()
          while (step.done !== true) step = await stream.next()
          results.push(step.value)
        },
        [inner],
      )
      const leaving = new AbortController()
      const values: object = { tenant: 'x' }
      const { signal } = leaving
      const around = executor.execute({ name: 'outer' }, { session: 's', principal: 'p', caller, values, signal })
      await vi.waitFor(() => expect(seen).toHaveLength(4))
      leaving.abort()
      expect((await soon(around)).status).toBe('cancelled')
      await vi.waitFor(() => expect(results).toHaveLength(4))
      expect(results.map(({ status }) => status)).toEqual(['ok', 'ok', 'ok', 'cancelled'])
      for (const context of seen) {
        expect(context).toMatchObject({ session: 's', principal: 'p', caller })
        expect(context.values).toBe(values)
      }
    },
  )

  test('may have another principal, caller, values and signal', async () => {
    const seen: ToolContext[] = []
    const executor = within(
      (run, parent) => run.execute({ name: 'inner' }, { parent, principal: 'q', caller: 'user', values: { own: 1 } }),
      [work('inner', (_input, context) => void seen.push(context))],
    )
    await soon(executor.execute({ name: 'outer' }, { principal: 'p', values: { tenant: 'x' } }))
    expect(seen).toMatchObject([{ principal: 'q', caller: 'user', values: { own: 1 } }])
  })

  test('waits for its siblings, in their order, and strangers wait for all of them', async () => {
    const log: string[] = []
    const note = (name: string, options: object): ReturnType<typeof work> => notingTool(log, name, options)
    const names = ['write', 'write', 'read', 'write']
    const executor = within(
      async (run, parent) => {
        log.push('outer')
        await Promise.all(names.map((name) => run.execute({ name }, { parent })))
        await run.executeToolCalls(
          names.map((name) => ({ name })),
          { parent },
        )
        log.push('outer ends')
      },
      [note('write', writes('file:/a/b')), note('read', reads('file:/a/b')), note('stranger', writes('file:/a'))],
      writes('file:/a'),
    )
    const around = executor.execute({ name: 'outer' })
    await vi.waitFor(() => expect(log).toContain('outer'))
    const stranger = executor.execute({ name: 'stranger' })
    await soon(Promise.all([around, stranger]))
    const inOrder = names.flatMap((name) => [name, `${name} ends`])
    expect(log).toEqual(['outer', ...inOrder, ...inOrder, 'outer ends', 'stranger', 'stranger ends'])
  })

  test('two of a tool that runs alone do not run beside each other within one that does', async () => {
    let [running, most] = [0, 0]
    const inner = work(
      'inner',
      async () => {
        most = Math.max(most, ++running)
        await pause(1)
        running--
      },
      alone,
    )
    const calls = Array.from({ length: 5 }, () => ({ name: 'inner' }))
    const executor = within((run, parent) => run.executeToolCalls(calls, { parent }), [inner], alone)
    expect(outcome(await soon(executor.execute({ name: 'outer' })))).toBe('ok completed')
    expect(most).toBe(1)
  })

  test.each<[string, object, object, object]>([
    ['writes what both read', reads('file:/a'), reads('file:/a'), writes('file:/a')],
    ['writes all of which each touches a part', writes('file:/a/b'), writes('file:/a/c'), writes('file:/a')],
    ['runs alone in their session', {}, {}, alone],
  ])('does not wait for a stranger that waits for its parent: it %s', async (_what, outer, inner, stranger) => {
    const [begun, waits] = [deferred(), deferred()]
    const log: string[] = []
    const executor = within(
      async (run, parent) => {
        begun.resolve()
        await waits.promise
        log.push(outcome(await run.execute({ name: 'inner' }, { parent })))
      },
      [work('inner', () => 'ran', inner), work('stranger', () => void log.push('stranger'), stranger)],
      outer,
      { waitTimeout: 20_000 },
    )
    const around = executor.execute({ name: 'outer' })
    await begun.promise
    const last = executor.execute({ name: 'stranger' })
    await turn()
    waits.resolve()
    await soon(Promise.all([around, last]), 10_000)
    expect(log).toEqual(['ok completed', 'stranger'])
  })

  test('holds what it touches by itself if its parent does not wait for it', async () => {
    const [released, log] = [deferred(), [] as string[]]
    let inner: Promise<ToolResult> | undefined
    const executor = within(
      async (run, parent) => {
        inner = run.execute({ name: 'inner' }, { parent })
        await pause(1)
      },
      [
        work('inner', () => released.promise.then(() => void log.push('inner')), writes('file:/a')),
        work('stranger', () => void log.push('stranger'), writes('file:/a')),
      ],
      writes('file:/a'),
    )
    const signal = new AbortController().signal
    await soon(executor.execute({ name: 'outer' }, { signal }))
    const stranger = executor.execute({ name: 'stranger' })
    await pause(5)
    released.resolve()
    await soon(Promise.all([inner, stranger]))
    expect(log).toEqual(['inner', 'stranger'])
  })

  test('takes no slot of its parent\u2019s turn', async () => {
    const executor = within(
      (run, parent) => run.executeToolCalls([{ name: 'inner' }, { name: 'inner' }], { parent }),
      [work('inner', () => 'ran')],
      {},
      { concurrency: 1 },
    )
    const results = await soon(executor.executeToolCalls([{ name: 'outer' }, { name: 'outer' }]))
    expect(results.map(outcome)).toEqual(['ok completed', 'ok completed'])
  })

  test('may be eight deep, and not nine', async () => {
    const depths: string[] = []
    const executor = within(async (run, parent) => {
      const result = await run.execute({ name: 'outer' }, { parent })
      depths.push(outcome(result))
      return 'ran'
    }, [])
    await soon(executor.execute({ name: 'outer' }))
    expect(depths).toEqual(['error none E_INVALID_CONFIGURATION', ...Array.from({ length: 8 }, () => 'ok completed')])
  })

  test('is refused before anything happens if the parent is none', async () => {
    let settled: ToolContext | undefined
    let other: ToolContext | undefined
    const stranger = within((_run, context) => void (other = context), [])
    await stranger.execute({ name: 'outer' })
    const holding = deferred()
    const open = within((_run, context) => {
      other = context
      return holding.promise
    }, [])
    const going = open.execute({ name: 'outer' })
    await turn()
    const executor = within(
      (run, parent) => {
        settled = parent
        const proxy = new Proxy(parent, {})
        const wrong = [null, {}, 'x', 5, proxy, { ...parent }, Object.create(parent), hostile(), revoked(), other]
        return Promise.all(
          wrong.map((each) =>
            run.execute({ name: 'inner' }, { parent: each as never }).catch((error: Error) => error.message),
          ),
        )
      },
      [work('inner', () => expect.fail('it ran'))],
    )
    const events = heard(executor)
    const result = await soon(executor.execute({ name: 'outer' }, { session: 's' }))
    const none = '`parent` is no context of a call of this executor. Pass the one that the handler gets, not a copy.'
    expect(JSON.parse(text(result))).toMatchObject({ data: Array.from({ length: 10 }, () => none) })
    await expect(executor.execute({ name: 'inner' }, { parent: settled! })).rejects.toMatchObject({
      code: 'E_INVALID_CONFIGURATION',
      message: 'The call of `parent` has settled. Its handler has to await what it calls.',
    })
    expect(events.every(({ toolName }) => toolName === 'outer')).toBe(true)
    holding.resolve()
    await going
  })

  test('still runs while the executor waits for its parent to end', async () => {
    const closing = deferred()
    const executor = within(
      async (run, parent) => {
        await closing.promise
        return [
          outcome(await run.execute({ name: 'inner' }, { parent })),
          outcome(await run.execute({ name: 'inner' })),
        ].join()
      },
      [work('inner', () => 'ran')],
    )
    const around = executor.execute({ name: 'outer' })
    await turn()
    const closed = executor.close({ drain: 10_000 })
    closing.resolve()
    expect(text(await soon(around))).toBe('ok completed,cancelled none E_TOOL_CANCELLED')
    await soon(closed)
  })

  test('is refused in another session than its parent\u2019s', async () => {
    const executor = within((run, parent) => run.execute({ name: 'inner' }, { parent, session: 'other' }), [])
    expect((await soon(executor.execute({ name: 'outer' }, { session: 's' }))).error?.message).toContain(
      'A call has the `session` of its `parent`',
    )
  })

  test('goes on beside its parent if it waited for a person meanwhile', async () => {
    const use = [memoryJournal()]
    const executor = within(
      async (run, parent) => {
        const asked = await run.execute({ name: 'inner' }, { parent })
        expect(asked.status).toBe('waiting')
        const [call] = await run.calls.waiting()
        expect(call).toMatchObject({ parent: parent.invocationId })
        return outcome(await run.calls.decide(call!, 'allow'))
      },
      [work('inner', () => 'ran', { ...writes('file:/a'), requiresConfirmation: true })],
      writes('file:/a'),
      { use, waitTimeout: 20_000 },
    )
    expect(text(await soon(executor.execute({ name: 'outer' }), 10_000))).toBe('ok completed')
  })
})

/** The journals of a list, each in a place of its own. */
const journals: readonly (readonly [string, () => readonly Extension[]])[] = [
  ['no journal', () => []],
  ['a journal in memory', () => [memoryJournal()]],
  [
    'a journal in SQLite',
    () => {
      const directory = mkdtempSync(join(tmpdir(), 'toolwright-parent-'))
      onTestFinished(() => rmSync(directory, { recursive: true, force: true }))
      return [sqliteJournal(join(directory, 'calls.db'))]
    },
  ],
]

describe.each(journals)('with %s', (_what, use) => {
  test('the event and the record of a call have its parent, and its children are listed', async () => {
    const gate = deferred()
    const holds = work('holds', () => gate.promise)
    const executor = within(
      (run, parent, { names = [] }) => Promise.all(names.map((name) => run.execute({ name }, { parent }))),
      [work('inner', () => 'ran', { requiresConfirmation: true }), holds],
      {},
      { use: use() },
    )
    const events = heard(executor)
    const names = ['inner', 'holds', 'inner']
    const around = executor.execute({ name: 'outer', args: { names } }, { session: 's', invocationId: 'first' })
    const others = executor.execute({ name: 'inner' }, { session: 's', invocationId: 'second' })
    await others
    await vi.waitFor(async () => expect(await executor.calls.list({ parent: 'first' })).toHaveLength(3))
    const list = await executor.calls.list({ parent: 'first' })
    expect(list.map(({ toolName }) => toolName).toSorted()).toEqual(names.toSorted())
    expect(list.every(({ parent }) => parent === 'first')).toBe(true)
    const page = await executor.calls.list({ parent: 'first', limit: 1, before: list[0]! })
    expect(page.map(({ id }) => id)).toEqual([list[1]!.id])
    expect(await executor.calls.list({ parent: 'second' })).toEqual([])
    expect(await executor.calls.list({ parent: 'unheard of' })).toEqual([])
    expect(await executor.calls.list({ parent: 'first', session: 'other' })).toEqual([])
    expect((await executor.calls.waiting()).filter(({ parent }) => parent === 'first')).toHaveLength(2)
    const received = events.flatMap((event) =>
      event.event === 'call:received' ? [[event.invocationId, event.parent]] : [],
    )
    expect(received.filter(([, parent]) => parent === 'first')).toHaveLength(3)
    expect(received).toContainEqual(['first', undefined])
    gate.resolve()
    await soon(around)
    await executor.close()
  })
})
